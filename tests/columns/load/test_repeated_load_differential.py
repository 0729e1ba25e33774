"""Tests loads that repeat the launches of an earlier text with the same plan. The table is that of the CPU for each text, in any
order, whether the text is as expected or not.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import headrace
from headrace.columns.load.gpu import setup_cache
from headrace.core.identity_cache import IdentityCache
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, check, read_on_fibers, same_table

pytestmark = pytest.mark.fibers

TYPES = ["int32", "string", "float64", "string"]
ROWS = 90


def lines(row: str = "{0},{1},{0}.5,{2}\n", rows: int = ROWS, first: int = 0) -> bytes:
    """Records of an integer, a short text, a number and another text."""
    return b"".join(row.format(at, "x" * (at % 7), "yz" * (at % 3)).encode() for at in range(first, first + rows))


TEXTS = {
    "plain": lines(),
    "longer": lines(rows=200),
    "one record": lines(rows=1),
    "without a last line end": lines().rstrip(),
    "CR LF": lines().replace(b"\n", b"\r\n"),
    "CR LF later": lines() + lines().replace(b"\n", b"\r\n"),
    "nulls": lines() + b",,,\n" * 5 + lines(),
    "quotes": lines('{0},"{1}",{0}.5,"{2}"\n'),
    "quotes later": lines() + b'1,"x\n,y",2.5,z\n' * 3 + lines(),
    "stray quotes": lines() + b'1,x"y,2.5,z\n' + lines(),
    "blank lines": lines() + b"\n\n" + lines(),
    "longer records later": lines() + lines("{0},{1}" + "w" * 400 + ",1.5,\n", 30),
    "an unusual number": lines() + b"1,x,1234567890123456789012e-12,y\n" + lines(),
    "not ASCII": lines() + "1,äöü,2.5,ß\n".encode() + lines(),
    "a field that is no number": lines() + b"z,x,0.5,y\n" + lines(),
    "a short record": lines() + b"1,x\n" + lines(),
    "a long record": lines() + b"1,x,2.5,y,z\n" + lines(),
    "invalid UTF-8": lines() + b"1,\xff,2.5,y\n" + lines(),
    "an open quote": lines() + b'1,"x,2.5,y\n' + lines(),
    "larger integers": lines(first=2**31 - 5),
    "floats where integers were": lines("{0}.25,{1},{0}.5,{2}\n"),
    "texts where numbers were": lines("a{0},{1},{0}.5,{2}\n"),
    "numbers where texts were": lines("{0},{0},{0}.5,{0}\n"),
    "nulls alone": b",,,\n" * ROWS,
}
OPTIONS = {
    "types given": {"schema": TYPES, "header": False},
    "types given, faults are nulls": {"schema": TYPES, "header": False, "on_error": "null"},
    "types inferred": {"header": False, "on_error": "null"},
    "types inferred, faults raise": {"header": False},
    "some columns": {"header": False, "on_error": "reject", "schema": TYPES, "columns": ["column_3", "column_2"]},
}


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by each load whose launches are those of an earlier text. None is known before the test."""
    monkeypatch.setattr(setup_cache, "known_setups", IdentityCache())
    found: list[str] = []
    run = FiberLauncher.run_chain

    def counted(*arguments):
        found.append("repeated")
        return run(*arguments)

    monkeypatch.setattr(FiberLauncher, "run_chain", counted)
    return found


def read(data: bytes, options: dict, seed: int) -> None:
    """The same table, or the same error, as on the CPU."""
    failure: headrace.HeadraceError | None = None
    try:
        headrace.read_csv(data, **options)
    except headrace.HeadraceError as error:
        failure = error
    if failure is None:
        check(data, **options, seed=seed, skew=seed % 16)
        return
    with pytest.raises(type(failure), match=f"^{re.escape(str(failure))}$"):
        read_on_fibers(data, **options, seed=seed)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_text_as_expected_repeats_the_launches(repeated, options):
    for turn, kind in enumerate(("plain", "plain", "longer", "without a last line end", "nulls", "not ASCII")):
        assert check(TEXTS[kind], **OPTIONS[options]) == 1
        assert len(repeated) == turn


