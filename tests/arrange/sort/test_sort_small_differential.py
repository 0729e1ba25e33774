"""NumPy's few keys, sorted in one call, against NumPy's own means and against the way that all others go."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace.arrange.sort import small_arrays
from headrace.core.errors import OptionError
from tests.arrange.sort.sort_cases import TYPES, bits_of, order_of, shapes, sorted_alone

ORDERS = [{"descending": descending, "total_order": total} for descending in (False, True) for total in (False, True)]


@pytest.mark.parametrize("dtype", TYPES)
def test_few_keys(dtype: str) -> None:
    for n in (0, 1, 2, 17, 255, 1025, (1 << 14) - 1, 1 << 14, (1 << 14) + 1):
        rng = np.random.default_rng(n)
        for name, keys in shapes(dtype, n, rng):
            if n > 2000 and name not in {"random", "special", "few"}:
                continue
            before = keys.copy()
            for how in ORDERS:
                expected = sorted_alone(keys, **how)
                assert np.array_equal(bits_of(headrace.sort(keys, **how)), bits_of(expected)), (name, n, how)
                own = keys.copy()
                assert headrace.sort(own, **how, out=own) is own
                assert np.array_equal(bits_of(own), bits_of(expected))
                found = headrace.argsort(keys, **how)
                assert found.dtype == np.int64
                assert np.array_equal(found, order_of(keys, **how))
            assert np.array_equal(bits_of(keys), bits_of(before))


def test_which_keys_are_few() -> None:
    def are_few(keys: object) -> bool:
        return small_arrays.sorted_few(keys, descending=False, total_order=False, in_place=False) is not None

    assert all(are_few(np.zeros(n, dtype)) for n in (0, 3, 1 << 14) for dtype in ("?", "u1", "f2", "i4", "f8"))
    others = [np.zeros((1 << 14) + 1), np.zeros((2, 2)), np.zeros(9)[::2], np.zeros(3, ">i4"), np.zeros(3, "M8[s]"), [1, 2]]
    others += [np.zeros(3, np.longdouble), np.array(["a"]), np.array([None]), np.ma.array([1, 2], mask=[0, 1]), np.array(3)]
    assert not any(map(are_few, others))


def test_what_may_not_be_written() -> None:
    keys = np.array([3, 1, 2])
    keys.flags.writeable = False
    assert headrace.sort(keys).flags.writeable
    assert headrace.argsort(keys).tolist() == [1, 2, 0]
    with pytest.raises(OptionError, match="out may not be written"):
        headrace.sort(keys, out=keys)
    assert keys.tolist() == [3, 1, 2]


def test_keys_that_begin_inside_of_an_item() -> None:
    keys = np.zeros(8 * 100 + 3, np.uint8)[3:].view("f8")
    keys[:] = np.random.default_rng(8).standard_normal(100)
    expected = np.sort(keys)
    assert np.array_equal(headrace.argsort(keys), np.argsort(keys))
    assert np.array_equal(headrace.sort(keys), expected)
    with pytest.raises(OptionError, match="begins inside of an item"):
        headrace.sort(keys, out=keys)
