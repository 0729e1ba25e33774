"""Describes delimited files on one HTML page: `headrace report`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace import OptionError, Table, read_csv, scan_csv
from headrace.api.files import checked_path, final_path, moved_when_whole
from headrace.cli.common import options
from headrace.cli.common.progress import progress_bar
from headrace.cli.report.column_summary import ColumnSummary, RowSample
from headrace.cli.report.page import page

_FAULTS = 200
_LINES = 8
_LINE_LENGTH = 400
_BATCH_BYTES = 8 << 20
_SAMPLE_CELLS = 2_000_000
_MIN_SAMPLE, _MAX_SAMPLE = 100, 20_000


def add_parser(commands: Any, epilog: str) -> None:
    """Add `report` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="describe files on an HTML page: types, nulls, ranges, histograms, frequent values, faults, dialect",
        description="Describe files on one HTML page without external resources: types, nulls, ranges, histograms, frequent "
        "values, faults with their lines, and the dialect, which is found from the text. The files may be larger than memory.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    parser.add_argument("--html", metavar="OUT", required=True, help="file to write")
    options.add_options(parser, "files", "text", "columns", "work", defaults={"on_error": "null"}, without=("shrink", "strings"))


def run(given: argparse.Namespace) -> int:
    """Read, write the page, print its name, and return 0."""
    target = checked_path(given.html, "--html")
    if os.path.realpath(target) in {os.path.realpath(file) for file in given.file}:
        raise OptionError(f"--html {target!r} is a file that is read; name another")
    with options.source_to_reread(given.file) as source, progress_bar() as progress, moved_when_whole(final_path(target)) as part:
        known, sniffed = options.with_proposal(given, source, scan_csv)
        known.setdefault("batch_bytes", _BATCH_BYTES)
        scan = scan_csv(source, **known, progress=progress)
        summaries, rejects = _summarised(scan.batches(), list(scan.schema_table()))
        name = "standard input" if given.file == [options.STDIN] else ", ".join(given.file)
        parts = {"summaries": summaries, "rejects": rejects, "lines": _first_lines(source, known)}
        part.write_text(page(name, scan.report, sniffed, parts), encoding="utf-8")
    print(Path(target))
    return 0


def _summarised(batches: Any, names: list[str]) -> tuple[Mapping[str, ColumnSummary], list[dict[str, Any]]]:
    size = min(max(_SAMPLE_CELLS // max(len(names), 1), _MIN_SAMPLE), _MAX_SAMPLE)
    summaries = {name: ColumnSummary() for name in names}
    faults: list[dict[str, Any]] = []
    chosen = RowSample(size)
    batch: Table
    for batch in batches:
        faults += batch.rejects[: _FAULTS - len(faults)].iter_rows(named=True)
        if batch.num_rows:
            places = chosen.places(batch.num_rows)
            for name, column in batch.to("cpu").items():
                summaries[name].add(column, chosen, places)
    return summaries, faults


def _first_lines(source: Any, known: Mapping[str, Any]) -> list[str]:
    """Return the first lines of the text, as it is written."""
    first = source[0] if isinstance(source, list) else source
    file_options = {name: known[name] for name in ("encoding", "encoding_errors", "compression", "glob") if name in known}
    whole_lines: dict[str, Any] = {"sep": "\x1f", "quote_char": None, "header": False, "dtypes": "string", "on_error": "null"}
    table = read_csv(first, **file_options, **whole_lines, n_rows=_LINES, null_values=())
    return [line[:_LINE_LENGTH] for line in table[0].to_pylist() if line is not None] if table.num_columns else []
