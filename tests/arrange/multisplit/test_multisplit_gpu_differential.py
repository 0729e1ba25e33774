"""Tests the public multisplit on a GPU, with every strategy, against NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets, key
from headrace.arrange.multisplit.multisplit import STRATEGIES
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


MAX_COUNTS = {"direct": 32, "warp": 32, "iterative": 256}
"""Maximum number of buckets, for strategies with a limit."""


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dtype", ["u4", "u8", "f4"])
def test_strategies(strategy: str, dtype: str) -> None:
    for count in (1, 31, 8191, 100_003):
        keys = keys_of(dtype, "skewed", count)
        values = columns_of(count)[:1]
        for function, own in cases(keys)[:7]:
            given = on_card(keys), function, [on_card(column) for column in values]
            if function.count > MAX_COUNTS.get(strategy, 2**24):
                with pytest.raises(OptionError, match="strategy"):
                    headrace.multisplit(*given, strategy=strategy)
                continue
            split = headrace.multisplit(*given, strategy=strategy)
            check(keys, values, own, function.count, fetched(split))


@pytest.mark.parametrize("kind", ["uniform", "few", "near"])
def test_keys_of_16_bytes(kind: str) -> None:
    for count in (0, 1, 12_289, 50_001):
        keys = wide_keys_of(kind, count)
        given = headrace.DeviceArray(on_card(keys.reshape(-1)).buffer, "|V16", count)
        for function, own in wide_cases(keys):
            split = fetched(headrace.multisplit(given, function, [on_card(column) for column in columns_of(count)]))
            split = split._replace(keys=split.keys.view("u8").reshape(-1, 2))
            check(keys, columns_of(count), own, function.count, split)


@pytest.mark.parametrize("width", [2, 8, 3, 12])
def test_keys_of_any_width(width: int) -> None:
    keys = np.random.default_rng(width).integers(0, 256, (30_001, width), np.uint8)
    own = np.array([int.from_bytes(row.tobytes(), "little") % 77 for row in keys])
    split = headrace.multisplit(keys, buckets.modulo(77), context=headrace.Context(device="cuda"))
    assert split.keys.to_numpy().tobytes() == keys[np.argsort(own, kind="stable")].tobytes()


def test_values_of_any_width() -> None:
    keys = keys_of("u4", "uniform", 50_001)
    order = np.argsort(keys % 300, kind="stable")
    values = odd_columns_of(50_001)
    split = headrace.multisplit(keys, buckets.modulo(300), values, context=headrace.Context(device="cuda"))
    for column, given in zip(split.values, values, strict=True):
        assert column.to_numpy().tobytes() == given[order].tobytes()


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
