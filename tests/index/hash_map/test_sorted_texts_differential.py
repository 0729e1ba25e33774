"""Sorts texts in the fiber harness as Python does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.gpu.kernels.launcher import Entry, Shape
from headrace.index.hash_map.gpu.tables.sorted_rows import ItemBuffer, SortedRows
from headrace.index.hash_map.row_keys import column_of
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import on_fibers

pytestmark = pytest.mark.fibers


class Counted(FiberLauncher):
    """Counts launches."""

    launches = 0

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        self.launches += 1
        super().launch(entry, shape, args)


@pytest.mark.parametrize("seed", range(4))
def test_sorted_texts(seed: int) -> None:
    """Texts have bytes 0 and large ones, and common beginnings. Words that only the longest text has are not sorted."""
    random, launcher = np.random.default_rng(seed), Counted("random", seed)
    alphabet = [b"\0", b"\0\0\0\0\0\0\0\0", b"a", b"\xff", b"\x80abcdefg"]
    texts = [b"".join(alphabet[one] for one in random.integers(0, 5, size)) for size in random.integers(0, 6, 150).tolist()]
    texts += [b"a" * 40_000, b"", texts[3]] if seed else []
    rows = random.permutation(len(texts)).astype("u4")
    sorters = Sorters(launcher, HARNESS_TUNING, lambda: launcher.allocate(16, fill=0))
    given = SortedRows(sorters, len(rows), ItemBuffer(launcher.put(rows), 4), None)
    given.by_columns({"t": on_fibers(launcher, column_of(texts))}, {"t": None})
    numbers = launcher.fetch(given.rows.buffer).view("u4").tolist()
    assert numbers == sorted(rows.tolist(), key=texts.__getitem__)
    assert launcher.launches < 500
