"""Tests the kernels of copy.cu in the fiber harness against NumPy: every width, each edge of a tile, any address."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.primitives.copy import COPY_THREADS, COPY_TILE, FILL_THREADS, FILL_TILE, READ_THREADS, READ_TILE, blocks_of
from headrace.testing import fibers

WIDTHS = (1, 2, 4, 8, 16)
TYPES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: [("low", "u8"), ("high", "u8")]}


def program(width: int) -> fibers.Program:
    return fibers.program("primitives/copy.cu", {"HR_WIDTH": width})


def counts_of(tile: int, width: int) -> list[int]:
    return [0, 1, 3, 17, tile // width - 1, tile // width, tile // width + 1, 2 * tile // width + 5]


def items_at(shift: int, count: int, width: int) -> np.ndarray:
    """Return random items that start `shift` bytes after a boundary of 16 bytes."""
    random = np.random.default_rng(100 * count + width)
    memory = np.zeros(count * width + 32, np.uint8)
    first = -memory.ctypes.data % 16 + shift
    items = memory[first : first + count * width]
    items[:] = random.integers(0, 256, items.size, np.uint8)
    return items.view(TYPES[width])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("order", ["forward", "random"])
def test_fill(width: int, order: str) -> None:
    for count in counts_of(FILL_TILE, width):
        for shift in {0, width % 16, (16 - width) % 16}:
            items, value = items_at(shift, count, width), items_at(0, 1, width)
            blocks = blocks_of(items.nbytes, FILL_TILE)
            program(width).launch("fill_items", blocks, FILL_THREADS, [items, count, value[0]], order=order)
            assert (items == value[0]).all(), (count, shift)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("order", ["forward", "random"])
def test_copy(width: int, order: str) -> None:
    for count in counts_of(COPY_TILE, width):
        for shift_in, shift_out in {(0, 0), (width % 16, width % 16), (0, width % 16)}:
            source, target = items_at(shift_in, count, width), items_at(shift_out, count, width)
            target[:] = np.zeros(1, target.dtype)
            blocks = blocks_of(source.nbytes, COPY_TILE)
            program(width).launch("copy_items", blocks, COPY_THREADS, [source, target, count], order=order)
            assert np.array_equal(source, target), (count, shift_in, shift_out)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_read(width: int, order: str) -> None:
    for count in counts_of(READ_TILE, width)[:: 1 if order == "random" else 3]:
        for shift in {0, width % 16}:
            items, folded = items_at(shift, count, width), np.zeros(1, np.uint64)
            program(width).launch(
                "read_items", blocks_of(items.nbytes, READ_TILE), READ_THREADS, [items, folded, count], order=order
            )
            around = np.zeros(-(-(items.nbytes + 8) // 8) * 8, np.uint8)
            at = items.ctypes.data % 8
            around[at : at + items.nbytes] = items.view(np.uint8)
            assert folded[0] == np.bitwise_xor.reduce(around.view(np.uint64)), (count, shift)
