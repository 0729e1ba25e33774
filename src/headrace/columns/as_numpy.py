"""Columns as NumPy arrays. Imported only when somebody asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.core.buffer import Buffer
from headrace.core.errors import MissingDependencyError

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "to_numpy()") from None

if TYPE_CHECKING:
    from headrace.columns.column import Column


def as_numpy(column: Column) -> np.ndarray[Any, Any]:
    """What `Column.to_numpy` promises."""
    if column.type.is_string:
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
    values[missing] = np.nan if values.dtype.kind == "f" else np.datetime64("NaT")
    return values


def _values(column: Column) -> np.ndarray[Any, Any]:
    if column.type.name == "bool":
        return _bits(column.values, column.offset, column.length)
    whole = np.frombuffer(memoryview(column.values), column.type.numpy_name, column.offset + column.length)
    values: np.ndarray[Any, Any] = whole[column.offset :]
    return values.astype("datetime64[D]") if column.type.name == "date32" else values


def _bits(buffer: Buffer, offset: int, length: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """`length` bits from bit `offset` on, least significant first."""
    packed = np.frombuffer(memoryview(buffer), np.uint8)
    bits: np.ndarray[Any, np.dtype[np.bool_]] = np.unpackbits(packed, bitorder="little", count=offset + length)[offset:].astype(bool)
    return bits
