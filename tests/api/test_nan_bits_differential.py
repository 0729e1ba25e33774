"""Tests NaN with signs and payloads, quiet and signaling: arrays and columns keep their bits, text has one `NaN`."""

from __future__ import annotations

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
WORDS = b"nan\nNaN\n+nan\n-nan\n-NAN\n1.5\n"


def expected_words(dtype: str) -> list[int]:
    """Bits of `WORDS`: the quiet NaN without a payload, with the sign of the text."""
    quiet, negative = QUIET[dtype], QUIET[dtype] | SIGN[dtype]
    return [quiet, quiet, quiet, negative, negative, int(bits_of(np.array([1.5], dtype))[0])]


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_text_of_a_nan_has_a_sign_alone(dtype: str) -> None:
    for context in contexts():
        table = headrace.read_csv(WORDS, header=False, dtypes=FLOATS[dtype], context=context)
        assert bits_of(table[0].to_numpy()).tolist() == expected_words(dtype)


@pytest.mark.fibers
@pytest.mark.parametrize("dtype", FLOATS)
def test_kernels_read_the_same_nan(dtype: str) -> None:
    table, _ = read_on_fibers(WORDS * 20, header=False, dtypes=FLOATS[dtype])
    assert table is not None
    assert bits_of(table[0].to_numpy()).tolist() == expected_words(dtype) * 20


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_written_nan_loses_sign_and_payload(dtype: str) -> None:
    """All other floats come back to the bit."""
    pyarrow = pytest.importorskip("pyarrow")
    items = items_of(dtype, 500)
    text = headrace.write_csv(pyarrow.table({"x": items}))
    assert text is not None
    assert text.count(b"NaN\n") == np.count_nonzero(np.isnan(items))
    back = headrace.read_csv(text, dtypes=FLOATS[dtype])["x"].to_numpy()
    expected = bits_of(items).copy()
    expected[np.isnan(items)] = QUIET[dtype]
    assert np.array_equal(bits_of(back), expected)


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
