"""Checks all reads of sorted maps after each of 64 batches of one size, so in every pattern of levels."""

from __future__ import annotations

from typing import Any

import pytest

from headrace import Context, SortedMap
from tests.index.sorted_map.fiber_cases import FiberMap
from tests.index.sorted_map.map_cases import KEY_TYPES, Model, pattern_batch, pattern_queries


def check_patterns(found: Any, dtype: str) -> None:
    """Update a map, and compare each read after each batch. Items are those of a snapshot, whose levels are its own."""
    model, kept = Model(), []
    for number in range(1, 65):
        batch = pattern_batch(dtype, number)
        found.update(*batch)
        model.update(*batch)
        sizes = tuple(5 << i for i in range(7) if number >> i & 1)  # the bits of the number of batches
        assert found.level_sizes == sizes
        model.check(found, pattern_queries(dtype, number))
        before = found.snapshot() if isinstance(found, SortedMap) else found
        model.check_items(before)
        assert found.level_sizes == sizes
        if number in (7, 30):
            kept.append((before, model.copy()))
    for snapshot, earlier in kept if isinstance(found, SortedMap) else ():
        earlier.check(snapshot, pattern_queries(dtype, 64))
        earlier.check_items(snapshot)


@pytest.mark.long_except("1-u4", "2-f4", "2-i8", "2-M8*")
@pytest.mark.parametrize("dtype", KEY_TYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_pattern_of_levels(threads: int, dtype: str) -> None:
    check_patterns(SortedMap(dtype, "i8", cleanup_at=None, context=Context(threads=threads)), dtype)


@pytest.mark.fibers
@pytest.mark.long_except("f4-random")
@pytest.mark.parametrize(("dtype", "order"), [("f4", "random"), ("i8", "reverse"), ("u4", "forward"), ("f8", "random")])
def test_every_pattern_of_levels_by_kernels(dtype: str, order: str) -> None:
    check_patterns(FiberMap(dtype, order), dtype)
