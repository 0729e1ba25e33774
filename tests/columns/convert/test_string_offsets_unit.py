"""Tests the places of each tile's strings: sums of tiles and columns, scanned, under the fiber harness."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.gpu.kernels.launcher import Shape
from headrace.testing import fibers

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("tiles", [0, 1, 7, 8, 2048, 2049, 5000])
@pytest.mark.parametrize("strings", [1, 3])
def test_sums_of_all_tiles_before(tiles: int, strings: int) -> None:
    sums = np.random.default_rng(tiles).integers(0, 1 << 40, (max(tiles, 1), strings), np.uint64)
    given, totals = sums[:tiles].copy(), np.full(strings, 9, np.uint64)
    program = fibers.program("columns/convert/gpu/string_offsets.cu", {"HR_THREADS": 256})
    blocks = max(-(-tiles // 2048), 1)
    memory = np.zeros(2 * strings * (blocks + 1), np.uint64)
    program.launch("scan_string_sizes", strings * blocks, 256, [sums, tiles, strings, totals, memory])
    assert (totals == given.sum(axis=0, dtype=np.uint64)).all()
    assert (sums[:tiles] == np.cumsum(given, axis=0, dtype=np.uint64) - given).all()


def test_a_grid_of_many_sizes_has_one_dimension() -> None:
    """Other dimensions have at most 65,535 blocks, of 2,048 sizes each."""
    shapes: list[Shape] = []
    launcher: Any = SimpleNamespace(allocate=lambda *_, **__: None, launch=lambda _, shape, __: shapes.append(shape))
    scan_string_sizes(launcher, launcher, (1 << 28, 3), launcher)
    assert shapes[0].blocks == 3 << 17
