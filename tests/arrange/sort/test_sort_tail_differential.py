"""Compares MSD sorts whose last passes are one launch with Python's stable sort, under the fiber harness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.lsd.lsd import REMAINDER_OFFSET
from headrace.arrange.sort.gpu.lsd.tuning import TileTuning
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import ODDITIES, MsdSorter, check, columns_of, deep_keys, with_same_width, with_tail, words

pytestmark = pytest.mark.fibers

COUNT = 2100
TAIL = "tail_passes", "tail_passes_keys"
LSD, MSD = 3, 4
"""Values of ``SortMethod`` of sort_task.hpp."""


class Watching(FiberLauncher):
    """Records the passes of the tail launch, the maximum number of blocks of one, and the method of the plan."""

    steps = blocks = method = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "choose_plan":
            self.method = self.fetch(args[-1]).view("u4")[0]
        if entry.name in TAIL:
            number, meeting = args[1], args[4]
            counts = meeting.buffer.array[: meeting.begin].view("u4").reshape(-1, 8)[number:, 0]
            self.steps, self.blocks = np.count_nonzero(counts), int(counts.max())
            assert not self.fetch(meeting).any()  # as it found them


def tuning_with_tail(number: int | None, width: int, *, multiprocessors: int = 4, follows: bool = False):
    """Return a tuning whose passes from `number` on are one launch; a value as wide as its key moves with it, or follows."""
    tuning = with_same_width(HARNESS_TUNING, TileTuning(64, 4, 1, width, follows))
    return with_tail(replace(tuning, multiprocessors=multiprocessors), number)


def values_of(keys, how: str):
    """Return no column, one as wide as its key, or two of other widths."""
    count = len(keys)
    return {"alone": [], "one": [np.arange(count).astype(f"u{keys.itemsize}")], "two": columns_of(count, 2)}[how]


@pytest.mark.covering(default=1)
@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("number", [None, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("values", ["alone", "one", "two"])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_steps_from_any_number_on(dtype: str, values: str, number: int | None) -> None:
    keys, launcher = deep_keys(dtype, COUNT), Watching("random", 3)
    tuning = tuning_with_tail(number, keys.itemsize)
    check(keys, values_of(keys, values), tuning=tuning, sorter=MsdSorter, launcher=launcher)
    first = 2 if number == 0 and values == "alone" else number
    assert (launcher.steps, launcher.blocks > 4) == ((0, False) if first is None else (2 * keys.itemsize - first, True))


@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2), ("random", 3)])
@pytest.mark.parametrize(
    ("dtype", "values", "number"), [("u4", "alone", 2), ("u4", "two", 0), ("u8", "one", 2), ("u8", "one", 0)]
)
def test_interleavings(dtype: str, values: str, number: int, how: tuple[str, int]) -> None:
    keys = deep_keys(dtype, COUNT)
    check(keys, values_of(keys, values), tuning=tuning_with_tail(number, keys.itemsize), sorter=MsdSorter, how=how)


@pytest.mark.parametrize(("values", "method"), [(20, LSD), (6000, MSD)])
def test_pairs_of_few_values_do_not_go_by_parts(values: int, method: int) -> None:
    """A sample shows it, though no prefixes are counted before passes of one launch."""
    random, launcher = np.random.default_rng(9), Watching("random", 4)
    keys = random.choice(random.integers(0, 2**64, values, np.uint64), 6000)
    check(keys, values_of(keys, "one"), tuning=tuning_with_tail(0, 8), launcher=launcher)
    assert launcher.method == method


@pytest.mark.parametrize("multiprocessors", [1, 2, 3])
def test_fewer_blocks_than_there_is_work_for(multiprocessors: int) -> None:
    keys = deep_keys("u4", 3000)
    for values, number in (("alone", 2), ("one", 2), ("one", 0)):
        tuning = tuning_with_tail(number, 4, multiprocessors=multiprocessors)
        check(keys, values_of(keys, values), tuning=tuning, sorter=MsdSorter)


@pytest.mark.long_except("False-True-?4")
@pytest.mark.parametrize("dtype", ["i4", "f4", "i8", "f8"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_orders_and_places(dtype: str, in_place: bool, descending: bool) -> None:
    order = KeyOrder.of(np.dtype(dtype).str, descending=descending)
    keys, launcher = deep_keys(dtype, COUNT), Watching("random", 5)
    if np.dtype(dtype).kind == "f":  # NaN of several bits, -0 and 0: more than a part takes, so to the last step
        odd = np.random.default_rng(9).choice(np.array(ODDITIES, dtype), 1200)
        words(odd)[::7] ^= np.isnan(odd[::7]) * words(odd).dtype.type(5)
        keys[np.random.default_rng(8).permutation(COUNT)[:1200]] = odd
    tuning = tuning_with_tail(0 if in_place else 2, keys.itemsize, follows=descending)
    for values in ("alone", "one", "two"):
        options = {"tuning": tuning, "sorter": MsdSorter, "order": order, "in_place": in_place, "launcher": launcher}
        check(keys, values_of(keys, values), **options)
        assert launcher.steps >= 3
    check(keys, index_bytes=8, wants_keys=False, tuning=tuning, sorter=MsdSorter, order=order)


@pytest.mark.long_except("u4-*")
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("dtype", ["u4", "f8"])
def test_keys_that_remain_after_extraction(dtype: str, number: int) -> None:
    """The plan holds their number, and they end in the buffer where they began."""
    heavy = HeavyHitterTuning(3, 64, 64, 1, 4, 1)
    light = deep_keys(dtype, 2400)
    keys = np.concatenate([light, np.full(4000, 77, light.dtype)])[np.random.default_rng(4).permutation(6400)]
    tuning = replace(tuning_with_tail(number, keys.itemsize), heavy_hitters=heavy)
    for values in ("alone", "one", "two"):
        for in_place in (False, True):
            launcher = WatchingHeavy("random", 6)
            check(keys, values_of(keys, values), tuning=tuning, sorter=MsdSorter, in_place=in_place, launcher=launcher)
            assert launcher.steps >= 3
            _, counts = np.unique(words(keys), return_counts=True)
            assert 1 <= launcher.heavy <= 2  # 77, and the one that many of the others are
            assert launcher.remainder == len(keys) - np.sort(counts)[-launcher.heavy :].sum()


class WatchingHeavy(Watching):
    """Records also the number of heavy hitters and of remaining keys."""

    heavy = remainder = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "merge_heavy":
            heavy, plan = (self.fetch(buffer) for buffer in args[-2:])
            self.heavy, self.remainder = int(heavy[:8].view("u8")[0]), int(plan[REMAINDER_OFFSET:].view("u4")[0])