@pytest.mark.parametrize("begin", [20, 200])
def test_sizes_that_the_first_records_do_not_tell_are_those_of_earlier_texts(repeated, begin):
    """Without a record in the first bytes, or with records of other sizes there, the host waits twice."""
    rest = b"1," + b"y" * (100 << 10) + b"\n"
    data = {20: b"1," + b"x" * (80 << 10) + b"\n" + rest * 8, 200: b"1,x\n" * 60000 + rest * 8}[begin]
    options = {"schema": ["int32", "string"], "header": False, "shape": LARGER_SHAPE}
    waits = [check(data + b"2,z\n" * turn, **options) for turn in range(5)]
    assert waits[0] > 1
    assert waits[-1] == 1
    assert repeated


def test_texts_with_quotes_and_without_them_take_turns(repeated):
    """Each kind has launches of its own, which texts of the other kind leave in place."""
    for turn, kind in enumerate(("plain", "quotes", "plain", "quotes", "longer", "quotes")):
        check(TEXTS[kind], **OPTIONS["types given"])
        assert len(repeated) == max(turn - 1, 0)


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("types given, faults are nulls", "types inferred")
@pytest.mark.parametrize("options", OPTIONS)
def test_each_text_after_each_other(repeated, options):
    rng = random.Random(options)
    for seed in range(2):
        kinds = rng.sample(sorted(TEXTS), len(TEXTS))
        for kind in kinds:
            read(TEXTS["plain"], OPTIONS[options], seed)
            read(TEXTS[kind], OPTIONS[options], seed)
    assert len(repeated) > len(TEXTS) // 2


def test_evidence_and_counts_of_a_repeated_load(repeated):
    data = b"a,b\n\n# no comment here\n" + b"1,x\n" * 20 + b"2.5,\n" * 20
    for _ in range(3):
        found, _ = read_on_fibers(data, on_error="null")
        expected = headrace.read_csv(data, on_error="null")
        assert found is not None
        assert found.report.columns == expected.report.columns
        assert found.report.skipped == expected.report.skipped
        assert found.rejects.to_pydict() == expected.rejects.to_pydict()


@pytest.mark.parametrize("codec", ["cp1252", "utf-16"])
def test_texts_in_another_encoding_repeat_the_launches(repeated, codec):
    """Positions of their evidence and of their rejects are those of the source."""
    odd = ("nulls", "a field that is no number", "not ASCII", "texts where numbers were")
    for kind in ("not ASCII", "plain", "longer", *odd, "plain"):
        data = ("n,text,real,text_2\n" + TEXTS[kind].decode()).encode(codec)
        found, _ = read_on_fibers(data, encoding=codec, on_error="null")
        expected = headrace.read_csv(data, encoding=codec, on_error="null")
        assert found is not None
        same_table(found, expected)
        assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    assert len(repeated) >= 3


def test_columns_are_not_those_of_a_later_load(repeated):
    options = OPTIONS["types given"]
    tables = [read_on_fibers(lines(first=first), **options)[0] for first in (0, 500, 1000)]
    for first, table in zip((0, 500, 1000), tables, strict=True):
        assert table is not None
        assert np.array_equal(table["column_1"].to_pylist(), range(first, first + ROWS))
    assert len(repeated) == 2


def test_a_memory_limit_is_kept(repeated):
    options = OPTIONS["types given"]
    for _ in range(3):
        check(TEXTS["plain"], **options, context=headrace.Context(memory_limit=10_000_000))
    assert not repeated


def wide(rows: int, scale: int = 10**6) -> bytes:
    """Records of 48 integers. A tile has few of them unless they have one digit."""
    return b"".join(b",".join(b"%d" % ((at + row) % 10 * scale) for at in range(48)) + b"\n" for row in range(rows))


def test_wide_tables_are_repeated(repeated):
    """The general conversion reads all of their tiles."""
    for turn, rows in enumerate((12, 12, 30)):
        assert check(wide(rows), header=False) == 1
        assert len(repeated) == turn


