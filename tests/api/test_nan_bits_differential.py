"""Tests NaN with signs and payloads, quiet and signaling: arrays, columns and texts keep their bits."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace
from headrace.arrange.gather.take import take
from headrace.columns.column import Column
from headrace.columns.types import parse_type
from headrace.core.buffer import copy_of
from headrace.core.errors import OptionError
from headrace.testing import fibers
from tests.columns.load.load_gpu_cases import read_on_fibers

pytestmark = pytest.mark.isas

FLOATS = {"f4": "float32", "f8": "float64"}
COUNT = 20_011
Floats = np.ndarray[Any, Any]


def bits_of(items: Any) -> Floats:
    """Bits of floats as whole numbers."""
    array = np.asarray(items)
    return array.view(f"u{array.itemsize}")


def nans_of(dtype: str) -> Floats:
    """NaN of both signs: quiet ones, signaling ones, the least and the greatest payload."""
    bits, mantissa = {"f4": (32, 23), "f8": (64, 52)}[dtype]
    infinity, quiet, sign = ((1 << bits - 1 - mantissa) - 1) << mantissa, 1 << mantissa - 1, 1 << bits - 1
    payloads = [1, 2, quiet - 1, quiet, quiet | 1, quiet | 0x1234, 2 * quiet - 1]
    words = [infinity | payload | negative for payload in payloads for negative in (0, sign)]
    return np.array(words, f"u{bits // 8}").view(dtype)


def items_of(dtype: str, count: int = COUNT) -> Floats:
    """Numbers, zeros of both signs, and NaN of all kinds."""
    random = np.random.default_rng(7)
    numbers = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf], dtype)
    return random.choice(np.concatenate([bits_of(numbers), bits_of(nans_of(dtype))]), count).view(dtype)


def contexts() -> list[headrace.Context]:
    """Each instruction set of this machine, with one and three threads."""
    made = []
    for isa in ("scalar", "avx2", "avx512"):
        try:
            made += [headrace.Context(isa=isa, threads=threads) for threads in (1, 3)]
        except OptionError:
            break
    return made


KEYS = (np.arange(COUNT) * 7919 % 1009).astype("u4")
"""Keys with repeats in no order."""
ORDER = np.argsort(KEYS, kind="stable")
MOVES: dict[str, tuple[Callable[[Floats, headrace.Context], Any], Floats]] = {
    "sort_pairs": (lambda items, context: headrace.sort_pairs(KEYS, items, context=context).values, ORDER),
    "multisplit": (
        lambda items, context: headrace.multisplit(KEYS, headrace.buckets.identity(1009), items, context=context).values,
        ORDER,
    ),
    "select": (lambda items, context: headrace.select(items, KEYS % 3 == 0, context=context), np.flatnonzero(KEYS % 3 == 0)),
    "take": (lambda items, context: take(items, ORDER, context=context), ORDER),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("move", MOVES)
def test_items_keep_their_bits(move: str, dtype: str) -> None:
    call, rows = MOVES[move]
    items = items_of(dtype)
    for context in contexts():
        assert np.array_equal(bits_of(call(items, context)), bits_of(items)[rows])


@pytest.mark.parametrize("dtype", FLOATS)
def test_keys_keep_their_bits(dtype: str) -> None:
    items = items_of(dtype)
    place, is_nan = np.arange(COUNT), np.isnan(items)
    least_first = np.lexsort([place, np.where(is_nan, 0, items), is_nan])
    greatest_first = np.lexsort([place, np.where(is_nan, 0, -items), is_nan])
    for context in contexts():
        assert np.array_equal(np.sort(bits_of(headrace.sort(items, context=context))), np.sort(bits_of(items)))
        assert np.array_equal(bits_of(headrace.sort_pairs(items, items, context=context).keys), bits_of(items)[least_first])
        assert np.array_equal(
            bits_of(headrace.top_k(items, COUNT - 5, context=context).keys), bits_of(items)[greatest_first[:-5]]
        )
        split = headrace.multisplit(items, headrace.buckets.hash(16), place, context=context)
        assert np.array_equal(bits_of(split.keys), bits_of(items)[split.values])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("join", ["min", "max"])
def test_the_first_nan_of_a_scan_wins_with_its_bits(join: str, dtype: str) -> None:
    """It is in the first vector, inside a later one, or among the last items; another NaN follows."""
    for nan, other in zip(nans_of(dtype), np.roll(nans_of(dtype), 1), strict=True):
        for first in (0, 1000, COUNT - 1):
            items = np.ones(COUNT, dtype)
            items[first + 1 :: 97] = other
            items[first] = nan
            expected = bits_of(items).copy()
            expected[first:] = bits_of(items)[first]
            for context in contexts()[::2]:
                assert np.array_equal(bits_of(headrace.scan(items, join, context=context)), expected)
                assert np.array_equal(bits_of(headrace.reduce(items, join, context=context)), expected[-1:])


def column_of(items: Floats) -> Column:
    """A column of floats; every seventh is null."""
    is_valid = np.arange(len(items)) % 7 != 0
    bits = copy_of(np.packbits(is_valid, bitorder="little").data)
    nulls = int(np.count_nonzero(~is_valid))
    return Column(parse_type(FLOATS[items.dtype.str[1:]]), len(items), nulls, copy_of(items.view("u1").data), bits)


def arrow_bits(column: Any) -> list[int]:
    """Bits of the values that PyArrow sees; those of nulls are 0."""
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array(column)
    words = array.view({"float": pyarrow.uint32(), "double": pyarrow.uint64()}[str(array.type)])
    return [word or 0 for word in words.to_pylist()]


@pytest.mark.parametrize("dtype", FLOATS)
def test_columns_and_their_exports_keep_the_bits(dtype: str) -> None:
    items = items_of(dtype, 2000)
    column = column_of(items)
    expected = np.where(np.arange(2000) % 7 != 0, bits_of(items), 0)
    assert arrow_bits(column) == expected.tolist()
    assert arrow_bits(column[5:900]) == expected[5:900].tolist()
    valid = np.flatnonzero(np.arange(2000) % 7 != 0)
    order = valid[np.lexsort([valid, np.where(np.isnan(items[valid]), 0, items[valid]), np.isnan(items[valid])])]
    found = headrace.sort_pairs(column, np.arange(2000))
    assert np.array_equal(found.values[: len(valid)], order)
    assert arrow_bits(found.keys) == [*expected[order].tolist(), *[0] * (2000 - len(valid))]
    table = headrace.Table({"n": column_of(np.arange(2000).astype(dtype)), "x": column})
    parts, _ = table.partition_by_hash("n", 5)
    rows = [0 if n is None else int(n) for n in parts["n"].to_pylist()]
    assert arrow_bits(parts["x"]) == expected[rows].tolist()
    whole = np.asarray(column.to_numpy())
    assert np.array_equal(bits_of(whole)[valid], expected[valid])


QUIET = {"f4": 0x7FC00000, "f8": 0x7FF8000000000000}
SIGN = {"f4": 1 << 31, "f8": 1 << 63}
PLAIN = "nan NaN +nan -nan -NAN 1.5"
PAYLOADS = "NaN(0x0) nan(0x1) +NAN(0X1f) -nan(0x0003FFFF) sNaN(0x1) -SNAN(0xa) NaN(0x3fffff)"
INVALID = "snan snan(0x0) nan() nan(0x) nan(1) nan(0xg) nan(0x1 nan0x1) nanx(0x1) ssnan(0x1) - (0x1) nan(0x1)1"
TOO_LARGE = {"f4": "nan(0x400000)", "f8": "nan(0x8000000000000) nan(0x10000000000000001)"}


def expected_words(dtype: str) -> list[int]:
    """Bits of `PLAIN` and `PAYLOADS`."""
    quiet, sign = QUIET[dtype], SIGN[dtype]
    signaling = quiet ^ {"f4": 1 << 22, "f8": 1 << 51}[dtype]
    plain = [quiet, quiet, quiet, quiet | sign, quiet | sign, int(bits_of(np.array([1.5], dtype))[0])]
    payloads = [quiet, quiet | 1, quiet | 0x1F, quiet | sign | 0x3FFFF, signaling | 1, signaling | sign | 10]
    return [*plain, *payloads, quiet | 0x3FFFFF]


def text_of(words: str, times: int = 1) -> bytes:
    return ("\n".join(words.split(" ")) + "\n").encode() * times


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("decimal", [".", ","])
def test_the_text_of_a_nan_has_its_bits(dtype: str, decimal: str) -> None:
    text = text_of(f"{PLAIN} {PAYLOADS}".replace(".", decimal))
    for context in contexts():
        table = headrace.read_csv(text, sep=";", header=False, dtypes=FLOATS[dtype], decimal=decimal, context=context)
        assert bits_of(table[0].to_numpy()).tolist() == expected_words(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_other_words_are_no_nan(dtype: str) -> None:
    words = f"{INVALID} {TOO_LARGE[dtype]}"
    for context in contexts():
        table = headrace.read_csv(text_of(words), header=False, dtypes=FLOATS[dtype], on_error="null", context=context)
        assert table[0].null_count == len(words.split(" "))


def test_a_payload_is_text_unless_the_type_is_given() -> None:
    """Inference takes the words of earlier versions, before and after numbers."""
    for words in (PAYLOADS, f"1.5 {PAYLOADS}", f"{PAYLOADS} 1.5", "1.5 " * 9000 + PAYLOADS):
        for context in contexts():
            column = headrace.read_csv(text_of(words), header=False, context=context)[0]
            assert (column.type, column.to_pylist()) == ("string", words.split(" "))


@pytest.mark.fibers
@pytest.mark.parametrize("dtype", FLOATS)
def test_kernels_read_the_same_nan(dtype: str) -> None:
    text = text_of(f"{PLAIN} {PAYLOADS}", 20)
    table, _ = read_on_fibers(text, header=False, dtypes=FLOATS[dtype])
    assert table is not None
    assert bits_of(table[0].to_numpy()).tolist() == expected_words(dtype) * 20


@pytest.mark.fibers
def test_kernels_find_the_same_words_invalid_and_infer_text() -> None:
    words = f"{INVALID} {TOO_LARGE['f8']}"
    table, _ = read_on_fibers(text_of(words), header=False, dtypes="float64", on_error="null")
    assert table is not None
    assert table[0].null_count == len(words.split(" "))
    inferred, _ = read_on_fibers(text_of(f"1.5 {PAYLOADS}"), header=False)
    assert inferred is not None
    assert inferred[0].to_pylist() == f"1.5 {PAYLOADS}".split(" ")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("writing", [{}, {"sep": "x"}, {"sep": "("}, {"quoting": "all"}, {"null": "NaN"}])
def test_a_written_nan_comes_back_to_the_bit(dtype: str, writing: dict[str, Any]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    items = items_of(dtype, 500)
    text = headrace.write_csv(pyarrow.table({"x": items}), **writing)
    assert text is not None
    reading = {"null_values": writing["null"]} if "null" in writing else {"sep": writing.get("sep", ",")}
    back = headrace.read_csv(text, dtypes=FLOATS[dtype], **reading)["x"].to_numpy()
    assert np.array_equal(bits_of(back), bits_of(items))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_plain_nan_has_no_sign_and_no_payload(dtype: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    items = items_of(dtype, 500)
    text = headrace.write_csv(pyarrow.table({"x": items}), plain_nan=True)
    assert text is not None
    assert text.split(b"\n").count(b"NaN") == np.count_nonzero(np.isnan(items))
    back = headrace.read_csv(text, dtypes=FLOATS[dtype])["x"].to_numpy()
    expected = bits_of(items).copy()
    expected[np.isnan(items)] = QUIET[dtype]
    assert np.array_equal(bits_of(back), expected)


def test_peers_read_a_nan_with_its_sign_alone() -> None:
    """The quiet NaN without a payload, of either sign, is a float for every peer."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow_csv = pytest.importorskip("pyarrow.csv")
    pyarrow = pytest.importorskip("pyarrow")
    quiet = np.array([QUIET["f8"], QUIET["f8"] | SIGN["f8"], 0], "u8").view("f8")
    text = headrace.write_csv(pyarrow.table({"x": quiet}))
    assert text == b"x\nNaN\n-NaN\n0.0\n"
    assert pandas.read_csv(io.BytesIO(text))["x"].dtype == "float64"
    assert polars.read_csv(text)["x"].dtype == polars.Float64
    assert pyarrow_csv.read_csv(io.BytesIO(text))["x"].type == pyarrow.float64()


