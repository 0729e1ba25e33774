"""Formats the columns of a table as SQL, with DuckDB's type names."""

from __future__ import annotations

from collections.abc import Mapping

from headrace import DataType


def create_table(name: str, schema: Mapping[str, DataType]) -> str:
    """Return a statement that creates a table with these columns.

    Examples
    --------
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
