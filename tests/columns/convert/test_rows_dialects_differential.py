"""Tests texts of other dialects and with blank lines by rows. If an automaton read the text, these are all tiles except those
with bytes that rows cannot read. Under the fiber harness against `read_csv` on the CPU.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.convert.rows_cases import shape
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers

TYPES = ["string", "int32", "string", "float64"]


def records(rng: random.Random, count: int, quoted: float = 0) -> list[str]:
    lines = []
    for _ in range(count):
        texts = ["".join(rng.choices("ab -x", k=rng.choice([0, 1, 3, 8, 15, 33, 70]))) for _ in range(2)]
        texts = [f'"{text},""\n"' if rng.random() < quoted else text for text in texts]
        lines.append(f"{texts[0]},{rng.randrange(10**6)},{texts[1]},{rng.uniform(0, 99):.2f}")
    return lines


def read(lines: list[str], seed: int, line_end: str = "\n", **options: Any) -> int:
    data = (line_end.join(lines) + line_end).encode()
    return check(data, header=False, schema=TYPES, skew=seed % 16, seed=seed, **options)


DIALECTS: list[tuple[dict[str, Any], str]] = [
    ({"comment": "#"}, "#note"),
    ({"escape_char": "\\"}, "a\\,b,1,c,2.5"),
    ({"escape_char": "\\", "quote_char": None}, "a\\,b,1,c,2.5"),
    ({"comment": "#", "escape_char": "\\"}, "#x,1,2"),
    ({"lenient_quotes": True}, 'a"b"c,1,d,2.5'),
]


@pytest.mark.long_except("\\n-0.2-dialect[014]-*")
@pytest.mark.parametrize(("dialect", "odd"), DIALECTS)
@pytest.mark.parametrize("quoted", [0.0, 0.2])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_other_dialects_by_rows(left, dialect, odd, quoted, line_end):
    """All tiles except at most those near text that only an automaton reads; malformed lenient quotes leave all tiles to it."""
    rng = random.Random(odd)
    lines = records(rng, 600, 0 if dialect.get("quote_char", "") is None else quoted)
    read(lines, 7, line_end, shape=shape(), **dialect)
    lines.insert(300, odd)
    read(lines, 8, line_end, shape=shape(), **dialect)
    marked, tiles = left[-1]
    assert marked > 0 if dialect.get("lenient_quotes") else marked < tiles / 2


@pytest.mark.long_except("[0134]")
@pytest.mark.parametrize("seed", range(6))
def test_what_masks_could_read_too(left, seed):
    """Tiles that begin inside quotes have another state of the automaton than of masks."""
    rng = random.Random(seed)
    lines = records(rng, 200, 0.2 * (seed % 2))
    lines[0] = '"a",1,"b",2.5' if seed % 2 else lines[0]  # the first bytes show whether there are quotes
    read(lines, seed, shape=shape(only_dfa=True, threads=32 + 32 * (seed % 3 == 2)))
    assert left == [(0, left[0][1])]


@pytest.mark.long_except("[01]-types0", "2-None")
@pytest.mark.parametrize("types", [TYPES, None])
@pytest.mark.parametrize("seed", range(8))
def test_blank_lines(left, seed, types):
    """Masks leave no tile over if line ends are LF. Strings are measured by the search if types are given."""
    rng = random.Random(seed)
    lines = records(rng, 300, 0.2 * (seed % 2))
    lines[0] = '"a",1,"b",2.5' if seed % 2 else lines[0]
    spread = [line for one in lines for line in ([""] * rng.choice([0, 0, 0, 1, 2, 40 * (rng.random() < 0.2)]) + [one])]
    data = ("\n" * (seed % 3) + "\n".join(spread) + "\n" * rng.randrange(200)).encode()
    only_dfa = seed in (3, 6)
    check(data, header=False, skew=seed % 16, seed=seed, shape=shape(only_dfa=only_dfa), **({"schema": types} if types else {}))
    assert only_dfa or {marked for marked, _ in left} == {0}
