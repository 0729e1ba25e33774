"""Replays batches of mixed operations on the slab hash in the fiber harness, in order and side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import MapOperation, MemoryLimitError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import NAMES, History, MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import SHORT, UNLIMITED, WIDTHS, FiberMap, LimitedLauncher, replay
from tests.index.sorted_map.fiber_cases import Launcher as ReplayingLauncher

pytestmark = pytest.mark.fibers


def _batch(table: FiberMap, random: np.random.Generator, count: int, span: int = 200) -> tuple[Any, ...]:
    """Return operations, keys and values; those of a set are 0."""
    keys = numbers_of(table.key, random, count, span)
    values = numbers_of(table.value or "uint32", random, count)
    if not table.value:
        values[:] = 0
    return random.integers(0, len(NAMES) if table.value else 3, count).astype(np.uint8), keys, values


def _check(table: FiberMap, oracle: MapOracle, batch: tuple[Any, ...], order: str) -> None:
    """Run a batch, and give the oracle the state after it."""
    operations, keys, values = batch
    before = dict(oracle.pairs)
    names = [NAMES[number] for number in operations]
    held, found = table.apply(operations, keys, values, order)
    if order != "any":
        assert (held, found) == oracle.apply(names, keys, values)
    else:
        after = table.items()
        History(names, keys, values, held, found).check_linearised(before, after)
        _, *states = zip(*after, strict=True) if after else ((), ())
        bits = np.array(states[0], f"u{values.dtype.itemsize}").view(values.dtype)
        oracle.pairs = dict(zip([key for key, _ in after], bits, strict=True))
    assert table.items() == oracle.items(values.dtype.name)
    assert table.map.size == len(oracle.pairs)


@pytest.mark.long_except("any-random-1-4-[48]", "any-random-1-8-[08]", "sequential-random-1-4-4", "sequential-reverse-0-8-8")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("schedule", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
@pytest.mark.parametrize("order", ["sequential", "any"])
def test_histories(order: str, widths: tuple[int, int], schedule: str, seed: int) -> None:
    random = np.random.default_rng(seed + widths[0])
    table, oracle = FiberMap.of(widths, FiberLauncher(schedule, seed)), MapOracle()
    for _ in range(5):
        _check(table, oracle, _batch(table, random, int(random.choice([1, 33, 64, 150]))), order)


@pytest.mark.long_except("random-1-4-8", "random-1-8-[08]")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize(("schedule", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_small_batches(widths: tuple[int, int], schedule: str, seed: int) -> None:
    """One block runs them, also if slabs run out."""
    random = np.random.default_rng(seed + widths[0])
    table, oracle = FiberMap.of(widths, FiberLauncher(schedule, seed), SHORT), MapOracle()
    for count, span in ((1, 200), (33, 200), (96, 20), (95, 2000), (96, 2000), (64, 100)):
        _check(table, oracle, _batch(table, random, count, span), "small")


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("1-*")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_bucket(widths: tuple[int, int], seed: int) -> None:
    """All keys have one lock and one list, to which several blocks append slabs."""
    launcher = FiberLauncher("random", seed, resident_blocks=8)
    table, random = (
        FiberMap.of(widths, launcher, UNLIMITED),
        np.random.default_rng(seed),
    )
    oracle = MapOracle()
    for _ in range(2):
        _check(table, oracle, _batch(table, random, 150, span=100), "any")
    slabs, longest = table.map.chains(launcher)
    assert slabs - 1 == longest > 1
    assert table.map.slabs_in_use(launcher) == slabs


@pytest.mark.long_except("4-4-*", "8-0-any", "8-8-any")
@pytest.mark.parametrize("order", ["sequential", "any"])
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_refused_memory_changes_nothing(widths: tuple[int, int], order: str) -> None:
    """Slabs run out in the middle of a batch, and the table must not grow."""
    launcher = LimitedLauncher("random", 4)
    table, random = FiberMap.of(widths, launcher, SHORT), np.random.default_rng(4)
    oracle = MapOracle()
    _check(table, oracle, _batch(table, random, 200), "sequential")
    before = table.items()
    launcher.max_bytes = table.map.nbytes
    batch = _batch(table, random, 700, span=2000)
    with pytest.raises(MemoryLimitError):
        table.apply(*batch, order)
    assert table.items() == before
    assert table.map.size == len(before)
    launcher.max_bytes = 1 << 30
    _check(table, oracle, batch, order)


@pytest.mark.parametrize("widths", [(4, 4), (8, 0)], ids="{0[0]}-{0[1]}".format)
def test_replayed_batches(widths: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay with other addresses has the results of the launches; the table grows in the second batch."""
    monkeypatch.setattr("headrace.index.hash_map.gpu.tables.mixed_slab_hash.repeated", replay)
    table, random, oracle = FiberMap.of(widths, ReplayingLauncher(seed=8), SHORT), np.random.default_rng(8), MapOracle()
    for count in (50, 400):
        _check(table, oracle, _batch(table, random, count, span=5000), "any")


