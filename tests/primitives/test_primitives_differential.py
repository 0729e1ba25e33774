"""Tests the scan, reduce and select kernels in the fiber harness against NumPy and Python, at sizes around a tile's edge."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace.testing import fibers
from tests.primitives.primitives_cases import identity, items_of, scanned

OPERATORS = [
    ("Sum", "u32"),
    ("Sum", "u64"),
    ("Min", "i32"),
    ("Max", "u32"),
    ("Max", "i64"),
    ("Min", "float"),
    ("Max", "double"),
    ("Compose", "u32"),
]
THREADS, ROWS = 64, 3
SHAPE = {"HR_THREADS": THREADS, "HR_ROWS": ROWS}
STAGES, REDUCERS = 3, 2
RING = {"HR_STAGES": STAGES, "HR_REDUCERS": REDUCERS, "HR_LOOK": 2}
SHARED = STAGES * THREADS * ROWS * 16
SCAN_BLOCK = THREADS + (REDUCERS + 2) * 32


def sizes(tile: int) -> list[int]:
    return [1, 2, 31, tile - 1, tile, tile + 1, 3 * tile + 7, 40 * tile + 1]


def tile_of(items: NDArray[np.generic]) -> int:
    return THREADS * ROWS * 16 // items.dtype.itemsize


@pytest.mark.long_except("random-*")
@pytest.mark.parametrize(("operator", "item"), OPERATORS)
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_scan(operator: str, item: str, order: str) -> None:
    program = fibers.program(source="primitives/scan.cu", defines={"HR_OPERATOR": operator, "HR_ITEM": item, **SHAPE, **RING})
    memory = np.zeros(2 + 2 * 41, "u8")
    epoch = 0
    for count in sizes(tile_of(items_of(operator, item, 1))):
        items = items_of(operator, item, count)
        tiles = -(-count // tile_of(items))
        expected = scanned(operator, items)
        for exclusive in (0, 1):
            out = np.empty_like(items)
            epoch += 1
            args = [items, out, count, memory, epoch, exclusive]
            program.launch("scan", min(tiles, 9), SCAN_BLOCK, args, shared=SHARED, order=order, seed=count)
            assert memory[0] == 0
            if exclusive:
                assert out[0].item() == identity(operator, items)
                np.testing.assert_array_equal(out[1:], expected[:-1])
            else:
                np.testing.assert_array_equal(out, expected)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize(("operator", "item"), OPERATORS)
@pytest.mark.parametrize("blocks", [1, 3, 70])
def test_reduce(operator: str, item: str, blocks: int) -> None:
    program = fibers.program(source="primitives/reduce.cu", defines={"HR_OPERATOR": operator, "HR_ITEM": item, **SHAPE})
    finished = np.zeros(1, "u4")
    for count in sizes(tile_of(items_of(operator, item, 1))):
        items = items_of(operator, item, count)
        parts, result = np.empty(blocks, items.dtype), np.empty(1, items.dtype)
        program.launch("reduce", blocks, THREADS, [items, count, parts, finished, result], order="random", seed=count)
        assert result[0] == scanned(operator, items)[-1]
        assert finished[0] == 0


@pytest.mark.parametrize("item", ["u32", "i32"])
@pytest.mark.parametrize("blocks", [1, 3, 70])
def test_reduce_to_wider_sums(item: str, blocks: int) -> None:
    defines = {"HR_OPERATOR": "Sum", "HR_ITEM": "u64", "HR_SOURCE": item, **SHAPE}
    program = fibers.program(source="primitives/reduce.cu", defines=defines)
    finished = np.zeros(1, "u4")
    for count in [0, *sizes(tile_of(items_of("Sum", item, 1)))]:
        items = items_of("Sum", item, count)
        parts, result = np.empty(blocks, "u8"), np.empty(1, "u8")
        program.launch("reduce", blocks, THREADS, [items, count, parts, finished, result], order="random", seed=count)
        assert int(result[0]) == sum(items.tolist()) % 2**64
        assert finished[0] == 0


def test_the_first_nan_wins_and_of_two_zeros_the_first() -> None:
    program = fibers.program(source="primitives/reduce.cu", defines={"HR_OPERATOR": "Min", "HR_ITEM": "float", **SHAPE})
    nans = np.array([3, 0x7FC00001, 0, 0x7FC00002, 5], "u4").view("f4")
    for items, wanted in ((nans, 0x7FC00001), (np.array([0.0, -0.0], "f4"), 0), (np.array([-0.0, 0.0], "f4"), 0x80000000)):
        result = np.empty(1, "f4")
        program.launch("reduce", 2, THREADS, [items, len(items), np.empty(2, "f4"), np.zeros(1, "u4"), result])
        assert result.view("u4")[0] == wanted


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("share", [0, 0.03, 0.5, 1])
def test_select(width: int, share: float) -> None:
    shape = {"HR_THREADS": THREADS, "HR_ROWS": 1, "HR_STAGES": STAGES, "HR_COUNTERS": 2}
    how = {"HR_LOOK": 1, "HR_BATCH": 8, "HR_BLOCKS": 1}
    program = fibers.program(source="primitives/select.cu", defines={"HR_WIDTH": width, **shape, **how})
    tile = THREADS * 16
    random = np.random.default_rng(zlib.crc32(f"select {width} {share}".encode()))
    memory = np.zeros(2 + 41, "u8")
    for epoch, count in enumerate(sizes(tile)[:-1], 1):
        items = random.integers(0, 256, (count, width), dtype="u1")
        flags = (random.random(count) < share).astype("u1") * random.integers(1, 256, count, dtype="u1")
        out, selected = np.empty_like(items), np.zeros(1, "u8")
        args = [items, flags, out, count, memory, epoch, selected]
        blocks, how = min(-(-count // tile), 3), {"shared": (STAGES + 2) * tile, "order": "random", "seed": count}
        program.launch("select_items", blocks, THREADS + 4 * 32, args, **how)
        expected = items[flags != 0]
        assert selected[0] == len(expected) and memory[0] == 0
        np.testing.assert_array_equal(out[: len(expected)], expected)


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_arrays_off_a_16_byte_boundary(order: str) -> None:
    program = fibers.program(source="primitives/scan.cu", defines={"HR_OPERATOR": "Sum", "HR_ITEM": "u32", **SHAPE, **RING})
    for count in (1, 767, 768, 1999):
        items = items_of("Sum", "u32", count + 1)[1:]
        out, memory = np.empty_like(items), np.zeros(40, "u8")
        blocks = min(2, -(-count // tile_of(items)))
        program.launch("scan", blocks, SCAN_BLOCK, [items, out, count, memory, 1, 0], shared=SHARED, order=order)
        np.testing.assert_array_equal(out, np.cumsum(items, dtype="u4"))


def test_flags_off_a_16_byte_boundary() -> None:
    shape = {"HR_THREADS": THREADS, "HR_ROWS": 1, "HR_STAGES": STAGES, "HR_COUNTERS": 2}
    how = {"HR_LOOK": 1, "HR_BATCH": 8, "HR_BLOCKS": 1}
    program = fibers.program(source="primitives/select.cu", defines={"HR_WIDTH": 4, **shape, **how})
    flags = (np.random.default_rng(1).random(3001) < 0.4).astype("u1")[1:]
    items = np.arange(3001, dtype="u4")[1:]
    out, memory, selected = np.empty_like(items), np.zeros(40, "u8"), np.zeros(1, "u8")
    args = [items, flags, out, 3000, memory, 1, selected]
    program.launch("select_items", 2, THREADS + 4 * 32, args, shared=(STAGES + 2) * THREADS * 16)
    np.testing.assert_array_equal(out[: selected[0]], items[flags != 0])
