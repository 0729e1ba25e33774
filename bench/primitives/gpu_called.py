"""Measures the public scan, reduce and select on a GPU, by the kernel and by the call, beside CUB.

Needs the package, nvcc, PyTorch and a GPU. Every answer is checked before it is timed. *Kernel*: the GPU is kept busy until all
work is launched. *Call*: the GPU is idle when the call begins, so the time includes the host's work and the allocation of the
result. In both, a selection waits for its number of items; CUB leaves that number on the GPU, and its memory is allocated before.
CUB is the better of its kernels for a 32-bit and a 64-bit item count. The limit is a copy or a read by primitives/copy.cu.

    python -m bench.primitives.gpu_called [--sizes 1048576,16777216,268435456] [--out bench/results/h200/NAME.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

import headrace
from bench.gpu_timing import Cub, median_ms, rates_of
from bench.machine import description
from bench.tables import Page
from headrace.arrays.arrays import take
from headrace.gpu.device.device import gpu
from headrace.primitives.copy import copy, fold_buffer, start_reading

PERCENT = 50
"""Share of the items that is selected."""
NAMES = ("scan", "reduce", "select")


def limits(count: int) -> dict[str, float]:
    """Return 10^9 items per second of a function that moves its bytes at the rate of a copy or a read of 4-byte items."""
    items = torch.empty(count, dtype=torch.int32, device="cuda")
    words, target = take(items, "items"), take(torch.empty_like(items), "target")
    folded = fold_buffer(gpu(words.device), words.stream)
    copied = count / median_ms(lambda: copy(words, target)) / 1e6
    return {"scan": copied, "reduce": count / median_ms(lambda: start_reading(words, folded)) / 1e6}


def works(count: int) -> dict[str, Callable[[], Any]]:
    """Return calls of the public functions, after a check of one answer of each."""
    generator = torch.Generator("cuda").manual_seed(1)
    items = torch.randint(-(2**31), 2**31, (count,), dtype=torch.int32, device="cuda", generator=generator)
    mask = torch.rand(count, device="cuda", generator=generator) < PERCENT / 100
    made: dict[str, Callable[[], Any]] = {
        "scan": lambda: headrace.scan(items),
        "reduce": lambda: headrace.reduce(items),
        "select": lambda: headrace.select(items, mask),
    }
    total = torch.cumsum(items, 0, dtype=torch.int64).to(torch.int32)
    right = torch.equal(made["scan"](), total) and int(made["reduce"]()[0]) == int(total[-1])
    if not right or not torch.equal(made["select"](), items[mask]):
        raise RuntimeError(f"{count} items: wrong")
    return made


def main() -> None:
    """Time the functions, and print and write a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="65536,1048576,16777216,268435456")
    parser.add_argument("--out")
    given = parser.parse_args()
    page, cub = Page(), Cub("primitives/cub_primitives")
    page.out = given.out
    page.say(f"# Scan, reduce and select as called\n\n{description()}")
    columns = ["call", "CUB, call", "ratio", "kernel", "CUB, kernel", "ratio", "limit"]
    for count in [int(size) for size in given.sizes.split(",")]:
        page.head(f"{count:_} uint32, {PERCENT} percent of them selected: 10^9 items a second", "", columns)
        most, ours = limits(count), works(count)
        own = {name: rates_of(ours[name], count) for name in NAMES}
        del ours
        theirs = cub.better([(name, PERCENT, count) for name in NAMES])
        for (name, rates), peer in zip(own.items(), theirs, strict=True):
            facts = {"what": name, "n": count, "limit": most.get(name), "cub": peer.count}
            found = {"cub_call": peer.rates.call, "cub_kernel": peer.rates.kernel}
            page.figure(table="primitives", **facts, call=rates.call, kernel=rates.kernel, **found)
            cells = [rates.call, peer.rates.call, rates.call / peer.rates.call]
            cells += [rates.kernel, peer.rates.kernel, rates.kernel / peer.rates.kernel]
            limit = f"{most[name]:.0f}" if name in most else ""
            page.say(f"| {name} | {' | '.join(f'{one:.4g}' for one in cells)} | {limit} |")
    page.keep(given.out)


if __name__ == "__main__":
    main()
