"""Tests the kernels that find a pattern in the fiber harness against ``bytes.find``."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.search import DeviceSearch
from headrace.query.find.gpu.tuning import FORMS, FindTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.query.find.pattern_cases import expected, planted, symbols

pytestmark = pytest.mark.fibers

TUNING = FindTuning(threads=64, rows=4)
TILE = TUNING.tile_marks
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1), ("random", 2))


def check(text: bytes, pattern: bytes, launcher: FiberLauncher, *, shift: int = 0, ignore_case: bool = False) -> DeviceSearch:
    """Compare all results for a text at an address that is `shift` modulo 16."""
    whole = launcher.put(bytes(shift) + text)
    search = DeviceSearch(
        launcher,
        DeviceText(whole.address + shift, len(text)),
        headrace.Pattern(pattern, ignore_case=ignore_case),
        tuning=TUNING,
    )
    folded = (text.lower(), pattern.lower()) if ignore_case else (text, pattern)
    for overlapping in (True, False):
        positions = expected(*folded, overlapping)
        hits = search.hits(overlapping=overlapping)
        target = launcher.allocate(8 * hits.total)
        search.write(hits, target)
        assert launcher.fetch(target).view(np.uint64).tolist() == positions
    assert search.count() == len(expected(*folded, True))
    assert search.first() == (positions[0] if positions else None)
    return search


@pytest.mark.parametrize("length", [*FORMS, 3, 7, 14, 18, 31, 32, 33, 70, 700])
def test_lengths_at_edges(length: int) -> None:
    order, seed = ORDERS[length % len(ORDERS)]
    launcher = FiberLauncher(order, seed)
    for letters, size in ((2, TILE - 1), (26, TILE), (256, TILE + 1), (26, 3 * TILE + 17), (26, length)):
        pattern = symbols(letters, length, 1).tobytes()
        edges = [
            0,
            size - length,
            *(edge - length + by for edge in (TILE // 4, TILE, 2 * TILE) for by in (0, 1, length // 2, length)),
        ]
        check(planted(symbols(letters, max(size, length)), pattern, edges), pattern, launcher, shift=size * length % 16)


@pytest.mark.parametrize("pattern", [b"a", b"aab"])
def test_tiles_with_lists_beside_tiles_with_marks(pattern: bytes) -> None:
    launcher, random = FiberLauncher("random", 3), np.random.default_rng(5)
    listed = TILE * 3 // 64  # `max_listed` of hit_list.cuh
    tiles = []
    for count in (1, listed - 1, listed, listed + 1, 0, TILE // 4):
        tile = np.full((TILE // 4, 4), ord("."), np.uint8)
        tile[random.permutation(TILE // 4)[:count], : len(pattern)] = np.frombuffer(pattern, np.uint8)
        tiles.append(tile.ravel())
    text = np.concatenate(tiles).tobytes()
    check(text, pattern, launcher)
    whole = launcher.put(text)
    search = DeviceSearch(launcher, DeviceText(whole.address, len(text)), headrace.Pattern(pattern), tuning=TUNING)
    counts = launcher.fetch(search.hits().counts).view(np.uint32)
    assert (counts >> 31).tolist() == [1, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("shift", range(16))
def test_every_alignment(shift: int) -> None:
    launcher = FiberLauncher(*ORDERS[shift % len(ORDERS)])
    for length in (*FORMS, 3):
        pattern = symbols(26, length, shift).tobytes()
        for size in (length, length + 1, 15 + length, TILE - shift + length - 1):
            check(planted(symbols(3, size), pattern, [size - length]), pattern, launcher, shift=shift)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 6, 9, 16, 40])
def test_case_is_ignored(length: int) -> None:
    launcher = FiberLauncher("random", length)
    alphabet = np.frombuffer(b"aAzZ@`[{", np.uint8)
    random = np.random.default_rng(length)
    for _ in range(3):
        pattern = alphabet[random.integers(0, 8, length)].tobytes()
        text = planted(alphabet[random.integers(0, 8, TILE)], pattern.swapcase(), [3, 100, TILE - length])
        check(text, pattern, launcher, ignore_case=True)
    check(b"xYz" * 50 + b"1-2." * 20, b"1-2.1-2."[:length], launcher, ignore_case=True)


@pytest.mark.parametrize(
    ("text", "pattern", "is_linear"),
    [
        (b"a", b"a" * 16, False),
        (b"a", b"a" * 100, False),
        (b"a", b"a" * 1500, False),
        (b"a", b"a" * 5000, True),
        (b"ab", b"ab" * 150 + b"a", False),
        (b"a", b"a" * 700 + b"b", False),
        (b"a", b"b" + b"a" * 700, False),
        (b"aaaaaaaaab", b"aaaaaaaaab" * 9, False),
        (b"aaaaaaaaab", b"aaaaaaaaab" * 70, False),
        (b"abc" * 99 + b"x", b"abc" * 80, False),
        (b"abcdefghijklmnopqrst" * 2 + b"u", (b"abcdefghijklmnopqrst" * 2 + b"u") * 9, False),
        (b"abcdefghijklmnopqrst" * 2 + b"u", (b"u" + b"abcdefghijklmnopqrst" * 2) * 30, False),
        (b"a" * 31 + b"b", (b"a" * 31 + b"b") * 30 + b"c", True),
        (symbols(26, 700).tobytes(), symbols(26, 700).tobytes() * 3, False),
        (symbols(26, 100).tobytes(), symbols(26, 100).tobytes() + symbols(26, 100).tobytes()[:7], False),
        ((b"a" * 31 + b"b") * 120 + b"a", (b"a" * 31 + b"b") * 60 + b"c", True),
        (symbols(26, 30).tobytes(), symbols(26, 30).tobytes() + symbols(26, 10).tobytes(), False),
        (symbols(26, 41).tobytes(), symbols(26, 41).tobytes() + symbols(26, 41).tobytes()[:30], False),
        (symbols(26, 64).tobytes(), symbols(26, 64).tobytes(), False),
        (symbols(26, 64).tobytes() * 19 + b"z", symbols(26, 64).tobytes(), False),
    ],
)
def test_repetitive_texts(text: bytes, pattern: bytes, is_linear: bool) -> None:
    for ignore_case, (order, seed) in zip((False, True), ORDERS[1:3], strict=True):
        launcher = FiberLauncher(order, seed)
        whole = text * (3 * TILE // len(text))
        check(whole, pattern, launcher, ignore_case=ignore_case)
        buffer, before = launcher.put(whole), launcher.waits
        DeviceSearch(launcher, DeviceText(buffer.address, len(whole)), headrace.Pattern(pattern), tuning=TUNING).count()
        assert launcher.waits - before == (2 if is_linear else 1)
