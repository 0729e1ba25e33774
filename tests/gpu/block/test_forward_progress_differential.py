"""Kernels end although only one of their blocks is resident at a time, unless they are launched cooperatively.

A GPU promises no more: other kernels may occupy every other multiprocessor. The harness reports a block that waits for one that
has not begun.
"""

from __future__ import annotations

import numpy as np
import pytest

from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.multisplit import multisplit_cases as multisplit
from tests.arrange.multisplit.multisplit_kernels_cases import launched
from tests.arrange.sort import sort_gpu_cases as sort
from tests.columns.load.load_gpu_cases import check as check_load

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("count", [100, 500, 800, 2100])
def test_sorts(count: int, in_place: bool) -> None:
    """Keys that are ranked, sorted with grid barriers, by digits, and by an MSD sort whose last steps are one launch."""
    for dtype, columns in (("u4", 0), ("u8", 2)):
        launcher = FiberLauncher("random", count, resident_blocks=1)
        values = sort.columns_of(count, columns)
        sort.check(sort.keys_of(dtype, count), values, launcher=launcher, in_place=in_place, sorter=sort.MsdSorter)


def test_sorts_by_digits() -> None:
    launcher = FiberLauncher("random", 5, resident_blocks=1)
    sort.check(sort.keys_of("u4", 1500), sort.columns_of(1500, 1), launcher=launcher)


def test_multisplit() -> None:
    keys = multisplit.keys_of("u4", "uniform", 2049)
    for function, own in multisplit.cases(keys):
        if function.count > 64:
            continue
        found = launched(keys, [np.arange(2049, dtype="u4")], function, resident=1)
        np.testing.assert_array_equal(found.keys, keys[np.argsort(own, kind="stable")])


@pytest.mark.parametrize("quote", ["", '"'])
def test_loads(quote: str) -> None:
    rows = "".join(f"{number},{quote}text {number % 7}{quote},{number / 8}\n" for number in range(300))
    check_load(rows.encode(), resident=1, header=False)
    check_load(rows.encode("utf-16"), resident=1, header=False, encoding="utf-16")
