"""Inserts batches in which some keys are frequent into multimaps, in the fiber harness, and compares them with Python lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MapOperation, MemoryLimitError
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.gpu.kernels.launcher import Entry
from headrace.index.hash_map.gpu.tuning import SlabTuning
from tests.index.hash_map.hash_map_cases import MultiMapOracle, bits_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap
from tests.index.hash_map.slab_hash_cases import BUILD, ListingLauncher

pytestmark = pytest.mark.fibers

TUNING = SlabTuning(threads=64, list_slabs=1.0, max_looks=1, max_unsorted=0, many_postponed=100, max_walk=4, sort=HARNESS_TUNING)
"""Insertions are postponed as soon as one slab had no slot for them. Lists of four slabs are long."""


def _skewed(key: str, random: np.random.Generator, count: int) -> NDArray[Any]:
    """Return keys by Zipf's law; the one that marks empty slots is frequent too."""
    bits = random.zipf(1.3, count).astype(np.uint64)
    bits[random.random(count) < 0.15] = ~np.uint64(0)
    return bits.astype(f"u{np.dtype(key).itemsize}").view(key)


def _check(table: FiberMultiMap, oracle: dict[int, list[int]], keys: NDArray[Any]) -> None:
    assert table.items() == Counter((key, value) for key, values in oracle.items() for value in values)
    asked = np.unique(keys)
    assert table.find_all(asked) == [sorted(oracle[key]) for key in bits_of(asked)]
    assert table.map.size == sum(map(len, oracle.values()))
    assert table.map.chains(table.launcher)[0] == table.map.slabs_in_use(table.launcher)  # no slab is lost


@pytest.mark.long_except("random-1-4-4", "random-1-8-8", "reverse-0-4-8")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    launcher = ListingLauncher(order, seed)
    table, oracle = FiberMultiMap(widths, launcher, TUNING), defaultdict[int, list[int]](list)
    for count in (700, 30, 900):
        keys, values = _skewed(table.key, random, count), np.arange(count).astype(table.value)
        table.insert(keys, values)
        for key, value in zip(bits_of(keys), bits_of(values), strict=True):
            oracle[key].append(value)
        _check(table, oracle, keys)
        few = keys[:3]
        assert table.erase_all(few) == [len(oracle.pop(key, [])) for key in bits_of(few)]
    table.map.compact(launcher)
    _check(table, oracle, keys)
    assert launcher.names.count("append_slabs") >= 3
    assert {"copy_sorted", "erase_sorted"} <= set(launcher.names)


@pytest.mark.parametrize("key", [7, -1])
@pytest.mark.parametrize("max_looks", [1, 8])
def test_a_key_fills_whole_slabs(key: int, max_looks: int) -> None:
    """Beside other keys, of which none is postponed."""
    launcher = ListingLauncher(seed=2)
    table = FiberMultiMap((4, 4), launcher, replace(TUNING, max_looks=max_looks))
    keys = np.full(2000, key, "i4")
    keys[::50] = np.arange(40) + 100
    table.insert(keys, np.arange(2000, dtype="u4"))
    assert "append_slabs" in launcher.names
    oracle = defaultdict[int, list[int]](list)
    for value, one in enumerate(bits_of(keys)):
        oracle[one].append(value)
    _check(table, oracle, keys)
    assert table.map.chains(launcher)[1] <= 2000 // 15 + 40


def test_few_postponed_insertions_are_not_sorted() -> None:
    launcher = ListingLauncher(seed=9)
    table, keys = FiberMultiMap((4, 4), launcher, replace(TUNING, max_unsorted=100)), np.full(100, 7, "i4")
    table.insert(keys, np.arange(100, dtype="u4"))
    assert launcher.names.count("append_pairs") == 2
    assert "append_slabs" not in launcher.names
    assert table.find_all(keys[:1]) == [list(range(100))]


@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
def test_batches_that_are_ordered_or_built(widths: tuple[int, int]) -> None:
    """Rows then have hashes in place of keys, or are those that first slabs have no slot for."""
    for tuning in (
        replace(TUNING, order_rows=1, order_slabs=1, build=replace(BUILD, min_rows=1 << 30)),
        replace(TUNING, build=BUILD),
    ):
        launcher = ListingLauncher(seed=5)
        random, oracle = np.random.default_rng(3), defaultdict[int, list[int]](list)
        table = FiberMultiMap(widths, launcher, tuning, seed=0xA5A5000100000077)
        keys, values = _skewed(table.key, random, 600), np.arange(600).astype(table.value)
        table.insert(keys, values)
        for key, value in zip(bits_of(keys), bits_of(values), strict=True):
            oracle[key].append(value)
        _check(table, oracle, keys)
        assert {"split", "append_slabs"} <= set(launcher.names)


def test_mixed_operations_postpone_their_insertions() -> None:
    launcher = ListingLauncher(seed=4)
    table, oracle = FiberMultiMap((8, 4), launcher, TUNING), MultiMapOracle()
    for names in (["insert"] * 200, ["insert"] * 150 + ["erase_all"] + ["insert"] * 149):
        keys, values = np.full(len(names), 3, "u8"), np.arange(len(names), dtype="i4")
        operations = np.array([MapOperation[name.upper()] for name in names], np.uint8)
        assert table.apply(operations, keys, values) == oracle.apply(names, keys, values)
        assert table.items() == Counter(oracle.pairs(table.value))
    assert launcher.names.count("append_slabs") >= 2


