"""Compares MSD sorts whose first pass is by splitters of a sample with Python's stable sort, under the fiber harness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.layouts.layout import layout
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import check, deep_keys, keys_of

pytestmark = pytest.mark.fibers

SPLITTERS_OFFSET = layout("DevicePlan").offset("division")
BY_SPLITTERS = 1
"""Value of ``Division`` of sort_task.hpp."""
TUNING = replace(HARNESS_TUNING, lsd=replace(HARNESS_TUNING.lsd, prefix_histogram=None))
"""Without the prefixes that are counted before a sample is sorted."""


class Watching(FiberLauncher):
    """Records whether the plan has splitters."""

    has_splitters = False

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "choose_plan":
            self.has_splitters = self.fetch(args[-1])[SPLITTERS_OFFSET] == BY_SPLITTERS


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
        "repeated": random.choice(random.standard_normal(count // 20), count),
    }[kind]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("kind", ["normal", "narrow", "exponential", "outliers", "numbers", "uniform", "repeated"])
def test_distributions(kind: str, in_place: bool) -> None:
    keys, launcher = drawn(kind, 2500), Watching("random", in_place)
    for descending in (False, True):
        order = KeyOrder.of(keys.dtype.str, descending=descending)
        check(keys, order=order, tuning=TUNING, in_place=in_place, launcher=launcher)
        assert launcher.has_splitters


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1)])
def test_keys_that_the_sample_misses(how: tuple[str, int]) -> None:
    """Half of the keys share all but their lowest bits, a fifth is one value; the sample has only other keys."""
    keys, launcher = deep_keys("u8", 3000), Watching(*how)
    keys[3000 * np.arange(256) // 256] = np.random.default_rng(1).integers(0, 2**64, 256, np.uint64)
    check(keys, tuning=TUNING, launcher=launcher)
    assert launcher.has_splitters


@pytest.mark.parametrize(
    ("dtype", "kind"), [("f8", "sorted"), ("f8", "reversed"), ("f8", "constant"), ("f8", "few"), ("u4", "random")]
)
def test_keys_that_need_no_splitters(dtype: str, kind: str) -> None:
    launcher = Watching("random", 2)
    check(keys_of(dtype, 2000, kind), tuning=TUNING, launcher=launcher)
    assert not launcher.has_splitters
