"""Measures time on a GPU, by the kernel and by the call.

*By the kernel*: the GPU is kept busy until all work is launched, so the time excludes the host's work. *By the call*: the GPU is
idle when the call begins, so the time includes the host's work. CUB is timed both ways by the same rules (cub_timing.cuh).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

NVCC = ("nvcc", "-std=c++17", "-O3", "-arch=sm_90")


class Times(NamedTuple):
    """Milliseconds, or rates, by the kernel and by the call."""

    kernel: float
    call: float


def median_ms(work: Callable[[], object], repeats: int = 11, *, busy: int = 400_000) -> float:
    """Return the median milliseconds between events around `work` over `repeats` runs.

    `busy`: number of cycles for which the GPU is kept busy before, so that the time excludes the host's launches.
    """
    times = []
    for i in range(repeats + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(busy)  # noqa: SLF001 (there is no public function)
        begin.record()
        work()
        end.record()
        end.synchronize()
        if i > 1:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def call_ms(work: Callable[[], object], repeats: int = 11) -> float:
    """Return the median milliseconds between events around `work` on an idle GPU."""
    times = []
    for i in range(repeats + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        if i > 1:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def rates_of(work: Callable[[], object], count: int, repeats: int = 9) -> Times:
    """Return 10^9 items a second by the kernel and by the call."""
    return Times(count / median_ms(work, repeats, busy=3_000_000) / 1e6, count / call_ms(work, repeats) / 1e6)


class Better(NamedTuple):
    """The better of two CUB rates. `count`: width of the item count that is faster by the kernel."""

    rates: Times
    count: str


class Cub:
    """A program below this folder that runs CUB, such as ``"sort/cub_sort"``. It is compiled in the background.

    If the folder that HEADRACE_BENCH_CUB names has the program, such as ``cub_sort``, it is not compiled again.
    """

    def __init__(self, name: str) -> None:
        source = Path(__file__).parent / f"{name}.cu"
        folder = os.environ.get("HEADRACE_BENCH_CUB")
        self.program = Path(folder or tempfile.mkdtemp()) / source.stem
        command = ["true"] if self.program.exists() else [*NVCC, "-o", str(self.program), str(source)]
        self.compiling = subprocess.Popen(command)

    def rates(self, asked: Sequence[tuple[object, ...]]) -> list[float]:
        """Return 10^9 items a second, by the kernel."""
        return [times.kernel for times in self.both(asked)]

    def both(self, asked: Sequence[tuple[object, ...]]) -> list[Times]:
        """Return 10^9 items a second by the kernel and by the call. The last value of a line is the number of items."""
        if self.compiling.wait() != 0:
            raise RuntimeError("nvcc failed")
        torch.cuda.empty_cache()
        text = "\n".join(" ".join(map(str, line)) for line in asked)
        shown = subprocess.run([self.program], input=text, capture_output=True, text=True, check=True).stdout
        found = [[float(ms) for ms in line.split()] for line in shown.splitlines()]
        if len(found) != len(asked) or any(ms <= 0 for line in found for ms in line):
            raise RuntimeError("CUB: a call failed")
        counts = [int(str(line[-1])) for line in asked]
        return [Times(count / kernel / 1e6, count / call / 1e6) for count, (kernel, call) in zip(counts, found, strict=True)]

    def better(self, asked: Sequence[tuple[object, ...]]) -> list[Better]:
        """Return the better of CUB with a 32-bit and a 64-bit item count, by the kernel and by the call separately.

        The two are different kernels, and neither is always faster. The programs take the width before the number of items.
        """
        found = self.both([(*line[:-1], bits, line[-1]) for line in asked for bits in (32, 64)])
        pairs = zip(found[::2], found[1::2], strict=True)
        return [
            Better(Times(max(a.kernel, b.kernel), max(a.call, b.call)), "32-bit" if a.kernel >= b.kernel else "64-bit")
            for a, b in pairs
        ]
