"""Converts literals of conditions to the values of columns: numbers, dates and times as exact fractions of a column's unit."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from headrace.columns.traits import UNITS
from headrace.core.errors import OptionError, shown
from headrace.core.expressions.operators import plain, units_per_second

_DAY_SECONDS = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Meaning of the integers of a column or a result."""

    family: str  # key of `headrace.columns.traits.FAMILIES`
    per_unit: Fraction = Fraction(1)  # integers per 1, per second for times: 100 for decimals of two digits after the point
    has_zone: bool = False  # True if values are instants
    name: str = "numbers"  # the type in words, for errors

    def literal(self, value: object) -> Fraction | float:
        """Return a literal in units of this quantity; an infinity or NaN as a float.

        Raise OptionError if the literal has another meaning, such as a text that is no date.

        >>> Quantity("duration", Fraction(1000)).literal(datetime.timedelta(microseconds=1))
        Fraction(1, 1000)
        """
        found = _EXACT[self.family](plain(value), self.has_zone)
        if found is None:
            raise self.wrong(value)
        return found if isinstance(found, float) else found * self.per_unit

    def wrong(self, value: object) -> OptionError:
        """Return the error for a literal that cannot be compared with values of this quantity."""
        hint = _HINTS.get(self.family, "")
        if self.family == "timestamp":
            hint = " with an offset, e.g. '2024-01-31T12:00+00:00'" if self.has_zone else " without an offset"
        return OptionError(
            f"{shown(value)} is compared with a column of {self.name}; compare it with {_NOUNS[self.family]}{hint}"
        )


def quantity_of(family: str, unit: str | None, scale: int | None, has_zone: bool, name: str) -> Quantity:
    """Return the quantity of a column."""
    if family == "date":
        return Quantity(family, Fraction(1, _DAY_SECONDS), has_zone, name)
    return Quantity(family, Fraction(UNITS[unit] if unit else 10 ** (scale or 0)), has_zone, name)


def _number(value: object, _: bool) -> Fraction | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal) and value.is_nan():
        return math.nan
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        return float(value)
    return Fraction(value) if isinstance(value, int | float | Decimal | Fraction) else None


def _decimal(value: object, has_zone: bool) -> Fraction | float | None:
    """Return a float as the decimal that it is written as: 0.1 is a tenth."""
    is_float = isinstance(value, float) and math.isfinite(value)
    return _number(Decimal(repr(value)) if is_float else value, has_zone)


def _moment(value: object, has_zone: bool) -> Fraction | None:
    if not has_zone and (exact := _exact_seconds(value, "M")) is not None:
        return exact
    if isinstance(value, str):
        value = _parsed(value, datetime.datetime)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if not isinstance(value, datetime.datetime) or (value.tzinfo is not None) != has_zone:
        return None
    return _seconds(value - (_EPOCH_UTC if has_zone else _EPOCH))


def _time(value: object, _: bool) -> Fraction | None:
    if isinstance(value, str):
        value = _parsed(value, datetime.time)
    if not isinstance(value, datetime.time) or value.tzinfo is not None:
        return None
    return _seconds(datetime.timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour))


def _duration(value: object, _: bool) -> Fraction | None:
    return _seconds(value) if isinstance(value, datetime.timedelta) else _exact_seconds(value, "m")


def _parsed(text: str, kind: type[Any]) -> Any:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None


def _seconds(span: datetime.timedelta) -> Fraction:
    nanoseconds: int = getattr(span, "nanoseconds", 0)  # of pandas
    return Fraction(span // datetime.timedelta(microseconds=1), 1_000_000) + Fraction(nanoseconds, 10**9)


def _exact_seconds(value: Any, kind: str) -> Fraction | None:
    """Return the seconds of a date or time of NumPy that `datetime` would round."""
    per_second = units_per_second(value)
    return Fraction(int(value.astype("i8")), per_second) if per_second and value.dtype.kind == kind else None


_EXACT: dict[str, Callable[[object, bool], Fraction | float | None]] = {
    "integer": _number,
    "float": _number,
    "decimal": _decimal,
    "date": _moment,
    "timestamp": _moment,
    "time": _time,
    "duration": _duration,
}
_NOUNS = {
    "integer": "a number",
    "float": "a number",
    "decimal": "a number",
    "date": "a date",
    "timestamp": "a datetime",
    "time": "a time",
    "duration": "a timedelta",
}
_HINTS = {"date": ", e.g. '2024-01-31'", "time": ", e.g. '12:30'"}
