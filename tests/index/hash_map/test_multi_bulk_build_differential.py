"""Builds multimaps by blocks in the fiber harness, and compares them with Python lists."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from headrace import MemoryLimitError
from headrace.index.hash_map.gpu.tuning import BuildTuning, SlabTuning
from tests.index.hash_map.hash_map_cases import bits_of, numbers_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap
from tests.index.hash_map.slab_hash_cases import BUILD, ListingLauncher

pytestmark = pytest.mark.fibers

TUNING = SlabTuning(threads=64, list_slabs=1.0, build=BUILD)


@pytest.mark.long_except("4-4", "8-8")
@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
def test_first_batches(widths: tuple[int, int]) -> None:
    """Pairs that first slabs have no slot for are inserted. Some have the key that marks empty slots."""
    for number, (count, span) in enumerate([(97, 1000), (900, 300), (1500, 40)]):
        launcher = ListingLauncher(("forward", "reverse", "random")[number], number)
        random = np.random.default_rng(number)
        table = FiberMultiMap(widths, launcher, TUNING)
        keys = random.integers(-1, span, count).astype(f"i{widths[0]}").view(table.key)
        values = numbers_of(table.value, random, count)
        table.insert(keys, values)
        assert "build_multi_lists" in launcher.names
        assert "append_pairs" in launcher.names or number == 0
        assert table.map.size == count
        assert table.items() == Counter(zip(bits_of(keys), bits_of(values), strict=True))
        oracle = defaultdict(list)
        for key, value in zip(bits_of(keys), bits_of(values), strict=True):
            oracle[key].append(value)
        some = np.concatenate([keys[:200], np.arange(5000, 5050).astype(f"i{widths[0]}").view(table.key)])
        assert table.find_all(some) == [sorted(oracle[key]) for key in bits_of(some)]
        assert table.map.chains(launcher)[0] == table.map.slabs_in_use(launcher)


@pytest.mark.parametrize("build", [replace(BUILD, max_bits=2), BUILD])
def test_batches_that_are_not_built(build: BuildTuning) -> None:
    """Blocks would read the same rows, or one would have most of the rows."""
    launcher = ListingLauncher(seed=3)
    table = FiberMultiMap((4, 4), launcher, replace(TUNING, build=build))
    keys, values = np.arange(3000, dtype="i4"), np.arange(3000, dtype="u4")
    if build is BUILD:
        keys[::2] = 7
    table.insert(keys, values)
    assert ("build_multi_lists" in launcher.names) == (build is BUILD)
    assert "append_pairs" in launcher.names
    assert table.items() == Counter(zip(bits_of(keys), bits_of(values), strict=True))


def test_without_memory_the_map_is_empty() -> None:
    """There are slabs for the keys' buckets, and not for all values of a key."""
    launcher = ListingLauncher(seed=4)
    table = FiberMultiMap((4, 4), launcher, replace(TUNING, list_slabs=0, load=0.1))
    keys = np.arange(400, dtype="i4") // 50
    launcher.max_bytes = 100_000
    with pytest.raises(MemoryLimitError):
        table.insert(keys, keys.astype("u4"))
    assert "build_multi_lists" in launcher.names
    assert table.map.size == 0
    assert table.items() == Counter()
    table.insert(keys[:10], keys[:10].astype("u4"))
    assert table.counts(keys[:1]).tolist() == [10]
