"""Tests searches on every instruction set and several thread counts against loops over ``bytes.find``."""

from __future__ import annotations

import mmap
import pickle
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import Context, MemoryLimitError, OptionError, _native
from tests.query.find.pattern_cases import expected

CONTEXTS = [Context(isa=isa, threads=threads) for isa in _native.isas() for threads in (1, 3)]
PIECE = 256 << 10


def check(text: bytes, pattern: bytes, ignore_case: bool = False) -> None:
    folded = (text.lower(), pattern.lower()) if ignore_case else (text, pattern)
    prepared = headrace.Pattern(pattern, ignore_case=ignore_case)
    for overlapping in (True, False):
        positions = expected(*folded, overlapping)
        for context in CONTEXTS:
            found = headrace.find(text, prepared, overlapping=overlapping, context=context)
            assert found.dtype == np.uint64 and found.tolist() == positions
            assert headrace.count(text, prepared, overlapping=overlapping, context=context) == len(positions)
            assert headrace.find_first(text, prepared, context=context) == (positions[0] if positions else None)
            assert headrace.contains(text, prepared, context=context) == bool(positions)


LETTERS = st.sampled_from([b"a", b"b", b"A", b"z", b"Z", b"@", b"[", b"\x00", b"\xc1"])
SHORT = st.lists(LETTERS, min_size=1, max_size=40).map(b"".join)


@given(st.lists(LETTERS, max_size=300).map(b"".join), SHORT, st.integers(1, 40), st.booleans())
def test_any_text(rest: bytes, pattern: bytes, times: int, ignore_case: bool) -> None:
    text = pattern * times + rest + pattern.swapcase() + rest
    check(text, pattern, ignore_case)


@pytest.mark.parametrize("length", [1, 2, 3, 8, 15, 16, 17, 63, 64, 65, 300, 5000])
@pytest.mark.parametrize("symbols", [2, 26, 256])
def test_lengths_at_edges(length: int, symbols: int) -> None:
    random = np.random.default_rng(length + symbols)
    for size in (length - 1, length, length + 1, length + 62, length + 63, length + 64, length + 200):
        pattern = random.integers(0, symbols, length, np.uint8).tobytes()
        text = random.integers(0, symbols, size, np.uint8)
        if size >= length:
            text[size - length :] = np.frombuffer(pattern, np.uint8)
        check(text.tobytes(), pattern)


