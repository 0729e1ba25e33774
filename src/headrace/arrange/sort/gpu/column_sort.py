"""Sorts columns with nulls, or of bools, on a GPU: rows are partitioned by class, and valid rows are sorted as arrays.

Bools need no more than the partition. Other columns have their valid values packed and sorted straight into the result, and zeros
written for nulls; row numbers move with the values. The host waits only for an unknown number of nulls, and for answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.sort.arguments import INDEX_TYPES, KeysOptions, check_values
from headrace.arrange.sort.gpu.common.launch import SortContext, row_bytes
from headrace.arrange.sort.gpu.null_partition import RowClasses
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.row_tuning import NullPartitionTuning
from headrace.arrange.sort.gpu.sort import Sorters, sorters_on
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import Array, take, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, placed, same_device
from headrace.columns.column import Column
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer


class ColumnSorter:
    """Sorts one column.

    `typestr`: NumPy type of its values as keys; bools count as bytes.
    """

    def __init__(
        self, sorters: Sorters, column: Column, typestr: str, options: KeysOptions, *, strategy: str | None = None,
        tuning: NullPartitionTuning | None = None,
    ) -> None:  # fmt: skip
        self._is_bool = column.type.name == "bool"
        if self._is_bool and strategy == "hybrid":
            raise OptionError("strategy 'hybrid' is for keys of 4 and 8 bytes, not for bools")
        self._sorters, self._launcher, self._column, self._options = sorters, sorters.launcher, column, options
        self._strategy = strategy
        self._order = KeyOrder.of(typestr, descending=options.descending, total_order=options.total_order)
        self._width = self._order.bits // 8
        nulls_first = options.nulls == "first"
        self._rows = RowClasses(self._launcher, column, nulls_first=nulls_first, descending=options.descending, tuning=tuning)

    @property
    def nulls(self) -> int:
        """Return the number of null rows. If the column does not know it, the host waits."""
        return self._rows.nulls

    def sort(self) -> Column:
        """Return the sorted column."""
        length, nulls = self._column.length, self.nulls
        validity = self._rows.bits(length, of_truths=False) if nulls else None
        values = self._rows.bits(length, of_truths=True) if self._is_bool else self._sorted_values()
        return self._result(length, nulls, values, validity)

    def argsort(self) -> DeviceBuffer:
        """Return the indices of the sorted rows."""
        count, wanted = self._column.length, width_of(INDEX_TYPES[self._options.dtype])
        places = self._launcher.allocate(count * wanted)
        if self._is_bool:
            self._rows.split(None, RowNumbers(places, wanted))
            return places
        width, (begin, there) = row_bytes(count), self._valid_range()
        numbers = self._launcher.allocate(count * width)
        in_order = places if width == wanted else self._launcher.allocate(count * width)
        packed = self._packed(there, RowNumbers(numbers, width))
        own, of_nulls = (begin * width, there * width), (0 if begin else there * width, (count - there) * width)
        self._sort_packed(packed, None, MovedItems(BufferSlice(numbers, *own), BufferSlice(in_order, *own), width))
        if there < count:
            self._context(count - there).gather(None, BufferSlice(numbers, *of_nulls), BufferSlice(in_order, *of_nulls), width)
        if in_order is not places:
            self._context(count).convert_rows(in_order, places, wanted)
        return places

    def _context(self, count: int) -> SortContext:
        return SortContext(self._launcher, count, self._sorters.tuning.multiprocessors)

    def is_sorted(self) -> bool:
        """Return whether values are in order, and nulls contiguous at their end. The host waits once for each."""
        if not self._rows.are_in_order():
            return False
        begin, there = self._valid_range()
        return self._is_bool or self._sorters.of(there).is_sorted(self._request(self._values(begin, there), None))

    def first_of_bools(self, k: int) -> tuple[Column, DeviceBuffer]:
        """Return the first k rows of a bool column without nulls in order, and their indices, int64."""
        places = self._launcher.allocate(k * 8)
        self._rows.split(None, RowNumbers(places, 8), limit=k)
        return self._result(k, 0, self._rows.bits(k, of_truths=True), None), places

    def _valid_range(self) -> tuple[int, int]:
        """Return the first position of valid rows in order, and their number."""
        nulls = self.nulls
        return nulls if self._options.nulls == "first" else 0, self._column.length - nulls

    def _values(self, begin: int, count: int) -> DeviceBuffer:
        values: Any = self._column.values
        return BufferSlice(values, (self._column.offset + begin) * self._width, count * self._width)

    def _packed(self, there: int, places: RowNumbers | None) -> DeviceBuffer:
        """Return the valid values without gaps, and write the numbers of all rows to `places`."""
        packed = self._launcher.allocate(there * self._width)
        self._rows.split(MovedItems(self._values(0, self._column.length), packed, self._width), places)
        return packed

    def _sorted_values(self) -> DeviceBuffer:
        width, (begin, there) = self._width, self._valid_range()
        result = self._launcher.allocate(self._column.length * width)
        self._launcher.fill(BufferSlice(result, 0 if begin else there * width, result.nbytes - there * width), 0)
        self._sort_packed(self._packed(there, None), BufferSlice(result, begin * width, there * width))
        return result

    def _sort_packed(self, packed: DeviceBuffer, target: DeviceBuffer | None, *values: MovedItems) -> None:
        request = replace(self._request(packed, target), values=values, stable=self._options.stable)
        self._sorters.of(packed.nbytes // self._width).sort(request)

    def _request(self, keys: DeviceBuffer, target: DeviceBuffer | None) -> SortRequest:
        return SortRequest(self._order, keys, target, strategy=self._strategy)

    def _result(self, length: int, nulls: int, values: DeviceBuffer, validity: DeviceBuffer | None) -> Column:
        result = self._launcher.result
        return replace(
            self._column, length=length, null_count=nulls, offset=0, values=result(values),
            validity=None if validity is None else result(validity),
        )  # fmt: skip


@contextmanager
def column_sorter(
    column: Column, typestr: str, options: KeysOptions, strategy: str | None, context: Context | None
) -> Iterator[ColumnSorter]:
    """Yield a sorter on the column's device."""
    context = context or Context()
    budget = context.new_budget()
    values, *others = (placed(part, "keys", context, budget) for part in _parts(column))
    with sorters_on(values, others, context, budget) as sorters:
        yield ColumnSorter(sorters, column, typestr, options, strategy=strategy)


