"""Checks the types of a sorted map, and the keys and values that callers pass."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array, integers_of_times, needed_numpy, width_of
from headrace.arrays.inputs import as_array, as_line, library_of, named_type
from headrace.arrays.placement import placed
from headrace.columns.types import parse_type
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError

_WIDTHS = (4, 8)
_FLAGS = {"|b1", "|u1"}
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?")
_SPELLED = {"torch", "polars", "pyarrow"}
"""Libraries whose types NumPy does not take."""


@dataclass(frozen=True, slots=True)
class MapTypes:
    """The types of a map.

    Parameters
    ----------
    key
        Type of the keys in NumPy's notation.
    value
        Type of the values; None for keys alone.
    """

    key: str
    value: str | None

    @classmethod
    def of(cls, key_type: Any, value_type: Any) -> MapTypes:
        """Return the types in NumPy's notation.

        Raises
        ------
        OptionError
            A type is not a number, instant or duration of 4 or 8 bytes.

        Examples
        --------
        >>> MapTypes.of("uint32", "datetime64[ms]")
        MapTypes(key='<u4', value='<M8[ms]')
        """
        return cls(_typestr("key_type", key_type), None if value_type is None else _typestr("value_type", value_type))

    @property
    def order(self) -> KeyOrder:
        """The order of the keys."""
        return KeyOrder.of(self.key)

    @property
    def key_width(self) -> int:
        """Bytes of a key and of its code."""
        return width_of(self.key)

    @property
    def code(self) -> str:
        """Type of the codes of keys."""
        return f"<u{self.key_width}"

    @property
    def value_width(self) -> int:
        """Bytes of a value; 0 for keys alone."""
        return 0 if self.value is None else width_of(self.value)


def _typestr(name: str, given: Any) -> str:
    np = needed_numpy("a sorted map")
    is_type = given is not None and not isinstance(given, (np.generic, list, tuple, dict))
    if isinstance(given, str) and given == "a":  # an alias of bytes, which NumPy deprecates
        is_type = False
    try:
        spelled = named_type(given, name) if library_of(given) in _SPELLED else given
        dtype = np.dtype(spelled) if is_type else None
    except (OptionError, TypeError, ValueError, SyntaxError):  # NumPy parses texts with commas as Python
        dtype = _type_of_column(given) if is_type else None
    is_known = dtype is not None and dtype.kind in "iufmM" and dtype.itemsize in _WIDTHS
    if dtype is None or not is_known or (dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"):
        raise OptionError.wrong(
            name, "a number, instant or duration of 4 or 8 bytes, such as 'uint32' or 'datetime64[us]'", given
        )
    return str(dtype.newbyteorder("<").str)


def _type_of_column(given: Any) -> Any:
    """Return NumPy's type of the instants or durations of a type of columns, such as ``"timestamp[us]"``; None for others."""
    try:
        found = parse_type(given).numpy_dtype
    except OptionError:
        return None
    return needed_numpy("a sorted map").dtype(found) if found is not None and "64[" in found else None


def items_given(given: Any, typestr: str, name: str, context: Context, budget: Budget) -> Array:
    """Return keys or values of a caller: an array of the type, or a list, a Series or one item that converts to it exactly.

    Raises
    ------
    OptionError
        The items are of another type.
    """
    source = placed(_of_type(given, typestr, name), name, context, budget)
    if source.typestr != typestr:
        how = integers_of_times(source.typestr) if typestr[1] in "iu" else ""
        if how:
            how += ", and a map can have that type"
        raise OptionError(f"{name} are of type {source.typestr!r}, and the map has {typestr!r}{how or '; convert them first'}")
    return source


def _of_type(given: Any, typestr: str, name: str) -> Any:
    """Return a list or one item as an array of the type; other values as they are."""
    np = needed_numpy("a sorted map")
    moments = _moments(given, name) if typestr[1] in "mM" else None
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
        if result is None or not (is_rounded or _are_equal(result, found)):
            raise OptionError(f"{name} have items that are not of type {typestr!r}, which the map has")
    return result


def _are_equal(converted: Any, given: Any) -> bool:
    """Return whether converted items are the given ones. NumPy does not see instants that another unit cannot hold."""
    if given.dtype.kind in "mM":
        is_kind = given.dtype.kind == converted.dtype.kind
        return is_kind and bool((converted.astype(given.dtype).view("i8") == given.view("i8")).all())
    return bool((converted == given).all())


def _moments(given: Any, name: str) -> Any:
    """Return dates, times and durations of Python, and texts of ISO 8601, as an array of NumPy; None for other values."""
    items = given if isinstance(given, (list, tuple)) else [given]
    if not items or not all(isinstance(item, (datetime.date, datetime.timedelta, str)) for item in items):
        return None
    np = needed_numpy("a sorted map of instants")
    if any(getattr(item, "tzinfo", None) is not None for item in items):
        raise OptionError(f"{name} have a time zone; pass instants in UTC without one")
    moments = [_moment(np, item, name) for item in items]
    found = np.array(moments)
    if len({moment.dtype for moment in moments}) > 1 and not all(map(_are_equal, found, moments)):
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


def _is_convertible(given: Any, wanted: Any) -> bool:
    numbers = "iuf"
    return (given.kind in numbers and wanted.kind in numbers) or (given.kind == wanted.kind and given.kind in "mM")


def flags_given(given: Any, name: str, context: Context, budget: Budget) -> Array:
    """Return a mask of a caller, of bools or bytes.

    Raises
    ------
    OptionError
        The mask has another type.
    """
    flags = as_line(given, name)
    if library_of(flags) == "numpy" and len(flags) == 0:
        flags = flags.astype("?")  # an empty list
    source = placed(flags, name, context, budget)
    if source.typestr not in _FLAGS:
        raise OptionError(f"{name} must be of bools or bytes, not of {source.typestr!r}")
    return source