def test_a_wide_table_with_short_records_is_not_repeated_as_one_with_long_records(repeated):
    for turn, scale in enumerate((10**6, 1, 10**6, 10**6)):
        check(wide(90, scale), header=False, schema=["int64"] * 48, shape=LARGER_SHAPE)
        assert len(repeated) == max(turn - 2, 0)


def test_a_text_of_many_tiles_has_other_sums_than_a_short_one(repeated, monkeypatch):
    monkeypatch.setattr(setup_cache, "SMALL_BYTES", 64)  # sums of two tiles are allocated with the search
    for rows in (90, 90, 200, 90):
        check(lines(rows=rows), **OPTIONS["types inferred"])
    assert len(repeated) == 1


SIGNED = {
    "signs": lines("-{0},{1},{0}.5,{2}\n"),
    "some signs": lines() + lines("-{0},{1},{0}.5,{2}\n"),
    "no signs": lines(),
    "signs beside uint64": lines("-{0},{1},{0}.5,{2}\n") + lines(first=2**63),
    "uint64": lines(first=2**63),
    "uint64, then signs": lines(first=2**63) + lines("-{0},{1},{0}.5,{2}\n"),
}
"""Texts whose first column has negative numbers, or numbers beyond int64."""


def test_inferred_integers_below_zero_are_repeated(repeated):
    for turn, kind in enumerate(("signs", "signs", "some signs", "no signs", "signs")):
        assert check(SIGNED[kind], header=False) == 1
        assert len(repeated) == turn


@pytest.mark.parametrize("first", SIGNED.values(), ids=SIGNED)
def test_integers_of_any_sign_after_others(repeated, first):
    for text in SIGNED.values():
        read(first, {"header": False}, 0)
        read(text, {"header": False}, 1)


WITHOUT_VALUES = {
    "one column": lines("{0},,{0}.5,{2}\n"),
    "all columns": b",,,\n" * ROWS,
    "a value": lines("{0},,{0}.5,{2}\n") + lines("{0},7,{0}.5,{2}\n", 3),
    "a text": lines("{0},,{0}.5,{2}\n") + lines("{0},x,{0}.5,{2}\n", 3),
    "quotes": lines('{0},"",{0}.5,"{2}"\n'),
    "null words": lines("{0},NA,{0}.5,{2}\n"),
}
"""Texts with a column that has no value, or values at its end."""


@pytest.mark.parametrize("kind", ["one column", "all columns"])
def test_columns_without_a_value_are_repeated(repeated, kind):
    for turn in range(4):
        assert check(WITHOUT_VALUES[kind], header=False) == 1
        assert len(repeated) == turn


NULL_OPTIONS = {"none": {}, "null words": {"null_values": ["NA"]}, "quoted nulls": {"quoted_null": True}}


@pytest.mark.long_except("*-null words")
@pytest.mark.parametrize("nulls", NULL_OPTIONS)
@pytest.mark.parametrize("first", WITHOUT_VALUES.values(), ids=WITHOUT_VALUES)
def test_columns_without_a_value_after_others(repeated, first, nulls):
    for text in WITHOUT_VALUES.values():
        read(first, {"header": False, **NULL_OPTIONS[nulls]}, 0)
        read(text, {"header": False, **NULL_OPTIONS[nulls]}, 1)


BY_AUTOMATON = {
    "comments": ({"comment": "#"}, lines("{0},{1},{0}.5,{2}\n# a, comment\n")),
    "escapes": ({"escape_char": "\\", "double_quote": False}, lines('{0},"{1}\\"",{0}.5,{2}\n')),
    "spaces after separators": ({"skip_initial_space": True}, lines('{0}, "{1}", {0}.5, {2}\n')),
    "padded": ({"strip": True}, lines("{0} , {1} ,{0}.5, {2}\n")),
    "a separator of two bytes": ({"sep": "::"}, lines("{0}::{1}::{0}.5::{2}\n")),
    "a separator of two bytes, quotes": ({"sep": "::"}, lines('{0}::"{1}"::{0}.5::{2}\n')),
}
"""Options and a text that only the automaton reads."""


