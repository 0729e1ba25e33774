"""The public multisplit on a GPU, every strategy, against NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets, key
from headrace.arrange.multisplit.multisplit import STRATEGIES
from headrace.arrange.multisplit.multisplit_sort import multisplit_sort
from headrace.arrange.multisplit.partition import partition
from headrace.core.errors import OptionError
from tests.arrange.multisplit_cases import DTYPES, cases, check, columns_of, keys_of

pytestmark = pytest.mark.gpu


def on_card(array):
    return headrace.DeviceArray.from_host(array)


def fetched(split):
    values = None if split.values is None else [column.to_numpy() for column in split.values]
    return type(split)(split.keys.to_numpy(), values, split.offsets.to_numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["uniform", "constant"])
def test_multisplit(dtype: str, kind: str) -> None:
    for count in (0, 1, 12_289, 100_001):
        keys = keys_of(dtype, kind, count)
        values = columns_of(count)
        given = on_card(keys), [on_card(column) for column in values]
        for function, own in cases(keys):
            for some in ([], values[:1], values):
                split = headrace.multisplit(given[0], function, given[1][: len(some)])
                check(keys, some, own, function.count, fetched(split))


def can_do(strategy, dtype, function):
    """Which strategies there are for bits of 4-byte keys, for keys of 4 and 8 bytes, and for all."""
    if strategy in {"reduced_bit", "recursive"}:
        return True
    if strategy == "block":
        return function.kind == "bits" or dtype in {"u4", "u8"}
    return function.kind == "bits" and dtype in {"u4", "f4"} and (strategy == "look_back" or function.count <= 32)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dtype", ["u4", "u8", "f4"])
def test_strategies(strategy: str, dtype: str) -> None:
    for count in (1, 31, 8191, 100_003):
        keys = keys_of(dtype, "skewed", count)
        values = columns_of(count)[:1]
        for function, own in cases(keys)[:3]:
            given = on_card(keys), function, [on_card(column) for column in values]
            if not can_do(strategy, dtype, function):
                with pytest.raises(OptionError, match="strategy"):
                    headrace.multisplit(*given, strategy=strategy)
                continue
            split = headrace.multisplit(*given, strategy=strategy)
            check(keys, values, own, function.count, fetched(split))


def test_more_columns_than_a_launch_takes() -> None:
    keys = keys_of("u4", "uniform", 50_000)
    values = columns_of(50_000) * 4
    split = headrace.multisplit(on_card(keys), buckets.modulo(200), [on_card(column) for column in values])
    check(keys, values, keys % 200, 200, fetched(split))


def test_keys_in_no_bucket() -> None:
    keys = on_card(np.array([1, 2, 900, 3], "u4"))
    for function in (buckets.identity(9), buckets.computed(9, key), buckets.splitters([0, 5, 100])):
        with pytest.raises(OptionError, match="1 key is in none"):
            headrace.multisplit(keys, function)


@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_partition_and_sort(dtype: str) -> None:
    for count in (0, 1, 12_289, 500_003):
        keys = keys_of(dtype, "uniform", count)
        found, offsets = (array.to_numpy() for array in partition(on_card(keys), 3, 11))
        np.testing.assert_array_equal(np.diff(offsets), np.bincount((keys >> 3 & 255).astype("i8"), minlength=256))
        np.testing.assert_array_equal(np.sort(found), np.sort(keys))
        assert (np.diff((found >> 3 & 255).astype("i8")) >= 0).all()
        np.testing.assert_array_equal(multisplit_sort(on_card(keys), digit_bits=7).keys.to_numpy(), np.sort(keys))
