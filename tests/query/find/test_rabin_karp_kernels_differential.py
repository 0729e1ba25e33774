"""Tests the kernels of Rabin and Karp's methods in the fiber harness against ``bytes.find``."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.core.errors import OptionError
from headrace.query.find.gpu.search import DeviceText
from headrace.query.find.paper.methods import METHODS, MethodPlan
from headrace.query.find.paper.search import RabinKarpOnDevice, RabinKarpTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.query.find.pattern_cases import expected, planted, symbols

pytestmark = pytest.mark.fibers

TUNING = RabinKarpTuning(threads=128, items=4)
TILE = TUNING.marks.tile_marks
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1), ("random", 2))
NAMES = [name for name, method in METHODS.items() if not method.is_serial]


def check(text: bytes, pattern: bytes, name: str, launcher: FiberLauncher, shift: int = 0) -> None:
    """Compare all results for a text at an address that is `shift` modulo 16."""
    whole = launcher.put(bytes(shift) + text)
    device = DeviceText(whole.address + shift, len(text))
    prepared = headrace.Pattern(pattern)
    search = RabinKarpOnDevice(launcher, device, prepared, MethodPlan.of(name, prepared, text[:4096]), TUNING)
    positions = expected(text, pattern, True)
    hits = search.marks()
    target = launcher.allocate(8 * hits.total)
    search.write(hits, target)
    assert launcher.fetch(target).view(np.uint64).tolist() == positions
    assert search.count() == len(positions)


@pytest.mark.long_except("26-*", "*-drk-wom-64")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("letters", [2, 26, 256])
def test_lengths_at_edges(name: str, letters: int) -> None:
    longest = {"drk-wom-32": 32, "drk-wom-64": 64}.get(name, 1 << 40) // (1 if letters == 2 else 5 if letters == 26 else 8)
    for number, length in enumerate((1, 3, 4, 8, 12, 33, 64, 130, 700)):
        if length > longest:
            continue
        launcher = FiberLauncher(*ORDERS[number % len(ORDERS)])
        pattern = symbols(letters, length, 1).tobytes()
        for size in (length, TILE, 2 * TILE + length):
            edges = [edge + by for edge in (0, TILE, 2 * TILE) for by in (-length, -1, 0)]
            check(planted(symbols(letters, size), pattern, [*edges, size - length]), pattern, name, launcher, size * length % 16)


@pytest.mark.parametrize("name", NAMES)
def test_repetitive_texts(name: str) -> None:
    launcher = FiberLauncher("random", 3)
    for text, pattern in ((b"a", b"a" * 20), (b"ab", b"ba" * 8), (b"a" * 31 + b"b", b"a" * 31)):
        check(text * (TILE // len(text)), pattern, name, launcher)


@pytest.mark.parametrize("name", ["crk", pytest.param("drk", marks=pytest.mark.long), "drk-2s"])
def test_windows_that_exceed_shared_memory(name: str) -> None:
    launcher = FiberLauncher("forward", 0)
    pattern = symbols(4, 42_000, 1).tobytes()
    check(planted(symbols(4, 70_000), pattern, [1000, 28_000]), pattern, name, launcher)


def test_the_serial_method_runs_on_the_cpu_only() -> None:
    launcher = FiberLauncher("forward", 0)
    text, pattern = launcher.put(b"abab"), headrace.Pattern(b"ab")
    with pytest.raises(OptionError, match="method 'srk' runs on one thread of the CPU"):
        RabinKarpOnDevice(launcher, DeviceText(text.address, 4), pattern, MethodPlan.of("srk", pattern, b"abab"), TUNING)
