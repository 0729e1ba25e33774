"""Tests Rabin and Karp's methods on the CPU against ``bytes.find``."""

from __future__ import annotations

import pytest

import headrace
from headrace.query.find.paper.methods import NAMES
from tests.query.find.pattern_cases import expected, planted, symbols

PIECE = 256 << 10
BITS = {1: 1, 2: 1, 4: 3, 26: 5, 256: 8}
"""Bits of a code by the number of letters from "A" on. Those of "ABCD" differ in their three lowest bits."""


def takes(name: str, letters: int, length: int) -> bool:
    """Return whether a method takes a pattern of that length."""
    words = {"drk-wom-32": 32, "drk-wom-64": 64}
    return length <= 1024 if name == "hrk" else BITS[letters] * length <= words.get(name, 1 << 40)


def check(text: bytes, pattern: bytes, name: str, threads: int = 2) -> None:
    context = headrace.Context(threads=threads)
    positions = expected(text, pattern, True)
    assert headrace.find(text, pattern, method=name, context=context).tolist() == positions
    assert headrace.count(text, pattern, method=name, context=context) == len(positions)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("letters", BITS)
def test_lengths_and_alphabets(name: str, letters: int) -> None:
    for length in (1, 2, 3, 4, 8, 9, 16, 17, 33, 65, 257, 1024):
        if not takes(name, letters, length):
            continue
        pattern = symbols(letters, length, 1).tobytes()
        for size in (length, length + 1, 5000):
            text = planted(symbols(letters, size), pattern, [0, 1500, size - length])
            if letters == 1:
                text, pattern = text[:2000], pattern[:40]
            check(text, pattern, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3])
def test_pieces(name: str, threads: int) -> None:
    pattern = symbols(26, 6, 1).tobytes()
    size = 3 * PIECE + 100
    edges = [edge + by for edge in (PIECE, 2 * PIECE, 3 * PIECE) for by in (-6, -1, 0)]
    check(planted(symbols(2, size), pattern, [0, *edges, size - 6]), pattern, name, threads)


@pytest.mark.parametrize("name", ["srk", "crk", "drk", "drk-2s", "rabin-karp"])
def test_long_patterns(name: str) -> None:
    text = symbols(4, 2 * PIECE).tobytes()
    for length in (1025, 70_000, len(text)):
        check(text, text[len(text) - length :], name)


@pytest.mark.parametrize("name", NAMES)
def test_bytes_outside_the_sample_share_codes(name: str) -> None:
    """Test letters that appear only after the sample of the text, and share codes with the pattern."""
    text = b"AB" * 4000 + b"CB" * 100 + b"AB" * 10 + b"\x01\x42" * 50
    check(text, b"ABA", name)
    check(text, b"BA", name)


@pytest.mark.parametrize("name", NAMES)
def test_texts_shorter_than_the_pattern(name: str) -> None:
    for text in (b"", b"a"):
        check(text, b"ab", name)
