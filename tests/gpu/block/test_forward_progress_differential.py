"""Kernels end although only one of their blocks is resident at a time, unless they are launched cooperatively.

A GPU promises no more: other kernels may occupy every other multiprocessor. The harness reports a block that waits for one that
has not begun.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import RowNumbers
from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing import fibers
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.multisplit import multisplit_cases as multisplit
from tests.arrange.multisplit.multisplit_kernels_cases import few_computed, launched
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


def test_sorts_with_heavy_hitters() -> None:
    keys = np.where(np.arange(1500) % 4 != 0, 7, sort.keys_of("u4", 1500)).astype("u4")
    tuning = replace(HARNESS_TUNING, heavy_hitters=HeavyHitterTuning(3, 64, 64, 1, 1))
    for columns in (0, 2):
        launcher = FiberLauncher("random", columns, resident_blocks=1)
        sort.check(keys, sort.columns_of(1500, columns), launcher=launcher, tuning=tuning)


def test_first_keys() -> None:
    keys, order = sort.keys_of("u4", 2600), KeyOrder.of("<u4")
    launcher = FiberLauncher("random", 3, resident_blocks=1)
    target, places = launcher.allocate(400), launcher.allocate(400)
    request = SortRequest(order, launcher.put(keys), target, (), RowNumbers(places, 4))
    Sorter(launcher, len(keys), HARNESS_TUNING, lambda: launcher.allocate(16, fill=0)).top_k(request, 100)
    np.testing.assert_array_equal(places.array.view("u4"), np.argsort(keys, kind="stable")[:100])


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_scans(order: str) -> None:
    shape = {"HR_THREADS": 64, "HR_ROWS": 3, "HR_STAGES": 3, "HR_REDUCERS": 2, "HR_LOOK": 2}
    program = fibers.program(source="primitives/scan.cu", defines={"HR_OPERATOR": "Sum", "HR_ITEM": "u32", **shape})
    items, memory = sort.keys_of("u4", 9 * 768 + 5), np.zeros(2 + 2 * 10, "u8")
    out = np.empty_like(items)
    how = {"shared": 3 * 64 * 3 * 16, "order": order, "resident_blocks": 1}
    program.launch("scan", 7, 64 + 4 * 32, [items, out, len(items), memory, 1, 0], **how)
    np.testing.assert_array_equal(out, np.cumsum(items, dtype="u4"))


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_selections(order: str) -> None:
    shape = {"HR_THREADS": 64, "HR_ROWS": 1, "HR_STAGES": 3, "HR_COUNTERS": 2, "HR_LOOK": 1, "HR_BATCH": 8, "HR_BLOCKS": 1}
    program = fibers.program(source="primitives/select.cu", defines={"HR_WIDTH": 4, **shape})
    items, memory, selected = sort.keys_of("u4", 9 * 1024 + 5), np.zeros(2 + 10, "u8"), np.zeros(1, "u8")
    flags, out = (items % 3 == 0).astype("u1"), np.empty_like(items)
    how = {"shared": 5 * 64 * 16, "order": order, "resident_blocks": 1}
    program.launch("select_items", 7, 64 + 4 * 32, [items, flags, out, len(items), memory, 1, selected], **how)
    np.testing.assert_array_equal(out[: int(selected[0])], items[flags != 0])


def test_multisplit() -> None:
    keys = multisplit.keys_of("f4", "uniform", 2049)
    for function, own in few_computed(multisplit.cases(keys)):
        if function.count > 64:
            continue
        found = launched(keys, [np.arange(2049, dtype="u4")], function, resident=1)
        np.testing.assert_array_equal(found.keys, keys[np.argsort(own, kind="stable")])


@pytest.mark.parametrize("quote", ["", '"'])
def test_loads(quote: str) -> None:
    rows = "".join(f"{number},{quote}text {number % 7}{quote},{number / 8}\n" for number in range(300))
    check_load(rows.encode(), resident=1, header=False)
    check_load(rows.encode("utf-16"), resident=1, header=False, encoding="utf-16")
