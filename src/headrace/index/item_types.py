"""Converts keys and values of callers to the types of a map: lists, single items, instants and durations of Python."""

from __future__ import annotations

import re
from typing import Any

from headrace.arrays.arrays import needed_numpy
from headrace.arrays.inputs import as_array
from headrace.arrays.moments import are_equal, moments_of
from headrace.columns.types import parse_type
from headrace.core.errors import OptionError


def time_type(given: Any) -> str | None:
    """Return NumPy's notation of a type of instants or durations; None for other types.

    >>> time_type("datetime64[s]"), time_type("timestamp[us]"), time_type("int64")
    ('<M8[s]', '<M8[us]', None)
    """
    np = needed_numpy("a map")
    is_named = isinstance(given, str) and re.match("[<>=|]?[mM]8|datetime64|timedelta64", given)
    is_type = isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic))
    try:
        dtype = np.dtype(given if is_named or is_type else time_type_of_column(given) or "V")
    except (TypeError, ValueError):
        return None
    is_time = dtype.kind in "mM" and np.datetime_data(dtype)[0] != "generic"
    return str(dtype.newbyteorder("<").str) if is_time else None


def time_type_of_column(given: Any) -> Any:
    """Return NumPy's type of the instants or durations of a type of columns, such as ``"timestamp[us]"``; None for others."""
    try:
        found = parse_type(given).numpy_dtype
    except OptionError:
        return None
    return needed_numpy("a map").dtype(found) if found is not None and "64[" in found else None


def items_of_type(given: Any, typestr: str, name: str) -> Any:
    """Return a list or one item as an array of the type; other values as they are."""
    np = needed_numpy("a map")
    moments = moments_of(given, name) if typestr[1] in "mM" else None
    given = given if moments is None else moments
    is_item = moments is not None or (isinstance(given, np.generic) and given.ndim == 0)
    if not is_item and not isinstance(given, (int, float, list, tuple, range)):
        return as_array(given, name)
    if isinstance(given, (list, tuple)) and typestr[1] in "iu" and all(type(item) is int for item in given):
        try:
            return np.array(given, typestr)  # NumPy finds float64 for a list of integers up to 2**64
        except OverflowError:
            raise OptionError(f"{name} have items that are not of type {typestr!r}, which the map has") from None
    found = np.asarray(given) if is_item else as_array(given, name)
    found = found.reshape(-1) if found.ndim == 0 else found
    if found.dtype.str == typestr:
        return found
    with np.errstate(all="ignore"):
        result = found.astype(typestr) if _is_convertible(found.dtype, np.dtype(typestr)) else None
        is_rounded = found.dtype.kind == "f" and typestr[1] == "f"
        if result is None or not (is_rounded or are_equal(result, found)):
            raise OptionError(f"{name} have items that are not of type {typestr!r}, which the map has")
    return result


def _is_convertible(given: Any, wanted: Any) -> bool:
    numbers = "iuf"
    return (given.kind in numbers and wanted.kind in numbers) or (given.kind == wanted.kind and given.kind in "mM")
