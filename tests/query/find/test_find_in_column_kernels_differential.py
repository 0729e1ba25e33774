"""Tests searches in the rows of columns in the fiber harness against the CPU and a loop over ``bytes.find``."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace import Column, Context, Table, UnsupportedDeviceError
from headrace.query.find.column.device_rows import RowAnswer, RowSearch, answer_on_gpu, hits_on_gpu
from headrace.query.find.column.device_set_rows import SetRowSearch
from headrace.query.find.gpu.tuning import FindTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import fetched, on_fibers
from tests.query.find.pattern_cases import expected

pytestmark = pytest.mark.fibers

TUNING = FindTuning(threads=64, rows=4)
TILE = TUNING.tile_marks
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1))
TYPES = (pa.binary(), pa.large_binary())


def column_of(texts: list[bytes | None], type_: Any, *, is_coded: bool = False) -> Column:
    """Return the texts as a slice of a longer column."""
    array = pa.array([b"aba", None, b"", *texts, b"ab"], type_)
    return Table.from_arrow(pa.table({"t": array.dictionary_encode() if is_coded else array}))["t"][3:-1]


def check(column: Column, pattern: bytes, launcher: FiberLauncher, *, ignore_case: bool = False) -> None:
    """Compare all answers for a column in host memory with those for its copy."""
    prepared, texts = headrace.Pattern(pattern, ignore_case=ignore_case), column.to_pylist()
    texts = [text.encode() if isinstance(text, str) else text for text in texts]
    for overlapping in (True, False):
        folded = [b"" if text is None else text.lower() if ignore_case else text for text in texts]
        hits = [expected(text, pattern.lower() if ignore_case else pattern, overlapping) for text in folded]
        search = RowSearch(launcher, on_fibers(launcher, column), prepared, overlapping, tuning=TUNING)
        counts = fetched(search.column_of(RowAnswer.COUNT))
        wanted = [None if text is None else len(each) for text, each in zip(texts, hits, strict=True)]
        assert counts.to_pylist() == wanted and counts.null_count == wanted.count(None)
        assert wanted == headrace.count_in_column(column, prepared, overlapping=overlapping).to_pylist()
        contained = fetched(search.column_of(RowAnswer.CONTAINS))
        assert contained.to_pylist() == headrace.contains_in_column(column, prepared).to_pylist()
        assert contained.to_pylist() == [None if count is None else count > 0 for count in wanted]
        first = fetched(search.column_of(RowAnswer.FIRST))
        assert first.to_pylist() == headrace.find_first_in_column(column, prepared).to_pylist()
        assert first.to_pylist() == [each[0] if each else None for each in hits]
        if column.dictionary is None:
            rows, offsets = (launcher.fetch(part).view(np.uint64) for part in search.located())
            found = headrace.find_in_column(column, prepared, overlapping=overlapping)
            assert (rows.tolist(), offsets.tolist()) == (found.rows.tolist(), found.offsets.tolist())
            assert rows.tolist() == [row for row, each in enumerate(hits) for _ in each]


def random_texts(sizes: list[int], seed: int, letters: bytes = b"abA") -> list[bytes | None]:
    random = np.random.default_rng(seed)
    joined = random.choice(np.frombuffer(letters, np.uint8), sum(sizes)).tobytes()
    ends = np.cumsum([0, *sizes]).tolist()
    return [joined[a:b] if random.random() < 0.9 else None for a, b in pairwise(ends)]


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("pattern", [b"a", b"ab", b"aa", b"aba", b"bAba", b"ab" * 8, b"a" * 17, b"ab" * 20])
def test_any_texts(pattern: bytes, type_: Any) -> None:
    launcher = FiberLauncher(*ORDERS[len(pattern) % 3])
    sizes = np.random.default_rng(len(pattern)).integers(0, 9, 300).tolist()
    texts = random_texts(sizes, len(pattern))
    texts[7::40] = [pattern * 2 + pattern[:-1]] * len(texts[7::40])
    for ignore_case in (False, True):
        check(column_of(texts, type_), pattern, launcher, ignore_case=ignore_case)


@pytest.mark.long_except("aa", "abc*")
@pytest.mark.parametrize("pattern", [b"aa", b"aba", b"ababababa", b"abc" * 13])
def test_hits_across_rows(pattern: bytes) -> None:
    launcher = FiberLauncher("random", len(pattern))
    joined = (pattern * (2 * TILE // len(pattern) + 2))[: 2 * TILE + 5]
    for step in (1, len(pattern) - 1, len(pattern), len(pattern) + 1, 3 * len(pattern) + 1, TILE, 2 * TILE + 5):
        rows: list[bytes | None] = [joined[at : at + step] for at in range(0, min(len(joined), 700 * step), step)]
        check(column_of(rows, TYPES[step % 2]), pattern, launcher)
        rows[1::3] = [None] * len(rows[1::3])
        check(column_of(rows, TYPES[step % 2]), pattern, launcher)


def test_bytes_of_null_rows_are_left_out() -> None:
    buffers = pa.array(["ab", "ab", "xab"]).buffers()
    masked = pa.StringArray.from_buffers(3, buffers[1], buffers[2], pa.py_buffer(b"\x05"))
    check(Table.from_arrow(pa.table({"t": masked}))["t"], b"ab", FiberLauncher())


@pytest.mark.parametrize(
    "texts", [[], [None], [None, None], [b""], [b"", b"a", b""], [b"ab"] * 31, [b"ab"] * 32, [b"b", b"a"] * 128]
)
def test_few_rows(texts: list[bytes | None]) -> None:
    for pattern in (b"a", b"ab", b"abab"):
        for type_ in TYPES:
            check(column_of(texts, type_), pattern, FiberLauncher())
        check(column_of(texts, pa.string(), is_coded=True), pattern, FiberLauncher())


def test_the_host_waits_once_for_the_bytes_of_the_rows() -> None:
    launcher = FiberLauncher()
    for type_ in TYPES:
        column = on_fibers(launcher, column_of([b"xy", b"z"], type_))
        for pattern, waits in ((b"xyzx", 1), (b"q", 2)):  # the second wait is for the number of hits
            before = launcher.waits
            assert RowSearch(launcher, column, headrace.Pattern(pattern), True, tuning=TUNING).count == 0
            assert launcher.waits - before == waits


def test_dictionaries() -> None:
    texts = random_texts([3, 0, 5, 2, 6] * 50, 4)
    for pattern in (b"a", b"aa", b"ab"):
        check(column_of(texts, pa.string(), is_coded=True), pattern, FiberLauncher("random", 2), ignore_case=True)
    column = column_of([b"abab", b"ab", None, b"ab", b"abab"], pa.string(), is_coded=True)
    assert column.dictionary is not None
    nulls = Table.from_arrow(pa.table({"t": pa.array(["a", "b", "abab", None])}))["t"]
    check(replace(column, dictionary=nulls[: column.dictionary.length]), b"ab", FiberLauncher())


def test_layouts_that_are_refused() -> None:
    prepared, context = headrace.Pattern(b"a"), Context()
    views = Table.from_arrow(pa.table({"t": pa.array(["a"], pa.string_view())}))["t"]
    for column, message in (
        (column_of([b"a"], pa.string(), is_coded=True), "with a dictionary"),
        (views, "columns of string_view"),
    ):
        with pytest.raises(UnsupportedDeviceError, match=rf"{message}.* on .*; pass column\.to\('cpu'\)"):
            hits_on_gpu(column, prepared, True, context)
    with pytest.raises(UnsupportedDeviceError, match="columns of string_view are not searched"):
        answer_on_gpu(RowAnswer.COUNT, views, prepared, True, context)


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("patterns", [[b"a"], [b"ab", b"b", b"abab"], [b"abaabb", b"bAbaaba", b"ab" * 20]], ids=len)
def test_many_patterns(patterns: list[bytes], type_: Any) -> None:
    launcher = FiberLauncher(*ORDERS[len(patterns) % 3])
    sizes = np.random.default_rng(len(patterns)).integers(0, 9, 300).tolist()
    texts = random_texts(sizes, len(patterns))
    texts[7::40] = [patterns[-1] * 2] * len(texts[7::40])
    for rows in (texts, [], [None, b""], [b"a" * 70]):
        column, prepared = column_of(rows, type_), headrace.PatternSet(patterns, ignore_case=len(patterns) == 1)
        search = SetRowSearch(launcher, on_fibers(launcher, column), prepared, 3)
        keys, count = search.keys()
        ordered = launcher.put(np.sort(launcher.fetch(keys).view(np.uint64)[:count]))
        found = [
            launcher.fetch(part).view(width)
            for part, width in zip(search.split(ordered, count), ("<u8", "<u8", "<u4"), strict=True)
        ]
        wanted = headrace.find_any_in_column(column, prepared)
        assert [part[:count].tolist() for part in found] == [part.tolist() for part in wanted]
