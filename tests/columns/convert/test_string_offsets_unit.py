"""Tests the places of each tile's strings: sums of tiles and columns, scanned, under the fiber harness."""

from __future__ import annotations

import numpy as np
import pytest

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
    program.launch("scan_string_sizes", (strings, blocks, 1), 256, [sums, tiles, strings, totals, memory])
    assert (totals == given.sum(axis=0, dtype=np.uint64)).all()
    assert (sums[:tiles] == np.cumsum(given, axis=0, dtype=np.uint64) - given).all()
