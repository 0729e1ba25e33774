"""Lists other names of types: those of Python, NumPy, pandas, Polars, Arrow and SQL."""

from __future__ import annotations

import datetime
import re

DICTIONARY = "dictionary[int32, string]"

TYPE_ALIASES = {
    "boolean": "bool",
    "int": "int64",
    "long": "int64",
    "uint": "uint64",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "float": "float64",
    "double": "float64",
    "f32": "float32",
    "f64": "float64",
    "str": "string",
    "utf8": "string",
    "text": "string",
    "object": "string",
    "large_utf8": "large_string",
    "utf8_view": "string_view",
    "category": DICTIONARY,
    "categorical": DICTIONARY,
    "dictionary": DICTIONARY,
    "dictionary<values=string, indices=int32, ordered=0>": DICTIONARY,
    "o": "string",
    "date": "date32",
    "date32[day]": "date32",
    "datetime": "timestamp[us]",
    "datetime64": "timestamp[us]",
    "timestamp": "timestamp[us]",
    "time": "time64[us]",
    "duration": "duration[us]",
    "timedelta": "duration[us]",
    "timedelta64": "duration[us]",
    "interval": "duration[us]",
    "bytes": "binary",
    "blob": "binary",
    "bytea": "binary",
    "varbinary": "binary",
    # Names in SQL.
    "tinyint": "int8",
    "smallint": "int16",
    "integer": "int32",
    "bigint": "int64",
    "utinyint": "uint8",
    "usmallint": "uint16",
    "uinteger": "uint32",
    "ubigint": "uint64",
    "logical": "bool",
    "real": "float32",
    "double precision": "float64",
    "varchar": "string",
    "char": "string",
    "character varying": "string",
    "timestamp_s": "timestamp[s]",
    "timestamp_ms": "timestamp[ms]",
    "timestamp_us": "timestamp[us]",
    "timestamp_ns": "timestamp[ns]",
    "timestamptz": "timestamp[us, UTC]",
    "timestamp with time zone": "timestamp[us, UTC]",
    # Names in NumPy.
    "str_": "string",
    "object_": "string",
    "bytes_": "binary",
}  # names in lower case, and the types that they stand for

UNSUPPORTED_TYPES = {
    "date64": "date32 has the same days",
    "halffloat": "float32 has each of its values",
    "float16": "float32 has each of its values",
    "enum": "use 'category'",
    "int128": "use 'decimal128(38, 0)'",
    "uint128": "use 'decimal128(38, 0)'",
    "hugeint": "use 'decimal128(38, 0)'",
    "uhugeint": "use 'decimal128(38, 0)'",
    "decimal256": "use decimal128, of up to 38 digits",
    **dict.fromkeys(("uuid", "json"), "use 'string'"),
    **dict.fromkeys(
        ("list", "large_list", "fixed_size_list", "array", "struct", "map"), "a field has no nested value; read it as 'string'"
    ),
}  # first words of types of other libraries that no column has, and what to use

TYPE_OF_CLASS: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    datetime.date: "date32",
    datetime.datetime: "timestamp[us]",
    datetime.time: "time64[us]",
    datetime.timedelta: "duration[us]",
    bytes: "binary",
}  # types that Python's classes stand for

_SIZED_TEXT = re.compile(r"(?i:varchar|char|character varying)\s*\(\s*\d+\s*\)|[<>=|]?U\d*")
"""Texts of a greatest length, in SQL and in NumPy. Arrow has no such type."""
_NUMPY_CODE = re.compile(r"[<>=|]?([iuf])([1248])")
_NUMPY_KINDS = {"i": "int", "u": "uint", "f": "float"}
_PANDAS_STORAGE = re.compile(r"\[(?:pyarrow|pyarrow_numpy|python)\]$")


def usual_name(text: str) -> str:
    """Return the text of a type without pandas' storage, and with the name of this package for NumPy's codes and SQL's texts.

    >>> usual_name("int64[pyarrow]"), usual_name("<f4"), usual_name("VARCHAR(20)")
    ('int64', 'float32', 'string')
    """
    text = _PANDAS_STORAGE.sub("", text.strip())
    if _SIZED_TEXT.fullmatch(text):
        return "string"
    code = _NUMPY_CODE.fullmatch(text)
    return text if code is None else f"{_NUMPY_KINDS[code[1]]}{8 * int(code[2])}"
