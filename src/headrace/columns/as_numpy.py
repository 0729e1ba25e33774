"""Converts columns to NumPy arrays, and numbers by NumPy to other types. Imported only when a call needs NumPy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.columns.traits import UNITS
from headrace.core.buffer import Buffer, copy_of
from headrace.core.errors import MissingDependencyError, OptionError, shown
from headrace.core.options import flag

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "to_numpy()") from None

if TYPE_CHECKING:
    from headrace.columns.column import Column
    from headrace.columns.types import DataType


_DAY_SECONDS = 86_400
_OLD_BYTES = re.compile(r"[<>=|]?a\d*")  # the old name of NumPy's bytes, `S`, for which NumPy gives a warning


def as_numpy(column: Column) -> np.ndarray[Any, Any]:
    """Implement `Column.to_numpy`."""
    if column.type.numpy_dtype is None:
        array: np.ndarray[Any, Any] = np.empty(column.length, dtype=object)
        array[:] = column.to_pylist()
        return array
    values = _values(column)
    if column.validity is None:
        return values
    missing = ~_bits(column.validity, column.offset, column.length)
    if values.dtype.kind in "iub":
        return np.ma.MaskedArray(values, missing)
    values = values.copy()
    values[missing] = np.nan if values.dtype.kind == "f" else np.array("NaT", values.dtype)
    return values


def as_plain_numpy(column: Column, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Implement `Column.__array__`."""
    given = None if dtype is None else _dtype_of(dtype)
    copy = None if copy is None else flag("copy", copy)
    if given is not None and column.null_count and given.kind in "iub":
        raise OptionError(f"dtype {given}: the column holds {column.null_count} nulls, which {given} does not; see to_numpy()")
    array = as_numpy(column)
    if isinstance(array, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(array), None, array.data.astype(object))
    in_memory = column.type.numpy_name
    shared = column.null_count == 0 and in_memory is not None and in_memory == column.type.numpy_dtype
    target = array.dtype if given is None else given
    if copy is False and not (shared and array.dtype == target):
        raise OptionError("a copy is needed, but copy=False is given")
    try:
        return array.astype(target, copy=bool(copy))
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"dtype {target} cannot hold values of {column.type}: {error}") from None


def _dtype_of(given: object) -> np.dtype[Any]:
    try:
        found = None if isinstance(given, str) and _OLD_BYTES.fullmatch(given) else np.dtype(given)
    except Exception:  # noqa: BLE001  NumPy raises many kinds for what is not a type
        found = None
    if found is None or found.kind == "V":
        raise TypeError(f"dtype must be a type of NumPy for single values, not {shown(given)}")
    return found


def _values(column: Column) -> np.ndarray[Any, Any]:
    if column.type.name == "bool":
        return _bits(column.values, column.offset, column.length)
    values: np.ndarray[Any, Any] = in_memory(column).astype(column.type.numpy_dtype, copy=False)
    return values


def in_memory(column: Column) -> np.ndarray[Any, Any]:
    """Return the values of a column of fixed width, other than bool, in its own memory: dates as ``int32``."""
    whole = np.frombuffer(memoryview(column.values), column.type.numpy_name, column.offset + column.length)
    return whole[column.offset :]


def _bits(buffer: Buffer, offset: int, length: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return `length` bits from bit `offset` on, least significant first."""
    packed = np.frombuffer(memoryview(buffer), np.uint8)
    bits = np.unpackbits(packed, bitorder="little", count=offset + length)[offset:]
    return bits.view(np.bool_)


def exact_numbers(column: Column, type_: DataType) -> Column | None:
    """Return a column of numbers, from its first row on, in another type that has each value.

    None if the type has not all of them, and for floats as integers.
    """
    to_float, from_float = (kind.name.startswith("float") for kind in (type_, column.type))
    if not (column.type.is_numeric and type_.is_numeric) or (from_float and (not to_float or type_.bits < column.type.bits)):
        return None
    values = in_memory(column)
    if column.validity is not None:
        values = np.where(_bits(column.validity, 0, column.length), values, 0).astype(values.dtype)
    with np.errstate(over="ignore"):
        converted = values.astype(type_.name)
    if not from_float and not (_are_same_in_floats(values, converted) if to_float else _are_inside(values, type_)):
        return None
    return replace(column, type=type_, values=copy_of(converted))


def exact_times(column: Column, type_: DataType) -> Column | None:
    """Return dates, times or durations, from the first row on, with the unit of another type that has each value; None if it has
    not.
    """
    values = in_memory(column)
    values = values.view(f"i{values.itemsize}").astype(np.int64)
    if column.validity is not None:
        values[~_bits(column.validity, 0, column.length)] = 0
    finer = UNITS[type_.unit or "s"]
    factor = finer * _DAY_SECONDS if column.type.unit is None else finer // UNITS[column.type.unit]
    last = np.iinfo(f"i{type_.bits // 8}").max // factor
    if len(values) and not -last <= int(values.min()) <= int(values.max()) <= last:
        return None
    return replace(column, type=type_, values=copy_of((values * factor).astype(f"i{type_.bits // 8}")))


def _are_inside(values: np.ndarray[Any, Any], type_: DataType) -> bool:
    """Return whether an integer type has each of the integers."""
    limits = np.iinfo(type_.name)
    return not len(values) or (limits.min <= int(values.min()) and int(values.max()) <= limits.max)


def _are_same_in_floats(values: np.ndarray[Any, Any], floats: np.ndarray[Any, Any]) -> bool:
    """Return whether floats have the values of integers: 2**60 is a float64, 2**60 + 1 is not."""
    end = 2.0 ** np.iinfo(values.dtype).bits / (
        2 if values.dtype.kind == "i" else 1
    )  # the first one above all integers of the type
    return bool((floats < end).all() and (floats.astype(values.dtype) == values).all())
