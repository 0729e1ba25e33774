"""Replays random histories on the slab hash in the fiber harness and on Python dictionaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MemoryLimitError
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedSlabHash
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.index.hash_map.hash_map_cases import MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import SHORT, SMALL, UNLIMITED, WIDTHS, FiberMap, LimitedLauncher, ListingLauncher

pytestmark = pytest.mark.fibers

BATCHES = (1, 7, 31, 32, 33, 64, 200)


def _operate(table: FiberMap, oracle: MapOracle, keys: NDArray[Any], random: np.random.Generator) -> None:
    values = numbers_of(table.value or "uint32", random, len(keys))
    if not table.value:
        values[:] = 0
    reductions = ["last", "first", "sum", "min", "max"] if table.value else ["first"]
    match random.integers(0, 5):
        case 0 | 1 | 2:
            reduce = str(random.choice(reductions))
            assert table.upsert(keys, values if table.value else None, reduce) == oracle.upsert(keys, values, reduce)
        case 3 if table.value:
            found = table.launcher.allocate(len(keys))
            table.map.replace(table.launcher, table.rows(keys, values), found)
            assert table.flags(found) == oracle.replace(keys, values)
        case _:
            found = table.launcher.allocate(len(keys))
            table.map.erase(table.launcher, table.rows(keys), found)
            assert table.flags(found) == oracle.erase(keys)


@pytest.mark.long_except("random-1-4-8", "random-1-8-[08]", "*-4-4")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random = np.random.default_rng(seed + widths[0])
    table, oracle = FiberMap.of(widths, FiberLauncher(order, seed)), MapOracle()
    for step in range(12):
        keys = numbers_of(table.key, random, int(random.choice(BATCHES)))
        _operate(table, oracle, keys, random)
        values, found = table.find(keys)
        expected = oracle.find(keys, table.value or "uint32")
        assert (values or expected[0], found) == expected
        if step % 5 == 4:
            table.map.compact(table.launcher)
    assert table.map.size == len(oracle.pairs)
    assert table.items() == oracle.items(table.value or "uint32")


@pytest.mark.parametrize("block_rows", [0, 96])
def test_marks_of_first_slabs(block_rows: int) -> None:
    """Keys after the first slab of a list are noted in its mark, so that searches of most absent keys end there."""
    launcher = FiberLauncher("random", 8)
    table = FiberMap.of((4, 4), launcher, replace(UNLIMITED, block_rows=block_rows))
    keys = np.arange(40, dtype="i4")
    for count, noted in ((15, range(1)), (40, range(10, 26))):
        table.upsert(keys[:count], keys[:count].astype("u4"), "last")
        mark = launcher.fetch(table.map.memory.slabs).view(np.uint32)[30]
        assert 32 - int(mark).bit_count() in noted
        assert table.find(np.arange(-500, 500, dtype="i4"))[1] == [0 <= key < count for key in range(-500, 500)]
    table.map.compact(launcher)
    assert table.find(keys)[1] == [True] * 40


@pytest.mark.parametrize("block_rows", [0, 96])
@pytest.mark.parametrize("reduce", ["last", "first", "sum", "min"])
def test_an_insertion_waits_once(reduce: str, block_rows: int) -> None:
    """Also if rows of one key have several values. Searches and replacements do not wait, erasures wait once."""
    launcher = FiberLauncher("random", 2)
    table = FiberMap.of((4, 4), launcher, replace(UNLIMITED, block_rows=block_rows))
    keys, values = np.arange(90, dtype="i4") % 50, np.arange(90, dtype="u4")
    for count in (50, 90):
        before = launcher.waits
        table.upsert(keys[:count], values[:count], reduce)
        assert launcher.waits == before + 1
    found = launcher.allocate(90)
    before = launcher.waits
    table.map.find(launcher, table.rows(keys), None, found)
    table.map.replace(launcher, table.rows(keys, values), found)
    assert launcher.waits == before
    table.map.erase(launcher, table.rows(keys), found)
    assert launcher.waits == before + 1


@pytest.mark.long_except("4-4", "8-8", "8-0")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_a_small_batch_is_one_launch(widths: tuple[int, int]) -> None:
    """Also if keys are repeated with several values, or lists get slabs. All keys have few buckets."""
    launcher = ListingLauncher(seed=3)
    table, oracle = FiberMap.of(widths, launcher, UNLIMITED), MapOracle()
    random = np.random.default_rng(widths)
    batches = ((1, "last"), (60, "first"), (96, "last"), (96, "sum"), (95, "min"), (33, "max"), (96, "last"), (96, "first"))
    for count, of_values in batches:
        reduce = of_values if table.value else "first"
        keys = random.integers(-40, 40, count).astype(f"i{widths[0]}").view(table.key)
        values = numbers_of(table.value or "uint32", random, count) if table.value else np.zeros(count, "u4")
        added = table.upsert(keys, values if table.value else None, reduce)
        assert added == oracle.upsert(keys, values, reduce)
        assert launcher.names.pop() == "upsert_rows"
        assert not launcher.names
    assert launcher.waits == len(batches)
    assert table.items() == oracle.items(table.value or "uint32")
    for count in (1, 96, 50):
        keys = random.integers(-60, 60, count).astype(f"i{widths[0]}").view(table.key)
        found = launcher.allocate(count)
        launcher.names.clear()
        table.map.erase(launcher, table.rows(keys), found)
        assert launcher.names == ["erase_rows"]
        assert table.flags(found) == oracle.erase(keys)
        assert table.items() == oracle.items(table.value or "uint32")


def test_a_small_batch_without_memory_changes_nothing_before_the_table_grows() -> None:
    launcher = ListingLauncher(seed=3)
    table = FiberMap.of((4, 4), launcher, SlabTuning(threads=64, block_rows=96, max_load=1e9, list_slabs=0))
    keys = np.arange(90, dtype="i4") % 60
    assert table.upsert(keys, np.arange(90, dtype="u4"), "sum") == 60
    assert launcher.names == ["upsert_rows", "upsert_rows"]
    assert table.find(keys[:60])[0] == [2 * key + 60 if key < 30 else key for key in range(60)]


@pytest.mark.parametrize("reduce", ["last", "sum", "min"])
def test_a_small_batch_without_memory_changes_nothing_if_the_table_cannot_grow(reduce: str) -> None:
    """It has repeated keys, and keys that are present, whose values stay."""
    launcher = LimitedLauncher("random", 3)
    table = FiberMap.of((4, 4), launcher, replace(SHORT, max_load=1e9))
    keys = np.arange(60, dtype="i4")
    table.upsert(keys[:12], keys[:12].astype("u4") + 7, "last")
    before, slabs = table.items(), table.map.slabs_in_use(launcher)
    launcher.max_bytes = table.map.nbytes // 2
    with pytest.raises(MemoryLimitError):
        table.upsert(np.repeat(keys, 2)[:96], np.arange(96, dtype="u4"), reduce)
    assert table.items() == before
    assert (table.map.size, table.map.slabs_in_use(launcher)) == (12, slabs)
    launcher.max_bytes = 1 << 30
    assert table.upsert(keys, keys.astype("u4"), reduce) == 48


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("4-4", "8-8")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_flushed_lists_have_no_slab_too_many(widths: tuple[int, int]) -> None:
    """The table has two lists, of keys and of the key of all ones. Memory for another table is refused."""
    launcher = LimitedLauncher("random", 5)
    table = FiberMap.of(widths, launcher, UNLIMITED)
    random, oracle, slots = np.random.default_rng(5), MapOracle(), 120 // sum(widths)
    launcher.max_bytes = table.map.nbytes // 2
    for count in (100, 3, 160, 0):
        keys = random.permutation(np.append(np.arange(count), -1)).astype(np.dtype(f"i{widths[0]}")).view(table.key)
        values = np.arange(count + 1).astype(table.value or "u4") * bool(table.value)
        table.upsert(keys, values if table.value else None, "last" if table.value else "first")
        oracle.upsert(keys, values, "last")
        found = launcher.allocate(200)
        gone = random.permutation(np.arange(200))[:130].astype(np.dtype(f"i{widths[0]}")).view(table.key)
        table.map.erase(launcher, table.rows(gone), found)
        oracle.erase(gone)
        table.map.compact(launcher)
        assert table.items() == oracle.items(table.value or "uint32")
        expected = 1 + max(1, -(-(len(oracle.pairs) - 1) // slots))
        assert table.map.chains(launcher)[0] == table.map.slabs_in_use(launcher) == expected
        assert table.find(keys)[1] == oracle.find(keys, values.dtype.name)[1]
        assert table.find(gone)[1] == [False] * 130


@pytest.mark.parametrize("seed", [0, 12345678901234567890])
def test_a_copy_does_not_change(seed: int) -> None:
    launcher = FiberLauncher("random", 3)
    table = FiberMap(
        launcher,
        MixedSlabHash(launcher, (8, 4), tuning=UNLIMITED, seed=seed),
        "int64",
        "int32",
    )
    keys = np.arange(-40, 40)
    table.upsert(keys, keys.astype("i4"), "last")
    copied = FiberMap(launcher, table.map.copy(launcher), "int64", "int32")
    before = table.items()
    table.upsert(keys * 3, keys.astype("i4"), "sum")
    assert copied.items() == before != table.items()
    assert copied.find(keys)[1] == [True] * 80


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("1-*")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lists_of_many_slabs(widths: tuple[int, int], seed: int) -> None:
    """All keys have one bucket, so that warps of several blocks append slabs to the same list."""
    launcher = FiberLauncher("random", seed, resident_blocks=8)
    table, random = (
        FiberMap.of(widths, launcher, UNLIMITED),
        np.random.default_rng(seed),
    )
    keys = random.permutation(np.repeat(np.arange(300), 2)).astype(table.key)
    values = np.arange(600).astype(table.value or "u4")
    oracle = MapOracle()
    assert table.upsert(keys, values if table.value else None, "last" if table.value else "first") == 300
    oracle.upsert(keys, values if table.value else values * 0, "last")
    assert table.items() == oracle.items(table.value or "uint32")
    slabs, longest = table.map.chains(launcher)
    slots = 120 // sum(widths)
    assert slabs - 1 == longest  # the second bucket is that of the escaped key
    assert -(-300 // slots) <= longest <= 300 // slots + 2
    assert table.map.slabs_in_use(launcher) == slabs  # races lose no slab


@pytest.mark.long_except("4-4", "8-0")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_refused_memory_changes_nothing(widths: tuple[int, int]) -> None:
    launcher = LimitedLauncher("random", 4)
    table = FiberMap.of(widths, launcher, SHORT)
    keys = np.arange(700).astype(table.key)
    values = keys.astype(table.value) if table.value else None
    reduce = "last" if table.value else "first"
    table.upsert(keys[:100], None if values is None else values[:100] * 0, reduce)
    before = table.items()
    launcher.max_bytes = table.map.nbytes
    with pytest.raises(MemoryLimitError):
        table.upsert(keys[50:], None if values is None else values[50:], reduce)
    assert table.items() == before
    assert table.map.size == 100
    launcher.max_bytes = 1 << 30
    assert table.upsert(keys[50:], None if values is None else values[50:], reduce) == 600
    assert table.find(keys)[1] == [True] * 700


def test_a_full_table_grows_although_the_first_attempt_was_refused() -> None:
    """A batch that repeats few keys needs no memory, and is inserted although there is none for the whole batch."""
    launcher = LimitedLauncher("random", 5)
    table = FiberMap.of((4, 4), launcher, SHORT)
    keys = np.arange(1000, dtype="i4") % 5
    launcher.max_bytes = 4500
    assert table.upsert(keys, keys.astype("u4"), "sum") == 5
    assert table.find(np.arange(6, dtype="i4"))[0] == [0, 200, 400, 600, 800, 0]


class MeasuringLauncher(FiberLauncher):
    """A launcher that knows the largest buffer that it has allocated."""

    largest = 0

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        """Allocate a buffer."""
        self.largest = max(self.largest, nbytes)
        return super().allocate(nbytes, fill=fill)


@pytest.mark.parametrize("min_rows", [97, 1 << 30], ids=["built", "inserted"])
def test_a_table_has_no_room_for_rows_that_repeat_keys(min_rows: int) -> None:
    """After a batch of few keys, the table is small. The next batch is expected to be like it."""
    launcher = MeasuringLauncher("random", 6)
    tuning = replace(SMALL, build=replace(SMALL.build, min_rows=min_rows))
    table, oracle = FiberMap.of((4, 4), launcher, tuning), MapOracle()
    keys = np.arange(4000, dtype="i4") % 23
    for number in range(3):
        launcher.largest = 0
        added = table.upsert(keys + number, keys.astype("u4"), "sum")
        assert added == oracle.upsert(keys + number, keys.astype("u4"), "sum")
        assert table.map.capacity < 300
        assert number == 0 or launcher.largest <= max(4 * len(keys), table.map.memory.slabs.nbytes)
    assert table.items() == oracle.items("uint32")
    many = np.arange(5000, dtype="i4")
    assert table.upsert(many, many.astype("u4"), "last") == oracle.upsert(many, many.astype("u4"), "last")
    assert table.items() == oracle.items("uint32")
