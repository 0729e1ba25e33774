"""Sorts columns: their valid values as arrays, with nulls first or last."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from headrace.arrange.sort.arguments import INDEX_TYPES, KeysOptions, check_places, check_strategy, checked_k, gpu_columns
from headrace.arrays.arrays import take
from headrace.arrays.inputs import as_line
from headrace.arrays.placement import apart_error
from headrace.columns.column import Column
from headrace.columns.traits import TRAITS
from headrace.core.buffer import Buffer, copy_of, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import MissingDependencyError, OptionError

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "sorting of columns") from None

_CUDA = 2  # DLPack's number of CUDA devices


def sort_column(column: Column, options: KeysOptions, strategy: str | None, context: Context | None) -> Column:
    """Return a column of sorted values and nulls."""
    from headrace.arrange.sort.sort import sort

    if _has_classes(column):
        with _on_gpu(column, options, strategy, context) as sorter:
            result: Column = sorter.sort()
            return result
    values, there = _values(column)
    if there is not None:
        values = values[there]
    found = sort(
        values, descending=options.descending, total_order=options.total_order, strategy=strategy, context=_where(column, context)
    )
    if column.device.kind != "cpu":
        return _device_column(column, found)
    front = column.length - len(values) if options.nulls == "first" else 0
    return _host_column(column, found, column.length, front)


def argsort_column(column: Column, options: KeysOptions, strategy: str | None, context: Context | None) -> Any:
    """Return indices of the sorted rows. Those of nulls are ascending, first or last."""
    from headrace.arrange.sort.sort import argsort

    check_places(options.dtype, column.length)
    if _has_classes(column):
        with _on_gpu(column, options, strategy, context) as sorter:
            return gpu_columns().as_array(sorter.argsort(), INDEX_TYPES[options.dtype])
    values, there = _values(column)
    how: dict[str, Any] = {"descending": options.descending, "total_order": options.total_order, "stable": options.stable}
    how |= {"dtype": options.dtype, "strategy": strategy, "context": _where(column, context)}
    if there is None:
        return argsort(values, **how)
    places: Any = np.flatnonzero(there).astype(options.dtype)
    parts: list[Any] = [places[argsort(values[there], **how)], np.flatnonzero(~there).astype(options.dtype)]
    return np.concatenate(parts if options.nulls == "last" else parts[::-1])


def sort_column_pairs(
    keys: Any, values: Sequence[Any], options: KeysOptions, strategy: str | None, context: Context | None
) -> tuple[Any, list[Any]]:
    """Return several columns and arrays, their rows in the order of `keys`."""
    from headrace.arrange.partition_rows.rows import take_rows
    from headrace.arrange.sort.sort import argsort

    keys = keys if isinstance(keys, Column) else as_line(keys, "keys")
    parts = (keys, *values)
    first = next(part for part in parts if isinstance(part, Column))
    _check_together(keys, values, first.device)
    context = _where(first, context)
    how: dict[str, Any] = {"descending": options.descending, "total_order": options.total_order, "stable": options.stable}
    if first.device.kind != "cpu":
        how["dtype"] = "int32" if len(keys) <= 1 << 31 else "int64"
        order = argsort(keys, nulls=options.nulls, strategy=strategy, context=context, **how)
        gathered = gpu_columns().taken_on_gpu(parts, order, context)
    else:
        order = argsort(keys, nulls=options.nulls, strategy=strategy, context=context, **how)
        gathered = [take_rows(part, order) if isinstance(part, Column) else np.asarray(part)[order] for part in parts]
    return gathered[0], gathered[1:]


def is_column_sorted(column: Column, options: KeysOptions, context: Context | None) -> bool:
    """Return whether values are in order, and nulls contiguous at their end."""
    from headrace.arrange.sort.sort import is_sorted

    if _has_classes(column):
        with _on_gpu(column, options, None, context) as sorter:
            return bool(sorter.is_sorted())
    values, there = _values(column)
    if there is not None:
        count = int(np.count_nonzero(there))
        if not (there[:count] if options.nulls == "last" else there[len(there) - count :]).all():
            return False
        values = values[there]
    return is_sorted(values, descending=options.descending, total_order=options.total_order, context=_where(column, context))


def top_of_column(
    column: Column, k: int, options: KeysOptions, strategy: str | None, context: Context | None
) -> tuple[Column, Any]:
    """Return the first values of a column without nulls, and their indices."""
    from headrace.arrange.sort.sort import top_k

    if _has_classes(column):
        with _on_gpu(column, options, strategy, context) as sorter:
            _check_no_nulls(sorter.nulls)
            if column.type.name == "bool":
                keys, places = sorter.first_of_bools(checked_k(k, column.length))
                return keys, gpu_columns().as_array(places, INDEX_TYPES["int64"])
        column = replace(column, null_count=0)
    _check_no_nulls(column.null_count)
    values, _ = _values(column)
    how: dict[str, Any] = {"largest": options.descending, "total_order": options.total_order, "strategy": strategy}
    found = top_k(values, k, context=_where(column, context), **how)
    if column.device.kind != "cpu":
        return _device_column(column, found.keys), found.indices
    return _host_column(column, found.keys, len(found.keys), 0), found.indices


def _check_no_nulls(count: int) -> None:
    if count:
        raise OptionError(f"keys has {count} nulls; fill them or drop them first")


def _check_together(keys: Any, values: Sequence[Any], device: Device) -> None:
    """Check that values are as long as keys, and that columns are on one device. The gather checks the device of arrays."""
    count = _length(keys, "keys")
    for part in values:
        if _length(part, "values") != count:
            raise OptionError(f"values has {_length(part, 'values')} items for {count} keys")
    for part in (keys, *values):
        if isinstance(part, Column) and part.device != device:
            raise apart_error(device, part.device)
        if device.kind == "cpu" and hasattr(part, "__dlpack_device__") and part.__dlpack_device__()[0] == _CUDA:
            raise apart_error(device, Device("cuda", part.__dlpack_device__()[1]))


def _length(part: Any, name: str) -> int:
    """Return the rows of a column, or of an array with at least one dimension."""
    has_rows = len(getattr(part, "shape", ())) > 0 and not isinstance(part, memoryview)
    return len(part) if isinstance(part, Column) or has_rows else take(part, name).length


def _has_classes(column: Column) -> bool:
    """Return whether rows on a GPU must be partitioned by class: if there are nulls, and for bools, which are bits."""
    code_of(column)
    return column.device.kind != "cpu" and (
        column.type.name == "bool" or (column.validity is not None and column.null_count != 0)
    )


def _on_gpu(column: Column, options: KeysOptions, strategy: str | None, context: Context | None) -> AbstractContextManager[Any]:
    """Return the `ColumnSorter` of gpu/column_sort.py for a column in GPU memory."""
    check_strategy(strategy)
    sorter: AbstractContextManager[Any] = gpu_columns().column_sorter(column, f"<{code_of(column)}", options, strategy, context)
    return sorter


def _values(column: Column) -> tuple[Any, Any]:
    """Return the values as an array of numbers, and a mask of the valid rows; None if no row is null."""
    if column.device.kind != "cpu":
        from headrace.arrays.device_array import DeviceArray

        return DeviceArray(column.values, f"<{code_of(column)}", column.length, column.offset), None  # type: ignore[arg-type]
    values = _bits(column.values, column) if column.type.name == "bool" else _whole(column)
    return values, None if column.validity is None else _bits(column.validity, column)


def code_of(column: Column) -> str:
    """Return the NumPy type of a column's values as keys, without the byte order. Bools count as bytes.

    Raise OptionError if the type cannot be sorted.
    """
    traits = TRAITS[column.type.name]
    if not traits.numpy:
        raise OptionError(f"keys are of type {column.type}; columns of numbers, bools, dates and times can be sorted")
    return "u1" if traits.family == "bool" else np.dtype(traits.struct).str[1:]


def _whole(column: Column) -> Any:
    view = memoryview(column.values)[: (column.offset + column.length) * (column.type.bits // 8)]
    return np.frombuffer(view, code_of(column))[column.offset :]


def _bits(buffer: Buffer, column: Column) -> Any:
    packed = np.frombuffer(memoryview(buffer), np.uint8)
    bits = np.unpackbits(packed, bitorder="little", count=column.offset + column.length)
    return bits[column.offset :].view(np.bool_)


def _where(column: Column, context: Context | None) -> Context | None:
    """Return a context that names the column's device, so that the result is a column there."""
    if context is None:
        return None
    return context_of(context) if column.device.kind != "cpu" else replace(context_of(context), device=Device())


