"""Tests sorts on the CPU against NumPy's: every type, shape, direction, instruction set and number of threads, to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace.core.errors import OptionError
from tests.arrange.sort.sort_cases import TYPES, Keys, bits_of, order_of, random_keys, shapes, sorted_alone, special_keys

pytestmark = pytest.mark.isas

EDGES = {1: (255, 257), 2: (256, 1024, 1025, 4097), 4: (128, 512, 513, 1025), 8: (64, 256, 257, 513, 4099)}
"""Counts near blocks of a network, and near steps of quicksort, by bytes of a key."""
ORDERS = [{"descending": descending, "total_order": total} for descending in (False, True) for total in (False, True)]


def contexts(*threads: int) -> Iterator[headrace.Context]:
    for isa in ("scalar", "avx2", "avx512"):
        for number in threads:
            try:
                yield headrace.Context(isa=isa, threads=number)
            except OptionError:
                break  # this machine has no such instruction set


def assert_same(found: Any, expected: Keys) -> None:
    assert found.dtype == expected.dtype
    assert np.array_equal(bits_of(found), bits_of(expected))


def check(keys: Keys, how: dict[str, bool], context: headrace.Context) -> None:
    """All five, of one input."""
    order, n = order_of(keys, **how), len(keys)
    assert_same(headrace.sort(keys, **how, context=context), sorted_alone(keys, **how))
    assert np.array_equal(headrace.argsort(keys, **how, context=context), order)
    values = [np.arange(n, dtype=dtype) for dtype in ("u1", "f8")]
    found = headrace.sort_pairs(keys, values, **how, context=context)
    assert_same(found.keys, keys[order])
    for column, moved in zip(values, found.values, strict=True):
        assert_same(moved, column[order])
    assert headrace.is_sorted(keys, **how, context=context) == np.array_equal(order, np.arange(n))
    for k in {0, min(1, n), n // 3, n}:
        top = headrace.top_k(keys, k, largest=how["descending"], total_order=how["total_order"], context=context)
        assert np.array_equal(top.indices, order[:k])
        assert_same(top.keys, keys[order[:k]])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_shape(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 33, 700):
        for _, keys in shapes(dtype, n, rng):
            for how in ORDERS:
                for context in contexts(1):
                    check(keys, how, context)


@pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "i4", "f4", "u8", "f8", "M8[s]"])
def test_lengths_around_edges(dtype: str) -> None:
    rng = np.random.default_rng(2)
    for edge in EDGES[np.dtype(dtype).itemsize]:
        for n in (edge - 1, edge, edge + 1):
            for keys in (random_keys(dtype, n, rng), special_keys(dtype, n, rng)):
                for context in contexts(1):
                    check(keys, ORDERS[n % 4], context)


@pytest.mark.long_except("i2", "u8", "f4")
@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "u8", "f8"])
def test_threads_agree(dtype: str) -> None:
    """Enough keys that several threads halve them, and that from eight on they pass them by digits."""
    rng = np.random.default_rng(3)
    n = 150_001
    for name, keys in shapes(dtype, n, rng):
        if name in {"2 ands", "7 ands", "few"}:
            continue
        how = ORDERS[len(name) % 4]
        expected, order = sorted_alone(keys, **how), order_of(keys, **how)
        for context in contexts(1, 3, 9):
            assert_same(headrace.sort(keys, **how, context=context), expected)
            if context.threads != 3:
                assert np.array_equal(headrace.argsort(keys, **how, context=context), order)


@pytest.mark.parametrize("dtype", ["f4", "u8"])
def test_parts_larger_than_a_thread_takes(dtype: str) -> None:
    """One digit has nearly all keys, so its keys are passed again."""
    rng = np.random.default_rng(4)
    keys = (rng.standard_normal(1_300_000) if dtype == "f4" else rng.integers(0, 2**30, 1_300_000)).astype(dtype)
    keys[7] = np.finfo(dtype).max if dtype == "f4" else 2**64 - 1
    for context in contexts(9):
        assert_same(headrace.sort(keys, context=context), np.sort(keys))


def test_codes_that_do_not_fit_a_word_with_their_places() -> None:
    """All 64 bits vary, and keys agree in their highest: runs are put in order by the keys themselves."""
    rng = np.random.default_rng(5)
    high = rng.integers(0, 3, 5000).astype("u8") << np.uint64(62)
    keys = high | rng.integers(0, 6, 5000).astype("u8")
    for how in ORDERS[::2]:
        for context in contexts(1, 2):
            check(keys, how, context)
            check(keys.view("f8"), how, context)


@pytest.mark.parametrize("dtype", TYPES)
def test_in_place(dtype: str) -> None:
    rng = np.random.default_rng(6)
    for n in (0, 5, 3000):
        keys = special_keys(dtype, n, rng)
        for context in contexts(1):
            own = keys.copy()
            assert headrace.sort(own, out=own, context=context) is own
            assert_same(own, sorted_alone(keys))
            own, values, narrow = keys.copy(), np.arange(n), np.arange(n).astype("u1")
            order = order_of(keys)
            found = headrace.sort_pairs(own, [values, narrow], out=(own, [values, narrow]), context=context)
            assert found.keys is own
            assert found.values[0] is values
            assert_same(own, keys[order])
            assert np.array_equal(values, order)
            assert np.array_equal(narrow, order.astype("u1"))


def test_out() -> None:
    keys = np.array([3, 1, 2], "i4")
    out = np.empty(3, "i4")
    assert headrace.sort(keys, out=out) is out
    assert out.tolist() == [1, 2, 3]
    assert keys.tolist() == [3, 1, 2]
    places = np.empty(3, "u4")
    assert headrace.argsort(keys, dtype="uint32", out=places) is places
    assert places.tolist() == [1, 2, 0]
    given_keys, given_values = np.empty(3, "i4"), [np.empty(3, "u1"), np.empty(3, "f8")]
    found = headrace.sort_pairs(keys, [np.arange(3, dtype="u1"), np.arange(3.0)], out=(given_keys, given_values))
    assert found.keys is given_keys
    assert [a is b for a, b in zip(found.values, given_values, strict=True)] == [True, True]
    assert given_values[1].tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32"])
def test_types_of_places(dtype: str) -> None:
    found = headrace.argsort(np.array([5.0, -1.0]), dtype=dtype)
    assert str(found.dtype) == dtype
    assert found.tolist() == [1, 0]


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_values_of_every_width(width: int) -> None:
    rng = np.random.default_rng(7)
    keys = rng.integers(0, 50, 2000).astype("u2")
    values = rng.integers(0, 256, 2000 * width, np.uint8).view(f"u{width}")
    for context in contexts(1, 2):
        assert_same(headrace.sort_pairs(keys, values, context=context).values, values[order_of(keys)])


def test_unstable_is_an_order_of_the_same_pairs() -> None:
    keys = np.array([2, 1, 2, 1, 2], "u4")
    found = headrace.sort_pairs(keys, np.arange(5), stable=False)
    assert found.keys.tolist() == [1, 1, 2, 2, 2]
    assert keys[found.values].tolist() == found.keys.tolist()
    assert sorted(found.values.tolist()) == [0, 1, 2, 3, 4]
    assert keys[headrace.argsort(keys, stable=False)].tolist() == [1, 1, 2, 2, 2]


def test_keys_that_begin_inside_of_an_item() -> None:
    raw = np.zeros(8 * 100 + 3, np.uint8)
    keys = raw[3:].view("f8")
    keys[:] = np.random.default_rng(8).standard_normal(100)
    before = keys.copy()
    assert_same(headrace.sort(keys), np.sort(before))
    assert np.array_equal(headrace.argsort(keys), np.argsort(before))
    assert_same(headrace.sort_pairs(keys, keys).values, np.sort(before))
    assert headrace.top_k(keys, 1).indices.tolist() == [int(np.argmax(before))]


def test_what_may_not_be_written_is_only_read() -> None:
    keys = np.array([3, 1, 2])
    keys.flags.writeable = False
    assert headrace.sort(keys).tolist() == [1, 2, 3]
    assert headrace.sort_pairs(keys, keys).values.tolist() == [1, 2, 3]


@given(st.lists(st.floats(width=32), max_size=200), st.booleans(), st.booleans(), st.integers(1, 3))
def test_any_floats(drawn: list[float], descending: bool, total_order: bool, threads: int) -> None:
    how = {"descending": descending, "total_order": total_order}
    for dtype in ("f4", "f8"):
        check(np.array(drawn, dtype), how, headrace.Context(threads=threads))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=200), st.booleans(), st.booleans())
def test_any_whole_numbers_and_times(drawn: list[int], descending: bool, total_order: bool) -> None:
    keys = np.array(drawn, "i8")
    how = {"descending": descending, "total_order": total_order}
    for dtype in ("i8", "u8", "M8[ns]", "m8[s]"):
        check(keys.view(dtype), how, headrace.Context(threads=1))
    check(keys.astype("i2"), how, headrace.Context(threads=1))
