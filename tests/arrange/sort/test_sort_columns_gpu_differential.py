"""Tests the order of columns and arrays of every library on a GPU, by the public functions, against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.core.errors import MemoryLimitError, OptionError
from tests.arrange.columns_cases import check_same, table_of
from tests.arrange.sort.sort_columns_cases import SHARES, TYPES, column_of
from tests.arrange.sort.sort_gpu_cases import keys_of, words

pytestmark = pytest.mark.gpu

COUNTS = [0, 1, 33, 8193, 300_007]


def host(found):
    return (
        found.to_numpy() if isinstance(found, DeviceArray) else np.asarray(found.get() if hasattr(found, "get") else found.cpu())
    )


def check(column: Column, *, descending: bool, nulls: str) -> None:
    """Compare the whole column, whose nulls are counted, and a slice, whose nulls are not."""
    order = {"descending": descending, "nulls": nulls}
    part = slice(column.length // 7, column.length - column.length // 5)
    given = column.to("cuda")
    for on_gpu, expected in ((given, column), (given[part], column[part])):
        found = headrace.sort(on_gpu, **order)
        assert found.device.kind == "cuda"
        check_same(found.to("cpu"), headrace.sort(expected, **order))
        np.testing.assert_array_equal(host(headrace.argsort(on_gpu, **order)), headrace.argsort(expected, **order))
        assert headrace.is_sorted(on_gpu, **order) == headrace.is_sorted(expected, **order)
        assert headrace.is_sorted(found, **order)


@pytest.mark.parametrize("name", list(TYPES))
@pytest.mark.parametrize("descending", [False, True])
def test_types(name: str, descending: bool) -> None:
    for count in COUNTS[:-1]:
        check(column_of(name, count, "half", 5), descending=descending, nulls="first")


@pytest.mark.parametrize("name", ["bool", "uint8", "float64"])
@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("share", [*SHARES, None])
def test_nulls(name: str, nulls: str, share: str | None) -> None:
    for count in COUNTS:
        check(column_of(name, count, share, 3), descending=False, nulls=nulls)


def test_many_rows() -> None:
    """More than a tile for each block."""
    for name in ("bool", "int32"):
        check(column_of(name, 9_000_001, "few", 11), descending=True, nulls="last")


@pytest.mark.parametrize("form", ["plain", "view", "dictionary"])
@pytest.mark.parametrize("by", ["n", "x", "ok", "day"])
def test_pairs(form: str, by: str) -> None:
    table = table_of(form)
    given = table.to("cuda")
    for part in (slice(0, 3000), slice(7, 2011), slice(5, 5)):
        rows = np.arange(len(table[by][part]), dtype="i2")
        columns = [table[name][part] for name in ("x", "ok", "none", "price", "large", "city")]
        on_gpu = [given[name][part] for name in ("x", "ok", "none", "price", "large", "city")]
        expected = headrace.sort_pairs(table[by][part], [rows, *columns], nulls="first")
        found = headrace.sort_pairs(given[by][part], [DeviceArray.from_host(rows), *on_gpu], nulls="first")
        check_same(found.keys.to("cpu"), expected.keys)
        np.testing.assert_array_equal(host(found.values[0]), expected.values[0])
        for one, wanted in zip(found.values[1:], expected.values[1:], strict=True):
            check_same(one.to("cpu"), wanted)


def test_columns_go_with_arrays() -> None:
    table = table_of("plain")
    keys = np.random.default_rng(1).integers(0, 50, 3000)
    expected = headrace.sort_pairs(keys, table["city"])
    found = headrace.sort_pairs(DeviceArray.from_host(keys), table.to("cuda")["city"])
    np.testing.assert_array_equal(host(found.keys), expected.keys)
    check_same(found.values.to("cpu"), expected.values)


@pytest.mark.parametrize("name", ["bool", "int16", "float32"])
def test_the_first(name: str) -> None:
    column = column_of(name, 20_000, "none", 9)
    for given in (column.to("cuda"), column.to("cuda")[5:]):
        plain = given.to("cpu")
        for k in (0, 1, 777, len(plain)):
            for largest in (False, True):
                expected, found = headrace.top_k(plain, k, largest=largest), headrace.top_k(given, k, largest=largest)
                check_same(found.keys.to("cpu")[:], expected.keys)
                np.testing.assert_array_equal(host(found.indices), expected.indices)
    with pytest.raises(OptionError, match="keys has 10 nulls"):
        headrace.top_k(column_of(name, 20, "all").to("cuda")[:10], 1)


def test_what_crosses() -> None:
    """Nothing where nulls are counted; of a slice the counts of chunks, once."""
    for name in ("bool", "int32"):
        column = column_of(name, 100_000, "half").to("cuda")
        context = Context()
        headrace.sort(column, context=context)
        headrace.argsort(column, context=context)
        headrace.sort_pairs(column, column, context=context)
        assert context.crossings.copies == 0


def test_what_columns_of_a_gpu_cannot_do() -> None:
    column, context = column_of("int32", 1000, "half").to("cuda"), Context(memory_limit=3000)
    for call in (headrace.sort, headrace.argsort):
        with pytest.raises(MemoryLimitError):
            call(column, context=context)
        with pytest.raises(OptionError, match="unknown strategy"):
            call(column, strategy="quick")
    with pytest.raises(OptionError, match="'hybrid' is for keys of 4 and 8 bytes, not for bools"):
        headrace.sort(column_of("bool", 9, None).to("cuda"), strategy="hybrid")
    with pytest.raises(OptionError, match="out is for arrays"):
        headrace.sort(column, out=column)
    for keys, values in ((column, np.arange(1000)), (column, column_of("int32", 1000, None)), (column.to("cpu"), column)):
        with pytest.raises(OptionError, match="nothing is copied between devices unasked"):
            headrace.sort_pairs(keys, values)
    with pytest.raises(OptionError, match="values has 999 items for 1000 keys"):
        headrace.sort_pairs(column, column[1:])
    for call in (headrace.sort, headrace.argsort, headrace.is_sorted):
        with pytest.raises(OptionError, match="keys are of type string"):
            call(table_of("plain")["city"].to("cuda"))


def library_arrays(library: str, keys):
    module = pytest.importorskip(library)
    return module.asarray(keys) if library == "cupy" else module.from_numpy(keys).cuda()


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_arrays_of_libraries(library: str, dtype: str) -> None:
    for count in (0, 1, 5000, 100_001):
        keys = keys_of("u1", count) % 2 == 1 if dtype == "?" else keys_of(dtype, count)
        given = library_arrays(library, keys)
        rows = np.arange(count, dtype="i4")
        found, expected = headrace.sort(given), headrace.sort(keys)
        assert type(found) is type(given) and found.dtype == given.dtype
        np.testing.assert_array_equal(words(host(found)), words(expected))
        np.testing.assert_array_equal(host(headrace.argsort(given)), headrace.argsort(keys))
        pairs = headrace.sort_pairs(given, library_arrays(library, rows), descending=True)
        np.testing.assert_array_equal(host(pairs.values), headrace.argsort(keys, descending=True))
        top = headrace.top_k(given, count // 2)
        np.testing.assert_array_equal(host(top.indices), headrace.top_k(keys, count // 2).indices)
        assert headrace.is_sorted(found) and headrace.is_sorted(given) == headrace.is_sorted(keys)
        headrace.sort(given, out=given)
        np.testing.assert_array_equal(words(host(given)), words(expected))


def test_overlaps_and_devices() -> None:
    whole = DeviceArray.from_host(np.arange(9))
    part = DeviceArray(whole.buffer, "<i8", 8, 1)
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.sort(DeviceArray(whole.buffer, "<i8", 8), out=part)
    with pytest.raises(OptionError, match="the arrays lie on cuda and cpu"):
        headrace.sort_pairs(whole, np.arange(9))
    with pytest.raises(OptionError, match="the arrays lie on cuda and cpu"):
        headrace.sort(whole, out=np.arange(9))
    assert host(whole).tolist() == list(range(9))
