"""Reads a sorted map while several threads update it: each answer is that of the map after some updates in one order of all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from headrace import Context, SortedMap
from tests.index.sorted_map.map_cases import SortedDict

WRITERS, BATCHES, READS = 3, 40, 60
KEYS = 40
"""Keys of a writer. Its first one has the number of its batches as value; batches change the others."""

Version = tuple[int, ...]
"""The number of batches of each writer that a map has."""


def batch_of(writer: int, number: int) -> tuple[Any, Any, Any]:
    """Return a batch of a writer: its number, and changes of a third of its keys, of which some are deleted."""
    random = np.random.default_rng(1000 * writer + number)
    keys = np.concatenate([[0], random.permutation(np.arange(1, KEYS))[: KEYS // 3]]) + writer * KEYS
    deletes = random.integers(0, 3, len(keys)) == 0
    deletes[0] = False
    return keys, np.full(len(keys), number), deletes


def states_of(writer: int) -> list[Any]:
    """Return the value of each key of a writer after each number of batches, -1 for none."""
    model: dict[int, int] = {} if SortedDict is None else SortedDict()
    states = []
    for number in range(BATCHES + 1):
        keys, values, deletes = batch_of(writer, number)
        for key, value, is_deleted in zip(keys.tolist(), values.tolist(), deletes.tolist(), strict=True):
            if is_deleted:
                model.pop(key, None)
            else:
                model[key] = value
        states.append([model.get(writer * KEYS + key, -1) for key in range(KEYS)])
    return states


STATES = [states_of(writer) for writer in range(WRITERS)]
ALL_KEYS = np.arange(WRITERS * KEYS)


def by_find(found: Any) -> Any:
    values, mask = found.find(ALL_KEYS)
    return np.where(mask, values, -1)


def placed(keys: Any, values: Any) -> Any:
    result = np.full(len(ALL_KEYS), -1)
    result[keys] = values
    return result


def by_range(found: SortedMap) -> Any:
    offsets, keys, values = found.range([0], [len(ALL_KEYS)])
    assert offsets.tolist() == [0, len(keys)]
    return placed(keys, values)


def by_neighbours(found: SortedMap) -> Any:
    keys, values, mask = found.successor(ALL_KEYS, inclusive=True)
    return placed(keys[mask], values[mask])


def by_items(found: SortedMap) -> Any:
    return placed(*found.items())


def by_snapshot(found: SortedMap) -> Any:
    before = found.snapshot()
    values = by_find(before)
    assert len(before) == (values >= 0).sum() == before.count([0], [len(ALL_KEYS)])[0]
    return values


READERS: list[Callable[[SortedMap], Any]] = [by_find, by_range, by_neighbours, by_items, by_snapshot]


def version_of(values: Any) -> Version:
    """Return the updates that the values of all keys have, after a check that they have whole batches."""
    parts = values.reshape(WRITERS, KEYS)
    version = tuple(int(part[0]) for part in parts)
    for part, states, number in zip(parts, STATES, version, strict=True):
        assert part.tolist() == states[number]
    return version


class Clock:
    """Numbers of batches of each writer that were begun and are complete."""

    def __init__(self) -> None:
        self.begun, self.complete = [0] * WRITERS, [0] * WRITERS

    def write(self, found: SortedMap, writer: int) -> None:
        for number in range(1, BATCHES + 1):
            self.begun[writer] = number
            found.update(*batch_of(writer, number))
            self.complete[writer] = number

    def read(self, found: SortedMap, reader: int, seen: list[Version]) -> None:
        """Read by each call in turn. A read has all updates that were complete before it, and none that began after it."""
        for number in range(READS):
            low = list(self.complete)
            version = version_of(READERS[(number + reader) % len(READERS)](found))
            high = list(self.begun)
            assert all(a <= b <= c for a, b, c in zip(low, version, high, strict=True)), (low, version, high)
            seen.append(version)


def checked(failures: list[BaseException], work: Callable[[], None]) -> None:
    """Run the work of a thread, and keep its error."""
    try:
        work()
    except BaseException as error:  # noqa: BLE001  reported by the test
        failures.append(error)


@pytest.mark.parametrize("cleanup_at", [None, 2.0])
def test_reads_and_updates_have_one_order(cleanup_at: float | None) -> None:
    found = SortedMap("i8", "i8", cleanup_at=cleanup_at, context=Context(threads=2))
    for writer in range(WRITERS):
        found.update(*batch_of(writer, 0))
    clock, failures = Clock(), []
    seen: list[list[Version]] = [[], []]
    work = [partial(clock.write, found, writer) for writer in range(WRITERS)]
    work += [partial(clock.read, found, reader, versions) for reader, versions in enumerate(seen)]
    threads = [threading.Thread(target=checked, args=(failures, each)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    for versions in (*seen, sorted([*seen[0], *seen[1]], key=sum)):  # no reader goes back, and both have one order of updates
        for one, other in pairwise(versions):
            assert all(a <= b for a, b in zip(one, other, strict=True)), (one, other)
    assert version_of(by_items(found)) == (BATCHES,) * WRITERS
