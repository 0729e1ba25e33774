"""Checks the types of a sorted map, and the keys and values that callers pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array, integers_of_times, needed_numpy, plain_array, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.inputs import as_line, library_of, named_type
from headrace.arrays.placement import placed
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.index.item_types import items_of_type, time_type_of_column

_WIDTHS = (4, 8)
_FLAGS = {"|b1", "|u1"}
_GPU_LIBRARIES = {"torch", "cupy"}
_SPELLED = {"torch", "polars", "pyarrow"}  # libraries whose types NumPy does not take


@dataclass(frozen=True, slots=True)
class MapTypes:
    """The types of a map."""

    key: str  # type of the keys in NumPy's notation
    value: str | None  # type of the values; None for keys alone

    @classmethod
    def of(cls, key_type: Any, value_type: Any) -> MapTypes:
        """Return the types in NumPy's notation.

        Raise OptionError if a type is not a number, instant or duration of 4 or 8 bytes.

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
        dtype = time_type_of_column(given) if is_type else None
    is_known = dtype is not None and dtype.kind in "iufmM" and dtype.itemsize in _WIDTHS
    if dtype is None or not is_known or (dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic"):
        raise OptionError.wrong(
            name, "a number, instant or duration of 4 or 8 bytes, such as 'uint32' or 'datetime64[us]'", given
        )
    return str(dtype.newbyteorder("<").str)


def items_given(given: Any, typestr: str, name: str, context: Context, budget: Budget) -> Array:
    """Return keys or values of a caller: an array of the type, or a list, a Series or one item that converts to it exactly.

    Raise OptionError if the items are of another type.
    """
    found = plain_array(given, typestr, context.device)
    if found is not None:
        return found
    is_array = type(given) is DeviceArray or library_of(given) in _GPU_LIBRARIES
    source = placed(given if is_array else items_of_type(given, typestr, name), name, context, budget)
    if source.typestr != typestr:
        how = integers_of_times(source.typestr) if typestr[1] in "iu" else ""
        if how:
            how += ", and a map can have that type"
        raise OptionError(f"{name} are of type {source.typestr!r}, and the map has {typestr!r}{how or '; convert them first'}")
    return source


def flags_given(given: Any, name: str, context: Context, budget: Budget) -> Array:
    """Return a mask of a caller, of bools or bytes. Raise OptionError if the mask has another type."""
    flags = as_line(given, name)
    if library_of(flags) == "numpy" and len(flags) == 0:
        flags = flags.astype("?")  # an empty list
    source = placed(flags, name, context, budget)
    if source.typestr not in _FLAGS:
        raise OptionError(f"{name} must be of bools or bytes, not of {source.typestr!r}")
    return source
