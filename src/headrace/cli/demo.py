"""Reads a real file that the package ships, and checks the answer: `headrace demo`."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import as_file, files
from typing import Any

from headrace import Table, read_csv

WRONG_ANSWER = 1

_NULLS = ("", "NA")
_ROWS = 4_334
_MILES = 4_561_824  # number of flights in the shipped file, and the sum of their distances, computed with Python's csv module

_REPEATS = 160  # repetitions of the file: 63 MB, so that the time to start is small against the time to read


def add_parser(commands: Any, _epilog: str) -> None:
    """Add `demo` to argparse's `commands`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="read a real file that comes with the package, show the table, and check it",
        description="Read a real file that comes with the package: five days of flights from New York (CC0). "
        "Show the table, the evidence for its types, the report of bad records, and the rate. "
        "The exit code is 1 if the answer is wrong.",
    )
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Read, print, check, and return 0 if every answer is right."""
    with as_file(files("headrace.data").joinpath("flights.csv")) as path:
        text = path.read_bytes()
        table = read_csv(path, null_values=_NULLS)
    _show('table = headrace.read_csv("flights.csv", null_values=["", "NA"])', table)
    _show("table.report", table.report)

    broken = read_csv(break_two_records(text), null_values=_NULLS, schema=table.schema, on_error="reject")
    print("\nNow the same bytes with one field changed to text and one record cut short:\n")
    _show('broken = headrace.read_csv(bad, schema=table.schema, null_values=["", "NA"], on_error="reject")', _account(broken))
    for fault in _rows_of(broken.rejects):
        _show(
            f"broken.rejects, fault in record {fault['record']}",
            "\n".join(f"  {key:10}{value!r}" for key, value in fault.items()),
        )

    header, _, records = text.partition(b"\n")
    large = read_csv(header + b"\n" + records * _REPEATS, null_values=_NULLS)
    report = large.report
    print(
        f"\nRate: the same records {_REPEATS} times over, {report.bytes / 1e6:.0f} MB in {report.seconds['total']:.3f} s: "
        f"{report.bytes / report.seconds['total'] / 1e6:_.0f} MB/s, all columns typed, {report.threads} thread(s)."
    )
    return _verdict(table, broken, large)


def break_two_records(text: bytes) -> bytes:
    """Return the text with a departure delay that is not a number (record 3) and a record that is cut short (record 6)."""
    lines = text.split(b"\n")
    delayed = lines[3].split(b",")
    delayed[5] = b"late"
    lines[3] = b",".join(delayed)
    lines[6] = b",".join(lines[6].split(b",")[:9])
    return b"\n".join(lines)


def wrong_answers(table: Table, broken: Table, large: Table) -> list[str]:
    """Return the differences from the known answers, as lines of text."""
    lost = sum(table["distance"][row] for row in (2, 5))
    expected = {
        "rows": (table.num_rows, _ROWS),
        "sum of distance": (sum(table["distance"]), _MILES),
        "rows of the broken file": (broken.num_rows, _ROWS - 2),
        "records rejected": (broken.rejects["record"].to_pylist(), [3, 6]),
        "sum of distance in the broken file": (sum(broken["distance"]), _MILES - lost),
        "rows of the large file": (large.num_rows, _ROWS * _REPEATS),
        "sum of distance in the large file": (sum(large["distance"]), _MILES * _REPEATS),
    }
    wrong = [f"{what}: {found}, expected {known}" for what, (found, known) in expected.items() if found != known]
    for name, read in (("file", table), ("broken file", broken), ("large file", large)):
        report = read.report
        if report.records != report.rows + report.rejected + report.skipped.total:
            wrong.append(f"the records of the {name} do not add up: {_account(read)}")
    return wrong


def _verdict(table: Table, broken: Table, large: Table) -> int:
    if wrong := wrong_answers(table, broken, large):
        print("headrace: the demo got a wrong answer; please report it", *wrong, sep="\n  ", file=sys.stderr)
        return WRONG_ANSWER
    print(f"Checked: {_ROWS:_} flights over {_MILES:_} miles, exactly 2 records rejected, and every record is accounted for.\n")
    print("Next:   headrace load YOUR.csv --to YOUR.parquet       (needs: pip install 'headrace[parquet]')")
    print("        python -c 'import headrace; print(headrace.read_csv(\"YOUR.csv\"))'")
    return 0


def _show(call: str, result: object) -> None:
    print(f">>> {call}\n{result}\n")


def _account(table: Table) -> str:
    report = table.report
    parts = f"{report.rows:_} rows + {report.rejected:_} rejected + {report.skipped.total:_} skipped (the header)"
    return f"{report.records:_} records = {parts}"


def _rows_of(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.to_pydict().values(), strict=True)]
