"""`headrace load`: a delimited file to a file of typed columns."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import time
from typing import Any

from headrace import Table, read_csv
from headrace.api.files import check_target, write_table
from headrace.core.errors import OptionError

_FAULTS_SHOWN = 5
_COLUMNS_SHOWN = 30
_TEXT_SHOWN = 60
_EXAMPLES = """\
examples:
  headrace load trips.csv --to trips.parquet
  headrace load log.tsv --to log.arrow --sep '\\t' --no-header --names when,host,bytes --dtypes bytes=int64
  headrace load raw.csv --to good.parquet --on-error reject --rejects bad.parquet

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `load` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "load",
        help="read a delimited file and write it as Parquet or Arrow",
        description="Read a delimited file, find the types of its columns, and write it as Parquet or Arrow.",
        epilog=_EXAMPLES + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument("file", metavar="FILE", help="delimited text (/dev/stdin for a pipe)")
    parser.add_argument(
        "--to", metavar="OUT", required=True, help="file to write: .parquet, .arrow, .feather, .csv, .tsv or .duckdb"
    )
    _add_dialect(parser.add_argument_group("the text"))
    _add_columns(parser.add_argument_group("the columns"))
    _add_work(parser.add_argument_group("the work"))


def _add_dialect(group: Any) -> None:
    group.add_argument("--sep", default=",", help=r"what separates fields, 1 to 8 bytes; '\t' is a tab (default: comma)")
    group.add_argument("--quote", default='"', metavar="CHAR", help="what encloses fields; '' for nothing (default: \")")
    group.add_argument("--escape", metavar="CHAR", help="what makes the next byte data (default: nothing)")
    group.add_argument("--comment", metavar="PREFIX", help="leave out lines that begin so (default: none)")
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header",
        action="store_true",
        default="infer",
        help="the first record holds the names (default: if all of it is text)",
    )
    header.add_argument("--no-header", action="store_false", dest="header", help="the first record is data")


def _add_columns(group: Any) -> None:
    group.add_argument("--names", type=_names, metavar="A,B,...", help="names of the columns")
    group.add_argument(
        "--dtypes",
        type=_dtypes,
        metavar="NAME=TYPE,...",
        help="types of some columns, or one type for all, e.g. string; the others are found in the data",
    )
    group.add_argument(
        "--null",
        action="append",
        metavar="TEXT",
        help="text that means null; repeat for several; it replaces the default, which is the empty field ('')",
    )
    group.add_argument("--shrink", action="store_true", help="give each column the smallest type that holds it")


def _add_work(group: Any) -> None:
    group.add_argument(
        "--on-error",
        choices=("raise", "null", "reject"),
        default="raise",
        help="bad data: stop at the first (raise, the default), make the field null, or reject the record",
    )
    group.add_argument("--rejects", metavar="OUT", help="also write a table of all faults: a file like --to's")
    group.add_argument("--threads", type=int, metavar="N", help="at most so many threads (default: all cores)")
    group.add_argument("-q", "--quiet", action="store_true", help="no summary; faults and errors are still told")


def run(given: argparse.Namespace) -> int:
    """Load, write, tell; 0."""
    _check_paths(given)
    table = read_csv(
        given.file,
        sep=given.sep.replace("\\t", "\t"),
        quote_char=given.quote or None,
        escape_char=given.escape or None,
        comment=given.comment or None,
        header=given.header,
        names=given.names,
        dtypes=given.dtypes,
        null_values=("",) if given.null is None else given.null,
        on_error=given.on_error,
        shrink=given.shrink,
        threads=given.threads,
    )
    begun = time.perf_counter()
    if given.rejects:  # first, so that the result is never there without what it lacks
        write_table(table.rejects, given.rejects)
    write_table(table, given.to)
    seconds = time.perf_counter() - begun
    if not given.quiet:
        print(_summary(given, table, seconds))
    if table.report.faults:
        print(_faults(given, table), file=sys.stderr)
    return 0


