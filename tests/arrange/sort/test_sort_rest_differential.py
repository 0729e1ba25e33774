"""Steps of a sort by parts that are one launch whose blocks meet, against Python's stable sort, under the fiber harness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.sort.gpu.heavy_hitters.heavy_hitters import HeavyShape
from headrace.arrange.sort.gpu.lsd.lsd import LIGHTS_AT, Tiles
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.sort.sort_gpu_cases import ODDITIES, SHAPES, ByParts, check, columns_of, deep_keys, with_rest, words

pytestmark = pytest.mark.fibers

COUNT = 2100
REST = "parts_rest", "parts_rest_alone"


class Watching(FiberLauncher):
    """Tells how many steps the launch of the rest did, and how many blocks of keys these had."""

    steps = blocks = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name in REST:
            number, meeting = args[1], args[4]
            counts = meeting.room.array[: meeting.begin].view("u4").reshape(-1, 8)[number:, 0]
            self.steps, self.blocks = np.count_nonzero(counts), int(counts.max())
            assert not self.fetch(meeting).any()  # as it found them


def resting(number: int | None, width: int, *, multiprocessors: int = 4, follows: bool = False):
    """Shapes whose steps from this number on are one launch; a value as wide as its key moves with it, or follows."""
    tiles = ((width, width), Tiles((64, 4, 1), width, follows))
    digits = replace(SHAPES.digits, one_value=(tiles,))
    shapes = replace(SHAPES, digits=digits, stable_tiles=(tiles,), multiprocessors=multiprocessors)
    return with_rest(shapes, number)


def values_of(keys, how: str):
    """Nothing, one as wide as its key, or two of other widths."""
    count = len(keys)
    return {"alone": [], "one": [np.arange(count).astype(f"u{keys.itemsize}")], "two": columns_of(count, 2)}[how]


@pytest.mark.parametrize("number", [None, 0, 2, 3, 4])
@pytest.mark.parametrize("values", ["alone", "one", "two"])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_steps_from_any_number_on(dtype: str, values: str, number: int | None) -> None:
    keys, launcher = deep_keys(dtype, COUNT), Watching("random", 3)
    shapes = resting(number, keys.itemsize)
    check(keys, values_of(keys, values), shapes=shapes, sorter=ByParts, launcher=launcher)
    first = 2 if number == 0 and values == "alone" else number
    assert (launcher.steps, launcher.blocks > 4) == ((0, False) if first is None else (2 * keys.itemsize - first, True))


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2), ("random", 3)])
def test_interleavings(how: tuple[str, int]) -> None:
    for dtype, values, number in (("u4", "alone", 2), ("u8", "one", 2), ("u8", "one", 0), ("u4", "two", 0)):
        keys = deep_keys(dtype, COUNT)
        check(keys, values_of(keys, values), shapes=resting(number, keys.itemsize), sorter=ByParts, how=how)


@pytest.mark.parametrize("multiprocessors", [1, 2, 3])
def test_fewer_blocks_than_there_is_work_for(multiprocessors: int) -> None:
    keys = deep_keys("u4", 3000)
    for values, number in (("alone", 2), ("one", 2), ("one", 0)):
        shapes = resting(number, 4, multiprocessors=multiprocessors)
        check(keys, values_of(keys, values), shapes=shapes, sorter=ByParts)


@pytest.mark.long_except("False-True-*", "True-False-f8")
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
    shapes = resting(0 if in_place else 2, keys.itemsize, follows=descending)
    for values in ("alone", "one", "two"):
        options = {"shapes": shapes, "sorter": ByParts, "order": order, "in_place": in_place, "launcher": launcher}
        check(keys, values_of(keys, values), **options)
        assert launcher.steps >= 3
    check(keys, index_bytes=8, wants_keys=False, shapes=shapes, sorter=ByParts, order=order)


@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("dtype", ["u4", "f8"])
def test_light_keys(dtype: str, number: int) -> None:
    """Of which the plan tells how many there are, and that they end where they began."""
    heavy = HeavyShape(3, 64, (64, 1), 4, 1)
    light = deep_keys(dtype, 2400)
    keys = np.concatenate([light, np.full(4000, 77, light.dtype)])[np.random.default_rng(4).permutation(6400)]
    shapes = replace(resting(number, keys.itemsize), heavy=heavy)
    for values in ("alone", "one", "two"):
        for in_place in (False, True):
            launcher = Lights("random", 6)
            check(keys, values_of(keys, values), shapes=shapes, sorter=ByParts, in_place=in_place, launcher=launcher)
            assert launcher.steps >= 3
            _, counts = np.unique(words(keys), return_counts=True)
            assert 1 <= launcher.heavy <= 2  # 77, and the one that many of the others are
            assert launcher.lights == len(keys) - np.sort(counts)[-launcher.heavy :].sum()


class Lights(Watching):
    """Tells how many values were heavy and how many keys light, too."""

    heavy = lights = 0

    def launch(self, entry, shape, args):
        super().launch(entry, shape, args)
        if entry.name == "heavy_merge":
            heavy, plan = (self.fetch(room) for room in args[-2:])
            self.heavy, self.lights = int(heavy[:8].view("u8")[0]), int(plan[LIGHTS_AT:].view("u4")[0])
