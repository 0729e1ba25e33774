"""Creates, fills, merges, queries and checks stores: `headrace store`."""

from __future__ import annotations

import argparse
import errno
import json
import sys
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headrace
from headrace import scan_csv
from headrace.api.files import check_target, suffixes, write_table
from headrace.api.picture import printable, table_picture
from headrace.cli.common import options, values
from headrace.cli.common.progress import progress_bar
from headrace.cli.common.targets import check_output, files_read
from headrace.cli.common.words import print_faults
from headrace.cli.row_stream import RejectSpool
from headrace.core.errors import HeadraceError, OptionError, counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace import Store

_ROWS_SHOWN = 1000
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of a full disk, an exhausted quota, and a limit on the size of a file
_EXAMPLES = """\
examples:
  headrace store create trips.store --columns id=int64,fare=float64,day=date32 --key id
  headrace store append trips.store monday.csv tuesday.csv.gz
  headrace store sql trips.store 'select day, sum(fare) from store group by day'
  headrace store alter trips.store --add tip=float64 --default tip=0 --rename fare=price
  headrace store merge trips.store
  headrace store stat trips.store
  headrace store verify trips.store --copy saved.store
"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `store` and its own commands to argparse's `commands`; `epilog` ends their help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "store",
        help="keep rows in a folder: compressed, durable, queried by SQL",
        description="Keep rows in a folder: compressed, durable, and queried by SQL.",
        epilog=_EXAMPLES + "\n" + epilog,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_create(actions)
    _add_append(actions)
    _add_alter(actions)
    _action(actions, "merge", "merge the delta into the main, and drop removed rows", _merge)
    _add_sql(actions)
    stat = _action(actions, "stat", "print sizes of the store and its columns", _stat)
    stat.add_argument("--json", action="store_true", help="print an object")
    verify = _action(actions, "verify", "read all files and check each record; exit code 1 if one is damaged", _verify)
    verify.add_argument("--copy", metavar="FOLDER", help="copy the rows up to the damage to a new store")


def _action(actions: Any, name: str, what: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.set_defaults(run=partial(_with_hint, run))
    parser.add_argument("store", metavar="FOLDER", help="folder of the store")
    return parser


def _with_hint(run: Callable[[argparse.Namespace], int], given: argparse.Namespace) -> int:
    """Run an action. Before the error of a full disk, print what remains and what to do."""
    try:
        return run(given)
    except OSError as error:
        if error.errno in _FULL:
            hint = "rows that were added are safe, and none of the last change was; free space, and repeat it"
            print(f"headrace: {hint}", file=sys.stderr)
        raise


def _add_create(actions: Any) -> None:
    parser = _action(actions, "create", "create a store without rows", _create)
    columns = parser.add_mutually_exclusive_group(required=True)
    columns.add_argument(
        "--columns", dest="schema", type=values.types, metavar="NAME=TYPE,...", help="names and types of the columns"
    )
    columns.add_argument("--like", metavar="FILE", help="delimited text whose columns the store gets; no row is read into it")
    parser.add_argument("--key", metavar="NAME,...", help="columns whose values are distinct together, to find rows by")
    what = "policy for rows whose key is present (default: raise)"
    parser.add_argument("--on-duplicate", choices=("raise", "replace", "keep"), default="raise", help=what)


def _add_append(actions: Any) -> None:
    parser = _action(actions, "append", "add the rows of delimited files, batch by batch", _append)
    options.add_files(parser)
    group = options.add_options(parser, "files", "text", "columns", "work", function=scan_csv, without=("dtypes", "schema"))[
        "work"
    ]
    options.add_scan_options(group)
    parser.add_argument("--rejects", metavar="OUT", help=f"file to write the table of all faults to: {', '.join(suffixes())}")
    parser.add_argument("--on-duplicate", choices=("raise", "replace", "keep"), help="policy for rows whose key is present")
    what = "add all rows or, after an error or a crash, none; by default the batches before it remain"
    parser.add_argument("--atomic", action="store_true", help=what)
    what = "times of syncs: each batch, at most one a second, or at the end (default: always)"
    parser.add_argument("--sync", choices=("always", "batch", "never"), default="always", help=what)


def _add_alter(actions: Any) -> None:
    parser = _action(actions, "alter", "add, drop, rename and widen columns, all in one change", _alter)
    parser.add_argument("--add", type=values.types, metavar="NAME=TYPE,...", help="names and types of new columns")
    what = "value of a new column in the rows that are there, which else have nulls; may be given for each of them"
    parser.add_argument("--default", type=values.types, action="append", default=[], metavar="NAME=VALUE", help=what)
    parser.add_argument("--drop", type=values.names, metavar="NAME,...", help="columns that go")
    parser.add_argument("--rename", type=values.types, metavar="NAME=NEW,...", help="new names of columns")
    what = "types that have all values of the old ones, such as int64 for int32"
    parser.add_argument("--widen", type=values.types, metavar="NAME=TYPE,...", help=what)


def _add_sql(actions: Any) -> None:
    parser = _action(actions, "sql", "run a query of DuckDB; the table is named store", _sql)
    parser.add_argument("query", metavar="QUERY", help="a statement that returns rows")
    parser.add_argument("--to", metavar="OUT", help=f"file to write the result to: {', '.join(suffixes())}")


def _create(given: argparse.Namespace) -> int:
    schema = headrace.read_csv(given.like).schema if given.like is not None else given.schema
    if not isinstance(schema, dict) and given.like is None:
        raise OptionError("--columns must be NAME=TYPE,..., one for each column")
    if _is_store(given.store):
        raise OptionError(f"{given.store!r} has a store already; headrace store append adds rows to it")
    key = given.key if given.key is None or given.key in schema else given.key.split(",")
    with headrace.Store(given.store, schema=schema, key=key, on_duplicate=given.on_duplicate) as store:
        print(f"{given.store!r}: {counted(len(store.schema), 'column')}")
    return 0


def _is_store(folder: str) -> bool:
    try:
        headrace.Store(folder, read_only=True)
    except headrace.SourceError:
        return False
    return True


def _append(given: argparse.Namespace) -> int:
    from headrace.api.store.rows import columns_of_store  # needs NumPy

    if given.rejects is not None:
        check_output("--rejects", given.rejects, files_read(given.file))
    with headrace.Store(given.store, sync=given.sync, on_duplicate=given.on_duplicate) as store, progress_bar() as progress:
        known = options.options_for(scan_csv, given)
        source = options.source_of(given.file)
        own = {"header": True, "dtypes": dict(store.schema)}
        if known.get("header") is False:
            own["names"] = list(store.schema)
        scan = scan_csv(source, **{**own, **known}, progress=progress)
        with columns_of_store():
            spool, rows, duplicates = RejectSpool(scan.rejects_table()), 0, 0
        try:
            for part in [scan] if given.atomic else scan.batches():
                added = store.ingest(part, atomic=True) if isinstance(part, headrace.Scan) else store.append(part)
                rows, duplicates = rows + added, duplicates + added.duplicates
                spool.add(added.rejects)
        except BaseException:  # the batches before it stay in the store, and so do their rejects in the file
            if rows:
                print(f"headrace: before the error, {counted(rows, 'row')} added", file=sys.stderr)
            if given.rejects is not None:
                with suppress(OSError, HeadraceError):  # the first error is the one to show
                    spool.write(given.rejects)
            raise
        if given.rejects is not None:
            spool.write(given.rejects)
        print(f"{given.store!r}: {counted(rows, 'row')} added, {counted(len(store), 'row')}")
    report = scan.report
    if duplicates or report.rejected:
        print(f"left out: {report.rejected:_} rejected, {duplicates:_} by the policy for duplicates")
    print_faults(report, spool.first, given.rejects, command="headrace store append")
    return 0


def _alter(given: argparse.Namespace) -> int:
    defaults = {name: text for one in given.default if isinstance(one, dict) for name, text in one.items()}
    for name, text in defaults.items():
        if (given.add or {}).get(name) not in ("string", "large_string"):
            with suppress(ValueError):  # a date is a text
                defaults[name] = json.loads(text)
    with headrace.Store(given.store) as store:
        store.alter(add=given.add, defaults=defaults, drop=given.drop, rename=given.rename, widen=given.widen)
        print(f"{given.store!r}: {counted(len(store.schema), 'column')}, {counted(len(store), 'row')}")
    return 0


def _merge(given: argparse.Namespace) -> int:
    with headrace.Store(given.store) as store:
        before = _bytes(store.statistics)
        store.merge()
        print(f"{given.store!r}: {counted(len(store), 'row')}, {before} bytes before and {_bytes(store.statistics)} after")
    return 0


def _sql(given: argparse.Namespace) -> int:
    if given.to is not None:
        check_target(given.to)
    found = _reader(given).sql(given.query)
    if given.to is not None:
        write_table(found, given.to)
        return 0
    print(table_picture(found.columns, found.num_rows, max_rows=_ROWS_SHOWN))
    return 0


def _stat(given: argparse.Namespace) -> int:
    store = _reader(given)
    found = store.statistics
    if given.json:
        print(json.dumps(asdict(found), indent=2))
        return 0
    print(
        f"rows     {found.rows:_} = {found.main_rows:_} in the main + {found.delta_rows:_} added - {found.removed_rows:_} removed"
    )
    print(f"bytes    {_bytes(found)}")
    if store.key is not None:
        names = [store.key] if isinstance(store.key, str) else store.key
        print(f"key      {', '.join(map(printable, names))}")
    rows = [("column", "type", "distinct", "bits", "bytes")]
    for name, column in found.columns.items():
        rows.append((printable(name), str(store.schema[name]), f"{column.distinct:_}", str(column.bits), f"{column.nbytes:_}"))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        left = "  ".join(f"{cell:{width}}" for cell, width in zip(row[:2], widths, strict=False))
        print(left, *(f"{cell:>{width}}" for cell, width in zip(row[2:], widths[2:], strict=True)), sep="  ")
    return 0


def _verify(given: argparse.Namespace) -> int:
    if given.copy is not None:
        found = headrace.Store.salvage(given.store, given.copy)
        print(f"{given.copy!r}: {counted(found.rows, 'row')} copied")
        if found.file is not None:
            print(f"headrace: {found.file} at byte {found.offset}: {found.reason}", file=sys.stderr)
        if found.lost_columns:
            print(f"nulls in damaged columns of merged rows: {', '.join(map(printable, found.lost_columns))}")
        return 0 if found.file is None else 1
    try:
        store = _reader(given)
        torn = store.statistics.torn_bytes  # reads all columns
    except headrace.SourceError as error:
        if not any(Path(given.store).glob("*.hrs")):  # there is nothing to verify
            raise
        print(f"headrace: {error}", file=sys.stderr)
        return 1
    print(f"{given.store!r}: {counted(len(store), 'row')}, no damage")
    if torn:
        print(f"the last {torn:_} bytes of the log are no acknowledged rows: a crash has cut it off, or a writer is at work")
    return 0


def _reader(given: argparse.Namespace) -> Store:
    return headrace.Store(given.store, read_only=True)


def _bytes(found: Any) -> str:
    return f"{found.main_bytes + found.delta_bytes:_}"
