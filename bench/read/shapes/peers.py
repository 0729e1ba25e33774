"""Defines the readers of a shape's file. Each gets the types, and the shape's options in the form of its own.

A reader is a function of path, shape and threads that returns a function, which reads once. If a library lacks an option, the
function raises, and the library takes no part in that shape.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.read.contenders import Read, arrow_type, duckdb_query
from bench.read.shapes.shape import Shape

DATE_FORMATS = {
    "date32": "%Y-%m-%d",
    "timestamp[s]": "%Y-%m-%d %H:%M:%S",
    "timestamp[us]": "%Y-%m-%d %H:%M:%S",
    "timestamp[us, UTC]": "%Y-%m-%dT%H:%M:%S%.fZ",
}
"""chrono's formats by type, for Polars."""
_SQL = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT",
    "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "float32": "FLOAT", "float64": "DOUBLE", "date32": "DATE",
    "timestamp[s]": "TIMESTAMP_S", "timestamp[us]": "TIMESTAMP", "timestamp[us, UTC]": "TIMESTAMPTZ", "time32[s]": "TIME",
    "time64[us]": "TIME", "duration[us]": "INTERVAL", "decimal128(12, 2)": "DECIMAL(12, 2)",
}  # fmt: skip
_PANDAS = {
    "bool": "boolean", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8", "uint16": "UInt16",
    "uint32": "UInt32", "uint64": "UInt64", "float32": "float32", "float64": "float64", "string": "str", "large_string": "str",
}  # fmt: skip


class UnsupportedError(Exception):
    """A library has no such option."""


def headrace(path: Path, shape: Shape, threads: int) -> Read:
    """Headrace's reader. It infers the types, unless the shape gives them."""
    import headrace

    return lambda: headrace.read_csv(path, **shape.read_options, threads=threads)


def pyarrow(path: Path, shape: Shape, threads: int) -> Read:
    """PyArrow's reader."""
    import pyarrow as pa
    from pyarrow import csv

    given = dict(shape.options)
    types = {name: arrow_type(text) for name, text in _tolerant(shape, given, tolerates=False).items()}
    if given.get("strings") == "dictionary":
        types |= {name: pa.dictionary(pa.int32(), type_) for name, type_ in types.items() if pa.types.is_string(type_)}
    parse = csv.ParseOptions(
        delimiter=given.pop("sep", ","),
        quote_char=given.pop("quote_char", '"') or False,
        double_quote=given.pop("double_quote", True),
        escape_char=given.pop("escape_char", False),
        newlines_in_values=shape.facts.breaks,
    )
    convert = csv.ConvertOptions(column_types=types, decimal_point=given.pop("decimal", "."))
    for name, key in (("null_values", "null_values"), ("true_values", "true_values"), ("false_values", "false_values")):
        if key in given:
            setattr(convert, name, given.pop(key))
    if "date_format" in given:  # for times alone: dates are read as times at midnight
        convert.timestamp_parsers = [given.pop("date_format")]
        convert.column_types = {name: pa.timestamp("s") if pa.types.is_date(type_) else type_ for name, type_ in types.items()}
    longest = {"block_size": 16 << 20} if shape.facts.breaks else {}
    read = csv.ReadOptions(encoding=given.pop("encoding", "utf8"), **longest)
    _all_translated(given, "strings")

    def read_all() -> Any:
        pa.set_cpu_count(threads)
        return csv.read_csv(path, read_options=read, parse_options=parse, convert_options=convert)

    return read_all


