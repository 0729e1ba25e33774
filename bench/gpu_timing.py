"""Time on a GPU."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

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


class Cub:
    """A program below this folder that asks CUB, such as ``"sort/cub_sort"``; compiled while others work."""

    def __init__(self, name: str) -> None:
        self.program = Path(tempfile.mkdtemp()) / "cub"
        source = Path(__file__).parent / f"{name}.cu"
        self.compiling = subprocess.Popen(["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "-o", self.program, source])

    def rates(self, asked: list[tuple[str, str, int, int, int]]) -> list[float]:
        """10^9 items a second."""
        if self.compiling.wait() != 0:
            raise RuntimeError("nvcc failed")
        torch.cuda.empty_cache()
        text = "\n".join(" ".join(map(str, line)) for line in asked)
        found = subprocess.run([self.program], input=text, capture_output=True, text=True, check=True).stdout.split()
        if len(found) != len(asked) or any(float(ms) <= 0 for ms in found):
            raise RuntimeError("CUB: a call failed")
        return [line[-1] / float(ms) / 1e6 for line, ms in zip(asked, found, strict=True)]
