"""Numbers rows in the fiber harness as a Python dictionary does, also if hashes collide, and sorts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import MemoryLimitError, Table
from headrace.arrange.partition_rows.row_columns import RowColumn, row_hashes
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.columns.column import Column
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.tables.numbered_rows import NumberedRows, Numbers
from headrace.index.hash_map.gpu.tables.sorted_rows import ItemBuffer, SortedRows
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.arrange.columns_cases import fetched, on_fibers

pytestmark = pytest.mark.fibers

TUNING = SlabTuning(threads=64, block_rows=96)
COLUMNS = {"s": 0, "i": 4, "t": 0, "w": 8}  # bytes of a number, 0 for texts
TYPES = {"s": "string", "i": "int32", "t": "string", "w": "int64"}
NAMES = (["s"], ["i", "w"], ["t", "i", "s"])
Row = tuple[Any, ...]


class FewBits:
    """Hashes of a few bits for the first secrets."""

    def __init__(self, secrets: int) -> None:
        self._left = secrets
        self._weak: set[int] = set()

    def __call__(self, launcher: Launcher, columns: Iterable[RowColumn], rows: int, secret: int) -> DeviceBuffer:
        hashes = row_hashes(launcher, columns, rows, secret)
        if secret not in self._weak and self._left:
            self._left -= 1
            self._weak.add(secret)
        bits = launcher.fetch(hashes).view(np.uint64)
        return launcher.put(bits >> np.uint64(61)) if secret in self._weak else hashes


def table_of(random: np.random.Generator, rows: int, strings: str) -> Table:
    """Return rows with few and many values, and texts of all sizes around a word."""

    def text(number: int) -> str:
        return f'"{"é" * (number % 3)}{"ab" * (number % 11)}{number % 5}"'

    numbers = random.integers(0, 40, (rows, 4)).tolist()
    lines = [f"{text(s)},{i - 20},{text(t * 7)},{(w - 20) << 33}" for s, i, t, w in numbers]
    return headrace.read_csv("\n".join(["s,i,t,w", *lines, ""]).encode(), header=True, dtypes=TYPES, strings=strings)


def rows_of(table: Table, names: list[str]) -> list[Row]:
    """Return the rows as tuples."""
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


class Numbered:
    """Numbered rows in the harness, and what they should be."""

    def __init__(self, names: list[str], secrets: int, launcher: FiberLauncher | None = None) -> None:
        self.launcher, self.names = launcher or FiberLauncher("random", 3), names
        self.rows = NumberedRows(self.launcher, {one: COLUMNS[one] for one in names}, tuning=TUNING, hashes=FewBits(secrets))
        self.oracle: dict[Row, int] = {}

    def given(self, table: Table) -> dict[str, Column]:
        """Return columns in the harness."""
        return {name: on_fibers(self.launcher, table[name]) for name in self.names}

    def add(self, table: Table, width: int) -> None:
        """Add rows, and check their numbers."""
        rows = rows_of(table, self.names)
        found = self._numbers(self.rows.add, self.given(table), len(rows), width)
        for row in rows:
            self.oracle.setdefault(row, len(self.oracle))
        assert found.tolist() == [self.oracle[row] for row in rows]
        assert self.rows.size == len(self.oracle)

    def check(self, table: Table, width: int) -> None:
        """Find rows, and check their numbers."""
        rows, absent = rows_of(table, self.names), (1 << 8 * width) - 1
        found = self._numbers(self.rows.find, self.given(table), len(rows), width)
        assert found.tolist() == [self.oracle.get(row, absent) for row in rows]

    def kept(self) -> list[Row]:
        """Return the rows by their number."""
        columns = [fetched(column).to_pylist() for column in self.rows.columns().values()]
        signed = [
            np.array(column, f"u{COLUMNS[name]}").view(f"i{COLUMNS[name]}").tolist() if COLUMNS[name] else column
            for name, column in zip(self.names, columns, strict=True)
        ]
        return list(zip(*signed, strict=True))

    def _numbers(self, call: Any, columns: Mapping[str, Column], count: int, width: int) -> NDArray[Any]:
        target = self.launcher.allocate(count * width)
        call(self.launcher, columns, Numbers(target, count, width))
        return self.launcher.fetch(target).view(f"u{width}")


@pytest.mark.parametrize("secrets", [0, 2])
@pytest.mark.parametrize("names", NAMES, ids="".join)
def test_numbers(names: list[str], secrets: int) -> None:
    random, numbered = np.random.default_rng(len(names) + secrets), Numbered(names, secrets)
    for step, rows in enumerate((5, 1, 200, 0, 97, 40)):
        strings = ("plain", "view", "dictionary")[step % 3]
        part = table_of(random, rows + 4, strings)[2 : 2 + rows]
        width = 4 + step % 2 * 4
        numbered.check(part, width)
        numbered.add(part, width)
        numbered.check(part, width)
        assert numbered.kept() == list(numbered.oracle)


def test_removed_rows_and_copies() -> None:
    random, numbered = np.random.default_rng(4), Numbered(["t", "i"], 0)
    first, second = table_of(random, 60, "plain"), table_of(random, 60, "plain")
    numbered.add(first, 4)
    before, size = dict(numbered.oracle), numbered.rows.size
    copied = numbered.rows.copy(numbered.launcher)
    numbered.add(second, 4)
    numbered.rows.remove_from(numbered.launcher, size)
    numbered.oracle = dict(before)
    numbered.check(second, 8)
    numbered.add(second[10:], 8)
    assert numbered.kept() == list(numbered.oracle)
    numbered.rows, numbered.oracle = copied, before
    numbered.check(second, 4)
    numbered.add(second[:10], 4)
    assert numbered.kept() == list(numbered.oracle)


class Refusing(FiberLauncher):
    """Refuses an allocation after some others. `left`: their number; None for no refusal."""

    left: int | None = None

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        if self.left == 0:
            raise MemoryLimitError("refused")
        if self.left is not None:
            self.left -= 1
        return super().allocate(nbytes, fill=fill)


@pytest.mark.parametrize("secrets", [0, 2])
def test_refused_memory_changes_nothing(secrets: int) -> None:
    """Each allocation of an addition is refused once, each time to a copy: a refused addition may have reserved memory."""
    random, launcher = np.random.default_rng(9), Refusing("random", 2)
    numbered = Numbered(["t", "i"], secrets, launcher)
    first, second = table_of(random, 2 if secrets else 30, "plain"), table_of(random, 60, "plain")
    numbered.add(first, 4)
    given, target = numbered.given(second), launcher.allocate(4 * len(second))
    before = numbered.rows
    for allocations in range(150):
        numbered.rows = before.copy(launcher)
        launcher.left = allocations
        try:
            numbered.rows.add(launcher, given, Numbers(target, len(second), 4))
            break
        except MemoryLimitError:
            launcher.left = None
            assert numbered.kept() == list(numbered.oracle)
            numbered.check(second, 4)
    assert launcher.left == 0  # each one was refused
    launcher.left, numbered.rows = None, before
    assert 15 < allocations < 150
    numbered.add(second, 4)
    assert numbered.kept() == list(numbered.oracle)


class SmallPieces(FiberLauncher):
    """Refuses allocations of more than `largest` bytes."""

    largest = 1 << 30  # bytes

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        if nbytes > self.largest:
            raise MemoryLimitError("refused")
        return super().allocate(nbytes, fill=fill)


def test_a_removal_needs_little_memory() -> None:
    random, launcher = np.random.default_rng(5), SmallPieces("random", 2)
    numbered = Numbered(["t", "i"], 0, launcher)
    first, second = table_of(random, 30, "plain"), table_of(random, 300, "plain")
    numbered.add(first, 4)
    before, size = dict(numbered.oracle), numbered.rows.size
    numbered.add(second, 4)
    launcher.largest = 1000
    numbered.rows.remove_from(launcher, size)
    launcher.largest, numbered.oracle = 1 << 30, before
    assert numbered.kept() == list(before)
    numbered.check(second, 4)
    numbered.add(second[100:], 4)
    assert numbered.kept() == list(numbered.oracle)


class Interrupted(FiberLauncher):
    """Raises an interrupt in a wait after some others. `left`: their number; None for no interrupt."""

    left: int | None = None

    def fetch(self, buffer: DeviceBuffer) -> NDArray[np.uint8]:
        found = super().fetch(buffer)
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise KeyboardInterrupt
        return found


@pytest.mark.parametrize("rows", [20, 200])
def test_interrupts(rows: int) -> None:
    """An addition that was interrupted may be repeated, and later rows get other numbers."""
    random, launcher = np.random.default_rng(rows), Interrupted("random", 2)
    numbered = Numbered(["t", "i"], 0, launcher)
    first, second, third = (table_of(random, count, "plain") for count in (10, rows, 40))
    numbered.add(first, 4)
    before, size, oracle = numbered.rows, numbered.rows.size, dict(numbered.oracle)
    for waits in range(50):
        numbered.rows, numbered.oracle = before.copy(launcher), dict(oracle)
        launcher.left = waits
        try:
            numbered.add(second, 4)
        except KeyboardInterrupt:
            kept = numbered.kept()
            assert kept in (list(oracle), list(dict.fromkeys([*oracle, *rows_of(second, numbered.names)])))
            numbered.oracle = {row: number for number, row in enumerate(kept)}
        if launcher.left is not None:
            break
        numbered.add(second[:5] if waits % 2 else second, 4)
        numbered.add(third, 4)
        numbered.check(second, 4)
        assert numbered.kept() == list(numbered.oracle)
        launcher.left = waits % 3
        with suppress(KeyboardInterrupt):
            numbered.rows.remove_from(launcher, size)
        launcher.left = None
        numbered.rows.remove_from(launcher, size)
        numbered.oracle = dict(oracle)
        numbered.check(third, 4)
        numbered.add(third, 4)
        assert numbered.kept() == list(numbered.oracle)
    assert 3 < waits < 50


@pytest.mark.parametrize("names", NAMES, ids="".join)
def test_sorted_rows(names: list[str]) -> None:
    random, numbered = np.random.default_rng(6), Numbered(names, 0)
    numbered.add(table_of(random, 150, "plain"), 4)
    launcher, kept = numbered.launcher, numbered.kept()
    for count in (0, 1, 33, 180):
        width = 4 + count % 2 * 4
        rows = random.integers(0, len(kept), count).astype(f"u{width}")
        values = random.integers(0, 9, count).astype("i8")
        sorters = Sorters(launcher, HARNESS_TUNING, lambda: launcher.allocate(16, fill=0))
        given = SortedRows(sorters, count, ItemBuffer(launcher.put(rows), width), ItemBuffer(launcher.put(values), 8))
        given.by_values(KeyOrder.of("<i8"))
        orders = {name: KeyOrder.of(f"<i{COLUMNS[name]}") if COLUMNS[name] else None for name in names}
        given.by_columns(numbered.rows.columns(), orders)
        assert given.values is not None
        numbers = launcher.fetch(given.rows.buffer).view(f"u{width}").tolist()
        held = launcher.fetch(given.values.buffer).view("i8").tolist()
        found = list(zip((kept[one] for one in numbers), held, strict=True))
        pairs = zip((kept[one] for one in rows.tolist()), values.tolist(), strict=True)
        assert found == sorted(pairs, key=lambda pair: (_sortable(pair[0]), pair[1]))


def _sortable(row: Row) -> list[Any]:
    return [item.encode() if isinstance(item, str) else item for item in row]
