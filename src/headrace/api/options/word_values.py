"""Translates values of words of other readers to options of this one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import Any

from headrace.api.options.parsers import field_types
from headrace.api.options.table import ALIASES, DEFAULTS
from headrace.api.options.word import ForeignCall, Translation
from headrace.columns.types import parse_type
from headrace.core.errors import OptionError, shown
from headrace.core.options import flag, integer
from headrace.structure.dialect import CSV, Dialect

Options = Mapping[str, object]

_NOTHING: Options = {}

PANDAS_NULLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)  # texts that pandas takes for null unless `keep_default_na=False`


_CSV_WORDS = ("delimiter", "quotechar", "doublequote", "escapechar", "skipinitialspace")  # those of Python's `csv.Dialect`


def _one_of(**choices: Options) -> Translation:
    def translate(name: str, value: object, _: ForeignCall) -> Options:
        if value is None:
            return _NOTHING
        if not isinstance(value, str) or value not in choices:
            raise OptionError.unknown(name, value, choices)
        return choices[value]

    return translate


_SKIP = {"short_records": "null", "long_records": "reject"}
missing_columns = _one_of(insert={"union_by_name": True, "include_missing_columns": True}, **{"raise": _NOTHING})
_on_bad_lines = _one_of(error=_NOTHING, skip=_SKIP, warn=_SKIP)


def on_bad_lines(name: str, value: object, call: ForeignCall) -> Options:
    """Translate what pandas does with records of too many fields."""
    if callable(value):
        raise OptionError(f"{name} is a function; pass long_records='reject', and look at table.rejects")
    return _on_bad_lines(name, value, call)


def quoting(name: str, value: object, _: ForeignCall) -> Options:
    """Translate a constant of Python's `csv`."""
    number = integer(name, value, "a constant csv.QUOTE_...", csv.QUOTE_MINIMAL, 5)
    if number == csv.QUOTE_NONNUMERIC:
        raise OptionError(f"{name}=csv.QUOTE_NONNUMERIC: types do not depend on quotes here; pass dtypes=")
    if number > csv.QUOTE_NONE:  # QUOTE_STRINGS and QUOTE_NOTNULL of Python 3.12
        raise OptionError(f"{name}={number}: remove it; quoted fields are never null, unless quoted_null=True")
    return {"quote_char": None} if number == csv.QUOTE_NONE else _NOTHING


def escape(name: str, value: object, call: ForeignCall) -> Options:
    """Translate DuckDB's escape, which is the quote by default."""
    quote = next((call.words[word] for word in ("quote", "quotechar") if word in call.words), call.options["quote_char"])
    return _NOTHING if value is None or value in (quote, "") else {"escape_char": value}


def parse_dates(name: str, value: object, _: ForeignCall) -> Options:
    """Accept columns to parse as dates; refuse to join several columns."""
    if isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(isinstance(one, list | tuple) for one in value)):
        raise OptionError(f"{name} cannot join columns; read them as strings (dtypes=), and join them after the read")
    return _NOTHING


def keep_default_na(name: str, value: object, call: ForeignCall) -> Options:
    """Translate whether the words of pandas are null, together with ``na_values``."""
    given: Any = _pop_option(call, "null_values") or ()
    if not flag(name, value):
        return {"null_values": given}
    if isinstance(given, Mapping):
        return {"null_values": {column: (*PANDAS_NULLS, *_several(texts)) for column, texts in given.items()}}
    return {"null_values": (*PANDAS_NULLS, *_several(given))}


def _several(value: Any) -> Iterable[object]:
    return value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else (value,)


def _pop_option(call: ForeignCall, own: str) -> object:
    """Take an option out of the call, under any of its names; None if it is not given."""
    for word in list(call.words):
        if ALIASES.get(word) == own:
            return call.words.pop(word)
    value, call.options[own] = call.options[own], DEFAULTS[own]
    return None if value is DEFAULTS[own] else value


def infer_schema_length(name: str, value: object, _: ForeignCall) -> Options:
    """Translate the number of records that types are inferred from: 0 for none, otherwise all."""
    is_zero = value is not None and integer(name, value, "an integer from 0 on or None", 0) == 0
    return {"infer_schema": False} if is_zero else _NOTHING


def new_columns(name: str, value: object, call: ForeignCall) -> Options:
    """Translate names that replace those of the header."""
    if value is None:
        return _NOTHING
    has_header = "has_header" in call.words or call.options["header"] != DEFAULTS["header"]
    return {"names": value} if has_header else {"names": value, "header": True}


def hive_types(name: str, value: object, call: ForeignCall) -> Options:
    """Translate the types of the columns of paths, together with those of other columns."""
    if value is None:
        return _NOTHING
    others = field_types("dtypes", _pop_option(call, "dtypes") or {})
    if not isinstance(value, Mapping) or not isinstance(others, Mapping):
        raise OptionError(f"{name} and dtypes must be mappings of names to types, not {shown(value)} and {shown(others)}")
    return {"dtypes": {**others, **value}}


def default_column_type(name: str, value: object, call: ForeignCall) -> Options:
    """Translate the type of columns that ``column_types`` leaves out."""
    if value is None:
        return _NOTHING
    if parse_type(value).name == "string":
        return {"infer_schema": False}
    if "column_types" in call.words or call.options["dtypes"] is not None:
        raise OptionError(f"{name} holds for all columns; pass dtypes= with the types of all columns instead")
    return {"dtypes": value}


def timestamp_format(name: str, value: object, call: ForeignCall) -> Options:
    """Translate DuckDB's format of timestamps, together with its format of dates."""
    if value is None:
        return _NOTHING
    others = _pop_option(call, "date_format")
    return {"date_format": value if others is None else [value, *_several(others)]}


def option_object(name: str, value: object, call: ForeignCall) -> Options:
    """Take the options of an object of `pyarrow.csv` apart: those that differ from their defaults become words of the call."""
    if value is None:
        return _NOTHING
    if type(value).__module__.partition(".")[0] != "pyarrow":
        raise OptionError.wrong(name, "an object of pyarrow.csv, such as ParseOptions", value)
    default = type(value)()
    for word in dir(value):
        if word.startswith("_") or callable(getattr(type(value), word)):
            continue
        found = getattr(value, word)
        if found is None or found == getattr(default, word):
            continue
        if word in call.words or (word in DEFAULTS and call.options[word] is not DEFAULTS[word]):
            raise OptionError(f"{word} and {name} are both given; pass one of them")
        call.words[word] = found
    return _NOTHING


def dialect_options(value: object) -> Options | None:
    """Return the options that a dialect stands for: a `Dialect`, one of Python's `csv`, or its name. None for other values.

    Options of a `Dialect` that have its defaults are omitted.
    """
    if isinstance(value, Dialect):
        return {name: getattr(value, name) for name in Dialect.names() if getattr(value, name) != getattr(CSV, name)}
    if isinstance(value, str):
        value = csv.get_dialect(value) if value in csv.list_dialects() else None
    if isinstance(value, type) and issubclass(value, csv.Dialect):
        value = value()
    if value is None or not all(hasattr(value, name) for name in (*_CSV_WORDS, "quoting")):
        return None
    given: Any = value
    found: dict[str, object] = {ALIASES[name]: getattr(given, name) for name in _CSV_WORDS}
    found |= {name: bool(one) for name, one in found.items() if isinstance(DEFAULTS[name], bool)}
    return found if given.quoting != csv.QUOTE_NONE else found | {"quote_char": None}