@pytest.mark.parametrize("kind", BY_AUTOMATON)
@pytest.mark.parametrize("options", ["types given", "types inferred"])
def test_texts_that_the_automaton_reads_are_repeated(repeated, kind, options):
    dialect, text = BY_AUTOMATON[kind]
    for turn, data in enumerate((text, text, text * 3, text.rstrip(), text)):
        check(data, **OPTIONS[options], **dialect, skew=turn)
        assert len(repeated) == turn


@pytest.mark.parametrize("kind", BY_AUTOMATON)
def test_an_unexpected_text_that_the_automaton_reads_is_loaded_step_by_step(repeated, kind):
    dialect, text = BY_AUTOMATON[kind]
    odd = [text + b"z\n" + text, text + b'1,"x', text.replace(b".5", b".25"), text.replace(b"1", b"q"), lines(), b""]
    for data in odd:
        read(text, {**OPTIONS["types given, faults are nulls"], **dialect}, 0)
        read(data, {**OPTIONS["types given, faults are nulls"], **dialect}, 1)
    assert repeated


STRAY = b"".join(
    b'%d,"q" %s",%d.5,z\n' % (at, b"w" * (at % 5), at) if at % 7 == 3 else b'%d,"a b",0.5,y\n' % at for at in range(ROWS)
)


@pytest.mark.parametrize("options", ["types given, faults are nulls", "types inferred"])
def test_lenient_quotes_that_are_repaired_are_repeated(repeated, options):
    given = {**OPTIONS[options], "lenient_quotes": True}
    for turn, data in enumerate((STRAY, STRAY, STRAY, STRAY * 2, STRAY.rstrip())):
        assert check(data, **given, skew=turn) is not None
    assert len(repeated) == 2  # the first texts teach that the automaton must read them, and that it declines no tile
    for data in (lines(), STRAY, lines(), lines(), STRAY, TEXTS["an open quote"], STRAY):
        read(data, given, 1)


FAULTY = {
    "fields": lines() + b"z,x,0.5,y\n" * 3 + lines() + b"1,x,q,y\n",
    "short records": lines() + b"1,x\n" * 2 + lines() + b"2\n",
    "long records": lines() + b"1,x,2.5,y,z\n" + lines(),
    "both": b"1,x\n" + lines() + b"z,x,0.5,y\n2,x,2.5,y,z\n" + lines(),
    "blank lines": lines() + b"\n\n" + b"z,x,0.5,y\n" + lines(),
    "an unusual number": lines() + b"1,x,1234567890123456789012e-12,y\nz,x,0.5,y\n" + lines(),
    "a value of a deferred form": lines() + b"1,x,0." + b"1" * 5000 + b",y\nz,x,0.5,y\n" + lines(),
}


@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("kind", FAULTY)
def test_texts_with_faults_are_repeated(repeated, kind, on_error):
    """Rejects, counts and rows are those of the CPU. A text without faults between them is repeated, too."""
    given = {"schema": TYPES, "header": False, "on_error": on_error}
    for data in (FAULTY[kind], FAULTY[kind], FAULTY[kind] * 2, lines(), FAULTY[kind]):
        read(data, given, 2)
        found, _ = read_on_fibers(data, **given)
        expected = headrace.read_csv(data, **given)
        assert found is not None
        assert repr(found.rejects.to_pydict()) == repr(expected.rejects.to_pydict())
        assert found.report.faults == expected.report.faults
    assert len(repeated) >= 5


@pytest.mark.parametrize("dialect", [{"comment": "#"}, {"escape_char": "\\"}, {"lenient_quotes": True}])
def test_texts_without_what_the_dialect_allows_are_repeated(repeated, dialect):
    """Byte masks read them. If a text has it later, the launches step by step include the automaton."""
    rare = lines() + b'1,"x\\"y",2.5,z\n# no comment\n1,x"y,2.5,z\n' + lines()
    for turn, data in enumerate((lines(), lines(), lines(rows=200), lines())):
        check(data, **OPTIONS["types given"], **dialect)
        assert len(repeated) == turn
    for data in (lines(), lines(), rare, lines()):
        read(data, {**OPTIONS["types given, faults are nulls"], **dialect}, 1)
