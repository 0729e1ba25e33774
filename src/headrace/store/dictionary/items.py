"""Views the values of columns as arrays of numbers or texts that kernels take, and makes columns of such arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.arrange.gather.take import MAX_INT32, address_of, too_long
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import CPU, Array, needed_numpy
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import Buffer, copy_of, empty_buffer
from headrace.core.context import Context
from headrace.core.errors import OptionError

__all__ = [
    "NumberItems",
    "TextItems",
    "address_of",
    "checked_integers",
    "column_of_items",
    "empty_column",
    "host_array",
    "is_text",
    "items_at",
    "items_of",
    "on_host",
    "short_items_of",
]

_DECIMAL_BYTES = 16
_MIN_CODE_BYTES = 4


def host_array(given: Any, name: str, expected: str) -> Any:
    """Return an array or a list as an array of NumPy. Raise OptionError if NumPy cannot convert it."""
    np = needed_numpy("headrace.dictionary")

    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise OptionError.wrong(name, expected, given) from error


def checked_integers(given: Any, name: str) -> Any:
    """Return an array or a list of integers as an array of NumPy.

    Raise OptionError if it has other items, or not one dimension.
    """
    found = host_array(given, name, "an array of integers")
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        shape = f"not of shape {found.shape} and type {found.dtype}"
        raise OptionError(f"{name} must be an array of integers of one dimension, {shape}")
    return found


def items_at(buffer: Buffer, typestr: str, count: int, begin: int = 0) -> Any:
    """Return `count` items of a host buffer from item `begin` on as an array of NumPy, without a copy."""
    width = int(typestr[2:])
    array = Array(buffer.address + begin * width, count, typestr, CPU, "headrace", None, True, buffer)
    return array.as_numpy()


def on_host(array: Any, context: Context) -> Any:
    """Return an array of NumPy; a `DeviceArray` is copied."""
    return array.to_numpy(counted=context.crossings) if isinstance(array, DeviceArray) else array


def is_text(type_: DataType) -> bool:
    """Return whether values of a type are merged as texts: strings, bytes, and decimals as bytes of the same order."""
    return has_offsets(type_) or type_.name == "decimal128"


@dataclass(frozen=True, slots=True)
class NumberItems:
    """Values as unsigned integers of their width; `order`: their order."""

    items: Any
    order: KeyOrder

    def __len__(self) -> int:
        return len(self.items)

    @property
    def sortable(self) -> Any:
        """The values as integers of the same order, which differ if the values do."""
        width = self.items.dtype.itemsize
        if self.order.kind == "unsigned":
            return self.items
        signed = self.items.view(f"i{width}")
        return signed if self.order.kind == "signed" else signed ^ (signed >> (8 * width - 1) & (1 << (8 * width - 1)) - 1)

    @property
    def codes(self) -> Any:
        """The values as unsigned integers of 4 or 8 bytes of the same order (sort_key.hpp)."""
        width = self.items.dtype.itemsize
        bits = self.sortable.view(self.items.dtype) ^ self._sign
        return bits if width >= _MIN_CODE_BYTES else bits.astype("u4")

    def of_codes(self, codes: Any) -> NumberItems:
        """Return the values of `codes`."""
        bits = codes.astype(self.items.dtype) ^ self._sign
        return self.of_sortable(bits if self.order.kind == "unsigned" else bits.view(f"i{self.items.dtype.itemsize}"))

    @property
    def _sign(self) -> Any:
        """The bit that is toggled so that negative numbers have the smaller codes; 0 for unsigned numbers."""
        width = self.items.dtype.itemsize
        return self.items.dtype.type(0 if self.order.kind == "unsigned" else 1 << (8 * width - 1))

    def of_sortable(self, sortable: Any) -> NumberItems:
        """Return the values of `sortable` integers; the mapping is its own inverse."""
        items = sortable.view(f"u{sortable.dtype.itemsize}")
        return replace(self, items=replace(self, items=items).sortable.view(items.dtype))


@dataclass(frozen=True, slots=True)
class TextItems:
    """Texts: `offsets` of their bytes, int64, one more than texts, and the bytes."""

    offsets: Any
    data: Any

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def addresses(self) -> tuple[int, int]:
        """Addresses of offsets and bytes."""
        return address_of(self.offsets), address_of(self.data)


def items_of(column: Column) -> NumberItems | TextItems:
    """Return the values of a host column without nulls, which is no column of views or codes."""
    import numpy as np

    type_, length, offset = column.type, column.length, column.offset
    if has_offsets(type_):
        assert column.offsets is not None
        offsets = items_at(column.offsets, f"<i{type_.bits // 8}", length + 1, offset) if length else np.zeros(1, np.int64)
        return TextItems(offsets.astype(np.int64), items_at(column.values, "|u1", column.values.nbytes))
    if type_.name == "decimal128":
        words = items_at(column.values, "<u8", 2 * length, 2 * offset).reshape(-1, 2)
        return TextItems(np.arange(length + 1) * _DECIMAL_BYTES, _big_endian(words))
    if type_.name == "bool":
        first = offset // 8
        packed = items_at(column.values, "|u1", -(-(offset + length) // 8) - first, first)
        items = np.unpackbits(packed, bitorder="little")[offset % 8 :][:length]
        return NumberItems(items, KeyOrder("unsigned", 8))
    width = type_.bits // 8
    letter = type_.struct_format
    kind = "float" if letter in "fd" else "unsigned" if letter.isupper() else "signed"
    return NumberItems(items_at(column.values, f"<u{width}", length, offset), KeyOrder(kind, type_.bits, total_order=True))


def short_items_of(column: Column) -> NumberItems | TextItems:
    """Return the values as `items_of`, but decimals as integers of 64 bits if these have all of them."""
    if column.type.name == "decimal128":
        words = items_at(column.values, "<i8", 2 * column.length, 2 * column.offset).reshape(-1, 2)
        if (words[:, 1] == words[:, 0] >> 63).all():
            return NumberItems(words[:, 0].copy().view("u8"), KeyOrder("signed", 64, total_order=True))
    return items_of(column)


def column_of_items(items: NumberItems | TextItems, type_: DataType) -> Column:
    """Return a column without nulls of values as `items_of` returns them.

    Raise OptionError if the texts have too many bytes for offsets of 4 bytes.
    """
    import numpy as np

    if isinstance(items, NumberItems):
        if type_.name == "decimal128":
            low = items.items.view("i8")
            return Column(type_, len(items), 0, copy_of(np.stack([low, low >> 63], axis=1).reshape(-1).view(np.uint8)))
        values = np.packbits(items.items, bitorder="little") if type_.name == "bool" else items.items
        return Column(type_, len(items), 0, copy_of(np.ascontiguousarray(values).view(np.uint8)))
    if type_.name == "decimal128":
        words = _little_endian(items.data[: len(items) * _DECIMAL_BYTES])
        return Column(type_, len(items), 0, copy_of(words.reshape(-1).view(np.uint8)))
    nbytes = int(items.offsets[-1])
    if type_.bits == 32 and nbytes > MAX_INT32:
        raise too_long(nbytes)
    offsets = empty_buffer(len(items.offsets) * type_.bits // 8)
    items_at(offsets, f"<i{type_.bits // 8}", len(items.offsets))[:] = items.offsets
    return Column(type_, len(items), 0, copy_of(items.data[:nbytes]), offsets=offsets)


def empty_column(type_: DataType) -> Column:
    """Return a column of no rows."""
    offsets = copy_of(bytes(type_.bits // 8)) if has_offsets(type_) else None
    return Column(type_, 0, 0, copy_of(b""), offsets=offsets)


def _big_endian(words: Any) -> Any:
    """Return the bytes of integers of 128 bits, given as low and high words, so that they are in the integers' order."""
    import numpy as np

    high_first = np.stack([words[:, 1] ^ np.uint64(1 << 63), words[:, 0]], axis=1)
    return high_first.astype(">u8").view(np.uint8).reshape(-1)


def _little_endian(data: Any) -> Any:
    """Return the integers of `_big_endian` as bytes."""
    import numpy as np

    words = np.ascontiguousarray(data).view(">u8").astype("<u8").reshape(-1, 2)
    return np.ascontiguousarray(np.stack([words[:, 1], words[:, 0] ^ np.uint64(1 << 63)], axis=1))
