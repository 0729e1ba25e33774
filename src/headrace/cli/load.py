"""Reads delimited files and writes their typed columns batch by batch: `headrace load`."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace import Context, DataType, Table, read_csv, record_contains, scan_csv
from headrace.api.files import final_path, suffixes
from headrace.api.picture import printable
from headrace.api.report import Report
from headrace.cli.common import options, values
from headrace.cli.common.progress import progress_bar
from headrace.cli.common.targets import check_output, files_read
from headrace.cli.common.words import print_faults, records
from headrace.cli.row_stream import STDOUT, RejectSpool, RowCutter, RowStream
from headrace.core.errors import OptionError, counted

_COLUMNS_SHOWN = 30
_DICTIONARY = DataType("dictionary")
_EXAMPLES = """\
examples:
  headrace load trips.csv --to trips.parquet
  headrace load log.tsv --to log.arrow --sep '\\t' --no-header --names when,host,bytes --dtypes bytes=int64
  headrace load raw.csv --to good.parquet --on-error reject --rejects bad.parquet
  headrace load huge.csv --to part.parquet --rows-per-file 10000000 --memory-limit 1GB
  zcat old.csv.gz | headrace load - --to - | sort

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `load` to argparse's `commands`; `epilog` ends its help."""
    formats = _listed(suffixes())
    parser: argparse.ArgumentParser = commands.add_parser(
        "load",
        help="read delimited files and write them in another format",
        description="Read delimited files, infer the types of their columns, and write them batch by batch, "
        f"so that a file may be larger than memory. The suffix names the format: {formats}. "
        "--shrink and dictionaries need the whole table in memory.",
        epilog=_EXAMPLES + epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    what = f"file to write: {formats}; {STDOUT} for CSV on standard output"
    parser.add_argument("--to", metavar="OUT", dest="target", required=True, help=what)
    group = options.add_options(parser, "files", "text", "columns", "work")["work"]
    options.add_scan_options(group)
    what = "greatest memory of the columns of a batch, e.g. 256MB; a batch has at most an eighth of it as text"
    group.add_argument("--memory-limit", type=values.byte_count, metavar="SIZE", default=argparse.SUPPRESS, help=what)
    what = "read only records with this text in their bytes; with several, one of them"
    group.add_argument("--containing", metavar="TEXT", action="append", default=argparse.SUPPRESS, help=what)
    what = "write several files of N rows: OUT-00001.parquet, OUT-00002.parquet, ..."
    group.add_argument("--rows-per-file", type=values.positive_integer, metavar="N", help=what)
    group.add_argument("--rejects", metavar="OUT", help=f"file to write the table of all faults to: {formats}")
    group.add_argument("-q", "--quiet", action="store_true", help="print no summary; faults and errors are still reported")


def run(given: argparse.Namespace) -> int:
    """Read, write, print a summary, and return 0."""
    inputs = _check_paths(given)
    begun = time.perf_counter()
    with progress_bar() as progress:
        source = _whole(given, progress) if _needs_whole(given) else _batches(given, progress)
        spool = RejectSpool(source.rejects)
        written = _write(given, source, spool, inputs)
    report = source.report()
    if not given.quiet and given.target != STDOUT:
        print(_summary(given, source, written, time.perf_counter() - begun))
    print_faults(report, spool.first, given.rejects)
    return 0


@dataclass(frozen=True, slots=True)
class _Source:
    like: Table
    rejects: Table  # tables without rows: of the columns, and of the rejects
    tables: Iterator[Table]  # the batches
    report: Callable[[], Report]  # returns the report, once all batches have been read


def _needs_whole(given: argparse.Namespace) -> bool:
    """Return whether the columns depend on all values: smaller types, and dictionaries."""
    dtypes = getattr(given, "dtypes", {})
    kinds = [dtypes] if isinstance(dtypes, str) else list(dtypes.values())
    if getattr(given, "strings", "") == "dictionary":
        return True
    return getattr(given, "shrink", False) or any(kind == _DICTIONARY for kind in kinds)


def _whole(given: argparse.Namespace, progress: Any) -> _Source:
    for name in ("batch_bytes", "containing"):
        if hasattr(given, name):
            raise OptionError(f"--shrink and dictionaries need the whole table; remove --{name.replace('_', '-')}")
    known = options.options_for(read_csv, given)
    if hasattr(given, "memory_limit"):
        known["context"] = Context(memory_limit=given.memory_limit)
    table = read_csv(options.source_of(given.file), **known, progress=progress)
    return _Source(table[:0], table.rejects[:0], iter([table]), lambda: table.report)


def _batches(given: argparse.Namespace, progress: Any) -> _Source:
    known = options.options_for(scan_csv, given)
    if hasattr(given, "containing"):
        known["where"] = record_contains(*given.containing)
    scan = scan_csv(options.source_of(given.file), **known, to="cpu", progress=progress)
    return _Source(scan.schema_table(), scan.rejects_table(), scan.batches(), lambda: scan.report)


def _write(given: argparse.Namespace, source: _Source, spool: RejectSpool, inputs: dict[str, str]) -> list[str]:
    """Write all rows, and the rejects; return the names of the files of rows."""

    def tables() -> Iterator[Table]:
        for table in source.tables:
            spool.add(table.rejects)
            yield table
        if given.rejects:  # before a file of rows gets its name: if the result exists, so do its rejects
            spool.write(given.rejects)

    if given.rows_per_file is None:
        RowStream(source.like, tables()).write(given.target)
        return [given.target]
    return _write_parts(given, source.like, RowCutter(tables()), inputs)


def _write_parts(given: argparse.Namespace, like: Table, cutter: RowCutter, inputs: dict[str, str]) -> list[str]:
    """Write several files of rows; return their names. They get these names when all are whole, so an error leaves none."""
    written: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix=".headrace-", dir=os.path.dirname(given.target) or ".") as folder:
        while cutter.has_rows() or not written:
            target = numbered(given.target, len(written) + 1)
            check_output("--to", target, inputs)
            written[target] = os.path.join(folder, os.path.basename(target))
            RowStream(like, cutter.take(given.rows_per_file)).write(written[target])
        for target, part in written.items():
            os.replace(part, final_path(target))
    return list(written)


