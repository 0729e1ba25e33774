"""Tests the public multisplit on the CPU against NumPy's stable sort, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import buckets, key
from headrace.arrange.multisplit.multisplit_sort import multisplit_sort
from headrace.arrange.multisplit.partition import partition
from headrace.core.errors import OptionError
from tests.arrange.multisplit.multisplit_cases import (
    DTYPES,
    cases,
    check,
    columns_of,
    keys_of,
    odd_columns_of,
    wide_cases,
    wide_keys_of,
)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("uniform-*", "*-u4", "*-f8")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
def test_multisplit(dtype: str, kind: str) -> None:
    for count in (0, 1, 2047, 2049, 20_001):
        keys = keys_of(dtype, kind, count)
        values = columns_of(count)
        for function, own in cases(keys):
            for threads in (1, 3):
                split = headrace.multisplit(keys, function, values, context=headrace.Context(threads=threads))
                check(keys, values, own, function.count, split)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("near")
@pytest.mark.parametrize("kind", ["uniform", "few", "near"])
def test_keys_of_16_bytes(kind: str) -> None:
    for count in (0, 1, 2049, 9001):
        keys = wide_keys_of(kind, count)
        for function, own in wide_cases(keys):
            context = headrace.Context(threads=3 if count > 2049 else 1)
            split = headrace.multisplit(keys, function, columns_of(count), context=context)
            check(keys, columns_of(count), own, function.count, split)


@pytest.mark.parametrize(
    ("function", "outside"),
    [
        (buckets.splitters(np.array([[5, 1], [0, 2], [7, 3]], np.uint64)), [[4, 1], [7, 3], [0, 0]]),
        (buckets.identity(3), [[3, 0], [1, 1]]),
    ],
    ids=["splitters", "identity"],
)
def test_keys_of_16_bytes_outside_of_all_buckets(function: buckets.BucketFunction, outside: list[list[int]]) -> None:
    """The words of a key: the low one, then the high one."""
    inside = [[5, 1], [6, 2]] if function.kind == "splitters" else [[0, 0], [2, 0]]
    assert headrace.multisplit(np.array(inside, np.uint64), function).offsets[-1] == 2
    for words in outside:
        with pytest.raises(OptionError, match="bucket"):
            headrace.multisplit(np.array([*inside, words], np.uint64), function)


def test_forms_of_keys_of_16_bytes() -> None:
    pairs = wide_keys_of("few", 500)
    expected = headrace.multisplit(pairs, buckets.hash(9))
    for dtype in ("V16", [("low", "<u8"), ("high", "<u8")], [("a", "u4", 4)]):
        items = pairs.view(dtype).reshape(-1)
        found = headrace.multisplit(items, buckets.hash(9))
        assert found.keys.dtype == items.dtype and found.keys.tobytes() == expected.keys.tobytes()
        assert found.offsets.tolist() == expected.offsets.tolist()


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512"])
def test_instruction_sets_agree(isa: str) -> None:
    keys = keys_of("u4", "uniform", 9001)
    try:
        headrace.scan(keys, context=headrace.Context(isa=isa))
    except OptionError:
        pytest.skip(f"no {isa} here")
    for function, own in cases(keys):
        check(keys, [], own, function.count, headrace.multisplit(keys, function, [], context=headrace.Context(isa=isa)))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 9, 12, 15])
def test_keys_of_any_width(width: int) -> None:
    items = np.random.default_rng(width).integers(0, 256, (3001, width), np.uint8)
    plain = [int.from_bytes(row.tobytes(), "little") for row in items]
    for keys in (items, items.view(f"V{width}").reshape(-1)):
        for function, own in (
            (buckets.modulo(77), [k % 77 for k in plain]),
            (buckets.bits(8 * width - 5, 8 * width), [k >> (8 * width - 5) for k in plain]),
        ):
            order = np.argsort(own, kind="stable")
            found = headrace.multisplit(keys, function, np.arange(3001))
            assert found.keys.dtype == keys.dtype and found.keys.shape == keys.shape
            assert found.keys.tobytes() == items[order].tobytes() and found.values.tolist() == order.tolist()


def test_values_of_any_width() -> None:
    keys = keys_of("u4", "uniform", 5001)
    order = np.argsort(keys % 300, kind="stable")
    for values in odd_columns_of(5001):
        for threads in (1, 3):
            found = headrace.multisplit(keys, buckets.modulo(300), values, context=headrace.Context(threads=threads)).values
            assert found.dtype == values.dtype and found.shape == values.shape
            assert found.tobytes() == values[order].tobytes()


def test_values_come_as_they_are_given() -> None:
    keys = np.array([5, 2, 9], np.uint8)
    halves = buckets.bits(3, 4)
    assert headrace.multisplit(keys, halves).values is None
    assert headrace.multisplit(keys, halves, np.arange(3)).values.tolist() == [0, 1, 2]
    assert [found.tolist() for found in headrace.multisplit(keys, halves, [np.arange(3)]).values] == [[0, 1, 2]]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=300), st.integers(1, 300), st.integers(0, 24), st.integers(1, 4))
def test_any_keys(drawn: list[int], m: int, low: int, threads: int) -> None:
    keys, context = np.array(drawn, "u4"), headrace.Context(threads=threads)
    places = np.arange(len(keys))
    for function, own in ((buckets.modulo(m), keys % m), (buckets.bits(low, low + 8), keys >> low & 255)):
        split = headrace.multisplit(keys, function, places, context=context)
        check(keys, [places], own.astype("i8"), function.count, split._replace(values=[split.values]))


def test_zeros_and_nans_of_floats_are_hashed_alike() -> None:
    nan = np.array([0x7FC00001, 0xFFC00000], "u4").view("f4")
    keys = np.array([0.0, -0.0, *nan, np.nan], "f4")
    offsets = headrace.multisplit(keys, buckets.hash(1000)).offsets
    assert np.count_nonzero(np.diff(offsets)) <= 2


U4, F4 = np.zeros(3, "u4"), np.array([0.5, np.nan, 2], "f4")


@pytest.mark.parametrize(
    ("keys", "function", "values", "said"),
    [
        (U4 + 9, lambda: buckets.identity(9), None, "3 keys are in none of the 9 buckets"),
        (np.array([-1], "i4"), lambda: buckets.identity(9), None, "1 key is in none"),
        (F4, lambda: buckets.even(0, 4, 2), None, "1 key is in none of the 2 buckets .*NaN"),
        (F4, lambda: buckets.splitters([0, 1, 2]), None, "2 keys are in none"),
        (U4, lambda: buckets.computed(3, key + 3), None, "3 keys are in none"),
        (U4, lambda: buckets.modulo(0), None, "from 1 to 16777216, not 0"),
        (U4, lambda: buckets.hash(True), None, "from 1 to"),
        (U4, lambda: buckets.bits(4, 4), None, "low must be below high"),
        (U4, lambda: buckets.bits(30, 33), None, "is beyond"),
        (U4, lambda: buckets.bits(0, 25), None, "by 24 bits at most"),
        (U4, lambda: key % 3, None, "give it a number of buckets"),
        (U4, lambda: 7, None, "must be a function of headrace.buckets"),
        (U4, lambda: buckets.where(True), None, "must be an expression"),
        (F4, lambda: buckets.modulo(3), None, "function of integers"),
        (F4, lambda: buckets.computed(3, key % 3), None, "is for integers"),
        (F4, lambda: buckets.computed(3, key), None, "1 key is in none"),
        (np.array([-1, 0], "i8"), lambda: buckets.computed(3, key), None, "1 key is in none"),
        (np.zeros((3, 2), "u8"), lambda: buckets.even(0, 4, 2), None, "not for keys of 16 bytes"),
        (np.zeros((3, 2), "u8"), lambda: buckets.splitters([0, 1 << 128]), None, "below 2 .. 128"),
        (np.zeros((3, 2), "u8"), lambda: buckets.splitters([0, 7, 5]), None, "must ascend"),
        (np.zeros((3, 2), "u8") + 9, lambda: buckets.identity(9), None, "3 keys are in none"),
        (np.zeros((2, 3), "u8").T, lambda: buckets.hash(9), None, "gaps"),
        (np.zeros((3, 2), "i8"), lambda: buckets.hash(9), None, "one dimension"),
        (np.zeros((3, 3), "u8"), lambda: buckets.hash(9), None, "keys have 24 bytes"),
        (np.zeros((3, 3), "u4"), lambda: buckets.bits(95, 97), None, "have 96 bits"),
        (np.zeros(3, "?"), lambda: buckets.hash(3), None, "keys are of type"),
        (U4, lambda: buckets.hash(3), np.zeros(2), "2 items for 3 keys"),
        (U4, lambda: buckets.hash(3), np.zeros((2, 3)), "2 items for 3 keys"),
        (U4, lambda: buckets.hash(3), np.zeros((2, 3)).T, "gaps"),
        (U4, lambda: buckets.hash(3), np.zeros((3, 1, 1)), "one dimension"),
        (U4, lambda: buckets.hash(3), np.zeros((3, 0)), "one dimension"),
        (U4, lambda: buckets.hash(3), np.zeros(3, object), "items of type"),
        (U4, lambda: buckets.even(0, 0, 2), None, "two integers"),
        (U4, lambda: buckets.splitters([3, 1, 2]), None, "must ascend"),
    ],
)
def test_misuse(keys, function, values, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        headrace.multisplit(keys, function(), values)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("digit_bits", [3, 8])
def test_sort(dtype: str, digit_bits: int) -> None:
    keys = keys_of(dtype, "skewed", 5000)
    found = multisplit_sort(keys, np.arange(5000), digit_bits=digit_bits)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found.keys, keys[order])
    np.testing.assert_array_equal(found.values, order)


def test_partition() -> None:
    keys = keys_of("u4", "uniform", 5000)
    found, offsets = partition(keys, 24, 32)
    np.testing.assert_array_equal(np.diff(offsets), np.bincount(keys >> 24, minlength=256))
    np.testing.assert_array_equal(np.sort(found), np.sort(keys))
    assert (np.diff((found >> 24).astype("i8")) >= 0).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: multisplit_sort(np.zeros(2, "i4")), "unsigned"),
        (lambda: multisplit_sort(np.zeros(2, "u4"), digit_bits=9), "1 to 8"),
        (lambda: partition(np.zeros(2, "u2"), 0, 8), "partition takes 4 and 8"),
        (lambda: partition(np.zeros(2, "u4"), 0, 9), "at most 8"),
        (lambda: partition(np.zeros(2, "u4"), 30, 33), "at most 8"),
    ],
)
def test_misuse_of_sort_and_partition(call, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        call()


def test_unknown_strategies() -> None:
    with pytest.raises(OptionError, match="look_back"):
        headrace.multisplit(U4, buckets.hash(3), strategy="lookback")


def test_comparisons_are_no_truths() -> None:
    with pytest.raises(OptionError, match="neither true nor false"):
        bool(key < 3)
