"""Tests orders of keys: KeyOrder against NumPy and Python on the same values, and literal results of the public functions."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

import headrace
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.errors import OptionError
from tests.arrange.sort.sort_cases import bits_of, order_of, special_keys

_TYPES = ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "M8[s]", "m8[ns]"]


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("total_order", [False, True])
def test_codes_are_in_the_order_of_keys(dtype: str, *, descending: bool, total_order: bool) -> None:
    keys = special_keys(dtype, 300, np.random.default_rng(1))
    order = KeyOrder.of(keys.dtype.str, descending=descending, total_order=total_order)
    raw = [int(bits) for bits in bits_of(keys)]
    codes = [order.code(bits) for bits in raw]
    assert [order.key(code) for code in codes] == raw
    equal = [order.equal_code(bits) for bits in raw]
    expected = order_of(keys, descending=descending, total_order=total_order)
    assert sorted(range(len(raw)), key=equal.__getitem__) == expected.tolist()
    if not order.has_equals:
        assert equal == codes
    assert len(order.packed) == 4 * keys.itemsize


def test_a_rule_is_four_words() -> None:
    order = KeyOrder("float", 32, descending=True)
    assert struct.unpack("<4I", order.packed) == (0x7FFFFFFF, 0x7FFFFFFF, 0xFF800001, 0x7F800000)
    assert KeyOrder("unsigned", 8).packed == bytes(4)


@pytest.mark.parametrize("typestr", ["<c16", "|S3", "|V8", "<f16"])
def test_no_order_of_other_types(typestr: str) -> None:
    with pytest.raises(OptionError, match="keys are of type"):
        KeyOrder.of(typestr)


def test_nan_is_last_in_either_direction() -> None:
    keys = np.array([1.0, math.nan, -math.inf, math.inf, -1.0])
    assert str(headrace.sort(keys)) == "[-inf  -1.   1.  inf  nan]"
    assert str(headrace.sort(keys, descending=True)) == "[ inf   1.  -1. -inf  nan]"


def test_total_order_is_by_sign_and_bits() -> None:
    nan = np.array([0x7FC00001, 0xFFC00000, 0x7FC00000], "u4").view("f4")
    keys = np.array([0.0, *nan, -0.0, -math.inf], "f4")
    found = headrace.sort(keys, total_order=True).view("u4")
    assert [hex(bits) for bits in found] == ["0xffc00000", "0xff800000", "0x80000000", "0x0", "0x7fc00000", "0x7fc00001"]
    assert np.array_equal(headrace.sort(keys, total_order=True, descending=True).view("u4"), found[::-1])


def test_zeros_are_equal_where_something_goes_with_them() -> None:
    keys = np.array([0.0, -0.0, 0.0, -0.0])
    assert headrace.argsort(keys).tolist() == [0, 1, 2, 3]
    assert headrace.argsort(keys, descending=True).tolist() == [0, 1, 2, 3]
    assert np.signbit(headrace.sort_pairs(keys, keys).keys).tolist() == [False, True, False, True]
    assert np.signbit(headrace.sort(keys)).tolist() == [True, True, False, False]
    assert np.signbit(headrace.sort(keys, descending=True)).tolist() == [False, False, True, True]
    assert headrace.argsort(keys, total_order=True).tolist() == [1, 3, 0, 2]
    assert headrace.is_sorted(keys)
    assert not headrace.is_sorted(keys, total_order=True)


def test_nat_is_last_as_nan_is() -> None:
    keys = np.array(["2020-01-02", "NaT", "1960-01-01"], "M8[D]")
    assert headrace.sort(keys).astype(str).tolist() == ["1960-01-01", "2020-01-02", "NaT"]
    assert headrace.sort(keys, descending=True).astype(str).tolist() == ["2020-01-02", "1960-01-01", "NaT"]
    assert headrace.sort(keys, total_order=True).astype(str).tolist() == ["NaT", "1960-01-01", "2020-01-02"]
    assert headrace.top_k(keys, 1).indices.tolist() == [0]


def test_descending_keeps_the_order_of_equal_keys() -> None:
    keys = np.array([1, 2, 1, 2], "u2")
    assert headrace.argsort(keys, descending=True).tolist() == [1, 3, 0, 2]


def test_top_k_takes_nan_last_and_the_first_of_equals() -> None:
    keys = np.array([math.nan, 2.0, 5.0, 2.0, 5.0])
    assert headrace.top_k(keys, 3).indices.tolist() == [2, 4, 1]
    assert headrace.top_k(keys, 3, largest=False).indices.tolist() == [1, 3, 2]
    assert headrace.top_k(keys, 5).indices.tolist() == [2, 4, 1, 3, 0]
