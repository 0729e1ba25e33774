"""Compares MSD sorts by estimated ranks of a sample with Python's stable sort, under the fiber harness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.layouts.layout import layout
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import check, deep_keys, keys_of

pytestmark = pytest.mark.fibers

DIVISION_OFFSET = layout("DevicePlan").offset("division")
BY_RANKS = 2
"""Value of ``Division`` of sort_task.hpp."""
COUNT = 2500


class Watching(FiberLauncher):
    """Records whether the plan goes by estimated ranks, and whether their map has cells."""

    has_ranks = has_cells = False

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "sample_prefixes":
            self.has_cells = bool(self.fetch(args[-2])[layout("RankMap").offset("cell_bits")])
        if entry.name == "choose_plan":
            self.has_ranks = self.fetch(args[-1])[DIVISION_OFFSET] == BY_RANKS


def drawn(kind: str) -> Any:
    """Return keys of 4 bytes of a distribution."""
    random = np.random.default_rng(4)
    return {
        "few bits": random.integers(-5, 50_000_000, COUNT, "i4"),
        "floats": np.where(random.random(COUNT) < 0.5, 1, 4096).astype("f4") * (1 + random.random(COUNT).astype("f4")),
    }[kind]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("kind", "has_cells"), [("few bits", False), ("floats", True)])
def test_distributions(kind: str, has_cells: bool, in_place: bool) -> None:
    """Keys that are spread evenly over a range need no cells."""
    keys = drawn(kind)
    for descending in (False, True):
        launcher = Watching("random", in_place)
        order = KeyOrder.of(keys.dtype.str, descending=descending)
        check(keys, order=order, in_place=in_place, launcher=launcher)
        assert (launcher.has_ranks, launcher.has_cells) == (True, has_cells)


def test_values_of_several_keys() -> None:
    """Five keys have a value on average, so that bins of local sorts hold equal ones."""
    random, launcher = np.random.default_rng(5), Watching("random", 3)
    check(random.choice(random.integers(-5, 50_000_000, 1500, "i4"), 8000), launcher=launcher)
    assert launcher.has_ranks


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1)])
@pytest.mark.parametrize("has_cells", [False, True])
def test_keys_that_the_sample_misses(has_cells: bool, how: tuple[str, int]) -> None:
    """Half of the keys share all but their lowest bits, a fifth is one value; the sample has only other keys.

    Some keys are below the lowest one of the sample, and some above the highest one.
    """
    keys, launcher = deep_keys("u4", 3000), Watching(*how)
    sampled = (3000 * np.arange(256) // 256)[:, None] + np.arange(8)
    random = np.random.default_rng(1)
    if has_cells:
        own = random.integers(0, 1 << 18, sampled.shape, "u4") + 15 * (1 << 18) * random.integers(0, 2, sampled.shape, "u4")
    else:
        own = random.integers(0, 1 << 20, sampled.shape, "u4")
    keys[np.minimum(sampled, 2999)] = own + np.uint32(1 << 21)
    check(keys, launcher=launcher)
    assert (launcher.has_ranks, launcher.has_cells) == (True, has_cells)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("ends", [(), (0,), (0xFFFFFFFF,), (0, 0xFFFFFFFF), (1, 0xFFFFFFFF), (0, 0xFFFFFFFE)])
def test_a_sample_with_the_ends_of_all_codes(ends: tuple[int, ...], descending: bool) -> None:
    """Bit 23 of the other keys is 0, so that they are not spread evenly."""
    count, launcher = 3000, Watching("random", 1)
    keys = np.random.default_rng(3).integers(0, 1 << 32, count, "u8").astype("u4") & np.uint32(0xFF7FFFFF)
    for end, sampled in zip(ends, (5, 90), strict=False):
        keys[count * sampled // 256] = end
    check(keys, order=KeyOrder.of(keys.dtype.str, descending=descending), launcher=launcher)
    assert launcher.has_ranks


@pytest.mark.parametrize("kind", ["sorted", "reversed", "constant", "few"])
def test_keys_that_need_no_ranks(kind: str) -> None:
    launcher = Watching("random", 2)
    check(keys_of("f4", 2000, kind), launcher=launcher)
    assert not launcher.has_ranks


def test_pairs_do_not_go_by_ranks() -> None:
    launcher = Watching("random", 2)
    check(drawn("few bits"), [np.arange(COUNT, dtype="u4")], launcher=launcher)
    assert not launcher.has_ranks
