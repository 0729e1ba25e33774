"""Formats the columns of a table as SQL, with DuckDB's type names."""

from __future__ import annotations

from collections.abc import Mapping

from headrace import DataType

_NAMES = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "date32": "DATE",
    "time32": "TIME",
    "time64": "TIME",
    "duration": "INTERVAL",
    "binary": "BLOB",
    "large_binary": "BLOB",
}
_TIMESTAMPS = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}


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
    columns = ",\n".join(f"  {_quoted(column)} {_sql_type(kind)}" for column, kind in schema.items())
    return f"CREATE TABLE {_quoted(name)} (\n{columns}\n);"


def _sql_type(kind: DataType) -> str:
    if kind.name == "decimal128":
        return str(kind).replace("decimal128", "DECIMAL")
    if kind.name == "timestamp":
        return "TIMESTAMP WITH TIME ZONE" if kind.tz else _TIMESTAMPS[kind.unit or "us"]
    return _NAMES.get(kind.name, "VARCHAR")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
