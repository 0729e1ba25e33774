"""Compares GPU sorts under the fiber harness with Python's stable sort of codes, around the edges of tiles and algorithms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.lsd.tuning import TileTuning
from headrace.arrange.sort.gpu.msd.tuning import HybridOptions
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.single_launch.tuning import CooperativeTuning, RankSortTuning, SingleLaunchTuning
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.errors import MemoryLimitError, OptionError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import (
    ALONE,
    MEETING,
    PARTS_FROM,
    RANKED,
    MsdSorter,
    check,
    columns_of,
    entropy_keys,
    expected_rows,
    keys_of,
    single_launches,
    sort_under_harness,
    with_same_width,
    words,
)

pytestmark = pytest.mark.fibers

DTYPES = ["u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "?", "M8[s]"]
EDGES = [0, 1, 2, 31, RANKED - 1, RANKED, RANKED + 1, ALONE - 1, ALONE, ALONE + 1, MEETING, MEETING + 1]
ENTROPIES = [-1, *range(11)]
"""The paper's twelve: words ANDed together, and zeros."""


@pytest.mark.long_except("0-?[14]", "0-[iuf]2", "0-[?]", "1-f4")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [0, 1])
def test_types_at_the_edges_of_every_way(dtype: str, columns: int) -> None:
    for count in (*EDGES, PARTS_FROM + 7):
        check(keys_of(dtype, count), columns_of(count, columns))


