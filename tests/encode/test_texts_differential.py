"""Tests the conversion of texts to views, dictionaries and plain strings against PyArrow."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import Column, _native, read_csv
from headrace.columns.column import column_of_texts
from headrace.encode.texts import as_dictionary, as_plain, as_views

TEXTS = st.lists(
    st.none() | st.text(max_size=30) | st.sampled_from(["twelve bytes", "thirteen byte", "é" * 6, "é" * 7]), max_size=200
)
FORMS = ["string", "large_string"]


def column_with(texts: list[str | None], kind: str = "string") -> Column:
    """Return a loaded column of texts."""
    quoted = "".join(("" if text is None else '"' + text.replace('"', '""') + '"') + "\n" for text in texts)
    table = read_csv(("x\n" + quoted).encode(), schema={"x": kind}, header=True, skip_blank_lines=False, sep="\t", threads=2)
    assert table["x"].to_pylist() == texts
    return table["x"]


def as_pyarrow(column: Column) -> pa.Array:
    array = pa.array(column)
    array.validate(full=True)
    return array


def big_texts(seed: int, rows: int) -> list[str | None]:
    rng = random.Random(seed)
    pool: list[str | None] = [None, "", *(rng.choice("abc") * rng.randrange(40) + str(i) for i in range(rng.choice([3, 5000])))]
    return [rng.choice(pool) for _ in range(rows)]


def check(column: Column, texts: list[str | None], threads: int) -> None:
    nulls = texts.count(None)
    views = as_views(column, threads)
    assert str(views.type) == "string_view"
    assert views.to_pylist() == texts
    assert as_pyarrow(views).equals(pa.array(texts, pa.string_view()))
    plain = as_plain(views, threads)
    assert as_pyarrow(plain).equals(pa.array(texts, pa.string()))
    coded = as_dictionary(column, threads)
    assert coded.to_pylist() == texts
    assert as_pyarrow(coded).equals(pa.array(texts, pa.string()).dictionary_encode())
    assert {views.null_count, plain.null_count, coded.null_count} == {nulls}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", ["many first", "few first", "mixed with nulls"])
def test_tables_grow_by_texts_from_the_whole_column(order: str, threads: int) -> None:
    many: list[str | None] = [f"a text of more than sixteen bytes {i}" if i % 2 else str(i) for i in range(20_000)]
    few: list[str | None] = ["red", None, "green", "red"] * 5000
    mixed = [text for pair in zip(few, many, strict=True) for text in pair]
    texts = {"many first": many + few, "few first": few + many, "mixed with nulls": mixed}[order]
    check(column_with(texts), texts, threads)


@given(texts=TEXTS, kind=st.sampled_from(FORMS), threads=st.integers(1, 3), data=st.data())
def test_any_texts(texts: list[str | None], kind: str, threads: int, data: Any) -> None:
    column = column_with(texts, kind)
    check(column, texts, threads)
    begin = data.draw(st.integers(0, len(texts)))
    end = data.draw(st.integers(begin, len(texts)))
    check(column[begin:end], texts[begin:end], threads)
    views = as_views(column, threads)[begin:end]
    assert views.to_pylist() == texts[begin:end]
    assert views.compact().to_pylist() == texts[begin:end]
    assert as_plain(views).to_pylist() == texts[begin:end]
    assert as_dictionary(views, threads).to_pylist() == texts[begin:end]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [65535, 65536, 65537, 200_000])
def test_many_rows(seed: int, rows: int) -> None:
    """Test several pieces of rows, and pieces that end at a word of bits."""
    texts = big_texts(seed, rows)
    check(column_with(texts), texts, 1 + seed)


@given(texts=TEXTS, most=st.integers(120, 300))
def test_several_buffers(texts: list[str | None], most: int) -> None:
    """Test that buffers of views do not exceed their limit, and contain only bytes of rows."""
    column = column_with(texts)
    parts = _native.string_views(column, 2, most)
    assert parts is not None
    views = column_of_texts(parts, column)
    assert views.to_pylist() == texts
    assert as_pyarrow(views).equals(pa.array(texts, pa.string_view()))
    sizes = [len(text.encode()) for text in texts if text is not None]
    assert all(buffer.nbytes <= most for buffer in views.data)
    assert sum(buffer.nbytes for buffer in views.data) == sum(size for size in sizes if size > 12)
    assert as_plain(views).to_pylist() == texts


def test_large_texts_in_the_end() -> None:
    """Test that plain texts are ``string`` up to the limit of its offsets, and ``large_string`` beyond."""
    column = column_with(["abc", None, "defg"])
    views = as_views(column, 1)
    assert [_native.plain_strings(views, 1, most)[0] for most in (6, 7)] == ["large_string", "string"]
    large = column_of_texts(_native.plain_strings(views, 1, 6), views)
    assert as_pyarrow(large).equals(pa.array(["abc", None, "defg"], pa.large_string()))


def test_a_text_too_long_for_a_view() -> None:
    assert _native.string_views(column_with(["x" * 20, "y"]), 1, 19) is None
    assert _native.string_views(column_with(["x" * 20, "y"]), 1, 20) is not None


@pytest.mark.parametrize("share_of_nulls", [0.0, 0.3])
def test_short_texts_that_differ_in_size_or_in_one_byte(share_of_nulls: float) -> None:
    rng = random.Random(2)
    pool = [text for size in range(40) for text in ("a" * size, "a" * size + "\0", "b" + "a" * size)]
    texts = [None if rng.random() < share_of_nulls else rng.choice(pool[: 1 + i // 20]) for i in range(5000)]
    for kind in FORMS:
        check(column_with(texts, kind), texts, 2)