def _check_paths(given: argparse.Namespace) -> None:
    """Refuse what cannot be written, or would overwrite what is read, before the read."""
    taken = {os.path.realpath(given.file): given.file}
    for option, path in (("--to", given.to), ("--rejects", given.rejects)):
        if path is None:
            continue
        check_target(path)
        if (real := os.path.realpath(path)) in taken:
            raise OptionError(f"{option} {path!r} is the same file as {taken[real]!r}; name another")
        taken[real] = path


def _summary(given: argparse.Namespace, table: Table, write_seconds: float) -> str:
    report, skipped = table.report, table.report.skipped
    seconds = report.seconds["total"]
    rate = f"{report.bytes / seconds / 1e6:_.1f} MB/s, {report.threads} thread(s)"
    written = " + ".join(f"{os.path.getsize(path):_} bytes" for path in (given.to, given.rejects) if path)
    columns = [f"  {_printable(name)}: {kind}" for name, kind in list(table.schema.items())[:_COLUMNS_SHOWN]]
    if table.num_columns > _COLUMNS_SHOWN:
        columns.append(f"  ... and {table.num_columns - _COLUMNS_SHOWN:_} more")
    return "\n".join(
        [
            f"{given.file!r} -> {given.to!r}: {table.num_rows:_} rows, {table.num_columns:_} columns",
            *columns,
            f"records  {report.records:_} = {report.rows:_} rows + {report.rejected:_} rejected + {skipped.total:_} skipped "
            f"({skipped})",
            *(f"renamed  {old} to {new!r}" for old, new in report.renamed.items()),
            f"read     {report.bytes:_} bytes in {seconds:.3f} s: {rate}",
            f"written  {written} in {write_seconds:.3f} s",
        ]
    )


def _printable(text: str) -> str:
    """`text` with an escape in place of each character that could steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _faults(given: argparse.Namespace, table: Table) -> str:
    """Number of faults, the first few of them, and where the others are."""
    count = table.report.faults
    lines = [f"headrace: {count:_} {'fault' if count == 1 else 'faults'}, {table.report.rejected:_} records rejected"]
    first = table.rejects[:_FAULTS_SHOWN].to_pydict()
    lines += [_fault(dict(zip(first, row, strict=True))) for row in zip(*first.values(), strict=True)]
    if given.rejects:
        lines.append(f"  all of them: {given.rejects!r}")
    elif count > _FAULTS_SHOWN:
        lines.append(f"  and {count - _FAULTS_SHOWN:_} more; --rejects FILE keeps them all")
    return "\n".join(lines)


def _fault(fault: dict[str, Any]) -> str:
    text = fault["text"] if fault["field"] is None else fault["field"]
    shown = repr(text if len(text) <= _TEXT_SHOWN else text[:_TEXT_SHOWN] + "...")
    where = f"  record {fault['record']}, line {fault['line']}, byte {fault['byte']}"
    column = f", column {fault['column']!r}" if fault["column"] is not None else ""
    expected = f", expected {fault['expected']}" if fault["expected"] is not None else ""
    return f"{where}{column}: {fault['kind']}{expected}: {shown}"


def _names(text: str) -> list[str]:
    """Names between commas; one with a comma in it stands in quotes."""
    return next(csv.reader([text]), [])


def _dtypes(text: str) -> dict[str, str] | str:
    """Types by column; a comma inside brackets belongs to the type, as in ``sum=decimal128(12, 2)``."""
    parts = [part.strip() for part in re.split(r",(?![^\[(]*[\])])", text)]
    if text and len(parts) == 1 and "=" not in text:
        return text
    types: dict[str, str] = {}
    for part in parts:
        name, equals, kind = part.rpartition("=")
        if not (name and equals and kind):
            raise argparse.ArgumentTypeError(f"{part!r} is not NAME=TYPE, e.g. price=float64")
        if name in types:
            raise argparse.ArgumentTypeError(f"the type of {name!r} is given twice")
        types[name] = kind
    return types