@pytest.mark.fibers
@pytest.mark.parametrize(("item", "dtype"), [("float", "f4"), ("double", "f8")])
def test_kernels_scan_the_first_nan_with_its_bits(item: str, dtype: str) -> None:
    shape = {"HR_THREADS": 64, "HR_ROWS": 3, "HR_STAGES": 3, "HR_REDUCERS": 2, "HR_LOOK": 2}
    program = fibers.program(source="primitives/scan.cu", defines={"HR_OPERATOR": "Min", "HR_ITEM": item, **shape})
    tile = 64 * 3 * 16 // np.dtype(dtype).itemsize
    count, memory = 4 * tile + 7, np.zeros(2 + 2 * 5, "u8")
    for epoch, (nan, other) in enumerate(zip(nans_of(dtype), np.roll(nans_of(dtype), 1), strict=True), 1):
        first = epoch * 397 % count
        items = np.ones(count, dtype)
        items[first + 1 :: 97] = other
        items[first] = nan
        out = np.empty_like(items)
        args = [items, out, count, memory, epoch, 0]
        program.launch("scan", 5, 64 + 4 * 32, args, shared=3 * 64 * 3 * 16, order="random", seed=epoch)
        expected = bits_of(items).copy()
        expected[first:] = bits_of(items)[first]
        assert np.array_equal(bits_of(out), expected)
