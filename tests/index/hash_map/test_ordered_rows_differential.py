"""Inserts batches that are ordered by hash first, in the fiber harness, and compares them with Python dictionaries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING
from headrace.index.hash_map.gpu.ordered_rows import HashOrder, ordered_rows
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tuning import SlabTuning
from tests.index.hash_map.hash_map_cases import MapOracle, bits_of, numbers_of
from tests.index.hash_map.multi_map_cases import TYPES, FiberMultiMap
from tests.index.hash_map.slab_hash_cases import SHORT, SMALL, WIDTHS, FiberMap, ListingLauncher, replay
from tests.index.sorted_map.fiber_cases import Launcher as ReplayingLauncher

pytestmark = pytest.mark.fibers

ORDERING = replace(SMALL, block_rows=0, order_rows=1, build=replace(SMALL.build, min_rows=1 << 30))

SEED = 0xA5A5000100000077
"""Seed of hashes, whose halves differ."""
_FINALISERS = {4: (0x85EBCA6B, 0xC2B2AE35, 16, 13, 16), 8: (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 33, 33, 33)}
"""Two factors and three shifts, by the bytes of a word."""


def _keys(key: str, random: np.random.Generator, count: int) -> NDArray[Any]:
    """Return keys of which some are equal, and some have all bits set."""
    bits = random.integers(0, 2 * count, count).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits[random.random(count) < 0.05] = ~np.uint64(0)
    return bits.astype(f"u{np.dtype(key).itemsize}").view(key)


@pytest.mark.long_except("3-4-4", "12-8-8", "12-8-0", "3-4-8")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("bits", [3, 12])
def test_ordered_batches(widths: tuple[int, int], bits: int) -> None:
    """In one pass or two, with keys that are present, that repeat with several values, and that mark empty slots."""
    launcher = ListingLauncher(seed=bits)
    table, oracle = FiberMap.of(widths, launcher, replace(ORDERING, order_bits=bits), SEED), MapOracle()
    random = np.random.default_rng(bits)
    is_float = np.dtype(table.value or "u4").kind == "f"
    for count, reduce in ((300, "last"), (1, "last"), (400, "first"), (700, "sum"), (200, "max"), (300, "last")):
        how = reduce if table.value and not is_float else "first"
        keys = _keys(table.key, random, count)
        values = numbers_of(table.value or "uint32", random, count) * np.dtype(table.value or "u4").type(bool(table.value))
        launcher.names.clear()
        added = table.upsert(keys, values if table.value else None, how)
        assert added == oracle.upsert(keys, values, how)
        assert launcher.names.count("split") == (1 if bits <= 8 else 2)
        assert "insert_pairs" in launcher.names
        assert table.items() == oracle.items(table.value or "uint32")
    assert table.map.size == len(oracle.pairs)


@pytest.mark.parametrize("widths", TYPES, ids="{0[0]}-{0[1]}".format)
def test_ordered_batches_of_a_multimap(widths: tuple[int, int]) -> None:
    launcher = ListingLauncher(seed=4)
    table = FiberMultiMap(widths, launcher, replace(ORDERING, list_slabs=1.0), SEED)
    random = np.random.default_rng(7)
    pairs: Counter[tuple[int, int]] = Counter()
    for count in (400, 30, 300):
        keys, values = _keys(table.key, random, count), numbers_of(table.value, random, count)
        table.insert(keys, values)
        pairs.update(zip(bits_of(keys), bits_of(values), strict=True))
        assert table.items() == pairs
    assert "split" in launcher.names


def test_a_batch_that_needs_slabs_is_inserted_again() -> None:
    """The table grows twice; the order of the rows serves each attempt."""
    launcher = ListingLauncher(seed=6)
    tuning = replace(ORDERING, list_slabs=0, max_load=1e9)
    table, oracle = FiberMap.of((4, 4), launcher, tuning), MapOracle()
    keys, values = np.arange(300, dtype="i4"), np.arange(300, dtype="u4")
    assert table.upsert(keys, values, "last") == oracle.upsert(keys, values, "last")
    assert launcher.names.count("insert_pairs") > 1
    assert table.items() == oracle.items("uint32")


def test_a_batch_without_memory_to_order_it_is_inserted_as_it_is() -> None:
    launcher = ListingLauncher(seed=8)
    table, oracle = FiberMap.of((8, 0), launcher, ORDERING), MapOracle()
    table.map._rebuild(launcher, 100)
    keys = np.arange(300) << 33
    rows = table.rows(keys)
    launcher.max_bytes = 2000  # slots of 300 rows, but not their keys
    assert table.map.upsert(launcher, rows, "first", "u") == oracle.upsert(keys, np.zeros(300, "u4"), "first")
    launcher.max_bytes = 1 << 30
    assert "split" not in launcher.names
    assert table.items() == oracle.items("uint32")


@pytest.mark.parametrize(
    "tuning", [replace(ORDERING, order_rows=301), replace(ORDERING, order_slabs=1 << 20), SHORT, SlabTuning()]
)
def test_small_batches_and_batches_of_small_tables_are_not_ordered(tuning: SlabTuning) -> None:
    launcher = ListingLauncher(seed=9)
    table = FiberMap.of((4, 4), launcher, replace(tuning, block_rows=0, threads=64, build=ORDERING.build))
    table.upsert(np.arange(300, dtype="i4"), np.arange(300, dtype="u4"), "last")
    assert "split" not in launcher.names


@pytest.mark.parametrize("widths", [(4, 4), (8, 0)], ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("bits", [5, 12])
def test_replayed_passes(widths: tuple[int, int], bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay with other addresses gives the rows in the order of the first bits of their hashes, as NumPy sorts them."""
    launcher = ReplayingLauncher(seed=bits)
    monkeypatch.setattr("headrace.index.hash_map.gpu.ordered_rows.repeated", replay)
    keys = _keys(WIDTHS[widths][0], np.random.default_rng(bits), 5000).view(f"u{widths[0]}")
    values = np.arange(5000, dtype="u4") if widths[1] else None
    rows = Rows(launcher.put(keys), None if values is None else launcher.put(values), 5000)
    starts = launcher.allocate(8 << bits | 8)
    found = ordered_rows(launcher, rows, widths, HashOrder(bits, SEED, SMALL_TUNING), starts)
    hashes = hashes_of(keys)
    digits = hashes >> keys.dtype.type(8 * widths[0] - bits)
    order = np.argsort(digits, kind="stable")
    assert np.array_equal(launcher.fetch(starts).view("u8"), np.searchsorted(digits[order], np.arange((1 << bits) + 1)))
    assert np.array_equal(launcher.fetch(found.keys).view(keys.dtype), hashes[order])
    if values is not None:
        assert np.array_equal(launcher.fetch(found.values).view("u4"), values[order])


def hashes_of(keys: NDArray[Any]) -> NDArray[Any]:
    """Return the finalisers of MurmurHash3 of keys, after an exclusive or with the seed, or with both halves of it."""
    first, second, *shifts = _FINALISERS[keys.itemsize]
    word = keys.dtype.type
    hashes = keys ^ word(SEED if keys.itemsize == 8 else SEED >> 32 ^ SEED & 0xFFFFFFFF)
    hashes = (hashes ^ hashes >> word(shifts[0])) * word(first)
    hashes = (hashes ^ hashes >> word(shifts[1])) * word(second)
    return hashes ^ hashes >> word(shifts[2])
