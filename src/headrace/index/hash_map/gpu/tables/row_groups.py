"""Finds equal rows of tables in device memory: by a slab hash of 64-bit hashes, whose matches are compared.

The rounds are those of `headrace.index.hash_map.row_groups`. The value of a hash is the smallest number of its rows. So the order
in which rows are inserted does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from headrace import _native
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.gather.selected_rows import RowMarks
from headrace.arrange.gather.take_gpu import Taker, row_width
from headrace.arrange.gather.tuning import SELECTED_THREADS
from headrace.arrange.partition_rows.row_columns import ComparedPairs, RowColumn, row_hashes
from headrace.arrange.sort.gpu.planner import SortRequest
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.key_order import KeyOrder
from headrace.columns.column import Column
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tables.slab_hash import SlabHash
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING, SlabTuning

_FILE = "index/hash_map/gpu/row_groups.cu"
_SIGNATURES = {
    "mark_firsts": "PQPP",
    "mark_unequal": "PQPP",
    "count_rows": "PQP",
    "scatter_rows": "PPQP",
    "store_matches": "PPQPP",
}
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class DeviceRows:
    """Rows of a table in device memory, by the columns that are compared."""

    launcher: Launcher  # launcher of the device
    columns: Mapping[str, RowColumn]  # the columns that are compared
    hashes: DeviceBuffer  # hash of each row by the process's secret, 8 bytes
    count: int  # number of rows

    @classmethod
    def of(cls, launcher: Launcher, columns: Mapping[str, Column], by: Sequence[str]) -> DeviceRows:
        """Return the rows of a table. `by`: names of the columns that are compared."""
        count, secret = len(columns[by[0]]), _native.process_secret()
        described = {name: RowColumn.of(launcher, columns[name], secret) for name in by}
        return cls(launcher, described, row_hashes(launcher, described.values(), count, secret), count)


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """Candidates of rows: the rows themselves, the first row of the same hash, and a byte whether there is one."""

    rows: Taker
    others: DeviceBuffer
    found: DeviceBuffer

    def pairs(self, verdicts: DeviceBuffer) -> ComparedPairs:
        """Return the pairs to compare."""
        return ComparedPairs(self.rows.rows, self.others, self.rows.count, self.rows.width, verdicts)


class RowGroups:
    """Finds groups of equal rows.

    `rows`: number of rows in the largest table; it gives the bytes of a row number.
    `tuning`, `threads`: sizes of the slab hash, and threads per block of the other kernels; tests use smaller ones.
    """

    def __init__(
        self, launcher: Launcher, rows: int, *, tuning: SlabTuning = SLAB_TUNING, threads: int = SELECTED_THREADS
    ) -> None:
        self._launcher, self._width, self._tuning, self._threads = launcher, row_width(rows), tuning, threads

    def first_rows(self, rows: DeviceRows) -> DeviceBuffer:
        """Return for each row the number of the first row that is equal to it. Nulls are equal to each other."""
        result = self._launcher.allocate(0)
        rest: Taker | None = self._all(rows.count)
        while rest is not None:
            found = self._candidates(self._map_of(rows, rest), rows, rest)
            if rest.count == rows.count:
                result = found.others
            else:
                self._launch("scatter_rows", rest.count, rest.rows, found.others, rest.count, result)
            rest = self._unequal(found, rows, rows, are_nulls_equal=True)
        return result

    def matching_rows(self, rows: DeviceRows, other: DeviceRows) -> DeviceBuffer:
        """Return for each row the number of the first equal row of another table, 8 bytes; -1 if there is none."""
        result = self._launcher.allocate(8 * rows.count, fill=0xFF)
        rest, others = self._all(rows.count), self._all(other.count)
        while rest is not None and others is not None:
            table = self._map_of(other, others)
            found = self._candidates(table, rows, rest)
            pairs = found.pairs(found.found)
            rest = self._unequal(found, rows, other, are_nulls_equal=False)
            self._launch("store_matches", pairs.count, pairs.rows, pairs.others, pairs.count, pairs.verdicts, result)
            if rest is not None:
                found = self._candidates(table, other, others)
                others = self._unequal(found, other, other, are_nulls_equal=True)
        return result

    def distinct(self, firsts: DeviceBuffer, count: int) -> Taker:
        """Return the rows that are the first of their groups, in their order. The host waits for their number."""
        taker = self._marked("mark_firsts", firsts, count) if count else None
        return self._taker(count) if taker is None else taker

    def counted(self, firsts: DeviceBuffer, count: int, sorters: Sorters) -> tuple[Taker, DeviceBuffer]:
        """Return the first rows of groups and their numbers of rows, 8 bytes, the largest first.

        Groups of one size are in the order of their first rows.
        """
        counts = self._launcher.allocate(8 * count, fill=0)
        self._launch("count_rows", count, firsts, count, counts)
        distinct = self.distinct(firsts, count)
        keys = distinct.items(counts, 8)
        moved = MovedItems(distinct.rows, self._launcher.allocate(distinct.rows.nbytes), distinct.width)
        target = self._launcher.allocate(keys.nbytes)
        sorters.of(distinct.count).sort(SortRequest(KeyOrder.of("<u8", descending=True), keys, target, (moved,)))
        return Taker(self._launcher, moved.target, distinct.count, distinct.width), target

    def _all(self, count: int) -> Taker | None:
        return self._taker(count) if count else None

    def _taker(self, count: int) -> Taker:
        taker = Taker(self._launcher, self._launcher.allocate(count * self._width), count, self._width)
        taker.number()
        return taker

    def _map_of(self, rows: DeviceRows, some: Taker) -> SlabHash:
        table = SlabHash(self._launcher, (_HASH_BYTES, self._width), tuning=self._tuning)
        table.upsert(self._launcher, Rows(some.items(rows.hashes, _HASH_BYTES), some.rows, some.count), "min", "u")
        return table

    def _candidates(self, table: SlabHash, rows: DeviceRows, some: Taker) -> CandidateRows:
        hashes = some.items(rows.hashes, _HASH_BYTES)
        found = CandidateRows(some, self._launcher.allocate(some.count * self._width), self._launcher.allocate(some.count))
        table.find(self._launcher, Rows(hashes, None, some.count), found.others, found.found)
        return found

    def _unequal(self, found: CandidateRows, rows: DeviceRows, other: DeviceRows, *, are_nulls_equal: bool) -> Taker | None:
        """Compare rows with their candidates, and return those that are not equal; None if there are none."""
        pairs = found.pairs(found.found)
        pairs.compare(self._launcher, rows.columns, other.columns, are_nulls_equal=are_nulls_equal)
        some = self._marked("mark_unequal", pairs.verdicts, pairs.count)
        if some is None:
            return found.rows
        if not some.count:
            return None
        rest = some.items(found.rows.rows, self._width)
        return Taker(self._launcher, rest, some.count, self._width)

    def _marked(self, name: str, marks_of: DeviceBuffer, count: int) -> Taker | None:
        marks = RowMarks.of(self._launcher, count, self._threads)
        args: tuple[Any, ...] = (marks_of, count, marks.bits, marks.counts)
        self._launcher.launch(_entry(name), marks.shape(HR_ROW=f"u{8 * self._width}"), args)
        return marks.taker(self._width)

    def _launch(self, name: str, threads: int, *args: Any) -> None:
        if threads:
            defines: dict[str, Any] = {"HR_ROW": f"u{8 * self._width}", "HR_THREADS": self._threads}
            self._launcher.launch(_entry(name), Shape(defines, -(-threads // self._threads), self._threads), args)


@cache
def _entry(name: str) -> Entry:
    return Entry(_FILE, name, _SIGNATURES[name])
