"""Builds slab hashes by blocks in the fiber harness, and compares them with Python dictionaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MemoryLimitError
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.operations import MapOperation
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.index.hash_map.hash_map_cases import MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import BUILD, SMALL, WIDTHS, FiberMap, ListingLauncher

pytestmark = pytest.mark.fibers

REDUCTIONS = ("last", "first", "sum", "min", "max")


def filled(
    widths: tuple[int, int], launcher: FiberLauncher, keys: NDArray[Any], reduce: str = "last", tuning: SlabTuning = SMALL
) -> tuple[FiberMap, MapOracle]:
    """Return a map and an oracle after a batch, whose answers are compared."""
    table, oracle = FiberMap.of(widths, launcher, tuning), MapOracle()
    random = np.random.default_rng(len(keys))
    values = numbers_of(table.value or "uint32", random, len(keys)) * np.dtype(table.value or "u4").type(bool(table.value))
    added = table.upsert(keys, values if table.value else None, reduce)
    assert added == oracle.upsert(keys, values, reduce)
    check(table, oracle, keys)
    return table, oracle


def check(table: FiberMap, oracle: MapOracle, keys: NDArray[Any]) -> None:
    """Compare pairs, finds of the keys and of others, and slabs."""
    assert table.map.size == len(oracle.pairs)
    assert table.items() == oracle.items(table.value or "uint32")
    bits = keys.view(f"u{keys.itemsize}")
    for some in (keys, (bits + bits.dtype.type(100_003)).view(keys.dtype)):
        values, found = table.find(some)
        expected = oracle.find(some, table.value or "uint32")
        assert (values or expected[0], found) == expected
    assert table.map.chains(table.launcher)[0] == table.map.slabs_in_use(table.launcher)


def keys_of(key: str, count: int, span: int, seed: int) -> NDArray[Any]:
    """Return keys of which some are equal, some large, and some have all bits set."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, span, count).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits[random.random(count) < 0.1] = ~np.uint64(0)
    return bits.astype(f"u{np.dtype(key).itemsize}").view(key)


@pytest.mark.long_except("4-4-last", "8-8-sum", "4-8-first", "8-8-max", "8-0-min")
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_batches_of_an_empty_map(widths: tuple[int, int], reduce: str) -> None:
    for number, (count, span) in enumerate([(97, 1 << 40), (600, 400), (1500, 1 << 40), (2000, 1500)]):
        launcher = ListingLauncher(("forward", "reverse", "random")[number % 3], number)
        is_float = np.dtype(WIDTHS[widths][1] or "u4").kind == "f"
        how = reduce if widths[1] and not is_float else "first"
        keys = keys_of(WIDTHS[widths][0], count, span, number)
        filled(widths, launcher, keys, how)
        assert "build_lists" in launcher.names
        assert "insert_pairs" not in launcher.names


@pytest.mark.parametrize(("buckets", "max_bits", "splits"), [(1, 16, 2), (8, 2, 1)])
def test_order_of_a_batch(buckets: int, max_bits: int, splits: int) -> None:
    """Two passes order a batch by more than 8 bits. With fewer bits than blocks need, some read the same rows."""
    launcher = ListingLauncher(seed=9)
    tuning = replace(SMALL, load=0.3, build=replace(SMALL.build, buckets=buckets, max_bits=max_bits))
    filled((4, 4), launcher, np.arange(1300, dtype="i4") % 1250 * np.int32(7919), "last", tuning)
    assert launcher.names.count("split") == splits
    assert "insert_pairs" not in launcher.names


def test_second_slabs_are_of_all_memory_blocks() -> None:
    """Searches of later insertions for a slab that is free end soon."""
    launcher = ListingLauncher(seed=11)
    tuning = replace(SMALL, load=0.79, list_slabs=40.0)
    table, _ = filled((4, 4), launcher, np.arange(1000, dtype="i4") * np.int32(7919), tuning=tuning)
    memory = table.map.memory
    bits = np.unpackbits(launcher.fetch(memory.bitmaps)[: memory.blocks * 128])
    used = bits.reshape(memory.blocks, -1).sum(1)
    assert used.sum() > memory.blocks > 2
    assert used.max() - used.min() <= 1


def test_a_few_repeated_keys() -> None:
    """Most slabs are written as they were placed, those with equal keys are filled again."""
    launcher = ListingLauncher(seed=10)
    keys = np.arange(1000, dtype="i8") << 33  # the words of these keys differ in their high halves alone
    keys[::97] = keys[5]
    for reduce in ("last", "sum"):
        filled((8, 8), launcher, keys, reduce)
    assert "insert_pairs" not in launcher.names


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_repeated_keys_that_no_first_slab_has(reduce: str) -> None:
    """With 1.1 keys a slot, some are inserted into lists after the slabs are written."""
    launcher = ListingLauncher(seed=7)
    build = replace(SMALL.build, buckets=2)
    tuning = replace(SMALL, load=2.4, max_load=4.0, list_slabs=500.0, build=build)
    table, _ = filled((4, 4), launcher, keys_of("int32", 160, 120, 8), reduce, tuning)
    assert table.map.chains(launcher)[1] > 1
    assert "insert_pairs" not in launcher.names


