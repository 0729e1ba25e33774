"""Tests ranks inside a digit: by match in the order of the keys, by atomics in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headrace.testing import fibers

SOURCE = Path(__file__).parent / "kernels" / "rank.cu"
KINDS = {"uniform": 32, "few": 3, "one": 1}


def stable_ranks(digits):
    return np.array([np.count_nonzero(digits[:i] == digit) for i, digit in enumerate(digits)], "u4")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_by_match_is_stable(kind, order):
    digits = np.random.default_rng(5).integers(0, KINDS[kind], 128, dtype="u4")
    ranks, counts = np.empty(128, "u4"), np.empty(32, "u4")
    fibers.program(source=SOURCE).launch("by_match", 1, 32, [digits, ranks, counts], order=order)
    np.testing.assert_array_equal(ranks, stable_ranks(digits))
    np.testing.assert_array_equal(counts, np.bincount(digits, minlength=32))


@pytest.mark.parametrize("kind", KINDS)
def test_by_atomics_gives_each_place_once(kind):
    digits = np.random.default_rng(6).integers(0, KINDS[kind], 256, dtype="u4")
    ranks = np.empty(256, "u4")
    fibers.program(source=SOURCE).launch("by_atomics", 1, 256, [digits, ranks], order="random", seed=1)
    for digit in range(KINDS[kind]):
        here = np.sort(ranks[digits == digit])
        np.testing.assert_array_equal(here, np.arange(len(here)))
