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

RANKS_OFFSET = layout("DevicePlan").offset("has_rank_map")


class Watching(FiberLauncher):
    """Records whether the plan has a rank map."""

    has_ranks = False

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "choose_plan":
            self.has_ranks = bool(self.fetch(args[-1])[RANKS_OFFSET])


def drawn(kind: str, count: int) -> Any:
    """Return keys of a distribution."""
    random = np.random.default_rng(count)
    outliers = np.where(np.arange(count) % 500 == 3, 1e300, random.standard_normal(count))
    return {
        "normal": random.standard_normal(count),
        "narrow": 1e6 + random.random(count),
        "exponential": random.standard_exponential(count),
        "outliers": outliers,
        "numbers": random.integers(-5, 10**6, count),
        "uniform": random.integers(0, 2**64, count, np.uint64),
    }[kind]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("kind", ["normal", "narrow", "exponential", "outliers", "numbers", "uniform"])
def test_distributions(kind: str, in_place: bool) -> None:
    keys, launcher = drawn(kind, 2500), Watching("random", in_place)
    for descending in (False, True):
        order = KeyOrder.of(keys.dtype.str, descending=descending)
        check(keys, order=order, in_place=in_place, launcher=launcher)
        assert launcher.has_ranks == (kind != "uniform")


@pytest.mark.parametrize("kind", ["few bits", "thirds", "float"])
def test_keys_of_4_bytes(kind: str) -> None:
    random = np.random.default_rng(4)
    keys = {
        "few bits": random.integers(-5, 50_000_000, 2500, "i4"),
        "thirds": (random.integers(0, 3, 2500, "u4") << 30) + random.integers(0, 1 << 26, 2500, "u4"),
        "float": (1000 + random.standard_normal(2500)).astype("f4"),
    }[kind]
    launcher = Watching("random", 3)
    check(keys, launcher=launcher)
    assert launcher.has_ranks


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1)])
def test_keys_that_the_sample_misses(how: tuple[str, int]) -> None:
    """Half of the keys share all but their lowest bits, a fifth is one value; the sample has only other keys.

    Some keys are below the lowest one of the sample, and some above the highest one.
    """
    keys, launcher = deep_keys("u8", 3000), Watching(*how)
    sampled = (3000 * np.arange(256) // 256)[:, None] + np.arange(4)
    random = np.random.default_rng(1).integers(0, 2**50, sampled.shape, np.uint64)
    keys[np.minimum(sampled, 2999)] = random + np.uint64(2**54)
    check(keys, launcher=launcher)
    assert launcher.has_ranks


@pytest.mark.parametrize(("dtype", "kind"), [("f8", "sorted"), ("f8", "reversed"), ("f8", "constant"), ("f8", "few")])
def test_keys_that_need_no_ranks(dtype: str, kind: str) -> None:
    launcher = Watching("random", 2)
    check(keys_of(dtype, 2000, kind), launcher=launcher)
    assert not launcher.has_ranks
