"""Defines the readers that are compared. Each gets the same types, in the form of its own options.

A contender is a function of path, case and threads that returns a function, which reads once. Its result has an Arrow stream.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.read.cases import Case

Read = Callable[[], Any]
_DATE, _TIME = "%Y-%m-%d", "%Y-%m-%d %H:%M:%S"


def headrace(path: Path, case: Case, threads: int) -> Read:
    """Headrace's reader, types given."""
    import headrace

    options: dict[str, Any] = {"threads": threads, "header": case.header}
    if case.types:
        options["schema"] = case.types
    return lambda: headrace.read_csv(path, **options)


def pyarrow(path: Path, case: Case, threads: int) -> Read:
    """PyArrow's reader, types given."""
    import pyarrow as pa
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types={name: arrow_type(text) for name, text in case.types.items()})
    read = csv.ReadOptions(column_names=None if case.header else list(case.types))
    parse = csv.ParseOptions(newlines_in_values=case.quotes)

    def read_all() -> Any:
        pa.set_cpu_count(threads)
        return csv.read_csv(path, read_options=read, parse_options=parse, convert_options=convert)

    return read_all


def polars(path: Path, case: Case, threads: int) -> Read:
    """Polars' lazy reader. It reads dates as text, then parses them with a given format, which is its fastest method."""
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl

    numbers = {"int8": pl.Int8, "int16": pl.Int16, "int32": pl.Int32, "int64": pl.Int64}
    numbers |= {"float32": pl.Float32, "float64": pl.Float64}
    schema = {name: numbers.get(text, pl.String) for name, text in case.types.items()}
    dates = [pl.col(name).str.to_date(_DATE) for name, text in case.types.items() if text == "date32"]
    times = [pl.col(name).str.to_datetime(_TIME) for name, text in case.types.items() if text.startswith("timestamp")]
    options: dict[str, Any] = {"has_header": case.header}
    options |= {"schema": schema} if case.types else {"try_parse_dates": True, "infer_schema_length": 10_000}
    return lambda: pl.scan_csv(path, **options).with_columns(dates + times).collect(engine="streaming")


def duckdb(path: Path, case: Case, threads: int) -> Read:
    """DuckDB into an Arrow table, types given, order kept."""
    return duckdb_query(_sql(path, case), threads)


def duckdb_query(query: str, threads: int) -> Read:
    """Run a query of DuckDB into an Arrow table, order kept, with times in UTC."""
    import duckdb

    def read() -> Any:
        connection = duckdb.connect()
        connection.execute(f"set threads={threads}; set timezone='UTC'")
        return connection.sql(query).to_arrow_table()

    return read


def duckdb_table(path: Path, case: Case, threads: int) -> Read:
    """DuckDB into a table of its own, in memory, types given, order kept."""
    import duckdb

    query = _sql(path, case)

    def read() -> Any:
        connection = duckdb.connect()
        connection.execute(f"set threads={threads}")
        connection.execute(f"create table t as {query}")
        return connection.table("t")

    return read


def _sql(path: Path, case: Case) -> str:
    columns = ", ".join(f"'{name}': '{_SQL[text]}'" for name, text in case.types.items())
    given = f", columns={{{columns}}}, auto_detect=false, delim=',', quote='\"', escape='\"'" if case.types else ""
    return f"from read_csv('{path}', header={str(case.header).lower()}{given})"


def pandas_c(path: Path, case: Case, threads: int) -> Read:
    """Pandas' own parser, which has one thread."""
    del threads
    return _pandas(path, case, {"engine": "c"})


def pandas_pyarrow(path: Path, case: Case, threads: int) -> Read:
    """Pandas over PyArrow's parser, Arrow types kept."""
    import pyarrow as pa

    pa.set_cpu_count(threads)
    return _pandas(path, case, {"engine": "pyarrow", "dtype_backend": "pyarrow"})


def _pandas(path: Path, case: Case, engine: dict[str, str]) -> Read:
    import pandas as pd

    temporal = [name for name, text in case.types.items() if text.startswith(("date", "timestamp"))]
    dtypes = {name: _PANDAS.get(text, text) for name, text in case.types.items() if name not in temporal}
    options: dict[str, Any] = {"parse_dates": temporal, **engine}
    options |= {"dtype": dtypes} if engine["engine"] == "c" else {}
    options |= {} if case.header else {"header": None, "names": list(case.types)}
    return lambda: pd.read_csv(path, **options)


def plain_read(path: Path, case: Case | None, threads: int) -> Read:
    """The limit: one thread reads the file's bytes into a buffer."""
    del case, threads
    buffer = bytearray(16 << 20)

    def read() -> None:
        with contextlib.closing(path.open("rb", buffering=0)) as file:
            while file.readinto(buffer):
                pass

    return read


def arrow_type(text: str) -> Any:
    """Return PyArrow's type for the name of a type."""
    import pyarrow as pa

    name, _, parameters = text.rstrip("])").replace("(", "[").partition("[")
    if name == "decimal128":
        return pa.decimal128(*map(int, parameters.split(",")))
    if name == "bool":
        return pa.bool_()
    return getattr(pa, name)(*parameters.split(", ")) if parameters else getattr(pa, name)()


_SQL = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "string": "VARCHAR",
    "date32": "DATE",
    "timestamp[s]": "TIMESTAMP_S",
}
_PANDAS = {"string": "str", "int8": "Int8", "int16": "Int16", "int64": "Int64", "int32": "Int32"}

CONTENDERS: dict[str, Callable[[Path, Case, int], Read]] = {
    "headrace": headrace,
    "pyarrow": pyarrow,
    "polars": polars,
    "duckdb": duckdb,
    "duckdb_table": duckdb_table,
    "pandas_c": pandas_c,
    "pandas_pyarrow": pandas_pyarrow,
    "plain_read": plain_read,
}
LIMITS = ("plain_read",)
