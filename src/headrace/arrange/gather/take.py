"""Gathers items and columns by row numbers, on the device where they lie."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace import _native
from headrace.arrange.gather.byte_items import new_like, placed_items
from headrace.arrays.arrays import Array, needed_numpy
from headrace.arrays.inputs import as_array, axis_mover, checked_axis, converted, dimensions, library_of, plain, type_of
from headrace.arrays.placement import placed, same_device
from headrace.columns.column import Column
from headrace.columns.placement import one_device
from headrace.core.buffer import Buffer, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError, OutOfRangeError

WIDTHS = (1, 2, 4, 8, 16)  # bytes of items that have kernels
MAX_INT32 = 0x7FFFFFFF
_NUMBERS = {"<u4", "<i4", "<u8", "<i8"}


def take(items: Any, rows: Any, *, axis: int = 0, context: Context | None = None) -> Any:
    """Return the items at given row numbers, in the order of the numbers, which may repeat.

    Parameters
    ----------
    items
        Array of one dimension; of several dimensions, whose parts along `axis` are the items; or of NumPy voids or structures. A
        list or a Series. The work runs on its device.
    rows
        Row numbers: an array of integers, on the same device, a list or a Series. Of several dimensions if the items are of one:
        the result has its shape. Negative ones count from the
        end.
    axis
        Axis of the items, if there are several.
    context
        Threads and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    array
        One item for each row number, of the library of `items`. On a GPU the host waits once, to check the row numbers.

    Raises
    ------
    OptionError
        The arrays have other types, or row numbers are out of range; then nothing is gathered.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> import numpy as np
    >>> take(np.array([1.5, 2.5, 3.5]), np.array([2, 0, -1]))
    array([3.5, 1.5, 3.5])
    >>> take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    array([[3, 1],
           [6, 4]])
    """
    items, rows = as_array(items, "items"), as_array(rows, "rows")
    if _is_empty(rows):
        rows = rows.astype("int64")
    if type_of(rows) in {"int8", "int16", "uint8", "uint16"}:
        rows = converted(rows, "int64", "rows")
    count = dimensions(items)
    axis = checked_axis(axis, count, "items")
    context = context_of(context)
    if count == 1 and dimensions(rows) > 1:
        return _gathered(items, plain(rows.reshape(-1), "rows"), context).reshape(rows.shape)
    if axis == 0 and count < 3:
        return _gathered(items, rows, context)
    move = axis_mover(items)
    moved = move(items, axis, 0)
    if 0 in moved.shape[1:]:
        numbers = sys.modules[library_of(moved)].arange(len(moved))
        return move(moved[_gathered(numbers, rows, context)], 0, axis)  # items of no bytes
    found = _gathered(plain(moved.reshape(len(moved), -1), "items"), rows, context)
    return move(found.reshape(len(found), *moved.shape[1:]), 0, axis)


def _gathered(items: Any, rows: Any, context: Context) -> Any:
    """Gather items of an array of one dimension, or rows of one of two."""
    budget = context.new_budget()
    np = needed_numpy("take()")
    source, restored = placed_items(plain(items, "items"), "items", context, budget)
    places = placed(rows, "rows", context, budget)
    same_device(source, places)
    if places.typestr not in _NUMBERS:
        raise OptionError(f"rows are of type {places.typestr!r}; row numbers are integers")
    result = new_like(replace(source, length=places.length), budget)
    if source.device.kind == "cpu":
        given = places.as_numpy()
        # Negative numbers become numbers out of range.
        numbers = given.view(np.uint64) if places.width == 8 else given.astype(np.uint64)
        if places.length and numbers.max() >= source.length:
            numbers = (given + (given < 0) * np.int64(source.length)).astype(np.uint64)
            check_outside(int(np.count_nonzero(numbers >= source.length)), source.length)
        at = numbers.__array_interface__["data"][0], len(numbers)
        _native.take_items(at, source.address, result.address, source.width, context.thread_count)
    else:
        from headrace.arrange.gather.take_gpu import take_on_gpu  # needs cuda-core

        if places.typestr[1] == "i" and places.library in {"cupy", "torch"}:
            wrapped = places.owner + (places.owner < 0) * source.length
            places = placed(wrapped, "rows", context, budget)
        take_on_gpu(source, places, result, context, budget)
    return result.owner if restored is None else restored(result.owner)


def check_outside(outside: int, there: int) -> None:
    """Raise OptionError if `outside` row numbers, the count of those out of range, is not 0."""
    if outside:
        rows = "1 row number is" if outside == 1 else f"{outside:_} row numbers are"
        raise OptionError(f"{rows} outside of the {there:_} items; nothing was taken")


def row_limit(typestr: str, there: int) -> int:
    """Return the limit of row numbers as the kernels read them: negative numbers of 4 bytes are read as 2**31 or more."""
    return min(there, 1 << 31) if typestr == "<i4" else there


def take_rows(column: Column, rows: Any, threads: int = 1) -> Column:
    """Return the rows of a host column at given row numbers, in that order; all numbers are in range.

    The numbers are an ``array("Q")``, or any array of NumPy.

    Raise OptionError if the texts have more bytes than offsets of 4 bytes can represent.

    >>> import numpy as np
    >>> from headrace import read_csv
    >>> take_rows(read_csv(b"a\\nx\\ny\\nz\\n")["a"], np.array([2, 0, 0, 2])).to_pylist()
    ['z', 'x', 'x', 'z']
    """
    numbers = rows if isinstance(rows, array) else needed_numpy("taking rows").ascontiguousarray(rows, "uint64")
    at = address_of(numbers), len(numbers)
    found: dict[str, Any] = {"length": len(numbers), "offset": 0}
    if column.type.name == "null":
        return replace(column, **found, null_count=len(numbers))
    if column.validity is not None:
        validity, there = _take_bits(column.validity, column.offset, at, threads)
        found |= {"validity": validity, "null_count": len(numbers) - there}
    if column.offsets is not None:
        found["values"], found["offsets"] = _take_texts(column, at, threads)
    elif column.type.name == "bool":
        found["values"] = _take_bits(column.values, column.offset, at, threads)[0]
    else:
        width = column.type.bits // 8
        found["values"] = empty_buffer(len(numbers) * width)
        _native.take_items(at, address_of(column.values) + column.offset * width, address_of(found["values"]), width, threads)
    return replace(column, **found)


def take_columns(columns: Mapping[str, Column], rows: Any, context: Context) -> dict[str, Column]:
    """Return the rows of columns at given row numbers, in that order, on the device of the columns.

    Raise OutOfRangeError if a row number is negative or too large. Raise OptionError if `rows` are no row numbers, or the
    columns or the rows lie on another device. Numbers in host memory may be for columns of a GPU.
    """
    there, device = len(next(iter(columns.values()), ())), one_device(columns)
    places = _places(rows, context)
    if places.device.kind != "cpu" and places.device != device:
        raise OptionError(f"rows lie on {places.device}, and the table on {device}; pass row numbers in host memory")
    if places.device.kind != "cpu":
        from headrace.arrange.gather.take_gpu import take_columns_at  # needs cuda-core

        return take_columns_at(columns, places, there, context)
    numbers = check_numbers(places.as_numpy(), there)
    if device.kind == "cpu":
        return {name: take_rows(column, numbers, context.thread_count) for name, column in columns.items()}
    from headrace.arrange.gather.take_gpu import columns_launcher, take_columns_with  # needs cuda-core

    with columns_launcher(columns, context) as (launcher, _):
        return take_columns_with(launcher, columns, numbers)


def _places(rows: Any, context: Context) -> Array:
    """Return row numbers of 4 or 8 bytes where they lie."""
    np = needed_numpy("take()")
    given = as_array(rows, "rows")
    if dimensions(given) == 1 and type_of(given) == "bool":
        raise OptionError("rows are bools; pass numpy.flatnonzero(rows), or a condition to table.filter(...)")
    if _is_empty(given):
        given = np.zeros(0, "u8")
    if type_of(given) in {"int8", "int16", "uint8", "uint16"}:
        given = converted(given, "int64", "rows")
    places = placed(given, "rows", replace(context, device=Device()))
    if places.typestr not in _NUMBERS:
        raise OptionError(f"rows are of type {places.typestr!r}; row numbers are integers")
    return places


def _is_empty(rows: Any) -> bool:
    """Return whether rows are an empty list or Series of floats or objects, which are the types of one without items."""
    return dimensions(rows) == 1 and library_of(rows) == "numpy" and len(rows) == 0 and rows.dtype.kind in "fO"


def check_numbers(found: Any, there: int) -> Any:
    """Return row numbers of NumPy as uint64 after a check that each is one of `there` rows.

    Raise OutOfRangeError if a row number is negative or too large; the error names the first one.
    """
    np = needed_numpy("take()")
    if len(outside := np.flatnonzero((found < 0) | (found >= there))):
        at = int(outside[0])
        known = f"the rows 0 to {there - 1}" if there else "no rows"
        raise OutOfRangeError(f"rows[{at}] is {found[at]}, and the table has {known}; nothing was taken")
    return found.astype("u8")


def from_first_row(column: Column, threads: int) -> Column:
    """Return a host column whose rows begin at the begin of its buffers, which the concatenation of columns needs."""
    if not column.offset:
        return column
    return take_rows(column, needed_numpy("copying a slice").arange(column.length), threads)


def is_all_null(column: Column) -> bool:
    """Return whether every row is null; this holds for a column with an empty dictionary."""
    return column.type.name == "null" or (column.dictionary is not None and not len(column.dictionary))


def too_long(nbytes: int) -> OptionError:
    """Return the error for texts with more bytes than their offsets can represent."""
    return OptionError(f"texts of {nbytes:_} bytes are too long for offsets of 4 bytes; read them as large_string")


def _take_bits(bits: Buffer, first: int, at: tuple[int, int], threads: int) -> tuple[Buffer, int]:
    result = empty_buffer(-(-at[1] // 8))
    return result, _native.take_bits(at, address_of(bits), first, address_of(result), threads)


def _take_texts(column: Column, at: tuple[int, int], threads: int) -> tuple[Buffer, Buffer]:
    assert column.offsets is not None
    width = column.type.bits // 8
    texts = address_of(column.offsets), address_of(column.values), column.offset, width, 0
    offsets = empty_buffer((at[1] + 1) * width)
    nbytes = _native.place_texts(at, texts, address_of(offsets), threads)
    if width == 4 and nbytes > MAX_INT32:
        raise too_long(nbytes)
    values = empty_buffer(nbytes)
    _native.take_texts(at, texts, address_of(offsets), address_of(values), threads)
    return values, offsets


def address_of(memory: Any) -> int:
    """Return the address of a host buffer, of an array of Python or of NumPy; 0 for None."""
    if memory is None:
        return 0
    if isinstance(memory, array):
        return memory.buffer_info()[0]
    found: int = memory.address if hasattr(memory, "address") else memory.__array_interface__["data"][0]
    return found
