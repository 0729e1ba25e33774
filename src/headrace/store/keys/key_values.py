"""Takes the keys of columns and of callers: integers, dates, timestamps and texts of one column."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError, counted, shown
from headrace.core.options import index_of
from headrace.store.dictionary.plain import plain_column

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_ONE_THREAD = Context(threads=1)


class FoundRows(NamedTuple):
    """Row number of each key, and whether it has one: arrays of uint64 and bool."""

    numbers: Any
    found: Any


def check_key_type(name: str, type_: DataType) -> None:
    """Raise OptionError if a column of the type cannot be the key."""
    if not (_code_of(type_) or type_.is_string):
        raise OptionError(f"key names the column {shown(name)} of type {type_}; keys are integers, dates, timestamps or texts")


def check_not_null(column: Column, name: str = "source") -> None:
    """Raise OptionError if a key is null; `name` is for the message."""
    if column.null_count:
        raise OptionError(f"{name}: the key of {counted(column.null_count, 'row')} is null; each row needs a key")


def _code_of(type_: DataType) -> str:
    """Return the type of the integers that a column of numbers consists of, in NumPy's notation; empty for other types."""
    if type_.name in ("date32", "timestamp"):
        return f"<i{type_.bits // 8}"
    if type_.name.startswith(("int", "uint")):
        return f"<{type_.name[0]}{type_.bits // 8}"
    return ""


def keys_of(column: Column, name: str = "source") -> Any:
    """Return the keys of a column: an array of int64 or uint64, or an array of texts as objects; `name` is for messages.

    Raise OptionError if a key is null.
    """
    check_not_null(column, name)
    code = _code_of(column.type)
    if not code:
        keys: Any = np.empty(len(column), object)
        keys[:] = column.to_pylist()
        return keys
    return integers_of(column).astype("<u8" if code[1] == "u" else "<i8")


def integers_of(column: Column) -> Any:
    """Return the integers that a column of numbers, dates or timestamps consists of, without a copy."""
    return np.frombuffer(memoryview(column.values), _code_of(column.type))[column.offset : column.offset + column.length]


def keys_from(values: Any, type_: DataType, name: str) -> Any:
    """Return keys of a caller in the form of `keys_of`: a column, an array, a list or one key.

    Raise OptionError if the values are not of the key's type.
    """
    if isinstance(values, Column):
        values = plain_column(values, _ONE_THREAD)
        if values.type.is_numeric and type_.is_numeric and _code_of(values.type):
            return _integers(keys_of(values, name), type_, name)
        if values.type != type_ and not (values.type.is_string and type_.is_string):
            raise OptionError(f"{name} are of type {values.type}, and the key is of type {type_}")
        return keys_of(values, name)
    listed = values if isinstance(values, list | tuple | range | np.ndarray) else [values]
    if type_.is_string:
        if not all(isinstance(value, str) for value in listed):
            raise OptionError.wrong(name, "texts, as the key", values)
        keys: Any = np.empty(len(listed), object)
        keys[:] = listed
        return keys
    return _instants(listed, type_, name) if type_.name in ("date32", "timestamp") else _integers(listed, type_, name)


def _integers(listed: Any, type_: DataType, name: str) -> Any:
    target = "u8" if type_.name.startswith("uint") else "i8"
    if isinstance(listed, np.ndarray):
        if listed.ndim != 1 or listed.dtype.kind not in "iu":
            raise OptionError.wrong(name, f"integers, as the key of type {type_}", listed)
        keys: Any = listed.astype(target)
        if not ((keys == listed) & ((keys < 0) == (listed < 0))).all():
            raise OptionError(f"{name} have values that {type_} does not have")
        return keys
    numbers = [index_of(value) for value in listed]
    if None in numbers:
        raise OptionError.wrong(name, f"integers, as the key of type {type_}", listed)
    try:
        return np.array(numbers, target)
    except OverflowError:
        raise OptionError(f"{name} have values that {type_} does not have") from None


def _instants(listed: Any, type_: DataType, name: str) -> Any:
    unit = "D" if type_.name == "date32" else type_.unit
    try:
        found = listed if isinstance(listed, np.ndarray) else _moments(listed, unit)
        keys: Any = found.astype(f"M8[{unit}]", casting="same_kind")
        changed = keys.astype(found.dtype) != found  # by a coarser unit, or a finer one of a smaller range
    except (TypeError, ValueError, OverflowError):
        raise OptionError.wrong(name, f"dates or datetimes in UTC, as the key of type {type_}", listed) from None
    if np.isnat(keys).any() or changed.any():
        raise OptionError(f"{name} have values that {type_} does not have")
    return keys.view("i8")


def _moments(listed: Any, unit: str | None) -> Any:
    """Return dates and datetimes as an array of the unit that represents them; integers count the given unit."""
    if all(index_of(value) is not None for value in listed):
        return np.asarray(listed, f"M8[{unit}]")
    return np.asarray([_in_utc(value) for value in listed], "M8")


def _in_utc(value: Any) -> Any:
    is_zoned = isinstance(value, datetime.datetime) and value.tzinfo is not None
    return value.astimezone(datetime.UTC).replace(tzinfo=None) if is_zoned else value


def column_of_keys(keys: Any) -> Column:
    """Return keys, in the form of `keys_of`, as a column of int64, uint64 or large_string.

    Raise OptionError if a text is not valid Unicode.
    """
    if keys.dtype != object:
        return Column(DataType(str(keys.dtype)), len(keys), 0, copy_of(np.ascontiguousarray(keys)))
    try:
        texts = [text.encode() for text in keys]
    except UnicodeEncodeError:
        raise OptionError("keys have a text that is not valid Unicode") from None
    offsets: Any = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Column(DataType("large_string"), len(texts), 0, copy_of(b"".join(texts)), offsets=copy_of(offsets))
