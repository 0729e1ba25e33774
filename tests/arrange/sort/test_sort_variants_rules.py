"""Every program that a sort may launch is listed in a programs.py, has arguments of the sizes that its signature
tells, and fits the shared memory of every card."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from headrace.arrange.sort.gpu.msd.tuning import Bounds, PartOptions
from headrace.arrange.sort.gpu.planner import Given, Sorter
from headrace.arrange.sort.gpu.sort import shapes_of
from headrace.arrange.sort.gpu.tuning import SortShapes
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.arguments import signature_codes
from headrace.gpu.kernels.source import Variant

pytestmark = pytest.mark.pure

OF_EVERY_CARD, OF_LARGE_CARDS = 99 << 10, 163 << 10


class Room:
    address, nbytes = 16, 8


class Lister:
    """A launcher that looks programs up and runs nothing."""

    def __init__(self, most_shared: int = OF_LARGE_CARDS) -> None:
        self.most_shared = most_shared
        self.programs: set[str] = set()
        self.launches: list[str] = []
        self.meeting_blocks = 0
        self.room_bytes = 0

    def room(self, nbytes, fill=None):
        self.room_bytes += nbytes
        return Room()

    def rooms(self, zeroed):
        return [self.room(nbytes) for nbytes in zeroed]

    def fill(self, room, byte):
        pass

    def put(self, values, room=None):
        return Room()

    def launch(self, entry, shape, args):
        Variant.of(entry.file, shape.defines)
        self.programs.add(entry.file.rpartition("/")[2])
        self.launches.append(entry.name)
        if entry.name in {"parts_rest", "parts_rest_alone", "sort_rank", "sort_small"}:
            self.meeting_blocks = max(self.meeting_blocks, shape.blocks)
        assert shape.shared <= self.most_shared
        assert shape.threads <= 1024 and 0 < shape.blocks < 1 << 31
        codes = signature_codes(entry.signature)
        assert len(codes) == len(args)
        for code, arg in zip(codes, args, strict=True):
            assert not isinstance(arg, bytes) or len(arg) == struct.calcsize("=" + code)


@pytest.mark.parametrize("typestr", ["|u1", "|b1", "<i2", "<f2", "<u4", "<f4", "<i8", "<f8", "<M8[us]"])
@pytest.mark.parametrize(
    "count",
    [
        1,
        100,
        5000,
        9000,
        10_000,
        1 << 15,
        1 << 16,
        70_000,
        300_000,
        *(1 << bits for bits in range(18, 24)),
        1 << 26,
        (1 << 32) - 1000,
        1 << 33,
    ],
)
def test_launches_are_listed(typestr: str, count: int) -> None:
    order, lister = KeyOrder.of(typestr), Lister()
    sorter = Sorter(lister, count, SortShapes(), Room)
    for values in ((), ((Room(), Room(), 4),), ((Room(), Room(), 16),) * 3):
        for indices in (None, (Room(), 4), (Room(), 8)):
            if indices is None or indices[1] == 8 or count < 1 << 32:
                sorter.sort(Given(order, Room(), Room(), values, indices))
    sorter.top_k(Given(order, Room(), Room(), (), (Room(), 8)), max(1, count // 2))
    if typestr[2] in "48" and count < 1 << 32:
        for options in (PartOptions(), PartOptions(merges=False, by_size=False)):
            sorter.sort(Given(order, Room(), Room(), strategy="hybrid", options=options))
            values = ((Room(), Room(), 4),)
            sorter.sort(Given(order, Room(), Room(), values, stable=False, strategy="hybrid", options=options))


@pytest.mark.parametrize(("width", "count"), [(4, 500_000_000), (8, 250_000_000)])
def test_a_hybrid_takes_a_twentieth_of_its_keys_besides(width: int, count: int) -> None:
    """M2 to M5 of the paper's section 4.6; its own example comes to 4.85 and 5.06 percent of keys and their second buffer."""
    shapes = dict(SortShapes().kept)[width]
    share = Bounds(count, shapes, PartOptions(), width).nbytes / (2 * count * width)
    assert 0.02 < share < 0.052


@pytest.mark.parametrize("width", [4, 8])
def test_lists_by_parts_take_a_tenth_of_the_keys_or_a_quarter_where_stable(width: int) -> None:
    shapes, count = SortShapes(), 1 << 26
    unkept = PartOptions(keeps_counts=False, reduces=False)
    for some, options in ((shapes.kept, PartOptions()), (shapes.counted, unkept)):
        assert 0.07 < Bounds(count, dict(some)[width], options, width).nbytes / (count * width) < 0.105
    for value in (1, 4, 8):
        tiles = shapes.digits.of(width, [value], count), dict(shapes.stable_tiles).get((width, value))
        for one in filter(None, tiles):
            stable = dict(shapes.stable)[width].stably(one)
            assert 0.15 < Bounds(count, stable, PartOptions(reduces=False, stable=True), width).nbytes / (count * width) < 0.25


def test_few_pairs_of_8_bytes_have_few_launches_that_may_be_in_vain() -> None:
    """By digits all of the last four are; the lists of such a sort are up to 0.3 of its keys."""
    lister = Lister()
    Sorter(lister, 1 << 23, SortShapes(), Room).sort(Given(KeyOrder.of("<u8"), Room(), Room(), ((Room(), Room(), 8),)))
    by_digits, by_parts = ["sort_count", "sort_plan", *["sort_pass"] * 8], ["parts_rest", "sort_spread", "sort_local"]
    assert lister.launches == [*by_digits, *by_parts, "sort_straight"]
    few = dict(SortShapes().stable_few)[8][1].stably(SortShapes().digits.of(8, [8], 1 << 23))
    share = Bounds(1 << 23, few, PartOptions(reduces=False, stable=True), 8).nbytes / (1 << 26)
    assert 0.2 < share < 0.3


@pytest.mark.parametrize(("capability", "most"), [((9, 0), OF_LARGE_CARDS), ((8, 9), OF_EVERY_CARD), ((12, 0), OF_EVERY_CARD)])
def test_cards_of_small_blocks_have_programs_that_fit(capability: tuple[int, int], most: int) -> None:
    for typestr in ("<u2", "<u4", "<u8"):
        lister = Lister(most)
        for values in ((), ((Room(), Room(), 4),), ((Room(), Room(), 8),)):
            Sorter(lister, 1 << 26, shapes_of(100, capability), Room).sort(Given(KeyOrder.of(typestr), Room(), Room(), values))
        assert typestr != "<u8" or {"scatter_stable.cu", "tail_passes.cu"} <= lister.programs
        assert ("prefix_histogram.cu" in lister.programs) == (most == OF_LARGE_CARDS and typestr != "<u2")


@pytest.mark.parametrize("count", [4096, 1 << 13, 1 << 14, 1 << 15, 300_000, 1 << 23])
def test_blocks_that_meet_are_one_a_multiprocessor(count: int) -> None:
    """More would not surely be resident together; and the strategy of the paper has none."""
    for values in ((), ((Room(), Room(), 8),), ((Room(), Room(), 4),)):
        lister, given = Lister(), Given(KeyOrder.of("<u8"), Room(), Room(), values)
        Sorter(lister, count, shapes_of(100, (9, 0)), Room).sort(given)
        assert 0 < lister.meeting_blocks <= 100
    lister = Lister()
    Sorter(lister, 1 << 23, shapes_of(100, (9, 0)), Room).sort(replace(given, stable=False, strategy="hybrid"))
    assert lister.meeting_blocks == 0