def polars(path: Path, shape: Shape, threads: int) -> Read:
    """Polars' lazy reader. It reads dates and times as text and parses them with a given format, which is fastest."""
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl

    given = dict(shape.options)
    plain = {"bool": pl.Boolean, "float32": pl.Float32, "float64": pl.Float64, "decimal128(12, 2)": pl.Decimal(12, 2)}
    plain |= {
        f"{sign}int{bits}": getattr(pl, f"{'U' if sign else ''}Int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
    }
    if given.get("strings") == "dictionary":
        plain["string"] = pl.Categorical
    types = _tolerant(shape, given, tolerates=given.get("on_error") != "reject")
    parsed = [_polars_time(name, text, shape) for name, text in types.items() if text.startswith(("date", "time", "duration"))]
    options: dict[str, Any] = {"schema": {name: plain.get(text, pl.String) for name, text in types.items()}}
    options |= {"separator": given.pop("sep", ","), "quote_char": given.pop("quote_char", '"')}
    options |= {"decimal_comma": given.pop("decimal", ".") == ",", "ignore_errors": given.pop("on_error", "") == "null"}
    if "null_values" in given:
        options["null_values"] = given.pop("null_values")
    if "comment" in given:
        options["comment_prefix"] = given.pop("comment")
    _all_translated(given, "date_format", "strings", "short_records")
    return lambda: pl.scan_csv(path, **options).with_columns(parsed).collect(engine="streaming")


def _polars_time(name: str, text: str, shape: Shape) -> Any:
    import polars as pl

    if text.startswith("duration"):
        raise UnsupportedError(text)
    column = pl.col(name).str
    if text.startswith(("time32", "time64")):
        return column.to_time("%H:%M:%S%.f")
    form = shape.facts.formats.get(text, DATE_FORMATS[text])
    if text == "date32":
        return column.to_date(form)
    zone = "UTC" if "UTC" in text and not form.endswith("%z") else None
    return column.to_datetime(form, time_unit="us", time_zone=zone)


def duckdb(path: Path, shape: Shape, threads: int) -> Read:
    """DuckDB into an Arrow table, order kept."""
    return duckdb_query(_query(path, shape), threads)


def _query(path: Path, shape: Shape) -> str:
    """Return the query of DuckDB."""
    given = dict(shape.options)
    types = _tolerant(shape, given, tolerates=given.get("on_error") != "null")
    columns = ", ".join(f"'{name}': '{_SQL.get(text, 'VARCHAR')}'" for name, text in types.items())
    quote = given.pop("quote_char", '"') or ""
    escape = given.pop("escape_char", quote)
    given.pop("double_quote", None)
    options = {
        "columns": f"{{{columns}}}",
        "delim": _sql_text(given.pop("sep", ",")),
        "quote": _sql_text(quote),
        "escape": _sql_text(escape),
    }
    if given.pop("lenient_quotes", False):
        options["strict_mode"] = "false"
        given.pop("on_error", None)
    if given.pop("on_error", "") == "reject":
        options["ignore_errors"] = "true"
    if given.pop("short_records", "") == "null":
        options["null_padding"] = "true"
    for name, key in (
        ("decimal", "decimal_separator"),
        ("thousands", "thousands"),
        ("comment", "comment"),
        ("encoding", "encoding"),
    ):
        if name in given:
            options[key] = _sql_text(given.pop(name))
    if "null_values" in given:
        options["nullstr"] = _sql_text(given.pop("null_values")[0])
    if "date_format" in given:
        form = _sql_text(given.pop("date_format"))
        options |= {"dateformat": form} if "date32" in shape.types else {"timestampformat": form}
    _all_translated(given, "strings")
    return f"from read_csv('{path}', header=true, auto_detect=false, {', '.join(f'{k}={v}' for k, v in options.items())})"


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def pandas(path: Path, shape: Shape, threads: int) -> Read:
    """Pandas by its PyArrow engine with Arrow types, or by its own parser of one thread for shapes with options."""
    import pandas as pd
    import pyarrow as pa

    pa.set_cpu_count(threads)
    temporal = [name for name, text in shape.schema.items() if text.startswith(("date", "timestamp"))]
    given = dict(shape.options)
    plain = {**_PANDAS, "string": "category"} if given.get("strings") == "dictionary" else _PANDAS
    if plain is _PANDAS and not given.keys() - {"strings"} and not shape.facts.breaks:
        return lambda: pd.read_csv(path, parse_dates=temporal, engine="pyarrow", dtype_backend="pyarrow")
    types = _tolerant(shape, given, tolerates=False)
    options: dict[str, Any] = {
        "parse_dates": temporal,
        "dtype": {k: plain.get(v, v) for k, v in types.items() if k not in temporal},
    }
    if "quote_char" in given and given.pop("quote_char") is None:
        options["quoting"] = 3
    names = {"sep": "sep", "decimal": "decimal", "thousands": "thousands", "comment": "comment", "encoding": "encoding"}
    names |= {
        "null_values": "na_values",
        "true_values": "true_values",
        "false_values": "false_values",
        "date_format": "date_format",
    }
    names |= {"escape_char": "escapechar", "double_quote": "doublequote", "skip_initial_space": "skipinitialspace"}
    options |= {names[name]: given.pop(name) for name in list(given) if name in names}
    if len(options.get("sep", ",")) > 1:
        raise UnsupportedError("sep of two bytes")
    _all_translated(given, "strings", "short_records")
    return lambda: pd.read_csv(path, engine="c", **options)


def _tolerant(shape: Shape, given: dict[str, Any], *, tolerates: bool) -> dict[str, str]:
    """Return the types by name. A reader without such a policy for faults reads the columns with faults as text."""
    if tolerates or not shape.facts.as_text:
        return dict(shape.schema)
    given.pop("on_error")
    return {name: "string" if i in shape.facts.as_text else text for i, (name, text) in enumerate(shape.schema.items())}


def _all_translated(given: dict[str, Any], *needless: str) -> None:
    """Raise unless all options are translated or without meaning for the library."""
    if rest := given.keys() - {*needless}:
        raise UnsupportedError(f"no option for {', '.join(sorted(rest))}")


READERS: dict[str, Callable[[Path, Shape, int], Read]] = {
    "headrace": headrace,
    "pyarrow": pyarrow,
    "polars": polars,
    "duckdb": duckdb,
    "pandas": pandas,
}
"""Readers by name, headrace first."""
PEERS = tuple(READERS)[1:]
