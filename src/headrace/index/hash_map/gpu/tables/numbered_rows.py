"""Numbers the rows that are keys of a map in device memory, from 0 on: texts, or rows of several columns.

A slab hash has the number of each hash of 64 bits, and the columns have the row of each number, which is compared. No two
numbered rows have one hash: if a new row has that of other values, all rows are hashed by another secret. Secrets are random, so
this is rare.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np  # a dependency of cuda-core

from headrace import _native
from headrace.arrange.gather.selected_rows import RowMarks
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.gather.tuning import SELECTED_THREADS as THREADS
from headrace.arrange.partition_rows.row_columns import ComparedPairs, RowColumn, row_hashes
from headrace.columns.column import Column
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tables.kept_columns import KeptColumn, NewTexts, launch, numbering_entry
from headrace.index.hash_map.gpu.tables.slab_hash import SlabHash
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING, SlabTuning

MAX_ROWS = (1 << 32) - 1
_WIDTHS = (8, 4)  # bytes of a hash and of a number

RowHashes = Callable[[Launcher, Iterable[RowColumn], int, int], DeviceBuffer]  # given columns, number of rows, and secret


class _Batch(NamedTuple):
    """Rows of a caller, with the number and the verdict of each. The numbers of other verdicts than `EQUAL` mean nothing."""

    given: Mapping[str, Column]
    columns: Mapping[str, RowColumn]
    hashes: DeviceBuffer
    length: int  # number of rows
    numbers: DeviceBuffer
    verdicts: DeviceBuffer | None  # numbers of 4 bytes, and a byte for each; None if all rows have a number


class _NewRows(NamedTuple):
    """The rows of a batch that get numbers."""

    rows: Taker
    begins: Mapping[str, DeviceBuffer]
    sizes: Mapping[str, int]  # bytes of the texts before each one, and of all, for each column of texts


@dataclass(frozen=True, slots=True)
class Numbers:
    """Memory for the numbers of rows: their count, and the bytes of each, 4 or 8. A row without a number gets all bits set."""

    buffer: DeviceBuffer
    count: int
    width: int

    def put(self, launcher: Launcher, batch: _Batch) -> None:
        """Write the numbers of a batch."""
        launch(launcher, "put_numbers", self.count, (batch.verdicts, batch.numbers, self.count, self.width, self.buffer))


class NumberedRows:
    """The distinct rows that were added, and their numbers.

    `widths`: bytes of the numbers of each column by its name, 0 for texts.
    `tuning`, `hashes`: sizes of the slab hash, and the function that hashes rows; tests pass others.
    """

    def __init__(
        self,
        launcher: Launcher,
        widths: Mapping[str, int],
        *,
        tuning: SlabTuning = SLAB_TUNING,
        hashes: RowHashes = row_hashes,
    ) -> None:
        self._tuning, self._hashes = tuning, hashes
        self._secret = _native.process_secret()
        self._columns = {name: KeptColumn.of(launcher, width) for name, width in widths.items()}
        self._used = dict.fromkeys(widths, 0)  # bytes of the texts of each column
        self._table = SlabHash(launcher, _WIDTHS, tuning=tuning)
        self._row_columns: dict[str, RowColumn] | None = None  # the columns as kernels read them; None if they have moved
        self._is_changing = False  # True if a change was interrupted: the table may have hashes of other rows, or too few
        self.size = 0  # number of rows

    @property
    def nbytes(self) -> int:
        """Bytes of the table and the columns."""
        return self._table.nbytes + sum(column.nbytes for column in self._columns.values())

    def columns(self, first: int = 0) -> dict[str, Column]:
        """Return the rows from a number on."""
        return {name: column.rows(first, self.size - first) for name, column in self._columns.items()}

    def find(self, launcher: Launcher, columns: Mapping[str, Column], numbers: Numbers) -> None:
        """Write the number of each row."""
        if numbers.count:
            numbers.put(launcher, self._found(launcher, columns, numbers.count))

    def add(self, launcher: Launcher, columns: Mapping[str, Column], numbers: Numbers) -> None:
        """Write the number of each row, after rows without a number got one. The host waits.

        Raise MemoryLimitError if the rows do not fit; then none got a number.
        """
        if not numbers.count:
            return
        batch = self._found(launcher, columns, numbers.count)
        while (added := self._added(launcher, batch)) < 0:
            self._hash_anew(launcher)
            batch = self._found(launcher, columns, numbers.count)
        if added:  # in the batch's memory: a refused allocation would leave the rows added
            self._table.find(launcher, Rows(batch.hashes, None, numbers.count), batch.numbers, batch.verdicts)
            batch = batch._replace(verdicts=None)
        numbers.put(launcher, batch)

    def remove_from(self, launcher: Launcher, number: int) -> None:
        """Remove the rows from a number on. Their numbers are given again. The host waits.

        The last ones are removed first, by batches of one block: there may be little memory. Raise MemoryLimitError if one does
        not fit.
        """
        self._recover(launcher)
        while (count := min(self.size - number, self._tuning.block_rows)) > 0:
            first = self.size - count
            hashes = self._hashes(launcher, self._described(launcher, first).values(), count, self._secret)
            found = launcher.allocate(count)
            with self._change():
                self._table.erase(launcher, Rows(hashes, None, count), found)
                self.size = first
                self._count_bytes(launcher)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Mark a change of the table as complete, unless it is interrupted. If it is refused memory, nothing has changed."""
        self._is_changing = True
        try:
            yield
        except MemoryLimitError:
            self._is_changing = False
            raise
        self._is_changing = False

    def _recover(self, launcher: Launcher) -> None:
        """After an interrupted change, read the bytes of the rows, and make a table of them."""
        if self._is_changing:
            self._count_bytes(launcher)
            self._hash_anew(launcher)

    def _count_bytes(self, launcher: Launcher) -> None:
        """Read the bytes of the texts of each column."""
        for name, column in self._columns.items():
            if column.offsets is not None:
                end = BufferSlice(column.offsets.buffer, 8 * self.size, 8)
                self._used[name] = int(launcher.fetch(end).view(np.uint64)[0])

    def copy(self, launcher: Launcher) -> Self:
        """Return a copy."""
        self._recover(launcher)
        result = copy(self)
        used = self._used
        columns = {name: column.copy(launcher, self.size, used[name]) for name, column in self._columns.items()}
        result._columns, result._row_columns = columns, None  # noqa: SLF001  # a new object
        result._used = dict(self._used)  # noqa: SLF001  # a new object
        result._table = self._table.copy(launcher)  # noqa: SLF001  # a new object
        return result

    def _found(self, launcher: Launcher, columns: Mapping[str, Column], count: int) -> _Batch:
        """Search the table for the hashes of rows, and compare these with the rows found."""
        self._recover(launcher)
        described = {name: RowColumn.of(launcher, column, self._secret) for name, column in columns.items()}
        hashes = self._hashes(launcher, described.values(), count, self._secret)
        found = launcher.allocate(5 * count)
        numbers, verdicts = BufferSlice(found, 0, 4 * count), BufferSlice(found, 4 * count)
        self._table.find(launcher, Rows(hashes, None, count), numbers, verdicts)
        if self.size:
            pairs = ComparedPairs(None, numbers, count, 4, verdicts)
            self._row_columns = self._row_columns or self._described(launcher)
            pairs.compare(launcher, described, self._row_columns, are_nulls_equal=True)
        return _Batch(columns, described, hashes, count, numbers, verdicts)

    def _described(self, launcher: Launcher, first: int = 0) -> dict[str, RowColumn]:
        return {name: RowColumn.of(launcher, column) for name, column in self.columns(first).items()}

    def _added(self, launcher: Launcher, batch: _Batch) -> int:
        """Number the rows that have no number, and return how many there are; -1 if a row has the hash of other values."""
        assert batch.verdicts is not None
        texts = [name for name, column in self._columns.items() if column.offsets is not None]
        answer = launcher.allocate(8 * (1 + len(texts)), fill=0)
        collisions = BufferSlice(answer, 0, 8)
        some = self._marked(launcher, (batch.verdicts, None, None), batch.length, collisions)
        new = Taker.of_all(launcher, batch.length) if some is None else some
        begins = dict[str, DeviceBuffer]()
        if new.count:
            new = self._first_ones(launcher, batch, new, collisions)
            begins = {name: launcher.allocate(8 * new.count) for name in texts}
        for number, (name, begin) in enumerate(begins.items()):
            launch(launcher, "measure_texts", new.count, (batch.columns[name].compared, new.rows, new.count, begin))
            scan_string_sizes(launcher, begin, (new.count, 1), BufferSlice(answer, 8 + 8 * number, 8))
        has_collisions, *sizes = launcher.fetch(answer).view(np.uint64).tolist()
        if has_collisions:
            return -1
        if new.count:
            self._append(launcher, batch, _NewRows(new, begins, dict(zip(texts, sizes, strict=True))))
        return new.count

    @staticmethod
    def _marked(launcher: Launcher, given: Sequence[DeviceBuffer | None], count: int, collisions: DeviceBuffer) -> Taker | None:
        """Return the positions that `mark_new_rows` marks, or None if these are all. The host waits for their number.

        `given`: verdicts, rows and first rows, as the kernel has them; `count` of each.
        """
        marks = RowMarks.of(launcher, count, THREADS)
        args = (*given, count, marks.bits, marks.counts, collisions)
        launcher.launch(numbering_entry("mark_new_rows"), marks.shape(HR_ROW="u32"), args)
        return marks.taker(4)

    def _first_ones(self, launcher: Launcher, batch: _Batch, new: Taker, collisions: DeviceBuffer) -> Taker:
        """Return the first ones of equal rows."""
        hashes, firsts, found = new.items(batch.hashes, 8), launcher.allocate(4 * new.count), launcher.allocate(new.count)
        table = SlabHash(launcher, _WIDTHS, tuning=self._tuning)
        table.upsert(launcher, Rows(hashes, new.rows, new.count), "min", "u")
        table.find(launcher, Rows(hashes, None, new.count), firsts, found)
        pairs = ComparedPairs(new.rows, firsts, new.count, 4, found)  # the byte of a present hash is that of `EQUAL`
        pairs.compare(launcher, batch.columns, batch.columns, are_nulls_equal=True)
        some = self._marked(launcher, (found, new.rows, firsts), new.count, collisions)
        return new if some is None else Taker(launcher, some.items(new.rows, 4), some.count, 4)

    def _append(self, launcher: Launcher, batch: _Batch, new: _NewRows) -> None:
        """Copy new rows, and give them the next numbers. If memory is refused, nothing has changed."""
        size, count = self.size, new.rows.count
        if size + count > MAX_ROWS:
            raise MemoryLimitError("a map of texts or rows has had 2^32 - 1 keys; compact() removes those without a pair")
        self._row_columns = None
        for name, column in self._columns.items():
            if column.offsets is None:
                column.put_numbers(new.rows, batch.given[name], size)
            else:
                texts = NewTexts(batch.columns[name].compared, new.begins[name], new.sizes[name], self._used[name])
                column.put_texts(new.rows, texts, size)
        numbers, hashes = launcher.allocate(4 * count), new.rows.items(batch.hashes, 8)
        launch(launcher, "number_from", count, (numbers, count, size))
        with self._change():
            self._table.upsert(launcher, Rows(hashes, numbers, count), "first", "u")
            self.size = size + count
            for name, nbytes in new.sizes.items():
                self._used[name] += nbytes

    def _hash_anew(self, launcher: Launcher) -> None:
        """Make a table of hashes by another secret."""
        while True:
            secret = secrets.randbits(64) | 1
            table = SlabHash(launcher, _WIDTHS, self.size, tuning=self._tuning)
            rows = Taker.of_all(launcher, self.size)
            hashes = self._hashes(launcher, self._described(launcher).values(), self.size, secret)
            if not self.size or table.upsert(launcher, Rows(hashes, rows.rows, self.size), "first", "u") == self.size:
                self._table, self._secret, self._is_changing = table, secret, False
                return