def as_array(places: DeviceBuffer, typestr: str) -> DeviceArray:
    """Return a sorter's indices as an array for callers."""
    buffer: Any = places
    return DeviceArray(buffer, typestr, places.nbytes // width_of(typestr))


def taken_on_gpu(parts: Sequence[Any], order: Any, context: Context | None) -> list[Any]:
    """Return all rows of columns and arrays in an order, given by indices of 4 or 8 bytes."""
    context = context or Context()
    budget = context.new_budget()
    places = take(order, "order")
    columns = {str(number): part for number, part in enumerate(parts) if isinstance(part, Column)}
    arrays = {number: _values(part, places, context, budget) for number, part in enumerate(parts) if str(number) not in columns}
    buffers = [take(part) for column in columns.values() for part in _parts(column)]
    same_device(places, *arrays.values(), *buffers)
    results = {number: empty_like(array, array.length, budget=budget) for number, array in arrays.items()}
    # New columns belong to the stream of the work, which outlives the call where it is a column's.
    everything: list[Array] = [*buffers, places, *arrays.values(), *results.values()]
    with sorters_on(everything[0], everything[1:], context, budget) as sorters:
        taker = Taker(sorters.launcher, places, places.length, places.width)
        found: dict[int, Any] = {int(number): column for number, column in taker.columns(columns, are_all=True).items()}
        for number, array in arrays.items():
            taker.items(array, array.width, results[number])
            found[number] = results[number].owner
    return [found[number] for number in range(len(parts))]


def _values(part: Any, places: Array, context: Context, budget: Budget) -> Array:
    array = placed(part, "values", context, budget)
    check_values(places, array)
    return array


def _parts(column: Column) -> list[Any]:
    """Return a column's buffers as arrays of bytes, values first, without the dictionary, which does not change."""
    parts: list[Any] = [column.values, column.validity, column.offsets, *column.data]
    return [DeviceArray(part, "|u1", part.nbytes) for part in parts if part is not None]
