"""Numbers keys in the memory of a GPU that are texts, or rows of several columns, in the GPU's own stream."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from headrace.arrange.gather.take_gpu import Taker, columns_launcher, count_nulls
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import tuning_of
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array, fast_array, take, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import in_stream_of
from headrace.columns.column import Column, new_column
from headrace.columns.placement import column_to
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.gpu.memory.pool import PoolBuffer
from headrace.gpu.memory.scratch import COUNTERS
from headrace.index.hash_map.gpu.tables.kept_columns import NUMBERS
from headrace.index.hash_map.gpu.tables.numbered_rows import NumberedRows, Numbers
from headrace.index.hash_map.gpu.tables.sorted_rows import ItemBuffer, SortedRows
from headrace.index.hash_map.pair_types import TEXT, PairTypes, array_of
from headrace.index.hash_map.row_keys import columns_by_name, common_length, text_column
from headrace.primitives.copy import copier

_ONLY = "key"  # name of the column of keys that are texts


def number_type(types: PairTypes) -> str:
    """Return the type of the numbers. They have the bytes of a value, since the kernels of such maps are in the package."""
    return "<u8" if types.value and width_of(types.value) == 8 else "<u4"


class GivenKeys(NamedTuple):
    """The columns of keys, and all their buffers as arrays, which have streams."""

    columns: Mapping[str, Column]
    arrays: list[Array]


def keys_on_device(keys: Any, types: PairTypes, context: Context) -> Array:
    """Return the keys of a caller as an array whose owner are `GivenKeys` on the context's GPU.

    Raise OptionError if they do not have the types of the map's keys, some are null, or they are on another device.
    """
    budget = context.new_budget()
    named = columns_by_name(keys, [name for name, _ in types.columns]) if types.columns else {_ONLY: keys}
    columns, arrays = dict[str, Column](), list[Array]()
    for name, typestr in types.columns or ((_ONLY, TEXT),):
        title = f"keys[{name!r}]" if types.columns else "keys"
        if typestr == TEXT:
            given = text_column(_counted(named[name], context), title, context.device)
            columns[name] = column_to(given, context.device, context.crossings, budget)
            arrays += _arrays_of(columns[name])
        else:
            array: Any = array_of(named[name], title, typestr, context, budget)
            columns[name] = new_column(NUMBERS[array.width], array.length, 0, array)
            arrays.append(array)
    common_length({name: len(column) for name, column in columns.items()})
    return _array_of(GivenKeys(columns, arrays), context)


def _counted(keys: Any, context: Context) -> Any:
    """Return a column of a GPU with its number of nulls, which a slice does not have yet; other keys as they are."""
    if not isinstance(keys, Column) or keys.null_count >= 0 or keys.device.kind == "cpu":
        return keys
    with columns_launcher({_ONLY: keys}, context) as (launcher, _):
        nulls = count_nulls(launcher, keys)
    return replace(keys, null_count=nulls, validity=keys.validity if nulls else None)


def _array_of(owner: GivenKeys, context: Context) -> Array:
    count = len(next(iter(owner.columns.values())))
    return fast_array(0, count, "<u8", context.device, "headrace", gpu(context.device).stream, True, owner)


class DeviceKeyNumbers:
    """The numbers of keys on a GPU.

    `types`, `context`: as for the map. `budget`: budget of the map.
    """

    def __init__(self, types: PairTypes, context: Context, budget: Budget) -> None:
        self._types, self._context, self._card = types, context, gpu(context.device)
        self._kinds = dict(types.columns or ((_ONLY, TEXT),))
        crossings, copies = context.crossings, copier(self._card)
        self._launches = partial(GpuLauncher, self._card, stream=self._card.stream, crossings=crossings, copier=copies)
        self._launcher = self._launches(budget=budget)
        self._lock = threading.RLock()
        with self._card.current():
            widths = {name: 0 if typestr == TEXT else width_of(typestr) for name, typestr in self._kinds.items()}
            self._rows = NumberedRows(self._launcher, widths)

    def __len__(self) -> int:
        return self._rows.size

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and their table."""
        return self._rows.nbytes

    def find(self, keys: Array) -> Array:
        """Return the number of each key, with all bits set if it has none. The map's memory may be full."""
        return self._numbered(keys, self._rows.find, self._launches(budget=self._context.new_budget()))

    def add(self, keys: Array) -> Array:
        """Return the number of each key, after keys without a number got one. If memory is refused, none did."""
        return self._numbered(keys, self._rows.add, self._launcher)

    def _numbered(
        self, keys: Array, number: Callable[[GpuLauncher, Mapping[str, Column], Numbers], None], launcher: GpuLauncher
    ) -> Array:
        typestr = number_type(self._types)
        width = width_of(typestr)
        given: GivenKeys = keys.owner
        with self._lock, self._card.current():
            result = take(DeviceArray(launcher.allocate(keys.length * width), typestr, keys.length))
            with in_stream_of(result, *given.arrays):
                number(launcher, given.columns, Numbers(result, keys.length, width))
        return result

    def remove_from(self, number: int) -> None:
        """Remove the keys from a number on. Their numbers are given again."""
        with self._lock, self._card.current():
            self._rows.remove_from(self._launcher, number)

    def keep(self, numbers: Array) -> None:
        """Keep all keys: to remove some takes a second table, which there is no memory for."""

    def copy(self) -> DeviceKeyNumbers:
        """Return a copy."""
        result = copy(self)
        result._lock = threading.RLock()  # noqa: SLF001  # a new object
        result._launcher = self._launcher.lasting()  # noqa: SLF001  # a launcher is for one thread at a time
        with self._lock, self._card.current():
            result._rows = self._rows.copy(self._launcher)  # noqa: SLF001  # a new object
        return result

    def keys_of(self, numbers: Array) -> Array:
        """Return the keys that have these numbers."""
        with self._ordered(numbers):
            columns = Taker(self._launcher, numbers, numbers.length, numbers.width).columns(self._rows.columns())
        return _array_of(GivenKeys(columns, []), self._context)

    def sorter(self) -> Callable[[Array, Array | None], tuple[Array, Array | None]]:
        """Return a function that sorts items, which has the columns of all keys. Later changes leave these as they are."""
        return partial(self._sorted_items, self._rows.columns())

    def _sorted_items(self, held: Mapping[str, Column], numbers: Array, values: Array | None) -> tuple[Array, Array | None]:
        """Return the keys of numbers, ascending, and their values, which are sorted in place.

        The keys and the memory of the sort are not the map's.
        """
        launcher, kinds, count = self._launches(budget=self._context.new_budget()), self._kinds, numbers.length
        with self._ordered(numbers):
            tuning = tuning_of(self._card.multiprocessors, self._card.capability)
            sorters = Sorters(launcher, tuning, lambda: launcher.allocate(COUNTERS, fill=0))
            pairs = None if values is None else ItemBuffer(values, values.width)
            rows = SortedRows(sorters, count, ItemBuffer(numbers, numbers.width), pairs)
            if values is not None:
                rows.by_values(KeyOrder.of(values.typestr, total_order=True))
            orders = {name: None if one == TEXT else KeyOrder.of(one, total_order=True) for name, one in kinds.items()}
            rows.by_columns(held, orders)
            found = Taker(launcher, numbers, count, numbers.width).columns(held)
        keys = {name: column if kinds[name] == TEXT else _numbers_of(column, kinds[name]) for name, column in found.items()}
        owner: Any = keys if self._types.columns else keys[_ONLY]
        return fast_array(0, count, "<u8", self._context.device, "headrace", launcher.stream, True, owner), values

    @contextmanager
    def _ordered(self, numbers: Array) -> Iterator[None]:
        """Order work of the GPU's own stream after the work that fills an array."""
        with self._lock, self._card.current():
            own = take(DeviceArray(self._launcher.allocate(1), "|u1", 1))
            with in_stream_of(own, numbers):
                yield


def _numbers_of(column: Column, typestr: str) -> DeviceArray:
    return DeviceArray(cast(PoolBuffer, column.values), typestr, len(column))


def _arrays_of(column: Column) -> list[Array]:
    parts: list[Any] = [column.values, column.offsets, *column.data]
    own = [take(DeviceArray(part, "|u1", part.nbytes)) for part in parts if part is not None]
    return own if column.dictionary is None else [*own, *_arrays_of(column.dictionary)]
