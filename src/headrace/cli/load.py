"""Reads delimited files and writes their typed columns to one file: `headrace load`."""

from __future__ import annotations

import argparse
import glob
import os
import time
from typing import Any

from headrace import Table
from headrace.api.files import check_target, checked_path, suffixes, write_table
from headrace.cli import options
from headrace.cli.words import print_faults, printable, records
from headrace.core.errors import OptionError

_COLUMNS_SHOWN = 30
_EXAMPLES = """\
examples:
  headrace load trips.csv --to trips.parquet
  headrace load log.tsv --to log.arrow --sep '\\t' --no-header --names when,host,bytes --dtypes bytes=int64
  headrace load raw.csv --to good.parquet --on-error reject --rejects bad.parquet
  zcat old.csv.gz | headrace load - --to old.parquet

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `load` to argparse's `commands`; `epilog` ends its help."""
    formats = _listed(suffixes())
    parser: argparse.ArgumentParser = commands.add_parser(
        "load",
        help="read delimited files and write them as one file of another format",
        description=f"Read delimited files, infer the types of their columns, and write one file: {formats}.",
        epilog=_EXAMPLES + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    parser.add_argument("--to", metavar="OUT", required=True, help=f"file to write: {formats}")
    group = options.add_options(parser, "files", "text", "columns", "work")["work"]
    group.add_argument("--rejects", metavar="OUT", help=f"file to write the table of all faults to: {formats}")
    group.add_argument("-q", "--quiet", action="store_true", help="print no summary; faults and errors are still reported")


def run(given: argparse.Namespace) -> int:
    """Read, write, print a summary, and return 0."""
    _check_paths(given)
    table = options.read_given(given)
    begun = time.perf_counter()
    if given.rejects:  # first: whenever the result exists, so do its rejects
        write_table(table.rejects, given.rejects)
    write_table(table, given.to)
    seconds = time.perf_counter() - begun
    if not given.quiet:
        print(_summary(given, table, seconds))
    print_faults(table, given.rejects)
    return 0


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _check_paths(given: argparse.Namespace) -> None:
    """Before the read, refuse files that cannot be written, and files that are read themselves."""
    named = [checked_path(file, "FILE") for file in given.file]
    files = [path for file in named if file != options.STDIN for path in (file, *glob.iglob(file, recursive=True))]
    input_files = {os.path.realpath(file): file for file in files}
    for option, path in (("--to", given.to), ("--rejects", given.rejects)):
        if path is None:
            continue
        check_target(path)
        if (real := os.path.realpath(path)) in input_files:
            raise OptionError(f"{option} {path!r} is the same file as {input_files[real]!r}; name another")
        input_files[real] = path


def _summary(given: argparse.Namespace, table: Table, write_seconds: float) -> str:
    report = table.report
    seconds = report.seconds["total"]
    rate = f"{report.bytes / seconds / 1e6:_.1f} MB/s, {report.threads} thread(s)"
    written = " + ".join(f"{os.path.getsize(path):_} bytes" for path in (given.to, given.rejects) if path)
    columns = [f"  {printable(name)}: {kind}" for name, kind in list(table.schema.items())[:_COLUMNS_SHOWN]]
    if table.num_columns > _COLUMNS_SHOWN:
        columns.append(f"  ... and {table.num_columns - _COLUMNS_SHOWN:_} more")
    more = f" and {len(given.file) - 1:_} more" if len(given.file) > 1 else ""
    return "\n".join(
        [
            f"{given.file[0]!r}{more} -> {given.to!r}: {table.num_rows:_} rows, {table.num_columns:_} columns",
            *columns,
            f"records  {records(table)}",
            *(f"renamed  {old} to {new!r}" for old, new in report.renamed.items()),
            f"read     {report.bytes:_} bytes in {seconds:.3f} s: {rate}",
            f"written  {written} in {write_seconds:.3f} s",
        ]
    )
