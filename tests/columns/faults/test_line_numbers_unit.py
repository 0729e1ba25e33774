"""Tests the lines of positions in a source."""

from __future__ import annotations

import ctypes
import random
import re
from bisect import bisect_right

import numpy as np
import pytest

from headrace import _native

TEXT = b"".join(b"%d,%s\r\n" % (row, b"x" * (row % 40)) for row in range(90_000))  # more than two chunks of 1 MiB


@pytest.mark.parametrize("last", [0, 1, 20, 2_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, len(TEXT) - 1, len(TEXT)])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_byte_after_the_last_position_is_read(last: int, threads: int) -> None:
    """A source may lie in the memory of a GPU, from which each byte is copied."""
    ends: list[int] = []

    def read(offset: int, count: int, address: int) -> None:
        ends.append(offset + count)
        ctypes.memmove(address, TEXT[offset : offset + count], count)

    source = _native.Source.from_reader(len(TEXT), read, b"")
    positions = sorted({last // 3, last // 2, last})
    expected = [TEXT[:at].count(b"\n") + 1 for at in positions]
    assert list(_native.line_numbers(source, positions, threads)) == expected
    assert max(ends, default=0) <= last + 16  # the lookahead of a character


def test_positions_after_a_known_line() -> None:
    begins = np.cumsum([0, *map(len, TEXT.splitlines(keepends=True))])[:-1]
    source = _native.Source.from_bytes(np.frombuffer(TEXT, np.uint8))
    found = _native.line_numbers(source, begins[1000::777].tolist(), 2, int(begins[500]))
    assert (np.array(found) == np.arange(len(begins))[1000::777] - 500 + 1).all()


@pytest.mark.parametrize("letters", ["\n", "\r", "\r\n", "x\r\n"])
def test_positions_lie_close_together(letters: str) -> None:
    text = "".join(random.Random(letters).choices(letters, k=20_000))
    source = _native.Source.from_bytes(text.encode())
    ends = [found.end() for found in re.finditer("\r\n|\r|\n", text)]
    for apart in (1, 7, 16, 17, 31, 33, 5000):
        positions = list(range(0, len(text), apart))
        inside = [at for at in positions if text[at - 1 : at + 1] != "\r\n"]  # no record begins between CR and LF
        expected = [bisect_right(ends, at) + 1 for at in inside[:: 1 + len(inside) // 500]]
        assert list(_native.line_numbers(source, inside[:: 1 + len(inside) // 500], 1)) == expected
