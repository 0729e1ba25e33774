"""Tests plans from prefix counts: when they are made, and that counts and decisions are right."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import SortContext
from headrace.arrange.sort.gpu.lsd.lsd import DevicePlan, MsdUse, PlanInputs
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.layouts.layout import layout
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import entropy_keys, keys_of, words

pytestmark = pytest.mark.fibers

HOW = {"undecided": 0, "straight": 1, "reversed": 2, "by_digits": 3, "by_parts": 4}
MAX_IN_ONE = 256
DIVISION_OFFSET = layout("DevicePlan").offset("division")
BY_RANKS = 2
"""Value of ``Division`` of sort_task.hpp."""


def planned(keys, *, order=None, how=("random", 0), max_in_one=MAX_IN_ONE, value_bytes=0):
    """Return the method, the digits of passes, whether prefixes were counted and made the plan, and their counts."""
    launcher = FiberLauncher(*how)
    order = order or KeyOrder.of(keys.dtype.str)
    of_keys = KeyType(keys.itemsize, order.packed)
    zeros = launcher.allocate(DevicePlan.nbytes(of_keys, HARNESS_TUNING.lsd, counts_prefixes=True), fill=0)
    context = SortContext(launcher, len(keys), 2)
    plan = DevicePlan(context, of_keys, HARNESS_TUNING.lsd, zeros, counts_prefixes=True)
    plan.make(launcher.put(keys), PlanInputs(False, False, MsdUse.IF_CHEAPER, max_in_one, value_bytes))
    made = launcher.fetch(plan.plan).view(np.uint32)
    steps = made[4:].reshape(-1, 4)[: made[1], 0].tolist()
    heads = launcher.fetch(plan.prefix_counts).view(np.uint32)
    has_ranks = launcher.fetch(plan.plan)[DIVISION_OFFSET] == BY_RANKS
    np.testing.assert_array_equal(
        heads, expected_heads(keys, order, launcher.fetch(plan.rank_map) if has_ranks else None, made[2])
    )
    return int(made[0]), steps, bool(made[2]), bool(made[3]), heads


def expected_heads(keys, order, rank_map, are_counted):
    """Return the counts of prefixes of 8 bits: those of codes, or of ranks by a map."""
    if rank_map is None:
        return heads_of(keys, order) * int(are_counted)
    low, most, zeros, _, cell_bits, _, *cells = rank_map.view("u4").tolist()
    counts = [0] * 256
    for word in words(keys).tolist():
        distance = min(max(order.code(word) - low, 0), most) << zeros
        if cell_bits == 0:
            counts[distance * 256 // ((most << zeros) + 1)] += 1
            continue
        cell, inside = distance >> (32 - cell_bits), distance % (1 << (32 - cell_bits))
        counts[(cells[cell] & 0xFFFF) + ((inside << cell_bits) * (cells[cell] >> 16) >> 32)] += 1
    return counts


def heads_of(keys, order, bits=8):
    codes = np.array([order.code(word) for word in words(keys).tolist()], np.uint64)
    return np.bincount((codes >> np.uint64(8 * keys.itemsize - bits)).astype(np.int64), minlength=1 << bits)


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4", "u8", "f8"])
@pytest.mark.parametrize("descending", [False, True])
def test_heads_are_counted_in_any_order_of_keys(dtype: str, descending: bool) -> None:
    for count in (900, 2600, 5001):
        drawn = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
        keys = drawn.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
        order = KeyOrder.of(np.dtype(dtype).str, descending=descending, total_order=True)
        how, steps, _, made, heads = planned(keys, order=order)
        digits = 2 * keys.itemsize
        assert (how, made, steps[:3]) == (HOW["by_parts"], True, [digits - 1, digits - 2, digits - 3])
        np.testing.assert_array_equal(heads, heads_of(keys, order))


def test_counters_that_fill_up_are_emptied_in_time() -> None:
    """One head for most keys of a tile, again and again, so that counters are drained between and others are not."""
    random = np.random.default_rng(3)
    keys = random.integers(0, 2**32, 9000, np.uint64).astype("u4")
    for first in range(0, 9000, 1000):
        keys[first : first + 800] = (keys[first : first + 800] & 0xFFFFFF) | (first % 7 << 24)
    assert planned(keys)[2]


@pytest.mark.parametrize("kind", ["sorted", "reversed", "constant", "few"])
def test_keys_that_are_not_worth_it(kind: str) -> None:
    how, _, taken, made, _ = planned(keys_of("u4", 3000, kind))
    assert (taken, made) == (False, False)
    expected = {"sorted": "straight", "constant": "straight", "reversed": "reversed", "few": "by_digits"}
    assert how == HOW[expected[kind]]


def test_skew_that_a_sample_sees() -> None:
    for ands in (5, 9):
        assert planned(entropy_keys("u4", 5000, ands))[2:4] == (False, False)


def test_parts_that_would_not_take_one_pass() -> None:
    """Prefixes are spread evenly, the bits below are not: estimated ranks take the place of bits."""
    keys = entropy_keys("u4", 9000, 0)
    assert planned(keys)[2:4] == (True, True)
    crowded = np.where(np.arange(9000) % 20 == 0, keys, keys & np.uint32(0xFF0FFFFF))
    how, steps, taken, made, _ = planned(crowded)
    assert (how, steps, taken, made) == (HOW["by_parts"], [7] * 12, True, True)


def test_heads_that_are_alike_after_all() -> None:
    """The sample misses the difference: all digits are counted then, and the result is as good."""
    keys = np.full(5000, 0x01020304, "u4")
    sampled = 5000 * np.arange(256) // 256
    keys[sampled] = np.random.default_rng(1).integers(0, 2**32, 256, np.uint64).astype("u4")
    how, steps, taken, made, _ = planned(keys)
    assert (how, steps, taken, made) == (HOW["by_digits"], list(range(8)), True, False)


def test_a_digit_behind_heads_that_does_not_differ_is_no_step() -> None:
    keys = entropy_keys("u4", 3000, 0) & np.uint32(0xFFFF0F0F)
    how, steps, _, made, _ = planned(keys)
    assert (how, steps, made) == (HOW["by_parts"], [7, 6, 5, 4, 2, 0], True)
    how, steps, _, made, _ = planned(keys >> np.uint32(4))  # keys of a range have estimated ranks
    assert (how, steps, made) == (HOW["by_parts"], [7] * 12, True)


@pytest.mark.parametrize(("max_in_one", "value_bytes", "goes_by_parts"), [(256, 0, False), (1000, 0, True), (1000, 4, False)])
def test_values_of_many_keys(max_in_one: int, value_bytes: int, goes_by_parts: bool) -> None:
    """A 32nd of a leaf bucket may have one value; with values, 16 equal keys are many."""
    pool = np.random.default_rng(6).integers(0, 2**32, 40, np.uint64).astype("u4")
    keys = np.random.default_rng(7).choice(pool, 5000)
    how, _, taken, _, _ = planned(keys, max_in_one=max_in_one, value_bytes=value_bytes)
    assert (how, taken) == (HOW["by_parts" if goes_by_parts else "by_digits"], goes_by_parts)


def test_digits_that_go_together() -> None:
    """The two highest digits are the same, so the second one divides no bucket, though both are spread evenly."""
    random = np.random.default_rng(8)
    keys = (random.integers(0, 16, 5000) * 0x11000000 + random.integers(0, 256, 5000)).astype("u4")
    how, steps, _, made, _ = planned(keys)
    assert (how, steps, made) == (HOW["by_digits"], [0, 1, 6, 7], False)
