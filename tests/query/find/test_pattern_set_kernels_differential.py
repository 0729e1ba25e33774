"""Tests the kernels that find many patterns in the fiber harness against loops over ``bytes.find``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headrace
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.pattern_set.search_set import DeviceSetSearch
from headrace.query.find.gpu.pattern_set.tuning import SetTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.query.find.pattern_cases import expected_hits, set_cases

pytestmark = pytest.mark.fibers

TUNING = SetTuning(threads=64, max_slot_bits=14)
BLOCKS = 3
TILE = TUNING.part_bytes(1) * TUNING.threads // 32


def check(text: bytes, patterns: list[bytes], launcher: FiberLauncher, shift: int, ignore_case: bool) -> None:
    whole, prepared = launcher.put(bytes(shift) + text), headrace.PatternSet(patterns, ignore_case=ignore_case)
    tuning = replace(TUNING, max_block_counts=0) if ignore_case else TUNING
    search = DeviceSetSearch(launcher, DeviceText(whole.address + shift, len(text)), prepared, BLOCKS, tuning=tuning)
    folded = (text.lower(), [pattern.lower() for pattern in patterns]) if ignore_case else (text, patterns)
    hits = expected_hits(*folded)
    keys, count = search.keys()
    assert count == len(hits)
    ordered = launcher.put(np.sort(launcher.fetch(keys).view(np.uint64)[:count]))
    positions, found, counts = launcher.allocate(8 * count), launcher.allocate(4 * count), launcher.allocate(8 * len(patterns))
    search.split(ordered, count, positions, found)
    listed = zip(launcher.fetch(positions).view(np.uint64).tolist(), launcher.fetch(found).view(np.uint32).tolist(), strict=True)
    assert list(listed) == hits
    search.count(counts)
    expected = np.bincount([i for _, i in hits], minlength=len(patterns))
    np.testing.assert_array_equal(launcher.fetch(counts).view(np.uint64), expected)


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_windows_of_each_shape(order: str) -> None:
    launcher = FiberLauncher(order, 4)
    for seed, size in enumerate((40, TILE - 1, TILE + 1, 13 * TILE + 16)):
        for i, (text, patterns) in enumerate(set_cases(seed, size)):
            check(text.swapcase() if i % 2 else text, patterns, launcher, (size + i) % 16, i % 2 == 1)


def test_more_hits_than_expected() -> None:
    launcher, text = FiberLauncher("random", 1), bytes(40_000)
    whole = launcher.put(text)
    search = DeviceSetSearch(
        launcher, DeviceText(whole.address, len(text)), headrace.PatternSet([b"\0", bytes(2)]), BLOCKS, tuning=TUNING
    )
    assert search.keys()[1] == 79_999
