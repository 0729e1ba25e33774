"""Replays random histories on the slab hash with several values for a key, in the fiber harness and on Python lists."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import bits_of, numbers_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap

pytestmark = pytest.mark.fibers


@pytest.mark.long_except("random-1-8-8", "*-4-4")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_histories(widths: tuple[int, int], order: str, seed: int) -> None:
    random = np.random.default_rng(seed + widths[0])
    table = FiberMultiMap(widths, FiberLauncher(order, seed), SlabTuning(threads=64, list_slabs=1.0))
    oracle: dict[int, list[int]] = defaultdict(list)
    for step in range(8):
        keys = numbers_of(table.key, random, int(random.choice([1, 33, 200])), span=20)
        values = numbers_of(table.value, random, len(keys))
        table.insert(keys, values)
        for key, value in zip(bits_of(keys), bits_of(values), strict=True):
            oracle[key].append(value)
        if step % 3 == 1:
            few = keys[: len(keys) // 4 + 1]
            assert table.erase_all(few) == [len(oracle.pop(key, [])) for key in bits_of(few)]
        if step % 4 == 3:
            table.map.compact(table.launcher)
        assert table.find_all(keys) == [sorted(oracle[key]) for key in bits_of(keys)]
    pairs = [(key, value) for key, many in oracle.items() for value in many]
    assert table.items() == Counter(pairs)
    assert table.map.size == len(pairs)


@pytest.mark.long_except("-1-1-*", "7-2-8-8")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("key", [7, -1])
def test_one_key_with_many_values(widths: tuple[int, int], seed: int, key: int) -> None:
    """Warps of several blocks put slabs into one list. The key of all ones has a list of its own."""
    launcher = FiberLauncher("random", seed, resident_blocks=8)
    table = FiberMultiMap(widths, launcher, SlabTuning(threads=64, list_slabs=1.0))
    keys = np.full(500, key).astype(f"i{widths[0]}").view(table.key)
    values = np.arange(500).astype(table.value)
    table.insert(keys, values)
    assert table.find_all(keys[:1]) == [bits_of(values)]
    assert table.items() == Counter(zip(bits_of(keys), bits_of(values), strict=True))
    slabs, _ = table.map.chains(launcher)
    assert table.map.slabs_in_use(launcher) == slabs  # races lose no slab
    assert table.erase_all(keys[:3]) == [500, 0, 0]
    assert table.counts(keys[:1]).tolist() == [0]
    assert table.map.size == 0


def test_a_full_table_is_compacted_before_it_grows() -> None:
    """Slots that were erased inside of lists are found again by a rebuild."""
    launcher = FiberLauncher("forward")
    table = FiberMultiMap((4, 4), launcher, SlabTuning(threads=64, list_slabs=1.0, max_load=1e9))
    keys, values = np.zeros(2000, "i4"), np.arange(2000, dtype="u4")
    before = table.map.nbytes
    for _ in range(9):
        table.insert(keys, values)
        assert table.erase_all(keys[:1]) == [2000]
    assert table.map.nbytes < 2 * before


@pytest.mark.parametrize("key", [7, -1])
def test_flushed_lists(key: int) -> None:
    """Erased values of other keys leave gaps in the list; the key of all ones has a list of its own."""
    launcher = FiberLauncher("random", 3)
    table = FiberMultiMap((4, 8), launcher, SlabTuning(threads=64, list_slabs=1.0, max_load=1e9))
    keys = np.where(np.arange(300) % 3 == 0, key, np.arange(300) % 50 + 100).astype("i4").view("f4")
    table.insert(keys, np.arange(300))
    table.erase_all(np.arange(100, 140, dtype="i4").view("f4"))
    before, (slabs, _) = table.items(), table.map.chains(launcher)
    table.map.flush(launcher)
    assert table.items() == before
    assert table.map.chains(launcher)[0] == table.map.slabs_in_use(launcher) < slabs
    kept = np.array([key, 145, 120], "i4").view("f4")
    assert [len(one) for one in table.find_all(kept)] == [100, 4, 0]
