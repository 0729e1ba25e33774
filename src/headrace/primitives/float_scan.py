"""Computes running sums of floats on a GPU, in an order that is the same on every device (float_scan.hpp)."""

from __future__ import annotations

from functools import cache
from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import in_stream_of
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launch_plan import LaunchPlan, PlanRecorder, RecordedBuffer, replayed
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, GpuLauncher, Launcher, Shape
from headrace.primitives.tuning import FLOAT_SCAN

GROUP = _native.FLOAT_SCAN_GROUP  # items that are added one by one
_SUM = Entry("primitives/float_scan.cu", "sum_groups", "PQP")
_FEW = Entry("primitives/float_scan.cu", "scan_few", "PQPQQ")
_SCAN = Entry("primitives/float_scan.cu", "scan_groups", "PQPPQQ")


def scan_floats_on_gpu(source: Array, result: Array, item: str, shift: int, context: Context) -> LaunchPlan | None:
    """Write the running sums of 1 or more floats of a GPU. Return the plan that was replayed for both addresses, if there is one.

    `item`: type of the items: ``"float"`` or ``"double"``.
    `shift`: 1 if result `i` is at `i` + 1, after a 0; else 0.
    """
    card, budget, sizes = gpu(source.device), context.new_budget(), (source.nbytes, result.nbytes)

    def record(recorder: PlanRecorder) -> None:
        launcher: Any = recorder  # a scan copies nothing between host and device
        first, second = map(RecordedBuffer, recorder.addresses, sizes)
        scan_on(launcher, item, first, second, (shift, result.length))

    if budget.limit is None and source.stream == result.stream:
        key = scan_on, item, shift, *sizes
        plan = replayed(key, record, [source.address, result.address], card, source.stream)
        if plan is not None:
            return plan
    with card.current(), in_stream_of(source, result):
        launcher = GpuLauncher(card, stream=source.stream, budget=budget, crossings=context.crossings)
        scan_on(launcher, item, source, result, (shift, result.length))
    return None


def scan_on(launcher: Launcher, item: str, source: DeviceBuffer, target: DeviceBuffer, shifted: tuple[int, int]) -> None:
    """Scan floats of a launcher's device. `shifted`: the shift of the results, and the length of the output."""
    width = 4 if item == "float" else 8
    levels = [(source, source.nbytes // width)]
    while levels[-1][1] > GROUP**2:
        items, count = levels[-1]
        groups = -(-count // GROUP)
        sums = launcher.allocate(groups * width)
        launcher.launch(_SUM, _shape(item, groups), (items, count, sums))
        levels.append((sums, groups))
    for level, (items, count) in reversed(list(enumerate(levels))):
        output, (shift, length) = (target, shifted) if level == 0 else (items, (0, count))
        if level + 1 == len(levels):
            launcher.launch(_FEW, _shape(item, 1), (items, count, output, shift, length))
        else:
            launcher.launch(_SCAN, _shape(item, -(-count // GROUP)), (items, count, levels[level + 1][0], output, shift, length))


def _shape(item: str, groups: int) -> Shape:
    threads = FLOAT_SCAN["HR_THREADS"]
    return Shape(_known_defines(item), -(-groups // threads), threads)


@cache
def _known_defines(item: str) -> dict[str, Any]:
    return {"HR_ITEM": item, **FLOAT_SCAN}
