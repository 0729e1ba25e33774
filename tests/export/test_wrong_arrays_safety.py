"""Tests that arrays of Arrow whose rows refer to nothing are refused, with the row, by the import and by `write_csv`."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headrace import OptionError, SourceError, Table, write_csv

TEXTS = {"string": "<i4", "binary": "<i4", "large_string": "<i8", "large_binary": "<i8"}
BYTES = b"abcdefgh"


def texts(offsets: list[int], type_name: str = "string", *, offset: int = 0, data: bytes = BYTES) -> Any:
    """Return an array with these offsets, of which the first `offset` rows are left out."""
    numbers = np.array(offsets, TEXTS[type_name])
    buffers = [None, pa.py_buffer(numbers), pa.py_buffer(data)]
    return pa.Array.from_buffers(getattr(pa, type_name)(), len(offsets) - 1 - offset, buffers, offset=offset)


def views(rows: list[bytes], type_name: str = "string_view", present: bytes | None = None) -> Any:
    validity = None if present is None else pa.py_buffer(present)
    buffers = [validity, pa.py_buffer(b"".join(rows)), pa.py_buffer(BYTES * 4)]
    return pa.Array.from_buffers(getattr(pa, type_name)(), len(rows), buffers)


def view(size: int, number: int = 0, begin: int = 0) -> bytes:
    return struct.pack("<i4sii", size, (BYTES * 2)[max(begin, 0) % 8 :][:4], number, begin)


@pytest.mark.parametrize("type_name", TEXTS)
@pytest.mark.parametrize(("row", "offsets"), [(1, [0, 3, 1, 5]), (2, [0, 1, 2, -1, 5]), (5000, [*range(8), *[8] * 4993, 7, 8])])
def test_offsets_that_descend(type_name: str, row: int, offsets: list[int]) -> None:
    array = texts(offsets, type_name)
    with pytest.raises(OptionError, match=f"row {row} of column 'a' has a text that ends before it begins"):
        Table.from_arrow(pa.table({"a": array}))
    with pytest.raises(SourceError, match=f"column 'a' has a text in row {row} that ends before it begins"):
        write_csv(pa.table({"a": array}))


def test_the_row_is_that_of_the_table() -> None:
    chunks = pa.chunked_array([texts([0, 1, 2]), texts([5, 6, 7, 6, 8], offset=1)])
    with pytest.raises(OptionError, match="row 3 of column 'a' has a text"):
        Table.from_arrow(pa.table({"a": chunks}))
    with pytest.raises(OptionError, match="row 1 of the dictionary of column 'a' has a text"):
        Table.from_arrow(pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts([0, 3, 1]))}))


@pytest.mark.parametrize(("row", "offsets"), [(1, [0, 3, 9, 8]), (0, [0, 9, 9, 8])])
def test_offsets_after_the_bytes(row: int, offsets: list[int]) -> None:
    with pytest.raises(OptionError, match=f"row {row} of column 'a' has a text .* not within the column's bytes"):
        Table.from_arrow(pa.table({"a": texts(offsets)}))


def test_rows_outside_a_slice_may_be_wrong() -> None:
    array = texts([9, -3, 4, 5], offset=2)
    assert Table.from_arrow(pa.table({"a": array}))["a"].to_pylist() == ["e"]
    assert write_csv(pa.table({"a": array})) == b"a\ne\n"


def test_texts_without_bytes() -> None:
    array = texts([0, 0, 0], data=b"")
    assert Table.from_arrow(pa.table({"a": array})).unique().to_pydict() == {"a": [""]}
    assert write_csv(pa.table({"a": array})) == b'a\n""\n""\n'


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_codes_without_a_value(bits: int, signed: bool) -> None:
    type_ = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
    values = pa.array(["x", "y"])
    for wrong in (2, -1 if signed else (1 << bits) - 1):
        codes = pa.array([0, 1, wrong], type_)
        with pytest.raises(OptionError, match="row 2 of column 'a' has a code without a value"):
            Table.from_arrow(pa.table({"a": pa.DictionaryArray.from_arrays(codes, values, safe=False)}))
    many = pa.DictionaryArray.from_arrays(pa.array([0, -1 if signed else 1], type_), pa.array(map(str, range(300))), safe=False)
    if signed:
        with pytest.raises(OptionError, match="row 1 of column 'a' has a code"):
            Table.from_arrow(pa.table({"a": many}))
    else:
        assert Table.from_arrow(pa.table({"a": many}))["a"].to_pylist() == ["0", "1"]


def test_codes_and_views_of_null_rows_may_be_anything() -> None:
    codes = pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 77, 0], "<i4"))])
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x"]), safe=False)
    assert Table.from_arrow(pa.table({"a": column})).unique().to_pydict() == {"a": ["x", None]}
    column = views([view(13, 0, 2), view(20, 7, -5), struct.pack("<i12s", 2, b"ab")], present=b"\x05")
    table = Table.from_arrow(pa.table({"a": column}))
    assert table["a"].to_pylist() == ["cdefghabcdefg", None, "ab"]
    assert table.unique().to_pydict() == table.to_pydict()


@pytest.mark.parametrize("wrong", [view(-1), view(33), view(13, 1), view(13, -1), view(13, 0, 20), view(13, 0, -1)])
@pytest.mark.parametrize("type_name", ["string_view", "binary_view"])
def test_views_of_bytes_that_are_not_there(type_name: str, wrong: bytes) -> None:
    array = views([view(13), wrong], type_name)
    with pytest.raises(OptionError, match="row 1 of column 'a' has a text"):
        Table.from_arrow(pa.table({"a": array}))
    with pytest.raises(SourceError, match="column 'a' has a view of bytes that are not there"):
        write_csv(pa.table({"a": array}))


def drawn_array(draw: random.Random) -> Any:
    """Return an array of one kind with random places, of which most are right."""
    rows, slack = draw.randrange(1, 9), draw.choice([0, 0, 0, 1, 3])
    kind = draw.choice([*TEXTS, "codes", "string_view"])
    if kind == "codes":
        codes = pa.array([draw.choice([None, draw.randrange(3 + slack)]) for _ in range(rows)], pa.int8())
        return pa.DictionaryArray.from_arrays(codes, pa.array(["x", "yy", "z" * 20]), safe=False)
    if kind == "string_view":
        return views([view(draw.randrange(13, 17), 0, draw.randrange(15 + 2 * slack)) for _ in range(rows)])
    offsets = sorted(draw.randrange(9) for _ in range(rows + 1))
    if slack and rows > 1:
        offsets[draw.randrange(1, rows)] = draw.randrange(-2, 11)  # PyArrow itself looks at the first and the last one
    return texts(offsets, kind)


@pytest.mark.parametrize("seed", range(8))
def test_random_arrays_are_taken_if_pyarrow_finds_them_right(seed: int) -> None:
    draw = random.Random(f"test_random_arrays {seed}")
    taken = 0
    for _ in range(100):
        array = drawn_array(draw)
        array = array[draw.randrange(len(array)) :]
        try:
            given = pa.table({"a": array})
        except pa.ArrowInvalid:  # it looks at the first and the last offset
            continue
        try:
            given.validate(full=True)
        except pa.ArrowException:
            with pytest.raises(OptionError, match="column 'a'"):
                Table.from_arrow(given)
            continue
        table = Table.from_arrow(given)
        assert table["a"].to_pylist() == array.to_pylist()
        assert table.unique()["a"].to_pylist() == list(dict.fromkeys(array.to_pylist()))
        taken += 1
    assert 20 < taken < 100
