"""Tests the values that are encoded beside columns: arrays of NumPy, lists, Series and arrays of PyArrow; and rows of decode."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace
from headrace import Context, dictionary
from headrace.dictionary import decode, encode
from headrace.store.dictionary.decode import values_of_codes
from headrace.store.dictionary.packing import packed_source

DAY, OTHER = datetime.date(2020, 2, 29), datetime.date(1969, 12, 31)
MOMENT = datetime.datetime(2020, 2, 29, 12, 30)
GIVEN = {
    "list of integers": ([3, 1, None, 3], "int64", [3, 1, None, 3]),
    "list of texts": (["b", "a", None], "string", ["b", "a", None]),
    "tuple of floats": ((1.5, -2.5), "float64", [1.5, -2.5]),
    "range": (range(3), "int64", [0, 1, 2]),
    "list of dates": ([DAY, OTHER], "date32", [DAY, OTHER]),
    "bools": (np.array([True, False, True] * 5), "bool", [True, False, True] * 5),
    "big endian": (np.array([3, 1], ">i4"), "int32", [3, 1]),
    "backwards": (np.array([3, 1], "i2")[::-1], "int16", [1, 3]),
    "days": (np.array([str(DAY), "NaT", str(OTHER)], "M8[D]"), "date32", [DAY, None, OTHER]),
    "moments": (np.array([MOMENT, "NaT"], "M8[us]"), "timestamp[us]", [MOMENT, None]),
    "durations": (np.array([5, 7], "m8[s]"), "duration[s]", [datetime.timedelta(seconds=5), datetime.timedelta(seconds=7)]),
    "array of texts": (np.array(["b", "a"]), "string", ["b", "a"]),
    "objects": (np.array(["b", None], object), "string", ["b", None]),
    "pandas": (pd.Series([2.5, 1.5]), "float64", [2.5, 1.5]),
    "PyArrow": (pa.chunked_array([["b"], ["a"]]), "string", ["b", "a"]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_values(name: str) -> None:
    given, type_name, expected = GIVEN[name]
    encoded = encode(given)
    assert (str(encoded.type), decode(encoded).to_pylist()) == (type_name, expected)
    merged = dictionary.merge(encoded, given)
    assert decode(merged).to_pylist() == expected * 2
    assert dictionary.distinct_values(given).values.to_pylist() == encoded.dictionary.to_pylist()


def test_series_of_polars() -> None:
    import polars as pl  # not on every machine that runs the tests of GPUs

    assert decode(encode(pl.Series([3, None, 1]))).to_pylist() == [3, None, 1]
    for type_, value in ((pl.Int8, -128), (pl.UInt64, 2**64 - 1)):
        encoded = encode(pl.Series([value], dtype=type_))
        assert (str(encoded.type), decode(encoded).to_pylist()) == (type_.__name__.lower(), [value])


def test_days_out_of_range() -> None:
    with pytest.raises(headrace.OptionError, match="days that date32 does not have"):
        encode(np.array([1 << 40], "M8[D]"))


@pytest.mark.parametrize("rows", [slice(None), slice(1, 4), slice(-2, None), slice(None, None, -1), slice(9, 20), slice(0, 9, 2)])
@pytest.mark.parametrize("values", [[3, 1, None, 3, 7, 1], ["b", "a", None, "b", "", "ccc"], [True, None, False]])
def test_decode_of_a_slice(values: list[Any], rows: slice) -> None:
    assert decode(encode(values), rows).to_pylist() == values[rows]


def test_module() -> None:
    """It can be imported as a module, and is the attribute."""
    import headrace.dictionary as module

    assert module is headrace.dictionary


@pytest.mark.parametrize("type_name", ["string", "binary"])
def test_long_texts_get_large_offsets(type_name: str) -> None:
    """Texts that are too long for offsets of 4 bytes, by a lower limit; and a delta of large texts."""
    texts = [b"abc" * (i % 7) for i in range(20_000)]
    column = headrace.Table.from_arrow(pa.table({"x": pa.array(texts, pa.binary()).cast(type_name)}))["x"]
    encoded = encode(column)
    source = packed_source(encoded.words, len(encoded), encoded.bits)
    for limit, offsets in ((sum(map(len, texts)), 4), (sum(map(len, texts)) - 1, 8)):
        found = values_of_codes(source, len(encoded), encoded.dictionary, Context(threads=2), limit)
        assert str(found.type) == ("large_" if offsets == 8 else "") + type_name
        assert found.offsets is not None
        assert found.offsets.nbytes == offsets * (len(texts) + 1)
        assert found.to_pylist() == column.to_pylist()
    merged = dictionary.merge(encoded, found)
    assert (str(merged.type), decode(merged).to_pylist()) == (type_name, 2 * column.to_pylist())
