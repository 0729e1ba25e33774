"""Measures the longest batch of a map that grows on a GPU beside the median batch: keys and values of 4 bytes.

usage: python -m bench.index.hash_map_growth_gpu [--log N] [--repeat N] [--out FILE]

Each time is that of a call on an idle GPU, with the end of its work. A batch's time is its best in several series. In one half of
the rows the pool of device memory is empty before each series, as for the first map of a process. In the other half it has the
memory of the last map. The difference is the time in which the system hands out memory. All keys are searched after each series.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import torch

import headrace
from bench.index.hash_map_gpu import keys_of, require
from bench.machine import description
from bench.tables import Page
from headrace import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.memory.pool import device_pool


def batch_times(pairs: tuple[torch.Tensor, torch.Tensor], batch: int) -> list[float]:
    """Return the milliseconds of each batch by which a map grows from nothing to all pairs."""
    keys, values = pairs
    table, times = headrace.HashMap("int32", "int32", context=Context(device="cuda")), []
    for at in range(0, len(keys), batch):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        table.insert(keys[at : at + batch], values[at : at + batch])
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    found = table.find(keys)
    require(len(table) == len(keys) and bool(found.found.all()) and torch.equal(found.values, values), "growth")
    return times


def best_times(pairs: tuple[torch.Tensor, torch.Tensor], batch: int, repeat: int, *, has_memory: bool) -> list[float]:
    """Return the best milliseconds of each batch. `has_memory`: the pool keeps its memory between the series."""
    series = []
    for _ in range(repeat):
        if not has_memory:
            torch.cuda.synchronize()
            device_pool(gpu()).release_unused()
        series.append(batch_times(pairs, batch))
    return [min(times) for times in zip(*series, strict=True)]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=int, default=26, help="logarithm of the number of keys")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    count, page = 1 << options.log, Page()
    pairs = keys_of(0, count), torch.arange(count, dtype=torch.int32, device="cuda")
    page.head("Growth of a map", f"{description()}; {count:,} keys", ["median, ms", "longest, ms", "longest by median"])
    for log in (16, 20, 22):
        batch_times(pairs, 1 << log)  # compiles the programs
        for name, has_memory in (("empty pool", False), ("pool with memory", True)):
            times = best_times(pairs, 1 << log, options.repeat, has_memory=has_memory)
            median, longest = statistics.median(times), max(times)
            page.say(f"| batches of 2^{log}, {name} | {median:.3f} | {longest:.2f} | {longest / median:.1f} |")
            page.figure(batch=1 << log, has_memory=has_memory, median=median, longest=longest)
    page.keep(options.out)


if __name__ == "__main__":
    main()