def numbered(path: str, number: int) -> str:
    """Return the name of one of several files.

    >>> numbered("out/trips.csv.gz", 7)
    'out/trips-00007.csv.gz'
    """
    folder, name = os.path.split(path)
    suffixes = Path(name).suffixes[-2:]
    end = "".join(suffixes) if suffixes[0].lower() in (".csv", ".tsv") else suffixes[-1]
    return os.path.join(folder, f"{name.removesuffix(end)}-{number:05}{end}")


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _check_paths(given: argparse.Namespace) -> dict[str, str]:
    """Before the read, refuse files that cannot be written, or that are read; return the files that are read, by real path."""
    used = files_read(given.file)
    if given.target == STDOUT and given.rows_per_file is not None:
        raise OptionError("--rows-per-file needs the name of a file; --to - is one stream")
    if given.target != STDOUT:
        check_output("--to", given.target, used)
    if given.rejects is not None:
        check_output("--rejects", given.rejects, {**used, os.path.realpath(given.target): given.target})
    return used


def _summary(given: argparse.Namespace, source: _Source, written: list[str], seconds: float) -> str:
    report, schema = source.report(), source.like.schema
    rate = f"{report.bytes / seconds / 1e6:_.1f} MB/s, {report.threads} thread(s)"
    sizes = [f"{sum(map(os.path.getsize, written)):_} bytes"]
    sizes += [f"{os.path.getsize(given.rejects):_} bytes"] if given.rejects else []
    columns = [f"  {printable(name)}: {kind}" for name, kind in list(schema.items())[:_COLUMNS_SHOWN]]
    if len(schema) > _COLUMNS_SHOWN:
        columns.append(f"  ... and {len(schema) - _COLUMNS_SHOWN:_} more")
    more = f" and {len(given.file) - 1:_} more" if len(given.file) > 1 else ""
    targets = repr(written[0]) + (f" to {written[-1]!r}" if len(written) > 1 else "")
    return "\n".join(
        [
            f"{given.file[0]!r}{more} -> {targets}: {counted(report.rows, 'row')}, {counted(len(schema), 'column')}",
            *columns,
            f"records  {records(report)}",
            *(f"renamed  {old} to {new!r}" for old, new in report.renamed.items()),
            f"read     {report.bytes:_} bytes in {seconds:.3f} s: {rate}",
            f"written  {' + '.join(sizes)}",
        ]
    )