def _host_column(column: Column, values: Any, length: int, front: int) -> Column:
    """Return a column of `length` rows: `front` nulls, then values, then nulls."""
    count = len(values)
    nulls = length - count
    validity = None
    if nulls:
        there: np.ndarray[Any, Any] = np.zeros(length, np.bool_)
        there[front : front + count] = True
        validity = copy_of(np.packbits(there, bitorder="little").data)
    if column.type.name == "bool":
        whole: np.ndarray[Any, Any] = np.zeros(length, np.bool_)
        whole[front : front + count] = values
        result = copy_of(np.packbits(whole, bitorder="little").data)
    else:
        result = empty_buffer(length * (column.type.bits // 8))
        _fill(result, values, length, front)
    return replace(column, length=length, null_count=nulls, offset=0, values=result, validity=validity)


def _fill(result: Buffer, values: Any, length: int, front: int) -> None:
    """Copy values to their rows of a new buffer, and write zeros for nulls."""
    from headrace import _native

    width, count = values.dtype.itemsize, len(values)
    held = np.ascontiguousarray(values)
    zeros: np.ndarray[Any, Any] = np.zeros((length - count) * width, np.uint8)
    after = (front + count) * width
    parts = [(held.__array_interface__["data"][0], result.address + front * width, count * width)]
    parts.append((zeros.__array_interface__["data"][0], result.address, front * width))
    parts.append((zeros.__array_interface__["data"][0], result.address + after, (length - count - front) * width))
    _native.copy_parts([part for part in parts if part[2]], 1)


def _device_column(column: Column, found: Any) -> Column:
    return replace(column, length=len(found), offset=found.first, values=found.buffer, validity=None, null_count=0)