@pytest.mark.long_except("4-4", "8-4")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_growth_moves_lists(widths: tuple[int, int]) -> None:
    """Lists of several slabs, with erased slots, and the key that marks empty slots."""
    launcher = ListingLauncher(seed=5)
    tuning = replace(SMALL, load=1.5, max_load=1.6)
    keys = keys_of(WIDTHS[widths][0], 500, 1 << 40, 3)
    keys[10] = np.array(-1).astype(f"i{widths[0]}").view(keys.dtype)
    table, oracle = filled(widths, launcher, keys, "last" if widths[1] else "first", tuning)
    found = launcher.allocate(100)
    table.map.erase(launcher, table.rows(keys[100:200]), found)
    oracle.erase(keys[100:200])
    launcher.names.clear()
    table.map._rebuild(launcher, 97)
    assert launcher.names == ["move_lists"]
    assert table.map.memory.buckets == 112  # 16 blocks of 7 buckets
    check(table, oracle, keys)
    table.map._rebuild(launcher, 50)
    check(table, oracle, keys)
    launcher.names.clear()
    table.map._rebuild(launcher, 7)
    assert set(launcher.names) == {"copy_items", "insert_pairs"}  # one block would move all lists
    check(table, oracle, keys)


@pytest.mark.parametrize("order", ["any", "sequential"])
def test_operations_between_growths(order: str) -> None:
    """Batches move the lists to larger tables. Before, mixed operations have erased slots and appended slabs."""
    random, launcher = np.random.default_rng(11), ListingLauncher(seed=4)
    tuning = replace(SMALL, load=1.0, max_load=1.3, order_rows=1 << 30, build=replace(BUILD, min_rows=1 << 30))
    table, oracle, growths = FiberMap.of((4, 4), launcher, tuning), MapOracle(), []
    for step in range(8):
        launcher.names.clear()
        keys, values = numbers_of("int32", random, 60 << step // 2, span=1 << 20), numbers_of("uint32", random, 60 << step // 2)
        assert table.upsert(keys, values, "sum") == oracle.upsert(keys, values, "sum")
        some = np.concatenate([random.choice(keys, 40), numbers_of("int32", random, 40, span=1 << 20)])
        some = np.array(list(dict.fromkeys(some.tolist())), "int32")  # once each, so the order of operations has no effect
        kinds = random.integers(0, 4, len(some), dtype=np.uint8)
        numbers = numbers_of("uint32", random, len(some))
        names = [MapOperation(kind).name.lower() for kind in kinds]
        assert table.apply(kinds, some, numbers, order) == oracle.apply(names, some, numbers)
        check(table, oracle, keys)
        growths.append("move_lists" in launcher.names)
    assert sum(growths) >= 3


def test_skewed_batches_are_inserted() -> None:
    """Half of the rows have one key, so a block would have too many rows. The table is emptied first."""
    launcher = ListingLauncher(seed=2)
    keys = np.arange(4000, dtype="i4") * np.int32(7919)
    keys[::2] = 77
    filled((4, 4), launcher, keys, "sum")
    assert "build_lists" in launcher.names
    assert "insert_pairs" in launcher.names


def test_lists_without_slabs_are_inserted() -> None:
    launcher = ListingLauncher(seed=3)
    keys = np.arange(900, dtype="i4")
    filled((4, 4), launcher, keys, tuning=replace(SMALL, list_slabs=0, load=0.79))
    assert "build_lists" in launcher.names
    assert "insert_pairs" in launcher.names


def test_a_map_that_has_become_empty() -> None:
    """Its lists have slabs, which are freed before others are built."""
    launcher = ListingLauncher(seed=4)
    tuning = replace(SMALL, max_load=1e9, list_slabs=2000.0, build=replace(SMALL.build, min_rows=1 << 20))
    table, _ = filled((4, 4), launcher, np.arange(300, dtype="i4"), tuning=tuning)
    assert table.map.chains(launcher)[1] > 10
    found = launcher.allocate(300)
    table.map.erase(launcher, table.rows(np.arange(300, dtype="i4")), found)
    table.map._tuning = replace(tuning, build=SMALL.build)
    keys = np.arange(100, dtype="i4") * 3
    assert table.upsert(keys, keys.astype("u4"), "last") == 100
    assert "build_lists" in launcher.names
    oracle = MapOracle()
    oracle.upsert(keys, keys.astype("u4"), "last")
    check(table, oracle, keys)


class RefusingLauncher(ListingLauncher):
    """A launcher that refuses buffers of one size."""

    refused = -1

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        """Allocate a buffer of another size."""
        if nbytes == self.refused:
            raise MemoryLimitError("no more memory")
        return super().allocate(nbytes, fill=fill)


def test_without_memory_for_the_order_a_batch_is_inserted() -> None:
    launcher = RefusingLauncher(seed=6)
    table = FiberMap.of((4, 8), launcher, replace(SMALL, load=0.5))
    launcher.refused = ((1 << 4) + 1) * 8
    keys, values = np.arange(400, dtype="f4"), np.arange(400)
    assert table.upsert(keys, values, "last") == 400
    assert "build_lists" not in launcher.names
    oracle = MapOracle()
    oracle.upsert(keys, values, "last")
    check(table, oracle, keys)


def test_without_memory_for_the_order_lists_of_an_emptied_map_are_not_used() -> None:
    """The slabs of its lists were freed before memory was refused, so the lists must not have them any more."""
    launcher = RefusingLauncher(seed=12)
    tuning = replace(SMALL, max_load=1e9, list_slabs=200.0, build=replace(SMALL.build, min_rows=1 << 20))
    table = FiberMap.of((4, 4), launcher, tuning)
    table.map._rebuild(launcher, 6)
    keys = np.arange(300, dtype="i4")
    table.upsert(keys, keys.astype("u4"), "last")
    assert table.map.chains(launcher)[1] > 1
    table.map.erase(launcher, table.rows(keys), launcher.allocate(300))
    table.map._tuning = replace(tuning, build=SMALL.build)
    launcher.refused = ((1 << 1) + 1) * 8
    keys = keys[:200] * 3
    assert table.upsert(keys, keys.astype("u4"), "last") == 200
    assert "build_lists" not in launcher.names
    oracle = MapOracle()
    oracle.upsert(keys, keys.astype("u4"), "last")
    check(table, oracle, keys)
