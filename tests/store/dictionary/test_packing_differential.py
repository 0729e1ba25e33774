"""Tests packed codes of all widths against a list of their bits."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.packing import codes_of, pack, unpack
from tests.store.dictionary.dictionary_cases import packed

PIECE = 1 << 14


@pytest.mark.parametrize("bits", range(33))
def test_widths(bits: int) -> None:
    random = np.random.default_rng(bits)
    for count in (0, 1, 31, 63, 64, 65, 129, PIECE - 1, PIECE, 2 * PIECE + 7):
        codes = random.integers(0, 1 << bits, count, dtype=np.uint64).astype("u4")
        codes[-1:] = (1 << bits) - 1
        for threads in (1, 2):
            context = Context(threads=threads)
            words = pack(codes, bits, context=context)
            assert bytes(memoryview(words)) == packed(codes.tolist(), bits)
            assert (unpack(words, bits, count, context=context) == codes).all()


def test_rows() -> None:
    items = np.random.default_rng(1).integers(0, 1000, 5000)
    column = encode(items)
    codes = unpack(column.words, column.bits, len(column))
    for rows in (np.arange(5000)[::-1], np.array([0, 4999, 0]), np.zeros(0, np.int64)):
        wanted = np.ascontiguousarray(rows, np.int64)
        assert (codes_of(column, wanted) == codes[wanted]).all()


def test_a_code_that_does_not_fit() -> None:
    for bits in (0, 1, 31):
        pack(np.array([(1 << bits) - 1]), bits)
        with pytest.raises(OptionError, match="codes are not all in the range"):
            pack(np.array([1 << bits]), bits)
