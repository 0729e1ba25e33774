"""Measures scan, reduce and select of short arrays on a GPU: microseconds per call from Python, beside PyTorch.

Both run in the same process. Calls are made without waiting, and the GPU is synchronised at the end. A selection waits for its
number of items in every call, in both libraries. Answers are checked first. bench/primitives/cub_primitives.cu measures CUB from
C++, without Python.

    python -m bench.sort.small_arrays
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import headrace

CALLS = 1000


def us_per_call(work: Callable[[], Any]) -> float:
    """Return the microseconds per call, the fastest of three rounds."""
    rounds = []
    for _ in range(3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(CALLS):
            work()
        torch.cuda.synchronize()
        rounds.append(time.perf_counter() - began)
    return min(rounds) / CALLS * 1e6


def main() -> None:
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; us a call, items of 4 bytes, half of them selected")
    print(f"{'':>10} {'scan':>8} {'torch':>8} {'reduce':>8} {'torch':>8} {'sum f4':>8} {'torch':>8} {'select':>8} {'torch':>8}")
    for count in (256, 4096, 65536, 262144):
        items = torch.randint(0, 1000, (count,), dtype=torch.int32, device="cuda")
        floats, mask = items.float(), items % 2 == 0
        assert torch.equal(headrace.scan(items), torch.cumsum(items, 0, dtype=torch.int32))
        assert int(headrace.reduce(items)[0]) == int(items.sum())
        assert torch.equal(headrace.select(items, mask), items[mask])
        times = [
            us_per_call(lambda items=items: headrace.scan(items)),
            us_per_call(lambda items=items: torch.cumsum(items, 0, dtype=torch.int32)),
            us_per_call(lambda items=items: headrace.reduce(items)),
            us_per_call(lambda items=items: torch.sum(items, dtype=torch.int32)),
            us_per_call(lambda floats=floats: headrace.reduce(floats)),
            us_per_call(lambda floats=floats: torch.sum(floats)),
            us_per_call(lambda items=items, mask=mask: headrace.select(items, mask)),
            us_per_call(lambda items=items, mask=mask: torch.masked_select(items, mask)),
        ]
        print(f"{count // 256:6} KiB " + " ".join(f"{each:8.1f}" for each in times), flush=True)


if __name__ == "__main__":
    main()
