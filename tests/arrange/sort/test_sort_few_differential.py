"""Compares MSD sorts of few keys, by one pass, with Python's stable sort, under the fiber harness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.sort.gpu.lsd.tuning import TileTuning
from headrace.arrange.sort.gpu.msd.local_tuning import BlockSortTuning
from headrace.arrange.sort.gpu.msd.tuning import FewMsdTuning
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import check, deep_keys

pytestmark = pytest.mark.fibers

COUNT = 2100
COPY, LSD, MSD = 1, 3, 4
"""Values of ``SortMethod`` of sort_task.hpp."""
TUNING = replace(
    HARNESS_TUNING,
    msd=tuple(
        replace(
            row,
            min_keys=1 << 30,
            few_keys=(
                FewMsdTuning(700, 3000, replace(row.keys_only, bits=5, local=row.keys_only.local[-1:], has_one_pass=True)),
            ),
            few_pairs=(
                FewMsdTuning(
                    700, 1500, replace(row.pairs, local=(BlockSortTuning(4, 64, 4, 1),), leftover=None, has_one_pass=True)
                ),
                FewMsdTuning(
                    1500,
                    3000,
                    replace(
                        row.pairs,
                        bits=5,
                        scatter=TileTuning(64, 4, 1, row.key_bytes),
                        local=(BlockSortTuning(4, 64, 4, 1),),
                        leftover=None,
                        has_one_pass=True,
                    ),
                ),
            ),
        )
        for row in HARNESS_TUNING.msd
    ),
)


class Watching(FiberLauncher):
    """Records the method that the plan chose."""

    method = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "copy_or_reverse":
            self.method = int(self.fetch(args[0])[:4].view("u4")[0])


def uniform(dtype: str):
    random = np.random.default_rng(3)
    if dtype[0] == "f":
        return random.random(COUNT).astype(dtype)
    return random.integers(0, 1 << 8 * int(dtype[1]), COUNT, f"u{dtype[1]}").view(dtype)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("kind", ["uniform", "deep", "sorted"])
@pytest.mark.parametrize("values", ["alone", "one", "two"])
@pytest.mark.parametrize("dtype", ["u4", "u8", "f8"])
def test_few_keys_have_one_pass(dtype: str, values: str, kind: str) -> None:
    """Keys whose buckets would be too large are sorted by digits, as chosen on the device."""
    keys = deep_keys(dtype, COUNT) if kind == "deep" else uniform(dtype)
    keys = np.sort(keys) if kind == "sorted" else keys
    columns = {"alone": [], "one": [np.arange(COUNT).astype(f"u{keys.itemsize}")], "two": [np.arange(COUNT, dtype="u2")] * 2}
    launcher = Watching("random", 2)
    check(keys, columns[values], tuning=TUNING, launcher=launcher)
    is_served = values != "two" and dtype != "f8"  # two columns have no such sort, and floats from 0 to 1 share their digit
    expected = COPY if kind == "sorted" else MSD if kind == "uniform" and is_served else LSD
    assert launcher.method == expected


@pytest.mark.parametrize("count", [1900, COUNT])
@pytest.mark.parametrize("dtype", ["u4", "i8"])
def test_numbers_of_bits_of_one_pass(dtype: str, count: int) -> None:
    """A digit for fewer keys, one bit more for more."""
    keys, launcher = uniform(dtype)[:count], Watching("random", 3)
    check(keys, tuning=TUNING, launcher=launcher)
    assert launcher.method == MSD
