"""Tests lenient quotes at the end of a window: a window's end is no delimiter, and a run continues after it."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

import headrace
from headrace import Context, Dialect
from tests.isas import EACH_ISA
from tests.structure.cpu.find_cases import expected, found

pytestmark = pytest.mark.isas

LOOK_AHEAD = 4096
"""Bytes that are read along with a tile."""


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("tile", [1, 64, 100])
@pytest.mark.parametrize("behind", [b'"b', b'""b', b'"b"c', b'" ,', b'"'])
def test_a_quote_at_the_end_of_a_window(behind: bytes, tile: int, isa: str) -> None:
    """Text may follow the quote. Then it closes nothing, and the field continues."""
    dialect = Dialect(lenient_quotes=True)
    for shift in range(-2, 3):
        for more in (0, 1024, 3 * 1024):
            front = b'x"y,"' + b"a" * (tile + LOOK_AHEAD + more - 6 + shift)
            for end in (b',c"\nd,e\n', b'",c\nd,e\n', b"\n"):
                data = front + behind + end
                assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), (shift, more, end)


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("0-*", "-1-*", "1-*")
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("shift", [-129, -128, -2, -1, 0, 1, 2, 127])
def test_a_run_far_behind_a_tile(shift: int, isa: str) -> None:
    """The search for the run that closes a field reads 256 KB at a time, from 128 bytes before the end of what is read."""
    dialect, tile = Dialect(lenient_quotes=True), 1 << 16
    end = tile + LOOK_AHEAD - 128 + (256 << 10)
    for behind in (b'"b', b'",', b'"""b", '):
        data = b'x,"' + b"a" * (end - 3 + shift) + behind + b'c\n"d",e\n'
        assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), behind


@pytest.mark.parametrize("isa", EACH_ISA)
def test_tiles_whose_state_map_has_open_states(isa: str) -> None:
    """Such a tile is read again from the state before it, and its quotes depend on the text around them then, too."""
    fields = ["", "x", "1", '""', '"""', '"abc', '"a,b"', '"x\ny"', '"q""r"', 'a"']
    for seed in range(15, 25):
        random = Random(seed)
        texts = [
            " " * random.choice([0, 1, 16, 33, 66, 130]) + random.choice(fields) + " " * random.randrange(2) for _ in range(80)
        ]
        data = "\n".join(map(",".join, zip(texts[::2], texts[1::2], strict=True))).encode()
        read = partial(
            headrace.read_csv, data, lenient_quotes=True, skip_initial_space=True, double_quote=False, header=False,
            dtypes="string", long_records="widen", short_records="null", context=Context(isa=isa, threads=1),
        )  # fmt: skip
        whole = read(chunk_bytes=1 << 20).to_pydict()
        for chunk in (64, 128, 192, 256):
            assert read(chunk_bytes=chunk).to_pydict() == whole, (seed, chunk)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(
    "dialect", [Dialect(lenient_quotes=True), Dialect(lenient_quotes=True, sep="||")], ids=["one byte", "two"]
)
def test_open_states_of_a_tile_are_decided_by_lenient_quotes(dialect: Dialect, isa: str) -> None:
    """The quote at a block's end is text. As strict ones, the quotes of the second tile leave another state."""
    for fill in range(55, 70):
        data = b"x" * 127 + b'\n"""' + b"x" * fill + b'"' + b"x" * (124 - fill) + b'\n"'
        for tile in (128, 192, 256):
            assert found(data, dialect, tile=tile, isa=isa) == expected(data, dialect), (fill, tile)