@pytest.mark.covering(default=2)
@pytest.mark.long_except("True-*-i2", "True-*-f4", "False-False-f4")
@pytest.mark.parametrize("dtype", ["i2", "f4", "u8", "M8[s]"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("total_order", [False, True])
def test_orders(dtype: str, descending: bool, total_order: bool) -> None:
    order = KeyOrder.of(np.dtype(dtype).str, descending=descending, total_order=total_order)
    for count in (100, 200, 500, 700):
        keys = keys_of(dtype, count)
        if dtype == "M8[s]":
            keys[::9] = np.datetime64("NaT")
        check(keys, order=order)
        check(keys, columns_of(count, 1), order=order)


@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
@pytest.mark.parametrize(("dtype", "columns"), [("u4", 2), ("u8", 0)])
def test_interleavings(dtype: str, columns: int, how: tuple[str, int]) -> None:
    for count in (RANKED, ALONE, 513, 1100):
        check(keys_of(dtype, count), columns_of(count, columns), how=how)
    keys = keys_of(dtype, 1500)
    check(keys, strategy="hybrid", how=how)
    check(keys, columns_of(1500, 2), strategy="hybrid", stable=False, how=how)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("u4-0", "u4-8", "u4--1")
@pytest.mark.parametrize("ands", ENTROPIES)
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_entropies_give_the_same_by_every_way(dtype: str, ands: int) -> None:
    for count in (120, 500, 700, 2500):
        keys = entropy_keys(dtype, count, ands)
        for strategy in (None, "digits", "hybrid"):
            check(keys, strategy=strategy)
        check(keys, columns_of(count, 1))
        check(keys, columns_of(count, 1), strategy="hybrid", stable=False)


@pytest.mark.long_except("u4-0", "u4-3")
@pytest.mark.parametrize("ands", [0, 1, 3, 8])
@pytest.mark.parametrize("dtype", ["u4", "f4", "u8", "f8"])
def test_parts_whatever_the_plan_would_say(dtype: str, ands: int) -> None:
    for count in (PARTS_FROM, 2500):
        keys = entropy_keys(dtype, count, ands)
        check(keys, sorter=MsdSorter)
        check(keys, columns_of(count, 2), sorter=MsdSorter)
        check(keys, [np.arange(count).astype(f"u{keys.itemsize}")], sorter=MsdSorter, in_place=ands % 2 == 1)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("u4-False")
@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("dtype", ["u4", "u8", "f4", "f8"])
def test_one_value_together_with_its_key_or_behind_it(dtype: str, follows: bool) -> None:
    width = int(dtype[1])
    tuning = with_same_width(HARNESS_TUNING, TileTuning(64, 4, 1, width, follows))
    for count in (1023, 1024, 1281):
        values = [np.arange(count).astype(f"u{width}")]
        keys = entropy_keys(dtype, count, 3) if dtype[0] == "u" else keys_of(dtype, count)
        for in_place in (False, True):
            check(keys, values, tuning=tuning, strategy="digits", in_place=in_place)
        check(keys, values, tuning=tuning, sorter=MsdSorter)
        check(keys, tuning=tuning, index_bytes=width, wants_keys=False)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("i4-*")
@pytest.mark.parametrize("kind", ["sorted", "reversed", "rising", "constant", "few"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i4", "f8"])
def test_keys_in_some_order_already(dtype: str, kind: str, in_place: bool) -> None:
    for count in (100, 200, 513, 1000):
        keys = keys_of(dtype, count, kind)
        check(keys, in_place=in_place)
        check(keys, columns_of(count, 1), in_place=in_place)
    check(keys_of("i4", 999, "rising")[::-1].copy(), columns_of(999, 1), in_place=in_place)
    check(keys_of("u4", 1001, kind), strategy="hybrid", in_place=in_place)


@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", ["u2", "u4", "u8"])
def test_values_of_any_width_and_number(dtype: str, in_place: bool) -> None:
    for count in (100, 200, 500, 800):
        for columns in (2, 5, 9):
            check(keys_of(dtype, count, "few"), columns_of(count, columns), in_place=in_place)
    if dtype != "u2":
        check(keys_of(dtype, 900), columns_of(900, 3), strategy="hybrid", stable=False, in_place=in_place)


@pytest.mark.long_except("*-f4")
@pytest.mark.parametrize("dtype", ["u1", "f4", "i8"])
@pytest.mark.parametrize("index_bytes", [4, 8])
def test_places(index_bytes: int, dtype: str) -> None:
    for count in (1, 100, 250, 500, 800):
        check(keys_of(dtype, count), index_bytes=index_bytes, wants_keys=False)
    check(keys_of("u4", 900), index_bytes=index_bytes, wants_keys=False, strategy="hybrid", stable=False)
    check(keys_of("u4", 700), columns_of(700, 2), index_bytes=index_bytes)


@pytest.mark.long_except("u4")
@pytest.mark.parametrize("dtype", ["u4", "f8"])
def test_more_keys_than_a_launch_takes(dtype: str) -> None:
    """The keys are sorted by portions, as above 2**30."""
    tuning = replace(HARNESS_TUNING, lsd=replace(HARNESS_TUNING.lsd, portion=700))
    keys = keys_of(dtype, 1900)
    check(keys, tuning=tuning, strategy="digits")
    check(keys, columns_of(1900, 1), tuning=tuning)


@pytest.mark.long
@pytest.mark.parametrize("bits", [5, 6])
def test_digits_of_other_widths(bits: int) -> None:
    """A key may have an odd number of such digits, and its highest digit is narrower."""
    tuning = replace(HARNESS_TUNING, lsd=replace(HARNESS_TUNING.lsd, bits=bits))
    for in_place in (False, True):
        check(keys_of("i2", 700), columns_of(700, 1), tuning=tuning, in_place=in_place)
        check(keys_of("u4", 700), tuning=tuning, in_place=in_place, strategy="digits")


@pytest.mark.covering(long=0)
@pytest.mark.long_except("128-4-False")
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("threads", "own"), [(64, 1), (64, 2), (128, 4), (256, 8), (256, 1)])
def test_keys_that_are_ranked_among_all_by_other_shapes(threads: int, own: int, in_place: bool) -> None:
    """Counts around those of a block's own keys and of all. A warp loads several times; in place, other warps must wait for the
    loads. Some launches have more warps than work.
    """
    block, blocks = 32 * own, 9
    most = block * blocks
    single = single_launches((RankSortTuning(most, threads, own),), ())
    tuning = replace(HARNESS_TUNING, single_launch=single, multiprocessors=blocks)
    given = {"tuning": tuning, "in_place": in_place, "how": ("random", 0, blocks)}
    for count in (1, block - 1, block, block + 1, most - 1, most):
        for dtype in ("u1", "f4", "u8"):
            check(keys_of(dtype, count), **given)
            check(keys_of(dtype, count), columns_of(count, 2), **given)
        for keys in (keys_of("u8", count, "few"), np.full(count, 2**64 - 1, np.uint64), -keys_of("f4", count)):
            check(keys, columns_of(count, 1), **given)


def test_ranking_is_for_as_many_blocks_as_may_wait_for_each_other() -> None:
    """In place they do; each shape of a card of 132 multiprocessors, and what smaller ones have in its stead."""
    own = [2, 4, 8]
    found = {
        (132, 4): [1 << 13, 1 << 14, 0],
        (132, 8): [1 << 13, 1 << 14, 1 << 15],
        (108, 4): [108 * 64, 108 * 128, 0],
        (20, 8): [20 * 64, 20 * 128, 20 * 256],
    }
    for (multiprocessors, width), most in found.items():
        for has_values in (False, True):
            table, counts = SingleLaunchTuning(), range(1, (1 << 15) + 2)
            ways = [table.select(width, count, multiprocessors, has_values=has_values) for count in counts]
            ranks = [way.block_groups if isinstance(way, RankSortTuning) else 0 for way in ways]
            assert [max((i + 1 for i, rank in enumerate(ranks) if rank == one), default=0) for one in own] == most


@pytest.mark.long
@pytest.mark.parametrize("in_place", [False, True])
def test_blocks_that_meet_by_other_shapes(in_place: bool) -> None:
    """Digits of other widths, so that their number is odd or the last is narrower; a block alone; constant digits."""
    for bits, threads, items in ((5, 32, 6), (4, 32, 6), (5, 64, 2), (6, 64, 4), (4, 32, 10)):
        block = threads * items
        single = single_launches((), (CooperativeTuning(4 * block, items, threads, bits),))
        tuning = replace(HARNESS_TUNING, single_launch=single)
        for count in (1, block, 3 * block + 1, 4 * block):
            for dtype in ("u1", "f4", "u8"):
                check(keys_of(dtype, count), columns_of(count, 3), tuning=tuning, in_place=in_place)
                check(keys_of(dtype, count, "few"), tuning=tuning, in_place=in_place)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("off", ["keeps_counts", "reduces", "looks_ahead", "merges", "by_size"])
@pytest.mark.parametrize("ands", [0, 3, 8])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_what_the_ablation_switches_off_changes_no_answer(dtype: str, off: str, ands: int) -> None:
    options = HybridOptions(**{off: False})
    for in_place in (False, True):
        check(entropy_keys(dtype, 2000, ands), strategy="hybrid", options=options, in_place=in_place)


def test_strategies_that_cannot_do_it_say_so() -> None:
    for keys, options, message in (
        (keys_of("u2", 900), {}, "4 and 8 bytes"),
        (keys_of("u4", 900), {"index_bytes": 4}, "stable=False"),
    ):
        with pytest.raises(OptionError, match=message):
            sort_under_harness(keys, strategy="hybrid", **options)


@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
def test_is_sorted(dtype: str) -> None:
    for count in (0, 1, 2, 33, 1025, 3000):
        for descending in (False, True):
            order = KeyOrder.of(np.dtype(dtype).str, descending=descending)
            keys = keys_of(dtype, count)
            keys = keys[expected_rows(keys, order, by_equals=True)]
            assert is_sorted(keys, order)
            for place in {0, count // 2, count - 2} & set(range(count - 1)):
                other = keys.copy()
                other[place], other[place + 1] = keys[-1], keys[0]
                codes = [order.equal_code(word) for word in words(other).tolist()]
                assert is_sorted(other, order) == (codes == sorted(codes))


def is_sorted(keys, order) -> bool:
    launcher = FiberLauncher("random", len(keys))
    return Sorter(launcher, len(keys), HARNESS_TUNING, lambda: None).is_sorted(SortRequest(order, launcher.put(keys), None))


@pytest.mark.covering(long=0)
@pytest.mark.long_except("8-i4")
@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
@pytest.mark.parametrize("index_bytes", [4, 8])
def test_top_k(dtype: str, index_bytes: int) -> None:
    for count in (1, 300, 2600):
        keys = keys_of(dtype, count)
        for descending in (False, True):
            order = KeyOrder.of(np.dtype(dtype).str, descending=descending)
            rows = expected_rows(keys, order, by_equals=True)
            for k in {0, 1, 5, count // 3, count - 1, count} & set(range(count + 1)):
                launcher = FiberLauncher("random", k)
                target, places = launcher.allocate(k * keys.itemsize), launcher.allocate(k * index_bytes)
                given = SortRequest(order, launcher.put(keys), target, (), RowNumbers(places, index_bytes))
                Sorter(launcher, count, HARNESS_TUNING, lambda launcher=launcher: launcher.allocate(16, fill=0)).top_k(given, k)
                np.testing.assert_array_equal(places.array.view(f"u{index_bytes}"), rows[:k])
                np.testing.assert_array_equal(target.array.view(words(keys).dtype), words(keys)[rows[:k]])


class Limited(FiberLauncher):
    """Has memory for a limited number of buffers."""

    def __init__(self, buffers: int) -> None:
        super().__init__("forward")
        self.capacity_left = buffers

    def allocate(self, nbytes, *, fill=None):
        if self.capacity_left == 0:
            raise MemoryLimitError("no more buffers")
        self.capacity_left -= 1
        return super().allocate(nbytes, fill=fill)


@pytest.mark.parametrize("strategy", [None, "hybrid"])
@pytest.mark.parametrize(("count", "columns"), [(200, 1), (500, 1), (1000, 0), (1000, 1), (1000, 3)])
def test_what_is_sorted_in_place_is_intact_where_memory_is_short(strategy: str | None, count: int, columns: int) -> None:
    keys, values = keys_of("u4", count), columns_of(count, columns)
    for more in range(40):
        launcher = Limited(1 + columns + more)
        buffers = [launcher.put(array) for array in (keys, *values)]
        carried = tuple(MovedItems(buffer, buffer, array.itemsize) for buffer, array in zip(buffers[1:], values, strict=True))
        given = SortRequest(KeyOrder.of("<u4"), buffers[0], buffers[0], carried, stable=strategy is None, strategy=strategy)
        sorter = Sorter(launcher, count, HARNESS_TUNING, lambda launcher=launcher: launcher.allocate(16, fill=0))
        try:
            sorter.sort(given)
        except MemoryLimitError:
            for buffer, array in zip(buffers, (keys, *values), strict=True):
                np.testing.assert_array_equal(buffer.array, array.view("u1"))
        else:
            break
    np.testing.assert_array_equal(buffers[0].array.view("u4"), np.sort(keys))
    assert more > 0 or count <= ALONE


class Watching(FiberLauncher):
    """Records the method of the plan: 1 copy, 2 reverse, 3 LSD, 4 MSD (device_plan.cuh)."""

    way = -1

    def launch(self, entry, shape, args):
        if entry.name == "copy_or_reverse":
            self.way = int(self.fetch(args[0]).view("u4")[0])
        super().launch(entry, shape, args)


@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize(
    ("kind", "ands", "way"), [("drawn", 0, 4), ("drawn", 6, 3), ("drawn", -1, 1), ("rising", 0, 1), ("falling", 0, 2)]
)
@pytest.mark.parametrize("columns", [0, 1])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_the_way_is_chosen_by_the_keys(kind: str, ands: int, way: int, columns: int, dtype: str) -> None:
    count = 2000
    keys = entropy_keys(dtype, count, ands) if kind == "drawn" else np.arange(count).astype(dtype)
    keys = keys[::-1].copy() if kind == "falling" else keys
    launcher = Watching("random", 1)
    buffers = [launcher.put(keys), launcher.allocate(keys.nbytes)]
    values = (MovedItems(launcher.put(np.arange(count)), launcher.allocate(8 * count), 8),)[:columns]
    Sorter(launcher, count, HARNESS_TUNING, lambda: None).sort(
        SortRequest(KeyOrder.of(keys.dtype.str), buffers[0], buffers[1], values)
    )
    assert launcher.way == way
    np.testing.assert_array_equal(buffers[1].array.view(dtype), np.sort(keys))


@pytest.mark.long_except("*-f4")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_floats_by_parts(dtype: str, columns: int) -> None:
    """Values -0 and 0, and all NaN, are equal and keep their order, though keys go by parts."""
    keys = entropy_keys(f"u{dtype[1]}", 2000, 0).view(dtype)
    keys[::61], keys[7::67], keys[3::71] = 0.0, -0.0, np.nan
    check(keys, columns_of(len(keys), columns))
    check(-keys, columns_of(len(keys), columns), in_place=True)
    launcher = Watching("random", 1)
    buffers = [launcher.put(keys), launcher.allocate(keys.nbytes)]
    Sorter(launcher, len(keys), HARNESS_TUNING, lambda: None).sort(
        SortRequest(KeyOrder.of(keys.dtype.str), buffers[0], buffers[1])
    )
    assert launcher.way >= 3


@pytest.mark.long_except("*-u4")
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("columns", [0, 1])
def test_parts_with_many_keys_alike(dtype: str, columns: int) -> None:
    """A bin takes no more than 32 of those that others come between."""
    keys = entropy_keys(dtype, 2000, 0)
    keys[::40], keys[1::39] = keys[5], keys[5] + 1
    check(keys, columns_of(len(keys), columns))
    check(keys, columns_of(len(keys), columns), in_place=True)
