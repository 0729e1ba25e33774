"""Compares sorts with heavy hitters at every edge with Python's stable sort, under the fiber harness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.lsd.lsd import REMAINDER_OFFSET
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import MEETING, check, columns_of, keys_of, words

pytestmark = pytest.mark.fibers

HEAVY_TUNING = replace(HARNESS_TUNING, heavy_hitters=HeavyHitterTuning(3, 64, 64, 1, 1))
MOST = 7
"""Maximum number of heavy hitters with this tuning."""


class Watching(FiberLauncher):
    """Records the number of heavy hitters, of remaining keys, and the method of their sort (device_plan.cuh)."""

    heavy = remainder = way = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "merge_heavy":
            plan = self.fetch(args[-1]).view("u4")
            heavy = REMAINDER_OFFSET // 4 - 1
            self.heavy, self.remainder, self.way = int(plan[heavy]), int(plan[heavy + 1]), int(plan[0])


def drawn(dtype: str, count: int, heavy, share: float):
    """Return uniform words in random order; a share of them has the values `heavy`."""
    random = np.random.default_rng(count)
    made = random.integers(0, 2**64, count, np.uint64).astype(f"u{np.dtype(dtype).itemsize}")
    if len(heavy):
        chosen = random.permutation(count)[: round(share * count)]
        made[chosen] = np.array(heavy, made.dtype)[np.arange(len(chosen)) % len(heavy)]
    return made.view(dtype)


def set_aside(keys, columns: int = 0):
    launcher = Watching("random", 1)
    buffers = [launcher.put(keys), launcher.allocate(keys.nbytes)]
    values = (MovedItems(launcher.put(words(keys)), launcher.allocate(keys.nbytes), keys.itemsize),)[:columns]
    given = SortRequest(KeyOrder.of(keys.dtype.str), buffers[0], buffers[1], values)
    Sorter(launcher, len(keys), HEAVY_TUNING, lambda: None).sort(given)
    np.testing.assert_array_equal(buffers[1].array.view(keys.dtype), np.sort(keys))
    return launcher.heavy, launcher.remainder, launcher.way


LOWEST, HIGHEST = 0, 2**32 - 1
CASES = {
    "lowest": ([LOWEST], 0.7),
    "highest": ([HIGHEST], 0.7),
    "both ends": ([LOWEST, HIGHEST], 0.8),
    "neighbours": ([5, 6, 7], 0.8),
    "one": ([0x12345678], 0.75),
    "all one of two": ([0x12345678, 0xA2345678], 1.0),
    "all, as many as there may be": ([i * 0x11111111 + 3 for i in range(MOST)], 1.0),
    "more than there may be": ([i * 0x11111111 + 3 for i in range(2 * MOST)], 1.0),
    "far apart": ([i << 28 for i in range(1, 7)], 0.85),
}


def at_case(case: str, dtype: str, count: int):
    heavy, share = CASES[case]
    return drawn(dtype, count, [value << 8 * (np.dtype(dtype).itemsize - 4) for value in heavy], share)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("i4-True-*", "u4-False-one")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("dtype", "descending"), [("u4", False), ("i4", True), ("u8", True), ("i8", False)])
def test_heavy_values_at_the_edges(case: str, dtype: str, descending: bool) -> None:
    order = KeyOrder.of(np.dtype(dtype).str, descending=descending)
    for count in (MEETING + 1, 1500):
        keys = at_case(case, dtype, count)
        check(keys, order=order, tuning=HEAVY_TUNING)
        check(keys, [np.arange(count).astype(f"u{keys.itemsize}")], order=order, tuning=HEAVY_TUNING)
        check(keys, columns_of(count, 3), order=order, in_place=True, tuning=HEAVY_TUNING)
    check(keys, order=order, in_place=True, tuning=HEAVY_TUNING)
    check(keys, order=order, index_bytes=8, wants_keys=False, tuning=HEAVY_TUNING)


@pytest.mark.long_except("f4")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_equal_floats_of_other_bits_keep_their_order(dtype: str) -> None:
    keys = keys_of(dtype, 1500)
    for in_place in (False, True):
        for total_order in (False, True):
            order = KeyOrder.of(keys.dtype.str, total_order=total_order)
            check(keys, order=order, in_place=in_place, tuning=HEAVY_TUNING)
            check(keys, columns_of(1500, 2), order=order, in_place=in_place, tuning=HEAVY_TUNING)


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_interleavings(how: tuple[str, int]) -> None:
    keys = drawn("u4", 1500, [7, 0x80000000, HIGHEST], 0.8)
    check(keys, how=how, tuning=HEAVY_TUNING)
    check(keys, columns_of(1500, 2), how=how, tuning=HEAVY_TUNING)


@pytest.mark.parametrize("columns", [0, 1])
def test_how_many_are_set_aside(columns: int) -> None:
    for count in (1000, 2500):
        keys = drawn("u4", count, [9, 0x70000000], 0.8)
        assert set_aside(keys, columns)[:2] == (2, count - round(0.8 * count))
        all_heavy = np.where(np.arange(count) % 2 == 1, 0x80000000, 9).astype("u4")
        assert set_aside(all_heavy, columns)[:2] == (2, 0)


@pytest.mark.parametrize("columns", [0, 1])
def test_what_does_not_pay(columns: int) -> None:
    """Keys drawn alike, a few of one value, in order, in the reverse one, and all one value."""
    none = (0, 0)
    assert set_aside(drawn("u4", 2500, [], 0), columns)[:2] == none
    assert set_aside(drawn("u4", 2500, [9], 0.1), columns)[:2] == none
    keys = drawn("u4", 2500, [9, HIGHEST], 0.9)
    assert set_aside(keys, columns)[0] == 2
    for others in (np.sort(keys), np.sort(keys)[::-1].copy(), np.full(2500, 9, "u4")):
        assert set_aside(others, columns)[:2] == none


def test_blocks_that_read_several_tiles() -> None:
    keys = drawn("u4", 13_000, [9, 0x70000000], 0.8)
    assert set_aside(keys)[0] == 2
    assert set_aside(keys, 1)[0] == 2


@pytest.mark.long_except("f4")
@pytest.mark.parametrize("dtype", ["u4", "f4", "u8", "f8"])
def test_light_keys_go_by_parts(dtype: str) -> None:
    """One value on half of the keys, the others drawn alike, as a column may be."""
    keys = drawn(f"u{dtype[1]}", 2500, [0x40], 0.5).view(dtype)
    assert set_aside(drawn("u4", 2500, [0x40], 0.5)) == (1, 1250, 4)
    for in_place in (False, True):
        check(keys, tuning=HEAVY_TUNING, in_place=in_place)
        check(keys, [np.arange(2500).astype(f"u{keys.itemsize}")], tuning=HEAVY_TUNING, in_place=in_place)
        check(keys, columns_of(2500, 3), tuning=HEAVY_TUNING, in_place=in_place)
    check(keys, index_bytes=4, wants_keys=False, tuning=HEAVY_TUNING)


@pytest.mark.parametrize("columns", [0, 1])
def test_light_keys_of_few_values_go_by_digits(columns: int) -> None:
    """Their digits are as even as those of keys drawn alike, but parts of them would not be."""
    values = np.random.default_rng(1).integers(0, 2**32, 23, np.uint64).astype("u4")
    values[:3] = LOWEST, 0x80000000, HIGHEST
    shares = np.array([*[0.25] * 3, *[0.25 / 20] * 20])
    keys = values[np.random.default_rng(2).choice(23, 6000, p=shares / shares.sum())]
    heavy, remainder, way = set_aside(keys, columns)
    assert heavy >= 3
    assert 0 < remainder < 2000
    assert way == 3
