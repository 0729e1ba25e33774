"""Counts records without converting any field: `headrace count`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from headrace.api.report import Report
from headrace.cli.common import options
from headrace.cli.common.words import print_table_faults


def add_parser(commands: Any, epilog: str) -> None:
    """Add `count` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "count",
        help="count records, rows, blank lines and comments",
        description="Count records, rows, blank lines and comments as a read does, without converting fields. "
        "Rows are the records with as many fields as the first record, and with well-formed quotes.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    parser.add_argument("--json", action="store_true", help="print an object")
    options.add_options(parser, "files", "text", "work", defaults={"on_error": "null"}, without=("n_rows",))


def run(given: argparse.Namespace) -> int:
    """Count, print, and return 0."""
    table = options.read_given(given, columns=[])
    if given.json:
        print(json.dumps(_as_object(table.report)))
    else:
        print(_as_text(table.report))
    print_table_faults(table)
    return 0


def _as_object(report: Report) -> dict[str, Any]:
    """Return the counts of a read: records = rows + rejected + the sum of skipped."""
    return {"records": report.records, "rows": report.rows, "rejected": report.rejected, "skipped": asdict(report.skipped)}


def _as_text(report: Report) -> str:
    skipped = report.skipped
    lines = {
        "records": report.records,
        "rows": report.rows,
        "rejected": report.rejected,
        "header": skipped.header,
        "blank": skipped.blank,
        "comment": skipped.comment,
    }
    optional = {"preamble": skipped.preamble, "skipped rows": skipped.rows, "footer": skipped.footer}
    lines |= {name: count for name, count in optional.items() if count}
    name_width = max(map(len, lines))
    count_width = len(f"{report.records:_}")
    return "\n".join(f"{name:{name_width}}  {count:>{count_width}_}" for name, count in lines.items())
