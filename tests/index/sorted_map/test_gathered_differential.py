"""Compares maps whose updates follow each other without reads with sorted dictionaries."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from headrace import Context, MemoryLimitError, SortedMap
from headrace.index.sorted_map.cpu.engine import CpuEngine
from tests.index.sorted_map.map_cases import KEY_TYPES, Model, hard_keys, random_batch
from tests.tiers import seeds


@pytest.mark.parametrize("most", [600, 1 << 20])
@pytest.mark.parametrize("seed", seeds(8))
def test_histories_of_updates(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of updates of each kind, which are sorted at once, between reads of each kind."""
    monkeypatch.setattr(CpuEngine, "gathered_bytes", most)
    random, dtype, model = np.random.default_rng(seed), KEY_TYPES[seed % len(KEY_TYPES)], Model()
    found = SortedMap(dtype, "i8", cleanup_at=(None, 2.0, 4.0)[seed % 3])
    for step in range(20):
        for number in range(int(random.integers(1, 9))):
            size, kind = int(random.choice([1, 2, 17, 50])), int(random.integers(0, 4))
            keys, values, deletes = random_batch(dtype, size, 200, 1000 * seed + 10 * step + number)
            if kind == 0:
                found.erase(keys)
                deletes[:] = True
            elif kind == 1:
                found.update(keys, values, deletes)
            else:
                found.insert(keys, values)
                deletes[:] = False
            model.update(keys, values, deletes)
        if step % 3:
            model.check(found, hard_keys(dtype, 24, 200, step))
        else:
            model.check_items(found if step % 2 else found.snapshot())
    model.check_items(found)


READS: dict[str, Any] = {
    "find": lambda found: found.find([5]).mask.tolist() == [True],
    "in": lambda found: 5 in found,
    "count": lambda found: found.count([0], [9]).tolist() == [6],
    "range": lambda found: found.range([4], [9]).keys.tolist() == [4, 5],
    "successor": lambda found: found.successor([4]).keys.tolist() == [5],
    "predecessor": lambda found: found.predecessor([9]).keys.tolist() == [5],
    "min": lambda found: found.min() == 0,
    "max": lambda found: found.max() == 5,
    "items": lambda found: len(found.items().keys) == 6,
    "len": lambda found: len(found) == 6,
    "level_sizes": lambda found: sum(found.level_sizes) == 6,
    "nbytes": lambda found: found.nbytes == 48,
    "repr": lambda found: "6 items" in repr(found),
    "snapshot": lambda found: len(found.snapshot()) == 6,
    "copy": lambda found: len(copy.copy(found)) == 6,
    "cleanup": lambda found: found.cleanup() is None and found.level_sizes == (6,),
}


@pytest.mark.parametrize("read", READS)
def test_each_read_sees_all_inserts(read: str) -> None:
    found = SortedMap("i8", cleanup_at=None)
    for key in range(6):
        found.insert([key])
    assert READS[read](found)


def test_a_copy_and_a_snapshot_keep_their_items() -> None:
    found = SortedMap("i8", "i8")
    for key in range(5):
        found.insert([key], [key])
    before, other = found.snapshot(), copy.copy(found)
    for key in range(5, 10):
        found.insert([key], [key])
        other.insert([key], [-key])
    assert (len(before), found.find(9).values.tolist(), other.find(9).values.tolist()) == (5, [9], [-9])


def test_batches_without_a_read_enter_as_one() -> None:
    found = SortedMap("i8", cleanup_at=None)
    for begin in range(0, 60, 10):
        found.insert(np.arange(begin, begin + 10))
    assert found.level_sizes == (60,)
    found.insert(np.arange(5))
    assert found.level_sizes == (5, 60)
    for begin in range(0, 40, 10):
        found.erase(np.arange(begin, begin + 2))
        found.update(np.arange(begin, begin + 3), deletes=np.array([False, True, False]))
    assert found.level_sizes == (25, 60)  # the first of them follows a read, and is a level at once
    assert found.count([0], [99])[0] == 60 - 4


def test_a_delete_wins_in_its_own_batch_alone() -> None:
    """Batches that are sorted at once keep their order, also if there are more of pairs and deletes than statuses can number."""
    for times in (1, 200):
        found = SortedMap("i8", "i8", cleanup_at=None)
        found.insert(np.arange(100), np.arange(100))
        found.insert(np.arange(100) + 1000, np.arange(100))  # so that 6,400 items may wait
        for number in range(times):
            found.update([1, 1, 2, 2], [number] * 4, [True, False, False, True])  # both are deleted
            found.update([1, 3, 3, 4], [number] * 4, [False, True, False, True])  # 1 is back
            found.erase([5, 6, 6])
            found.insert([6, 6], [number, number + 1])
            found.update([6, 7], [7, 8], [False, False])
        values, mask = found.find(np.arange(1, 9))
        assert mask.tolist() == [True, False, False, False, False, True, True, True]
        assert values[[0, 5, 6, 7]].tolist() == [times - 1, 7, 8, 8]


def test_memory_that_ends_at_a_read_loses_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SortedMap("i8", "i8")
    for key in range(5):
        found.insert([key], [key])

    def failed(*_: Any) -> None:
        raise MemoryLimitError("no memory")

    with monkeypatch.context() as changed:
        changed.setattr(CpuEngine, "added", failed)
        for _ in range(2):
            with pytest.raises(MemoryLimitError):
                found.find([1])
        found.erase([1])  # waits too
    assert found.items().keys.tolist() == [0, 2, 3, 4]


def test_statuses_of_an_interrupted_batch_do_not_delete_later_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SortedMap("i8", "i8")
    for key in range(5):
        found.insert([key], [key])
    found.erase([0])
    write = CpuEngine.write_codes

    def interrupted(*given: Any) -> None:
        write(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(CpuEngine, "write_codes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            found.erase([1])
    found.insert([2], [20])
    assert found.items().keys.tolist() == [1, 2, 3, 4]
    assert found.items().values.tolist() == [1, 20, 3, 4]


def test_with_a_memory_limit_each_batch_is_charged_at_once() -> None:
    found = SortedMap("i8", context=Context(memory_limit=4000))
    for _ in range(4):
        found.insert(np.arange(10))
    with pytest.raises(MemoryLimitError):
        found.insert(np.arange(1000))
    assert len(found) == 10


def test_no_batch_waits_in_an_empty_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next batch may lie on another device, and then memory of this one cannot have it."""
    found = SortedMap("i8", cleanup_at=None)
    found.insert([1, 2])
    found.erase([1, 2])
    found.cleanup()
    monkeypatch.setattr(CpuEngine, "gathered", None)  # a call of it fails
    found.insert([3])
    assert found.items().keys.tolist() == [3]
