"""Tests the kernels that run automata in the fiber harness against walks from each begin."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Dfa
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.tuning import FindTuning
from headrace.query.match.automaton.tables import tables_of
from headrace.query.match.gpu.search import DeviceMatch
from headrace.query.match.gpu.steps import SymbolForm, device_tables
from headrace.query.match.gpu.tuning import MatchTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.query.match.match_cases import cycle, random_dfa, walked

pytestmark = pytest.mark.fibers

TUNING = MatchTuning(threads=64, map_states=256, marks=FindTuning(threads=64, rows=4))
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1), ("random", 2))


def check(text: bytes, dfa: Dfa, launcher: FiberLauncher, shift: int = 0) -> None:
    """Compare all results for a text at an address that is `shift` modulo 16."""
    whole, before = launcher.put(bytes(shift) + text), launcher.waits
    search = DeviceMatch(launcher, DeviceText(whole.address + shift, len(text)), tables_of(dfa), tuning=TUNING)
    found = search.marks()
    assert launcher.waits - before == 1
    targets = [launcher.allocate(8 * hits.total) for hits in found]
    search.write(found, targets)
    positions = [launcher.fetch(target).view(np.uint64).tolist() for target in targets]
    expected = walked(text, dfa)
    assert list(zip(*positions, strict=True)) == expected
    assert search.count() == len(expected)


@pytest.mark.parametrize("states", [1, 2, 5, 12])
def test_automata(states: int) -> None:
    for seed, (order, number) in enumerate(ORDERS):
        launcher = FiberLauncher(order, number)
        dfa = random_dfa(seed, states, 3, lines=seed % 2 == 1)
        random = np.random.default_rng([seed, states])
        for size in (1, 31, 32, 33, 97, 300 + 13 * seed):
            text = random.choice(np.frombuffer(b"abcdefg\n", np.uint8), size).tobytes()
            check(text, dfa, launcher, (size + seed) % 16)


@pytest.mark.parametrize("shift", range(16))
def test_every_alignment(shift: int) -> None:
    launcher = FiberLauncher(*ORDERS[shift % len(ORDERS)])
    dfa = headrace.compile_regex(rb"^a+|b+c?$")
    for size in (1, 16 - shift, 17, 64 - shift, 65 - shift):
        check((b"aab\nbbcb" * 9)[:size], dfa, launcher, shift)


@pytest.mark.parametrize("pattern", [b"a{150}b|a", b"(abc|de{30}f)+", b"[a-c]{3,40}", b"^[^\n]*e$"])
def test_large_automata(pattern: bytes) -> None:
    launcher, dfa = FiberLauncher("random", len(pattern)), headrace.compile_regex(pattern)
    check((b"a" * 149 + b"d" + b"a" * 150 + b"bc" + b"d" + b"e" * 30 + b"f\n") * 2 + b"ae", dfa, launcher, 5)


def test_across_tiles() -> None:
    tile, dfa = TUNING.marks.tile_marks, headrace.compile_regex(r"[a-z]+|\d")
    text = bytearray(b"." * (17 * tile + 5))
    for at in (0, 31, tile - 1, tile, 2 * tile - 3, 16 * tile - 1, 17 * tile + 4):
        text[at : at + 3] = b"abc"
    text[5 * tile : 6 * tile] = b"7" * tile
    check(bytes(text[: 17 * tile + 5]), dfa, FiberLauncher("random", 3))


@pytest.mark.parametrize(
    ("states", "order", "seed"),
    [
        (2, "random", 1),
        (7, "reverse", 0),
        (30, "forward", 0),
        *(pytest.param(7, *each, marks=pytest.mark.long) for each in ORDERS),
    ],
)
def test_states_that_are_never_merged(states: int, order: str, seed: int) -> None:
    tile, dfa = TUNING.marks.tile_marks, cycle(states, b"e")
    random = np.random.default_rng([states, seed])
    for size in (tile - 5, tile - 4, 5 * tile + 17):  # the first tile has 5 bytes before the text
        text = random.choice(np.frombuffer(b"efg\n", np.uint8), size).tobytes()
        check(text, dfa, FiberLauncher(order, seed, 8), 5)


@pytest.mark.parametrize(
    ("pattern", "states", "form"),
    [
        (b"[a-c]{254}", 256, SymbolForm.RIGHTS),
        (b"[a-c]{1,250}", 252, SymbolForm.PAIRS),
        (b"a{150}b|a", 153, SymbolForm.RIGHTS),
        (b"a{30}b|a|c+$", 34, SymbolForm.ROWS),
        (b"[ab]+", 3, SymbolForm.PAIRS),
    ],
)
def test_symbols_of_each_form_across_tiles(pattern: bytes, states: int, form: SymbolForm) -> None:
    dfa, tile = headrace.compile_regex(pattern), TUNING.marks.tile_marks
    tables = tables_of(dfa)
    assert (tables.states, device_tables(tables).form) == (states, form)
    random = np.random.default_rng(states)
    text = random.choice(np.frombuffer(b"abcd", np.uint8), 2 * tile + 3, p=[0.99, 0.004, 0.003, 0.003]).tobytes()
    check(text, dfa, FiberLauncher("random", states, 8), 3)


@pytest.mark.parametrize("shift", [0, 7])
def test_a_class_for_each_byte(shift: int) -> None:
    joined = headrace.compile_regex(b"a{50}b|a")
    rows = [joined.transitions[group] for group in joined.class_of]
    dfa = Dfa(bytes(range(256)), rows, joined.accepting, start=joined.start)
    assert device_tables(tables_of(dfa)).form is SymbolForm.RIGHTS
    check((b"a" * 51 + b"ba" + b"a" * 50 + b"x") * 3, dfa, FiberLauncher("random", shift), shift)


@pytest.mark.parametrize("pattern", [b"a+", b"[^\n]+", b"[\\x00-\\x7f]+", b"[^b-y]+"])
def test_runs_of_a_class(pattern: bytes) -> None:
    dfa = headrace.compile_regex(pattern)
    assert device_tables(tables_of(dfa)).has
    part = TUNING.marks.rows * 512
    for seed, (order, number) in enumerate(ORDERS):
        random, launcher = np.random.default_rng(seed), FiberLauncher(order, number)
        for size in (1, 15, part - 1, part + 1, 2 * TUNING.marks.tile_marks + 20):
            shift = int(random.integers(0, 16))
            check(random.choice(np.frombuffer(b"aaaa\n\0\xff", np.uint8), size).tobytes(), dfa, launcher, shift)
