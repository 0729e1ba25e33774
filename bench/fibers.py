"""Measures the fiber harness: millions of common operations a second, by build and block size.

Usage: python -m bench.fibers
"""

from pathlib import Path
from time import perf_counter

import numpy as np

from headrace.testing.fibers import Program, program

KERNELS = {
    "barriers": 250,
    "ballots": 250,
    "shuffles": 250,
    "global_loads": 250,
    "shared_loads": 250,
    "atomics": 100,
    "nothing": 1,
}
"""Kernels, and rounds per thread."""

THREADS = 1 << 14


def rate(kernels: Program, entry: str, block: int, order: str) -> float:
    """Return the operations a second, the best of five runs."""
    values, out = np.zeros(THREADS, np.uint32), np.zeros(THREADS, np.uint32)
    seconds = []
    for _ in range(5):
        begin = perf_counter()
        kernels.launch(entry, THREADS // block, block, [values, out, KERNELS[entry]], order=order)
        seconds.append(perf_counter() - begin)
    return THREADS * KERNELS[entry] / min(seconds)


def main() -> None:
    print("| build, order, block | " + " | ".join(KERNELS) + " |")
    print("| --- |" + " ---: |" * len(KERNELS))
    for build in ("checked", "fast"):
        kernels = program(Path(__file__).with_suffix(".cu"), build=build)
        for order in ("forward", "random"):
            for block in (32, 256, 1024):
                rates = (rate(kernels, entry, block, order) / 1e6 for entry in KERNELS)
                print(f"| {build}, {order}, {block} | " + " | ".join(f"{each:.0f}" for each in rates) + " |")


if __name__ == "__main__":
    main()
