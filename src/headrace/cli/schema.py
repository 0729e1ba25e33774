"""Shows the columns of a text, their types, and the record that forced each: `headrace schema`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from headrace import DataType
from headrace.api.picture import printable
from headrace.api.report import ColumnReport
from headrace.cli.common import options
from headrace.cli.common.words import print_table_faults, shown


def add_parser(commands: Any, epilog: str) -> None:
    """Add `schema` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "schema",
        help="show names, types, nulls, and the record that forced each type",
        description="Show the name, type and number of nulls of each column of the whole input, and the record that forced "
        "each type.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON list of objects")
    form.add_argument("--sql", action="store_true", help="print a CREATE TABLE statement with DuckDB's type names")
    options.add_options(parser, "files", "text", "columns", "work", defaults={"on_error": "null"})


def run(given: argparse.Namespace) -> int:
    """Read, print, and return 0."""
    table = options.read_given(given)
    columns = table.report.columns
    if given.json:
        print(json.dumps([_as_object(column) for column in columns], indent=2))
    elif given.sql:
        file = given.file[0]
        name = "stdin" if file == options.STDIN else os.path.basename(file).partition(".")[0]
        print(create_table(name, table.schema))
    else:
        print(_as_text(columns))
    print_table_faults(table)
    return 0


def _as_text(columns: Sequence[ColumnReport]) -> str:
    rows = [("name", "type", "nulls", "evidence")]
    rows += [(printable(column.name), str(column.type), f"{column.nulls:_}", _evidence(column)) for column in columns]
    name, kind, nulls = (max(len(row[i]) for row in rows) for i in range(3))
    return "\n".join(f"{row[0]:{name}}  {row[1]:{kind}}  {row[2]:>{nulls}}  {row[3]}" for row in rows)


def _evidence(column: ColumnReport) -> str:
    if not column.inferred:
        return "given"
    if column.evidence is None:
        return "no value"
    file = f"{column.evidence.file!r} " if column.evidence.file is not None else ""
    return f"{file}record {column.evidence.record:_}: {shown(_text(column))}"


def _text(column: ColumnReport) -> str:
    return "" if column.evidence is None else column.evidence.text.decode("utf-8", "backslashreplace")


def _as_object(column: ColumnReport) -> dict[str, Any]:
    found = column.evidence
    evidence = found and {"record": found.record, "byte": found.byte, "text": _text(column), "file": found.file}
    return {
        "name": column.name,
        "type": str(column.type),
        "nulls": column.nulls,
        "inferred": column.inferred,
        "evidence": evidence,
    }


def create_table(name: str, schema: Mapping[str, DataType]) -> str:
    """Return a statement that creates a table with these columns.

    >>> print(create_table("t", {"a": DataType("int8"), "b": DataType("string")}))
    CREATE TABLE "t" (
      "a" TINYINT,
      "b" VARCHAR
    );
    """
    columns = ",\n".join(f"  {_quoted(column)} {kind.sql_name}" for column, kind in schema.items())
    return f"CREATE TABLE {_quoted(name)} (\n{columns}\n);"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