def test_across_pieces() -> None:
    random = np.random.default_rng(1)
    pattern = random.integers(0, 3, 40, np.uint8)
    text = random.integers(0, 3, 3 * PIECE + 100, np.uint8)
    for place in (PIECE - 40, PIECE - 39, PIECE, 2 * PIECE - 1, text.size - 40):
        text[place : place + 40] = pattern
    check(text.tobytes(), pattern.tobytes())
    check(text.tobytes(), b"\0")  # more hits than a piece keeps


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (b"a", b"a" * 100),
        (b"a", b"a" * 100_000),
        (b"ab", b"ab" * 50 + b"a"),
        (b"a", b"a" * 50 + b"b"),
        (b"a", b"b" + b"a" * 5000),
        (b"a", b"a" * 500 + b"b" + b"a" * 500),
        (b"aaaaaaaaab", b"aaaaaaaaab" * 9),
        (b"abc" * 99 + b"x", b"abc" * 40),
    ],
)
def test_repetitive_texts(text: bytes, pattern: bytes) -> None:
    whole = text * (2 * PIECE // len(text))
    began = time.perf_counter()
    counts = {headrace.count(whole, pattern, context=context) for context in CONTEXTS}
    assert time.perf_counter() - began < 5  # quadratic time would be minutes
    borders = [i for i in range(len(whole) - len(pattern) + 1) if whole.startswith(pattern, i)]
    assert counts == {len(borders)}
    for context in CONTEXTS:
        assert headrace.find(whole, pattern, context=context).tolist() == borders
        few = headrace.find(whole, pattern, overlapping=False, context=context).tolist()
        assert few == expected(whole, pattern, False)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("part", [b"a", b"ab", b"aab", b"abcdefgh" * 8, b"ab" * 20 + b"c"])
@pytest.mark.parametrize("length", [2, 15, 16, 17, 63, 64, 65, 1000])
def test_hits_that_do_not_overlap_across_pieces(part: bytes, length: int) -> None:
    size, shift = 3 * PIECE + 77, length % len(part)
    whole = (part * (size // len(part) + 2))[shift : shift + size]
    pattern = whole[5:][:length]
    text = bytearray(whole)
    for place in (PIECE - 3, PIECE + length + 1, 2 * PIECE + 5):
        text[place : place + 1] = b"Z"
    for each in (whole, bytes(text), bytes(text[:PIECE]) + b"b" * (PIECE + 9) + whole[:PIECE]):
        positions = np.array(expected(each, pattern, False))
        for context in (Context(threads=1), Context(threads=2), Context(isa="scalar", threads=3)):
            assert headrace.count(each, pattern, overlapping=False, context=context) == len(positions)
            assert np.array_equal(headrace.find(each, pattern, overlapping=False, context=context), positions)


def test_long_pattern() -> None:
    text = np.random.default_rng(2).integers(0, 256, 5 << 20, np.uint8)
    text[4 << 20 :] = text[: 1 << 20]
    check(text.tobytes(), text[: 1 << 20].tobytes())
    check(text.tobytes(), text[1 : (1 << 20) + 1].tobytes())


@pytest.mark.long
def test_positions_past_32_bits() -> None:
    text = np.zeros((1 << 32) + 1000, np.uint8)  # pages that are only read take no memory
    pattern, places = bytes(range(1, 21)), [5, (1 << 32) - 10, (1 << 32) + 900]
    for place in places:
        text[place : place + len(pattern)] = np.frombuffer(pattern, np.uint8)
    assert headrace.find(text, pattern).tolist() == places
    assert headrace.find_first(text[6:], pattern) == places[1] - 6 and headrace.count(text, pattern) == 3
    hits = headrace.find_any(text, [pattern, pattern[3:]])
    assert hits.positions.tolist() == sorted([*places, *(place + 3 for place in places)])


@given(st.text("aé€𝄞b", max_size=80), st.text("aé€𝄞b", min_size=1, max_size=3))
def test_hits_are_at_boundaries_of_characters(text: str, pattern: str) -> None:
    at = [i for i in range(len(text)) if text.startswith(pattern, i)]
    assert headrace.find(text.encode(), pattern.encode()).tolist() == [len(text[:i].encode()) for i in at]


def test_inputs(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"xxabxab")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert headrace.find(mapped, b"ab").tolist() == [2, 5]
    text = np.frombuffer(b"xxabxab", np.uint8)
    for form in (text, memoryview(text), bytearray(text), text.tobytes()):
        assert headrace.find(form, bytearray(b"ab")).tolist() == [2, 5]
    assert headrace.find(b"", b"ab").tolist() == []


def test_patterns() -> None:
    pattern = headrace.Pattern(b"Ab", ignore_case=True)
    assert pickle.loads(pickle.dumps(pattern)) == pattern and hash(pattern) == hash(headrace.Pattern(b"Ab", ignore_case=True))
    assert pattern != headrace.Pattern(b"Ab") and pattern != b"Ab" and len(pattern) == 2
    assert repr(pattern) == "Pattern(b'Ab', ignore_case=True)" and pattern.pattern == b"Ab"


@pytest.mark.parametrize(
    ("text", "pattern", "message"),
    [
        (b"a", b"", "pattern has 0 bytes"),
        (b"a", "a", "pass pattern.encode"),
        (b"a", 1, "pattern must be a bytes-like"),
        (b"a", memoryview(b"abcd")[::2], "contiguous"),
        ("a", b"a", "text must be bytes"),
        (None, b"a", "text must be an array"),
        (memoryview(b"abcd")[::2], b"a", "contiguous"),
        (np.zeros(8, np.uint8)[::2], b"a", "gaps"),
        (np.zeros(8, np.uint16), b"a", "uint8"),
        (np.zeros((2, 2), np.uint8), b"a", "one dimension"),
    ],
)
def test_wrong_arguments(text: object, pattern: object, message: str) -> None:
    for call in (headrace.find, headrace.count, headrace.find_first, headrace.contains):
        with pytest.raises(OptionError, match=message):
            call(text, pattern)


def test_limits() -> None:
    with pytest.raises(OptionError, match="respects case"):
        headrace.find(b"a", headrace.Pattern(b"a"), ignore_case=True)
    with pytest.raises(MemoryLimitError):
        headrace.find(bytes(1000), b"\0", context=Context(memory_limit=100))
