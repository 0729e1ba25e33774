"""Tests the kernels that replace a pattern in the fiber harness against ``bytes.replace``."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.search import DeviceReplacement
from headrace.query.find.gpu.tuning import FindTuning
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

TUNING = FindTuning(threads=64, rows=4)
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1), ("random", 2))
RESULT_TILE = 1024


def check(text: bytes, pattern: bytes, replacement: bytes, launcher: FiberLauncher, shift: int = 0) -> None:
    whole = launcher.put(bytes(shift) + text)
    given = DeviceText(whole.address + shift, len(text))
    replaced = DeviceReplacement(launcher, given, headrace.Pattern(pattern), replacement, tuning=TUNING)
    target = launcher.allocate(replaced.size)
    replaced.write(target)
    assert launcher.fetch(target).tobytes() == text.replace(pattern, replacement)


@pytest.mark.parametrize("seed", range(4))
def test_any_text(seed: int) -> None:
    launcher, random = FiberLauncher(*ORDERS[seed]), np.random.default_rng(seed)
    for size in (1, 7, 300, TUNING.tile_marks + 9):
        text = random.integers(97, 99 + seed, size, np.uint8).tobytes()
        for pattern in (b"a", b"ab", b"aba", text[-3:], text):
            replacement = b"xyzuvw"[: int(random.integers(0, 7))]
            check(text, pattern, replacement, launcher, int(random.integers(0, 16)))


@pytest.mark.parametrize("size", [RESULT_TILE - 1, RESULT_TILE, RESULT_TILE + 1, 2 * RESULT_TILE + 3])
def test_edges_of_tiles(size: int) -> None:
    launcher = FiberLauncher("random", size)
    check(b"ab" * size, b"ab", b"c", launcher)
    check(b"a" * (size // 4), b"a", b"four", launcher)
    check(b"a" * size, b"aa", b"", launcher)
    check(b"x" * size + b"ab" + b"y" * size, b"ab", b"z" * (3 * RESULT_TILE), launcher)
    check(b"x" * size, b"longer than the text" * 300, b"", launcher)