class _UnsortedLauncher(ListingLauncher):
    """A launcher that has no memory for a list of postponed rows."""

    def allocate_group(self, zeroed: Any, others: Any = (), *, ones: int = 0) -> Any:
        """Refuse a counter beside other buffers."""
        if list(zeroed) == [8]:
            raise MemoryLimitError("no more memory")
        return super().allocate_group(zeroed, others, ones=ones)


def test_without_memory_for_an_order_pairs_are_inserted_one_by_one() -> None:
    launcher = _UnsortedLauncher(seed=6)
    table = FiberMultiMap((4, 4), launcher, TUNING)
    keys, values = np.zeros(300, "i4"), np.arange(300, dtype="u4")
    table.insert(keys, values)
    assert table.find_all(keys[:1]) == [bits_of(values)]
    assert launcher.names.count("append_pairs") == 2
    assert "append_slabs" not in launcher.names


def test_long_lists_are_walked_if_memory_for_a_sort_is_refused() -> None:
    launcher = ListingLauncher(seed=8)
    table = FiberMultiMap((8, 4), launcher, TUNING)
    keys, values = np.arange(300, dtype="u8") // 200, np.arange(300, dtype="i4")
    table.insert(keys, values)
    launcher.max_bytes = 500
    assert table.counts(keys[[0, 299]]).tolist() == [200, 100]
    assert launcher.names.count("count_values") == 2
    assert "count_sorted" not in launcher.names
    launcher.max_bytes = 1 << 30
    assert table.find_all(keys[[299, 0, 299]]) == [bits_of(values[200:]), bits_of(values[:200]), bits_of(values[200:])]


@pytest.mark.parametrize("key", [7, -1])
@pytest.mark.parametrize(("launcher_type", "last"), [(ListingLauncher, "erase_sorted"), (_UnsortedLauncher, "erase_values")])
def test_values_of_long_lists_are_erased_by_a_look_at_all_slabs(
    key: int, launcher_type: type[ListingLauncher], last: str
) -> None:
    """Or by walks if memory for the order of the keys is refused. Other keys of the batch are absent, repeated or rare."""
    launcher = launcher_type("random", 8)
    table = FiberMultiMap((4, 4), launcher, TUNING)
    keys = np.where(np.arange(900) % 3 == 0, key, np.arange(900) % 30 + 100).astype("i4")
    table.insert(keys, np.arange(900, dtype="u4"))
    assert table.erase_all(np.array([101, key, 5000, key, 104, 104], "i4")) == [30, 300, 0, 0, 30, 0]
    assert table.map.size == 900 - 360
    assert [name for name in launcher.names if name.startswith("erase")][-2:] == ["erase_values", last]
    left = ~np.isin(keys, [101, key, 104])
    assert table.items() == Counter(zip(bits_of(keys[left]), np.flatnonzero(left).tolist(), strict=True))


def test_keys_without_values() -> None:
    launcher = ListingLauncher(seed=8)
    table = FiberMultiMap((4, 4), launcher, TUNING)
    table.insert(np.zeros(300, "i4"), np.arange(300, dtype="u4"))
    assert table.find_all(np.array([1, 2], "i4")) == [[], []]
    assert "copy_values" not in launcher.names and "copy_sorted" not in launcher.names


class _RefusedLauncher(ListingLauncher):
    """A launcher that limits memory once slabs are filled."""

    limit = 1 << 30

    def launch(self, entry: Entry, shape: Any, args: Any) -> None:
        """Launch the kernel."""
        super().launch(entry, shape, args)
        if entry.name == "append_slabs":
            self.max_bytes = self.limit


def test_whole_slabs_are_emptied_if_slabs_run_out() -> None:
    """The table has 32 slabs for 1,000 values of a key. It grows, or is as before."""
    for limit in (1 << 30, 2000):
        launcher = _RefusedLauncher(seed=7)
        table = FiberMultiMap((4, 4), launcher, replace(TUNING, max_load=1e9))
        table.insert(np.full(40, 5, "i4"), np.arange(40, dtype="u4"))
        bitmap = np.full(table.map.memory.bitmaps.nbytes // 4, 0xFFFFFFFF, np.uint32)
        launcher.limit, bitmap[0] = limit, 0xFF
        held = launcher.fetch(table.map.memory.bitmaps).view(np.uint32)
        launcher.put(held | np.where(np.arange(len(bitmap)) == 0, 0, bitmap), table.map.memory.bitmaps)
        keys, values = np.full(1000, 5, "i4"), np.arange(1000, dtype="u4") + 100
        if limit == 1 << 30:
            table.insert(keys, values)
            assert table.find_all(keys[:1]) == [sorted([*range(40), *bits_of(values)])]
        else:
            with pytest.raises(MemoryLimitError):
                table.insert(keys, values)
            launcher.max_bytes = 1 << 30
            assert table.find_all(keys[:1]) == [[*range(40)]]
        assert "append_slabs" in launcher.names
