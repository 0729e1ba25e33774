"""Replays random histories on slab hashes that grow in steps, in the fiber harness, and on Python dictionaries."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headrace.core.errors import MemoryLimitError
from headrace.index.hash_map.gpu.tables.growing_table import Growth
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.operations import MapOperation
from tests.index.hash_map.hash_map_cases import MapOracle, numbers_of
from tests.index.hash_map.slab_hash_cases import SMALL, WIDTHS, FiberMap, ListingLauncher

pytestmark = pytest.mark.fibers

STEPWISE = replace(SMALL, early_load=0.6, step_pairs=1, build=replace(SMALL.build, min_rows=1 << 20))
"""A table of 8 buckets or more grows in steps, each of about as many pairs as the batch before has rows."""


def upsert(table: FiberMap, oracle: MapOracle, keys: Any, random: np.random.Generator, reduce: str = "last") -> None:
    """Insert keys into both."""
    values = numbers_of(table.value, random, len(keys)) if table.value else np.zeros(len(keys), "u4")
    expected = oracle.upsert(keys, values, reduce if table.value else "first")
    assert table.upsert(keys, values if table.value else None, reduce if table.value else "first") == expected


def check(table: FiberMap, oracle: MapOracle, keys: Any) -> None:
    """Compare searches and all pairs."""
    values, found = table.find(keys)
    expected = oracle.find(keys, table.value or "uint32")
    assert (values or expected[0], found) == expected
    assert table.map.size == len(oracle.pairs)
    assert table.items() == oracle.items(table.value or "uint32")


def wide_numbers(kind: str, random: np.random.Generator, count: int) -> Any:
    """Return keys of a range with few repetitions, and the key that marks empty slots."""
    keys = random.integers(0, 1500, count).astype("u8")
    keys[random.random(count) < 0.02] = np.iinfo("u8").max
    return keys.astype(f"u{np.dtype(kind).itemsize}").view(kind)


@pytest.mark.long_except("4-4", "8-0")
@pytest.mark.parametrize("widths", WIDTHS, ids="{0[0]}-{0[1]}".format)
def test_histories_through_steps(widths: tuple[int, int]) -> None:
    """Insertions, replacements and erasures run between steps, until the table has grown several times."""
    random, launcher = np.random.default_rng(sum(widths)), ListingLauncher("random", 3)
    table, oracle = FiberMap.of(widths, launcher, STEPWISE, seed=5), MapOracle()
    growths, before = 0, table.map.memory
    for step in range(70):
        keys = wide_numbers(table.key, random, int(random.choice([3, 20, 40, 100])))
        match random.integers(0, 6):
            case 0:
                found = launcher.allocate(len(keys))
                table.map.erase(launcher, table.rows(keys), found)
                assert table.flags(found) == oracle.erase(keys)
            case 1 if step % 2:
                keys = np.unique(keys) if step % 4 == 1 else keys  # equal keys have no order in a batch of any order
                kinds = list(MapOperation)[:4] if table.value else [MapOperation.FIND, MapOperation.ERASE]
                operations = random.choice(np.array(kinds), len(keys)).astype(np.uint8)
                values = numbers_of(table.value or "u4", random, len(keys))
                expected = oracle.apply([MapOperation(number).name.lower() for number in operations], keys, values)
                assert table.apply(operations, keys, values, "any" if step % 4 == 1 else "batch") == expected
            case 1 if table.value:
                values, found = numbers_of(table.value, random, len(keys)), launcher.allocate(len(keys))
                table.map.replace(launcher, table.rows(keys, values), found)
                assert table.flags(found) == oracle.replace(keys, values)
            case other:
                upsert(table, oracle, keys, random, ["first", "sum", "min", "last"][other - 2])
        growths += table.map.memory is not before
        before = table.map.memory
        if step % 7 == 0:
            check(table, oracle, keys)
    check(table, oracle, keys)
    assert growths >= 3
    assert launcher.names.count("copy_pairs") > 5
    assert launcher.names.count("locate_copies") > 1
    assert launcher.names.count("move_lists") > growths


def growing(launcher: ListingLauncher, tuning: SlabTuning = STEPWISE) -> tuple[FiberMap, MapOracle]:
    """Return a map between two steps of its growth, and a dictionary."""
    random = np.random.default_rng(3)
    table, oracle = FiberMap.of((4, 4), launcher, tuning, seed=9), MapOracle()
    while table.map._growth is None or "copy_pairs" not in launcher.names:
        upsert(table, oracle, wide_numbers("int32", random, 10), random)
    return table, oracle


def test_a_copy_between_steps() -> None:
    """Both maps go on by themselves."""
    random, launcher = np.random.default_rng(4), ListingLauncher("random", 3)
    table, oracle = growing(launcher)
    other, others = FiberMap(launcher, table.map.copy(launcher), table.key, table.value), deepcopy(oracle)
    for _ in range(8):
        upsert(table, oracle, wide_numbers("int32", random, 40), random)
        upsert(other, others, wide_numbers("int32", random, 40), random)
    for pairs, held in ((table, oracle), (other, others)):
        check(pairs, held, wide_numbers("int32", random, 100))


@pytest.mark.parametrize("name", ["clear", "compact"])
def test_other_tables_end_a_growth(name: str) -> None:
    random, launcher = np.random.default_rng(5), ListingLauncher("random", 3)
    table, oracle = growing(launcher)
    both = table.map.nbytes
    getattr(table.map, name)(launcher)
    assert table.map.nbytes < both
    if name == "clear":
        oracle.pairs.clear()
    for _ in range(8):
        upsert(table, oracle, wide_numbers("int32", random, 40), random)
    check(table, oracle, wide_numbers("int32", random, 100))


def test_memory_that_is_refused_to_a_growth() -> None:
    """The batch is complete, and the table grows when memory is there again."""
    random, launcher = np.random.default_rng(6), ListingLauncher("random", 3)
    table, oracle = growing(launcher)
    table.map.compact(launcher)
    buckets, launcher.max_bytes = table.map.memory.buckets, table.map.nbytes
    while table.map.size < 0.75 * table.map.capacity:
        upsert(table, oracle, wide_numbers("int32", random, 20), random)
    check(table, oracle, wide_numbers("int32", random, 100))
    assert table.map.memory.buckets == buckets
    launcher.max_bytes = 1 << 30
    for _ in range(20):
        upsert(table, oracle, wide_numbers("int32", random, 20), random)
    check(table, oracle, wide_numbers("int32", random, 100))
    assert table.map.memory.buckets > buckets


def test_memory_of_a_growth_that_a_batch_needs() -> None:
    """The growth is given up, and the batch has its memory."""
    random, launcher = np.random.default_rng(9), ListingLauncher("random", 3)
    table, oracle = growing(launcher)
    keys, refused = wide_numbers("int32", random, 12), []

    def allocate(nbytes: int, **options: Any) -> Any:
        if table.map._growth is not None and table.map._growth.is_stale:
            refused.append(nbytes)
            raise MemoryLimitError("no memory beside the growth")
        return ListingLauncher.allocate(launcher, nbytes, **options)

    launcher.allocate = allocate
    upsert(table, oracle, keys, random)
    assert len(refused) == 1
    del launcher.allocate
    for _ in range(8):
        upsert(table, oracle, wide_numbers("int32", random, 40), random)
    check(table, oracle, keys)


def test_a_table_without_room_for_its_lists() -> None:
    """Lists of one slab: the steps leave pairs without room, so all pairs are moved again at the end."""
    random, launcher = np.random.default_rng(7), ListingLauncher("random", 3)
    table, oracle = growing(launcher, replace(STEPWISE, list_slabs=0, load=0.3, max_load=0.5))
    for _ in range(30):
        upsert(table, oracle, wide_numbers("int32", random, 40), random)
    check(table, oracle, wide_numbers("int32", random, 100))


def test_an_interrupt_between_a_batch_and_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch is complete; the growth is given up, and begins again."""
    random, launcher = np.random.default_rng(8), ListingLauncher("random", 3)
    table, oracle = growing(launcher)
    keys = wide_numbers("int32", random, 3)
    with monkeypatch.context() as changed:
        changed.setattr(Growth, "follow", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            table.upsert(keys, np.arange(3, dtype="u4"), "last")
    oracle.upsert(keys, np.arange(3, dtype="u4"), "last")
    for _ in range(8):
        upsert(table, oracle, wide_numbers("int32", random, 40), random)
    check(table, oracle, keys)
