"""The marks of lenient quotes on a GPU, in the fiber harness, against the rules of lenient quotes as regular expressions."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from headrace import Dialect
from headrace.structure.gpu.dialect_tables import lenient_dialect
from headrace.testing import fibers
from tests.structure.gpu.find_kernels_cases import ORDERS, aligned

pytestmark = pytest.mark.fibers

_THREADS, _THREAD_BYTES = 64, 64
_PIECES = ['"', '"', '""', '"""', ",", ",", "\n", "\r\n", "x", "x" * 40, "x" * 700, '"' * 64, '"' * 131]


def expected(text: bytes, *, doubles: bool) -> dict[int, bool]:
    """For each quote at the begin of a field whether it opens it. Delimiters are , LF and CR."""
    runs = [(found.start(), found.end()) for found in re.finditer(b'"+', text)]
    begins = [begin == 0 or text[begin - 1] in b",\r\n" for begin, _ in runs]
    ends = [end == len(text) or text[end] in b",\r\n" for _, end in runs]
    odd = [not doubles or (end - begin) % 2 == 1 for begin, end in runs]
    opens, closes_later = {}, False
    for (begin, end), at_begin, at_end, is_odd in reversed(list(zip(runs, begins, ends, odd, strict=True))):
        is_field = at_end and (not is_odd if doubles else end - begin > 1)
        if at_begin:
            opens[begin] = is_field or (is_odd and closes_later)
        if is_odd and (at_end or at_begin):
            closes_later = at_end
    return opens


def marks(text: bytes, dialect: Dialect, skew: int, order: tuple[str, int]) -> set[int]:
    """Positions of the text that the kernels mark."""
    program = fibers.program("structure/gpu/opening_quotes.cu", {"HR_THREADS": _THREADS})
    tiles = -(-(len(text) + skew) // (_THREADS * _THREAD_BYTES))
    runs, words = np.zeros(tiles, np.uint16), np.full(tiles * _THREADS, ~np.uint64(0))
    head = [aligned(text, skew), len(text), lenient_dialect(dialect), runs]
    program.launch("mark_quotes", tiles, _THREADS, [*head, words, None], order=order[0], seed=order[1])
    program.launch("mark_last_quotes", -(-tiles // 2), _THREADS, [*head, tiles, words, None], order=order[0], seed=order[1])
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    assert not bits[:skew].any()
    return set(np.flatnonzero(bits[skew:]).tolist())


@pytest.mark.parametrize("options", [{}, {"double_quote": False}, {"skip_initial_space": True}], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_marks(seed: int, options: dict[str, bool]) -> None:
    """Runs cross the ends of threads, warps and tiles. Delimiters of one byte are found by masks, those after spaces are not."""
    rng = random.Random(seed)
    text = "".join(rng.choices(_PIECES, k=rng.choice([3, 40, 200]))).encode()
    dialect = Dialect(lenient_quotes=True, **options)
    wanted = expected(text, doubles=dialect.double_quote)
    marked = marks(text, dialect, seed % 16, ORDERS[seed % len(ORDERS)])
    assert {begin: begin not in marked for begin in wanted} == wanted
