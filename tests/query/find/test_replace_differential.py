"""Tests replacements against ``bytes.replace`` and regular expressions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import Context, MemoryLimitError, OptionError

PIECE = 256 << 10
CONTEXTS = (Context(threads=1), Context(threads=3))
LETTERS = st.sampled_from([b"a", b"b", b"A", b"@", b"\x00"])


def check(text: bytes, pattern: bytes, replacement: bytes) -> None:
    folded = re.sub(re.escape(pattern), lambda _: replacement, text, flags=re.IGNORECASE)
    for context in CONTEXTS:
        assert headrace.replace(text, pattern, replacement, context=context).tobytes() == text.replace(pattern, replacement)
        assert headrace.replace(text, pattern, replacement, ignore_case=True, context=context).tobytes() == folded


@given(st.lists(LETTERS, max_size=200), st.lists(LETTERS, min_size=1, max_size=4), st.binary(max_size=6))
def test_any_text(text: list[bytes], pattern: list[bytes], replacement: bytes) -> None:
    check(b"".join(text), b"".join(pattern), replacement)


def test_across_pieces() -> None:
    random = np.random.default_rng(1)
    text = bytearray(random.integers(98, 123, 3 * PIECE + 50, np.uint8).tobytes())
    for at in (0, PIECE - 3, PIECE + 1, 2 * PIECE - 4, 2 * PIECE, len(text) - 4):
        text[at : at + 4] = b"aaaa"
    for pattern in (b"aaaa", b"aaa", b"a", b"bc"):
        for replacement in (b"", b"x", b"longer than that"):
            check(bytes(text), pattern, replacement)
    check(b"a" * (2 * PIECE + 5), b"aa", b"b")


def test_texts_of_equal_length_across_pieces() -> None:
    text = bytearray(np.random.default_rng(2).integers(98, 123, PIECE + 70, np.uint8).tobytes())
    for number, at in enumerate(range(PIECE // 8, len(text), PIECE // 8)):
        text[at - number % 6 : at - number % 6 + 5] = b"Ax-yZ"
    text[-5:] = b"Ax-yZ"
    for pattern, replacement in (
        (b"Ax-yZ", b"12345"),
        (b"b", b"c"),
        (b"de", b"ed"),
        (b"c" * 3, b"xyz"),
        (bytes(text[9:900]), b"." * 891),
    ):
        check(bytes(text), pattern, replacement)


def test_arguments() -> None:
    array = np.frombuffer(b"abcab", np.uint8)
    assert headrace.replace(array, bytearray(b"ab"), memoryview(b"x")).tobytes() == b"xcx"
    for replacement, message in (
        ("x", "replacement.encode"),
        (1, "replacement must be a bytes-like"),
        (array[::2], "contiguous"),
    ):
        with pytest.raises(OptionError, match=message):
            headrace.replace(b"a", b"a", replacement)
    with pytest.raises(MemoryLimitError):
        headrace.replace(bytes(100), b"\0", b"ab", context=Context(memory_limit=150))
