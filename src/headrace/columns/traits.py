"""Lists what depends on a column type's name alone: a row for each type (`TRAITS`), and for each family (`FAMILIES`).

Other modules read these tables instead of listing types. A test compares them with the native list in ``core/types.def``.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, NamedTuple

UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # units of timestamps, times and durations per second

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DATE = datetime.date(1970, 1, 1)


class Traits(NamedTuple):
    """Properties of a type that depend on its name alone."""

    family: str  # key of `FAMILIES`: types of one family are converted and compared alike
    arrow: str  # format of the Arrow C data interface, with ``{unit}``, ``{tz}``, ``{precision}`` and ``{scale}``
    bits: int  # bits of one value; of one offset for strings and bytes
    struct: str  # format of one value (or offset) for `struct`; empty if it has none
    sql: str  # DuckDB's type, with ``{precision}`` and ``{scale}``. Empty for timestamps, whose name depends on unit and zone.
    numpy: str = ""  # NumPy dtype of `Column.to_numpy`, with ``{unit}``; empty if that returns objects
    units: tuple[str, ...] = ()  # units that the type may have; empty if it has none


TRAITS: dict[str, Traits] = {
    "bool": Traits("bool", "b", 1, "?", "BOOLEAN", "bool"),
    "int8": Traits("integer", "c", 8, "b", "TINYINT", "int8"),
    "int16": Traits("integer", "s", 16, "h", "SMALLINT", "int16"),
    "int32": Traits("integer", "i", 32, "i", "INTEGER", "int32"),
    "int64": Traits("integer", "l", 64, "q", "BIGINT", "int64"),
    "uint8": Traits("integer", "C", 8, "B", "UTINYINT", "uint8"),
    "uint16": Traits("integer", "S", 16, "H", "USMALLINT", "uint16"),
    "uint32": Traits("integer", "I", 32, "I", "UINTEGER", "uint32"),
    "uint64": Traits("integer", "L", 64, "Q", "UBIGINT", "uint64"),
    "float32": Traits("float", "f", 32, "f", "FLOAT", "float32"),
    "float64": Traits("float", "g", 64, "d", "DOUBLE", "float64"),
    "date32": Traits("date", "tdD", 32, "i", "DATE", "datetime64[D]"),
    "timestamp": Traits("timestamp", "ts{unit}:{tz}", 64, "q", "", "datetime64[{unit}]", tuple(UNITS)),
    "time32": Traits("time", "tt{unit}", 32, "i", "TIME", "timedelta64[{unit}]", ("s", "ms")),
    "time64": Traits("time", "tt{unit}", 64, "q", "TIME", "timedelta64[{unit}]", ("us", "ns")),
    "duration": Traits("duration", "tD{unit}", 64, "q", "INTERVAL", "timedelta64[{unit}]", tuple(UNITS)),
    "decimal128": Traits("decimal", "d:{precision},{scale}", 128, "", "DECIMAL({precision}, {scale})"),
    "string": Traits("string", "u", 32, "i", "VARCHAR"),
    "large_string": Traits("string", "U", 64, "q", "VARCHAR"),
    "binary": Traits("binary", "z", 32, "i", "BLOB"),
    "large_binary": Traits("binary", "Z", 64, "q", "BLOB"),
    "null": Traits("null", "n", 0, "", "VARCHAR"),
    "string_view": Traits("string", "vu", 128, "", "VARCHAR"),
    "dictionary": Traits("code", "i", 32, "i", "VARCHAR"),
}  # every type by its name without unit, zone and digits


def _date(days: int, _units: int, _zone: datetime.tzinfo | None) -> datetime.date | int:
    try:
        return _EPOCH_DATE + datetime.timedelta(days=days)
    except OverflowError:
        return days


def _datetime(count: int, units: int, zone: datetime.tzinfo | None) -> datetime.datetime | int:
    try:
        moment = _EPOCH + datetime.timedelta(seconds=count // units, microseconds=count % units * (1_000_000 // units))
        return moment if zone is None else moment.replace(tzinfo=datetime.UTC).astimezone(zone)
    except OverflowError:
        return count


def _time(count: int, units: int, _zone: datetime.tzinfo | None) -> datetime.time:
    minutes, rest = divmod(count, 60 * units)
    second, part = divmod(rest, units)
    return datetime.time(minutes // 60, minutes % 60, second, part * (1_000_000 // units))


def _duration(count: int, units: int, _zone: datetime.tzinfo | None) -> datetime.timedelta | int:
    try:
        return datetime.timedelta(seconds=count // units, microseconds=count % units * (1_000_000 // units))
    except OverflowError:
        return count


class Family(NamedTuple):
    """Properties of a family of types."""

    noun: str  # one value in words
    to_python: Callable[[int, int, datetime.tzinfo | None], Any] | None = None
    """Converts a number in memory to a Python value, given its units per second (at most a million) and its zone. It returns the
    number if Python has no such value. None if the number is the value, or if values are not numbers.
    """


FAMILIES = {
    "bool": Family("a boolean"),
    "integer": Family("a number"),
    "float": Family("a number"),
    "decimal": Family("a number"),
    "date": Family("a date", _date),
    "timestamp": Family("a date", _datetime),
    "time": Family("a time", _time),
    "duration": Family("a duration", _duration),
    "string": Family("text"),
    "binary": Family("bytes"),
    "null": Family("null"),
    "code": Family("text"),
}  # every family of `TRAITS`
