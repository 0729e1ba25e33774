"""Tests searches in columns of strings against a search in each text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import Column, OptionError, Table
from tests.query.find.pattern_cases import expected

TEXTS = st.lists(st.none() | st.text("abAé", max_size=8), max_size=30)
TYPES = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()), pa.binary())


def column_of(texts: list[str | None], type_: Any) -> Column:
    """Return the texts as a slice of a longer column."""
    whole = ["ab", None, *texts, "ab"]
    is_coded = pa.types.is_dictionary(type_)
    array = pa.array(whole, pa.string()).dictionary_encode() if is_coded else pa.array(whole, type_)
    return Table.from_arrow(pa.table({"t": array}))["t"][2:-1]


def check(texts: list[str | None], pattern: bytes, type_: Any) -> None:
    column = column_of(texts, type_)
    for overlapping in (True, False):
        for ignore_case in (True, False):
            parts = [b"" if text is None else text.encode() for text in texts]
            if ignore_case:
                parts = [part.lower() for part in parts]
            hits = [expected(part, pattern.lower() if ignore_case else pattern, overlapping) for part in parts]
            options = {"overlapping": overlapping, "ignore_case": ignore_case}
            found = headrace.find_in_column(column, pattern, **options)
            rows, offsets = found.rows.tolist(), found.offsets.tolist()
            assert list(zip(rows, offsets, strict=True)) == [(row, at) for row, each in enumerate(hits) for at in each]
            counts = headrace.count_in_column(column, pattern, **options)
            nulls = [None if text is None else len(each) for text, each in zip(texts, hits, strict=True)]
            assert counts.to_pylist() == nulls and counts.null_count == nulls.count(None)
            if overlapping:
                contained = headrace.contains_in_column(column, pattern, ignore_case=ignore_case)
                assert contained.to_pylist() == [None if each is None else each > 0 for each in nulls]
                first = headrace.find_first_in_column(column, pattern, ignore_case=ignore_case)
                assert first.to_pylist() == [each[0] if each else None for each in hits]


@given(TEXTS, st.sampled_from([b"a", b"ab", b"aba", b"aa", "é".encode(), b"bAb"]), st.sampled_from(TYPES))
def test_any_column(texts: list[str | None], pattern: bytes, type_: Any) -> None:
    check(texts, pattern, type_)


def check_any(texts: list[str | None], patterns: list[bytes], type_: Any) -> None:
    column = column_of(texts, type_)
    for ignore_case in (True, False):
        wanted = []
        for row, text in enumerate(texts):
            part = b"" if text is None else text.encode()
            part = part.lower() if ignore_case else part
            folded = [pattern.lower() if ignore_case else pattern for pattern in patterns]
            wanted += sorted((row, at, i) for i, pattern in enumerate(folded) for at in expected(part, pattern, True))
        found = headrace.find_any_in_column(column, patterns, ignore_case=ignore_case)
        assert list(zip(*(part.tolist() for part in found), strict=True)) == wanted


@given(TEXTS, st.lists(st.sampled_from([b"a", b"ab", b"aba", b"aa", "é".encode(), b"bAb"]), min_size=1), st.sampled_from(TYPES))
def test_any_patterns(texts: list[str | None], patterns: list[bytes], type_: Any) -> None:
    check_any(texts, patterns, type_)


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_hits_of_patterns_lie_in_one_row(type_: Any) -> None:
    patterns = [b"ab", b"a" * 40, b"ba", b"b"]
    check_any(["ab", "ab", None, "", "a", "b", "xba", "a" * 50, "ab"], patterns, type_)
    check_any([], patterns, type_)
    check_any([None, ""], patterns, type_)


def test_patterns_of_columns_may_be_texts_and_prepared() -> None:
    names = headrace.read_csv("name\nZoë\nzoe\n".encode())["name"]
    assert headrace.find_any_in_column(names, ["oë", b"zo"]).patterns.tolist() == [0, 1]
    prepared = headrace.PatternSet([b"ZO"], ignore_case=True)
    assert headrace.find_any_in_column(names, prepared).rows.tolist() == [0, 1]
    for wrong, message in (("ab", "patterns"), ([], "patterns has 0 items"), ([""], "has 0 bytes"), ([3], "patterns")):
        with pytest.raises(OptionError, match=message):
            headrace.find_any_in_column(names, wrong)


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_hits_lie_in_one_row(type_: Any) -> None:
    check(["ab", "ab", None, "", "a", "a", "aaa", "aa"], b"aa", type_)
    check([], b"a", type_)
    check([None, None], b"a", type_)


def test_bytes_of_null_rows_are_left_out() -> None:
    plain = pa.array(["ab", "ab", "xab"])
    buffers = plain.buffers()
    masked = pa.StringArray.from_buffers(3, buffers[1], buffers[2], pa.py_buffer(b"\x05"))
    column = Table.from_arrow(pa.table({"t": masked}))["t"]
    assert headrace.find_in_column(column, b"ab").rows.tolist() == [0, 2]
    assert headrace.count_in_column(column, b"ab").to_pylist() == [1, None, 1]


def test_null_texts_of_a_dictionary() -> None:
    codes = pa.array([0, 1, None, 1, 0], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(["abab", None]))
    column = Table.from_arrow(pa.table({"t": array}))["t"]
    assert headrace.count_in_column(column, b"ab").to_pylist() == [2, None, None, None, 2]
    assert headrace.find_in_column(column, b"ab").rows.tolist() == [0, 0, 4, 4]


def test_wrong_columns() -> None:
    numbers = headrace.read_csv(b"a\n1\n")["a"]
    for column, message in ((numbers, "has type"), (b"ab", "a column of strings"), (None, "a column of strings")):
        for call in (
            headrace.find_in_column,
            headrace.count_in_column,
            headrace.contains_in_column,
            headrace.find_first_in_column,
        ):
            with pytest.raises(OptionError, match=message):
                call(column, b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_columns_of_other_libraries(type_: Any) -> None:
    pd, pl = pytest.importorskip("pandas", reason="a container"), pytest.importorskip("polars", reason="a container")
    texts = ["ab", None, "", "aab", "b"]
    array = pa.array(texts, pa.string()).dictionary_encode() if pa.types.is_dictionary(type_) else pa.array(texts, type_)
    chunks = pa.chunked_array([array[1:3], array[3:]])
    for column in (
        array,
        array[1:],
        chunks,
        pl.Series(texts),
        pl.Series(texts)[1:],
        pd.Series(texts),
        pd.Series(texts[1:], dtype="string"),
    ):
        wanted = [None if text is None else text.count("ab") for text in texts[5 - len(column) :]]
        assert headrace.count_in_column(column, b"ab").to_pylist() == wanted
        assert headrace.contains_in_column(column, b"ab").to_pylist() == [
            None if count is None else count > 0 for count in wanted
        ]
    assert headrace.find_first_in_column(array, b"ab").to_pylist() == [0, None, None, 1, None]
    assert headrace.count_in_column(pa.chunked_array([], pa.string()), b"ab").to_pylist() == []


def test_values_that_are_no_column() -> None:
    for column in (["ab"], b"ab", pa.table({"a": ["ab"]}), pa.scalar("ab"), pa.py_buffer(b"ab"), pa.Array):
        with pytest.raises(OptionError, match="column must be a column of strings"):
            headrace.find_in_column(column, b"ab")
    with pytest.raises(OptionError, match="column has type int64; a pattern is found in strings and bytes"):
        headrace.find_in_column(pa.array([1]), b"ab")
    pd = pytest.importorskip("pandas", reason="a container")
    with pytest.raises(OptionError, match=r"column is no Arrow array: .*str"):
        headrace.find_in_column(pd.Series([1, "x"], dtype=object), b"ab")


@pytest.mark.parametrize(
    "search", [headrace.find, headrace.count, lambda text, _: headrace.match(text, headrace.compile_regex("ab"))]
)
def test_a_column_is_no_text(search: Any) -> None:
    pl = pytest.importorskip("polars", reason="a container")
    for column in (column_of(["ab"], pa.string()), column_of(["ab"], TYPES[3]), pa.array(["ab"]), pl.Series(["ab"])):
        with pytest.raises(OptionError, match=r"text is a column of texts, which find_in_column\(\) searches"):
            search(column, b"ab")
    assert headrace.find(pl.Series(list(b"xab"), dtype=pl.UInt8), b"ab").tolist() == [1]


def test_numbers_of_pyarrow_are_no_texts() -> None:
    with pytest.raises(OptionError, match="text has items of type Decimal; pass bytes or an array of uint8"):
        headrace.find(pa.array([Decimal("1.5")]), b"1")
    with pytest.raises(OptionError, match="text is a column of texts"):
        headrace.find(pa.array(["1.5"]), b"1")


def test_patterns_of_columns_may_be_texts() -> None:
    names = headrace.read_csv("name\nZoë\nzoe\n\n".encode(), skip_blank_lines=False)["name"]
    assert headrace.contains_in_column(names, "oë").to_pylist() == [True, False, None]
    assert headrace.count_in_column(names, "zo", ignore_case=True).to_pylist() == [1, 1, None]
    assert headrace.find_in_column(names, "\ud800").rows.tolist() == []
