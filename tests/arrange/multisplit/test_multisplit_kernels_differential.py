"""Tests multisplit's kernels and passes in the fiber harness against NumPy's stable sort, around the edges of a tile."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from headrace import buckets, key
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Splitter, bits_pass
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING, BlockTuning, SplitTuning
from headrace.arrange.multisplit.multisplit import STRATEGIES
from headrace.core.errors import OptionError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.multisplit.multisplit_cases import cases, check, columns_of, keys_of, odd_columns_of, wide_cases, wide_keys_of
from tests.arrange.multisplit.multisplit_kernels_cases import few_computed, launched

pytestmark = pytest.mark.fibers

_TILE = BlockTuning(64, 2, 1)
SMALL = SplitTuning(
    keys=BlockTuning(64, 6, 1),
    with_values=_TILE,
    long_keys=_TILE,
    long_keys_with_values=_TILE,
    reserving=_TILE,
    reserving_long=_TILE,
    counting=(64, 1),
    warps=(64, 1),
    multiprocessors=1,
    groups_per_multiprocessor=2,
    warps_per_multiprocessor=5,
    chunk_keys=(1152, 1, 1),
    together=_TILE,
    alone=_TILE,
)
"""For at most 32 digits: a block has one thread per digit."""


def few(function, own, count):
    """Return whether a case has few buckets, so that offsets are not most of the work."""
    return function.count <= max(256, count)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("f4")
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f4", "f8"])
def test_functions(dtype: str) -> None:
    for count in (1, 1023, 2049):
        keys = keys_of(dtype, "uniform", count)
        values = columns_of(count)[:1]
        for function, own in few_computed(cases(keys)):
            if few(function, own, count):
                check(keys, values, own, function.count, launched(keys, values, function))


@pytest.mark.long_except("near")
@pytest.mark.parametrize("kind", ["uniform", "near"])
def test_keys_of_16_bytes(kind: str) -> None:
    keys = wide_keys_of(kind, 1500)
    values = columns_of(1500)[:1]
    for function, own in few_computed(wide_cases(keys)):
        if few(function, own, 1500):
            check(keys, values, own, function.count, launched(keys, values, function))


@pytest.mark.covering(default=1)
@pytest.mark.long_except("uniform-*-random", "constant-block-random")
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["uniform", "constant"])
def test_strategies(order: str, strategy: str, kind: str) -> None:
    tile = 64 * 2
    edges = (1, tile - 1, tile, tile + 1, 384, 2500)
    for count in (1, tile + 1, 384) if strategy in {"recursive", "iterative"} else edges:
        keys = keys_of("u4", kind, count)
        values = columns_of(count)
        for low, high in ((31, 32), (2, 5), (0, 5)):
            function = buckets.bits(low, high)
            own = (keys >> low & (function.count - 1)).astype("i8")
            shapes = SMALL_TUNING if strategy in {"reduced_bit", "iterative"} else SMALL  # labels of a byte have 256 digits
            found = launched(keys, values, function, strategy=strategy, shapes=shapes, order=order, seed=count)
            check(keys, values, own, function.count, found)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("f4-look_back", "f4-recursive", "f4-reduced_bit")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("dtype", ["u2", "u8", "f4", "V16"])
def test_strategies_for_any_function(strategy: str, dtype: str) -> None:
    keys = wide_keys_of("near", 1300) if dtype == "V16" else keys_of(dtype, "skewed", 1300)
    values = columns_of(1300)
    most = {"direct": 32, "warp": 32, "iterative": 256}.get(strategy, 2**24)
    for function, own in few_computed(wide_cases(keys) if dtype == "V16" else cases(keys)):
        if function.count <= min(most, 3000):
            found = launched(keys, values, function, strategy=strategy)
            check(keys, values, own, function.count, found)
        elif function.count > most:
            with pytest.raises(OptionError, match="is for up to"):
                launched(keys, values, function, strategy=strategy)


@pytest.mark.long_except("8-*")
@pytest.mark.parametrize("strategy", ["block", "look_back"])
@pytest.mark.parametrize("bits", [6, 7, 8])
def test_many_digits(strategy: str, bits: int) -> None:
    for count in (1023, 1025, 9001):
        keys = keys_of("u4", "skewed", count)
        for values in ([], columns_of(count)):
            own = (keys >> 3 & ((1 << bits) - 1)).astype("i8")
            found = launched(keys, values, buckets.bits(3, 3 + bits), strategy=strategy, seed=bits)
            check(keys, values, own, 1 << bits, found)


@pytest.mark.parametrize("width", [2, 8, 3, 12])
def test_keys_of_any_width(width: int) -> None:
    keys = np.random.default_rng(width).integers(0, 256, (1100, width), np.uint8)
    own = np.array([int.from_bytes(row.tobytes(), "little") % 77 for row in keys])
    values = columns_of(1100)[:1]
    check(keys, values, own, 77, launched(keys, values, buckets.modulo(77)))


def test_values_of_any_width() -> None:
    keys = keys_of("u4", "uniform", 1100)
    order = np.argsort(keys % 200, kind="stable")
    values = [columns_of(1100)[0], *odd_columns_of(1100)]
    found = launched(keys, values, buckets.modulo(200)).values
    for column, given in zip(found, values, strict=True):
        assert column.tobytes() == given[order].tobytes()


def test_more_columns_than_a_launch_takes() -> None:
    keys, values = keys_of("u4", "uniform", 1500), columns_of(1500) * 2
    check(keys, values, (keys % 32).astype("i8"), 32, launched(keys, values, buckets.bits(0, 5), strategy="block"))


@pytest.mark.long_except("*-u4")
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant"])
def test_reserving_keeps_the_keys_of_each_digit(dtype: str, kind: str) -> None:
    for count in (1, 1023, 1024, 1025, 9001):
        keys = keys_of(dtype, kind, count)
        launcher = FiberLauncher("random", count)
        given, made = launcher.put(keys), launcher.allocate(keys.nbytes)
        by = bits_pass(f"u{keys.itemsize * 8}", 5, 13)
        splitter = Splitter(launcher, count, SMALL_TUNING)
        starts, _ = splitter.starts(by, given)
        begins = starts.array.view("u8").copy()
        splitter.run_by_reserving(by, MovedItems(given, made, keys.itemsize), starts)
        own = keys >> 5 & 255
        order = np.argsort(own, kind="stable")
        np.testing.assert_array_equal(begins, np.searchsorted(own[order], np.arange(256)))
        np.testing.assert_array_equal(starts.array.view("u8"), np.searchsorted(own[order], np.arange(256), "right"))
        found = made.array.view(keys.dtype)
        for digit in range(256):
            part = slice(int(begins[digit]), int(starts.array.view("u8")[digit]))
            np.testing.assert_array_equal(np.sort(found[part]), np.sort(keys[own == digit]))


def test_keys_in_no_bucket_are_told_and_stay_within_bounds() -> None:
    keys = keys_of("u4", "uniform", 3000)
    floats = np.array([1, np.nan, 7, 900], "f4")
    for given, function in (
        (keys, buckets.identity(9)),
        (keys, buckets.even(0, 1 << 31, 200)),
        (keys, buckets.computed(100, key)),
        (floats, buckets.even(0, 8, 4)),
        (floats, buckets.splitters([0, 4, 8])),
    ):
        with pytest.raises(OptionError, match="in none of the"):
            launched(given, [], function)


def test_structures_have_the_sizes_of_their_kernels() -> None:
    by = bits_pass("u32", 3, 11)
    assert struct.unpack("<4I", by.digit) == (3, 255, 255, 0)
    assert (by.bits, by.digits, bits_pass("u32", 0, 1).bits, bits_pass("u64", 0, 1).bits) == (8, 256, 1, 8)
