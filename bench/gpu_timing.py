"""Time on a GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import torch


def median_ms(work: Callable[[], object], repeats: int = 11, *, busy: int = 400_000) -> float:
    """Milliseconds between events around `work`, the median of `repeats`.

    The card is busy, for so many cycles, until all of it is launched, so what the host takes to launch is not in them.
    """
    times = []
    for i in range(repeats + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(busy)  # noqa: SLF001 (there is no other)
        begin.record()
        work()
        end.record()
        end.synchronize()
        if i > 1:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)
