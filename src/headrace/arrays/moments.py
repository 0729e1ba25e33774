"""Converts dates, times and durations of Python to arrays of NumPy."""

from __future__ import annotations

import datetime
import re
from typing import Any

from headrace.arrays.arrays import needed_numpy
from headrace.core.errors import OptionError

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?")


def are_equal(converted: Any, given: Any) -> bool:
    """Return whether converted items are the given ones. NumPy does not see instants that another unit cannot hold."""
    if given.dtype.kind in "mM":
        is_kind = given.dtype.kind == converted.dtype.kind
        return is_kind and bool((converted.astype(given.dtype).view("i8") == given.view("i8")).all())
    return bool((converted == given).all())


def moments_of(given: Any, name: str) -> Any:
    """Return dates, times and durations of Python, and texts of ISO 8601, as an array of NumPy; None for other values."""
    items = given if isinstance(given, (list, tuple)) else [given]
    if not items or not all(isinstance(item, (datetime.date, datetime.timedelta, str)) for item in items):
        return None
    np = needed_numpy("an array of instants")
    if any(getattr(item, "tzinfo", None) is not None for item in items):
        raise OptionError(f"{name} have a time zone; pass instants in UTC without one")
    moments = [_moment(np, item, name) for item in items]
    found = np.array(moments)
    if len({moment.dtype for moment in moments}) > 1 and not all(map(are_equal, found, moments)):
        raise OptionError(f"{name} have items that one type of instants or durations cannot hold")
    return found


def _moment(np: Any, item: Any, name: str) -> Any:
    """Return a date, time or duration as a scalar of NumPy, with the nanoseconds that pandas has."""
    for conversion in ("to_datetime64", "to_timedelta64"):
        if hasattr(item, conversion):
            return getattr(item, conversion)()
    if not isinstance(item, str):
        return np.timedelta64(item) if isinstance(item, datetime.timedelta) else np.datetime64(item)
    try:
        found = np.datetime64(item) if _ISO.fullmatch(item) else None
    except ValueError:
        found = None
    if found is None or str(found)[:10] != item[:10]:  # NumPy does not see a date that nanoseconds cannot hold
        raise OptionError(f"{name} have texts other than dates and times such as '2024-01-31T12:30'")
    return found
