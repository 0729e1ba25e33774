"""Tests searches for many patterns on the CPU against loops over ``bytes.find``."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import Context, MemoryLimitError, OptionError
from tests.query.find.pattern_cases import expected_hits, set_cases, symbols

PIECE = 256 << 10
CONTEXTS = (Context(threads=1), Context(threads=3))
LETTERS = st.sampled_from([b"a", b"b", b"A", b"z", b"@", b"[", b"\x00", b"\xc1"])
SHORT = st.lists(LETTERS, min_size=1, max_size=24).map(b"".join)


def check(text: bytes, patterns: list[bytes], ignore_case: bool = False) -> None:
    folded = (text.lower(), [pattern.lower() for pattern in patterns]) if ignore_case else (text, patterns)
    hits = expected_hits(*folded)
    prepared = headrace.PatternSet(patterns, ignore_case=ignore_case)
    for context in CONTEXTS:
        found = headrace.find_any(text, prepared, context=context)
        assert found.positions.dtype == np.uint64 and found.patterns.dtype == np.uint32
        assert list(zip(found.positions.tolist(), found.patterns.tolist(), strict=True)) == hits
        counts = headrace.count_any(text, prepared, context=context)
        assert counts.tolist() == np.bincount([i for _, i in hits], minlength=len(patterns)).tolist()


@given(st.lists(LETTERS, max_size=200).map(b"".join), st.lists(SHORT, min_size=1, max_size=9), st.booleans())
def test_any_text(rest: bytes, patterns: list[bytes], ignore_case: bool) -> None:
    check(b"".join(patterns) + rest + patterns[0].swapcase(), patterns, ignore_case)


def test_windows_of_each_shape() -> None:
    for size in (40, 3000):
        for text, patterns in set_cases(1, size):
            check(text, patterns)
            check(text.swapcase(), patterns, True)


def test_across_pieces() -> None:
    text = symbols(26, 2 * PIECE + 100)
    patterns = [text[at : at + length].tobytes() for at in (PIECE - 40, PIECE - 1, PIECE, 2 * PIECE - 3) for length in (8, 60)]
    check(text.tobytes(), patterns)


def test_thousands_of_patterns() -> None:
    text = symbols(4, 100_000).tobytes()
    patterns = [b"http://" + str(i).encode() for i in range(3000)] + [text[i : i + 24] for i in range(0, 60_000, 30)]
    found = headrace.find_any(text, patterns)
    assert found.positions.tolist() == list(range(0, 60_000, 30)) and found.patterns.tolist() == list(range(3000, 5000))


def test_short_texts() -> None:
    for text in (b"", b"a", b"ab", b"abc"):
        check(text, [b"a", b"ab", b"abcd"])
        check(text, [b"abcdefghijklmnopqrstuvw"])


def test_pattern_sets() -> None:
    words = headrace.PatternSet([b"Ab", b"c"], ignore_case=True)
    assert pickle.loads(pickle.dumps(words)) == words and hash(words) == hash(
        headrace.PatternSet([b"Ab", b"c"], ignore_case=True)
    )
    assert words != headrace.PatternSet([b"Ab", b"c"]) and words != 1 and len(words) == 2
    assert repr(words) == "<PatternSet of 2, ignore_case=True>" and words.patterns == (b"Ab", b"c")


@pytest.mark.parametrize(
    ("text", "patterns", "message"),
    [
        (b"a", [], "patterns has 0 items"),
        (b"a", [b"a", b""], r"patterns\[1\] has 0 bytes"),
        (b"a", b"ab", "a list of bytes-like objects"),
        (b"a", [1], r"patterns\[0\] must be a bytes-like"),
        (b"a", 1, "a list of bytes-like objects"),
        ("a", [b"a"], "text must be bytes"),
        (np.zeros(8, np.uint16), [b"a"], "uint8"),
    ],
)
def test_wrong_arguments(text: object, patterns: object, message: str) -> None:
    for call in (headrace.find_any, headrace.count_any):
        with pytest.raises(OptionError, match=message):
            call(text, patterns)


def test_limits() -> None:
    with pytest.raises(OptionError, match="respects case"):
        headrace.find_any(b"a", headrace.PatternSet([b"a"]), ignore_case=True)
    with pytest.raises(MemoryLimitError):
        headrace.find_any(bytes(1000), [b"\0"], context=Context(memory_limit=100))