@pytest.mark.parametrize("order", ["sequential", "any"])
def test_a_table_grows_in_the_middle_of_a_batch(order: str) -> None:
    launcher = FiberLauncher("random", 6)
    table, random = FiberMap.of((4, 8), launcher, SHORT), np.random.default_rng(6)
    oracle = MapOracle()
    for count in (50, 400):
        _check(table, oracle, _batch(table, random, count, span=5000), order)
    assert table.map.capacity > 100


def _floats(random: np.random.Generator, count: int, dtype: str) -> NDArray[Any]:
    """Return floats whose sum depends on their order, among them NaN of different bits, infinities and both zeros."""
    numbers = (random.standard_normal(count) * 10.0 ** random.integers(-6, 6, count)).astype(dtype)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    chosen = random.integers(0, 400, count)
    return np.where(chosen < len(special), special[chosen % len(special)], numbers)


@pytest.mark.long_except("sum-*", "min-8-4-random-1")
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1)])
@pytest.mark.parametrize("widths", [(4, 4), (8, 4), (8, 8)], ids="{0[0]}-{0[1]}".format)
@pytest.mark.parametrize("reduce", ["sum", "min", "max"])
def test_floats_are_reduced_in_order(reduce: str, widths: tuple[int, int], order: str, seed: int) -> None:
    """By one block, and after a sort. Some keys have more rows than two warps have lanes. The table grows."""
    random = np.random.default_rng(seed + 8)
    table, oracle = FiberMap.of(widths, FiberLauncher(order, seed), SHORT), MapOracle()
    table.value = f"float{8 * widths[1]}"
    for count in (1, 80, 300, 96, 250):
        keys, values = numbers_of(table.key, random, count, span=count), _floats(random, count, table.value)
        keys[random.random(count) < 0.5] = 3
        expected = oracle.upsert(keys, values, reduce)
        if table.map.is_small(count):
            assert table.upsert(keys, values, reduce) == expected
        else:
            assert table.upsert_in_order(keys, values, reduce) == expected
        assert table.items() == oracle.items(table.value)


def _nan_sums() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    bits = np.array([0x7FC00001, 0xFFC00002, 0x7F800000, 0xFF800000, 0x3F800000], np.uint32)
    held, given = np.meshgrid(bits, bits)
    return held.ravel().view(np.float32), given.ravel().view(np.float32)


def test_sums_of_nan_and_infinity() -> None:
    """A NaN keeps its bits, that of the given value first."""
    table = FiberMap.of((4, 4), FiberLauncher("forward"))
    table.value = "float32"
    held, given = _nan_sums()
    keys = np.arange(len(held), dtype=np.int32)
    operations = np.repeat(np.array([MapOperation.INSERT, MapOperation.SUM, MapOperation.FIND], np.uint8), len(keys))
    found, _ = table.apply(operations, np.tile(keys, 3), np.concatenate([held, given, given]), "sequential")
    sums = np.array(found[2 * len(keys) :], np.uint32)
    is_nan = np.isnan(given)
    assert (sums[is_nan] == given.view(np.uint32)[is_nan]).all()
    is_held = np.isnan(held) & ~is_nan
    assert (sums[is_held] == held.view(np.uint32)[is_held]).all()
    with np.errstate(invalid="ignore"):
        expected = (held + given)[~is_nan & ~is_held]
    assert (sums[~is_nan & ~is_held] == np.where(np.isnan(expected), 0xFFC00000, expected.view(np.uint32))).all()


@pytest.mark.parametrize(("widths", "unknown"), [((4, 4), 8), ((4, 4), 255), ((8, 0), MapOperation.REPLACE)])
def test_an_unknown_operation_changes_nothing(widths: tuple[int, int], unknown: int) -> None:
    table, random = FiberMap.of(widths, FiberLauncher("random", 7)), np.random.default_rng(7)
    _check(table, MapOracle(), _batch(table, random, 150), "sequential")
    before = table.items()
    operations, keys, values = _batch(table, random, 70)
    operations[69] = unknown
    assert not table.runs_any(operations, keys, values)
    assert not table.runs_small(operations, keys, values)
    assert table.items() == before
    assert table.map.size == len(before)


def test_rows_beyond_a_batch_have_no_operation() -> None:
    """A thread checks 16 rows, of which a batch may have fewer: no operation that a map lacks is read there."""
    table, random = FiberMap.of((4, 4), FiberLauncher("random", 7)), np.random.default_rng(7)
    _, keys, values = _batch(table, random, 70)
    operations = np.full(70, MapOperation.INSERT, np.uint8)
    assert table.runs_any(operations, keys, values, known=1 << MapOperation.INSERT)
    assert table.map.size == len(set(keys.tolist()))
