"""Tests the errors of sorts on misuse, and that they leave everything as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace
from headrace.core.errors import MemoryLimitError, OptionError

KEYS = np.array([3, 1, 2], "i4")


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (np.array([1 + 2j]), "complex|'<c16'"),
        (np.array(["a"]), "keys has texts \\(items of type '<U1'\\)"),
        (np.array([b"a"]), "keys has texts"),
        (np.array([{}], object), "'|O'|'\\|O'"),
        (np.ma.MaskedArray([1, 2], [True, False]), "nulls"),
        (np.array([1.0], np.longdouble), "type '<f16'"),
        ({1, 2}, "keys must be an array"),
        ([1, None], "keys has nulls"),
        ([1, "a"], "keys has texts"),
        ([1, 2**70], "not all numbers of up to 64 bits"),
        (np.array(3), "keys must have one dimension"),
    ],
)
def test_keys_that_cannot_be_sorted(keys: Any, told: str) -> None:
    for call in (headrace.sort, headrace.argsort, headrace.is_sorted, lambda k: headrace.top_k(k, 1)):
        with pytest.raises(OptionError, match=told):
            call(keys)
    with pytest.raises(OptionError, match=told):
        headrace.sort_pairs(keys, keys)


def test_values_that_do_not_go_with_keys() -> None:
    with pytest.raises(OptionError, match="values has 2 items for 3 keys"):
        headrace.sort_pairs(KEYS, np.arange(2))
    with pytest.raises(OptionError, match="values"):
        headrace.sort_pairs(KEYS, np.array(["a", "b", "c"]))
    with pytest.raises(OptionError, match="one dimension"):
        headrace.sort_pairs(KEYS, np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("out", "told"),
    [
        (np.empty(2, "i4"), "out has 2 items, and the result 3"),
        (np.empty(3, "u4"), "out has items of type '<u4', and the result is of '<i4'"),
        (np.empty(6, "i4")[::2], "gaps"),
        ([0, 0, 0], "out must be an array"),
        (np.zeros(13, "u1")[1:].view("i4"), "begins inside of an item"),
    ],
)
def test_results_that_cannot_be_written(out: Any, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        headrace.sort(KEYS, out=out)


def test_results_that_may_not_be_written() -> None:
    out = KEYS.copy()
    out.flags.writeable = False
    with pytest.raises(OptionError, match="out may not be written"):
        headrace.sort(KEYS, out=out)
    with pytest.raises(OptionError, match="out may not be written"):
        headrace.sort(out, out=out)
    assert out.tolist() == [3, 1, 2]


def test_results_that_overlap() -> None:
    whole = np.array([5, 4, 3, 2, 1], "i8")
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.sort(whole[:4], out=whole[1:])
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.argsort(whole, out=whole)
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.sort_pairs(whole, whole.copy(), out=(whole, whole))
    values = np.arange(5)
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.sort_pairs(whole, values, out=(values, whole))
    out = np.empty(5, "i8")
    with pytest.raises(OptionError, match="out overlaps"):
        headrace.sort_pairs(whole, values, out=(out, out))
    assert whole.tolist() == [5, 4, 3, 2, 1]
    assert values.tolist() == [0, 1, 2, 3, 4]


def test_outs_of_pairs() -> None:
    for out in (KEYS.copy(), (KEYS.copy(),), 3):
        with pytest.raises(OptionError, match="out"):
            headrace.sort_pairs(KEYS, np.arange(3), out=out)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="out has 1 arrays for 2 arrays of values"):
        headrace.sort_pairs(KEYS, [KEYS, KEYS], out=(KEYS.copy(), [KEYS.copy()]))


def test_options() -> None:
    with pytest.raises(OptionError, match="did you mean 'hybrid'"):
        headrace.sort(KEYS, strategy="hybird")
    with pytest.raises(OptionError, match="unknown nulls 'lst'; did you mean 'last'"):
        headrace.sort(KEYS, nulls="lst")
    with pytest.raises(OptionError, match="unknown dtype 'int16'"):
        headrace.argsort(KEYS, dtype="int16")
    for k in (-1, 4, 1.0, True):
        with pytest.raises(OptionError, match="k must be an integer from 0 to the number of keys"):
            headrace.top_k(KEYS, k)  # type: ignore[arg-type]


def test_numbers_of_any_library_tell_how_many() -> None:
    assert headrace.top_k(KEYS, np.uint8(2)).keys.tolist() == [3, 2]


def test_values_of_columns() -> None:
    column = headrace.read_csv(b"a\n2\n1\n")["a"]
    for keys, values in ((column, 3), (np.arange(2), [column, 3]), (column, None)):
        with pytest.raises(OptionError, match="values must be an array"):
            headrace.sort_pairs(keys, values)
    with pytest.raises(OptionError, match="unknown strategy"):
        headrace.sort(column, strategy="quick")
    for k in (-1, 3, True):
        with pytest.raises(OptionError, match="k must be an integer from 0 to the number of keys"):
            headrace.top_k(column, k)


def test_columns_of_the_host_stay_there() -> None:
    """Whatever GPU the context names: results are columns where keys are."""
    column, context = headrace.read_csv(b"a\n2\n1\n")["a"], headrace.Context(device="cuda")
    assert headrace.top_k(column, 1, context=context).keys.to_pylist() == [2]
    assert headrace.sort_pairs(np.array([1, 0]), column, context=context).values.to_pylist() == [1, 2]


def test_memory_limit_leaves_things_as_they_were() -> None:
    keys = np.random.default_rng(1).integers(0, 2**60, 100_000)
    before = keys.copy()
    small = headrace.Context(memory_limit=10_000, threads=2)
    values = np.arange(100_000)
    for call in (
        lambda: headrace.sort(keys, context=small),
        lambda: headrace.argsort(keys, context=small),
        lambda: headrace.sort_pairs(keys, values, out=(keys, values), context=small),
        lambda: headrace.top_k(keys, 5000, context=small),
        lambda: headrace.sort(keys, out=keys, context=headrace.Context(memory_limit=10_000, threads=2, isa="scalar")),
    ):
        with pytest.raises(MemoryLimitError):
            call()
    assert np.array_equal(keys, before)
    assert np.array_equal(values, np.arange(100_000))


def test_memory_that_is_enough() -> None:
    keys = np.random.default_rng(2).integers(0, 2**60, 100_000)
    found = headrace.sort(keys, context=headrace.Context(memory_limit=2 * keys.nbytes, isa="scalar"))
    assert np.array_equal(found, np.sort(keys))


def test_of_nothing() -> None:
    for dtype in ("u1", "f2", "f8", "M8[s]"):
        empty = np.empty(0, dtype)
        assert len(headrace.sort(empty)) == 0
        assert len(headrace.argsort(empty)) == 0
        assert headrace.sort_pairs(empty, [empty, np.empty(0, "u1")]).values[1].tolist() == []
        assert headrace.is_sorted(empty)
        assert headrace.top_k(empty, 0).indices.tolist() == []


def test_values_without_a_type_are_told() -> None:
    with pytest.raises(OptionError, match="values has items of type"):
        headrace.sort_pairs(KEYS, np.zeros(3, "V16"))
