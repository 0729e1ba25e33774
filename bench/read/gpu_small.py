"""Measures reads of small texts in a GPU's memory by phase: wall clock from the call to the table.

Needs a built headrace, a GPU, PyTorch and a C++ compiler. The only waits for kernels are those of the read itself. The preceding
table is released before the clock starts. Phase *last launch* begins at the first launch, and *to the wait* at the last one. In
*waiting* the host waits for the outcome, and the last column has the rest.

The last line of a size names its slowest text.

    python -m bench.read.gpu_small [--sizes 65536,1048576,16777216] [--cases int_444,taxi_small] [--runs 200] [--out FOLDER/NAME]
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

import headrace
from bench.machine import description
from bench.read.cases import CASES, Case
from bench.read.data import pieces
from bench.tables import Row, keep
from headrace import _native
from headrace.gpu.device.driver_calls import CARD_CALLS, address_of, addresses_of
from headrace.gpu.kernels import kernel, launcher
from headrace.gpu.memory import pool
from headrace.gpu.transfer import staging

PHASES = ("all", "first launch", "last launch", "to the wait", "waiting", "behind it")


class Clock:
    """The driver's calls, which record the time (gpu_phases.cpp)."""

    def __init__(self, addresses: dict[str, int]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/gpu_phases.so"
            source = Path(__file__).with_name("gpu_phases.cpp")
            subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", str(source), "-o", library], check=True)
            self.native = ctypes.CDLL(library)
        forwarded = [ctypes.c_void_p(addresses[name]) for name in ("cuLaunchKernel", "cuEventSynchronize")]
        self.native.forward(*forwarded)
        own = {"cuLaunchKernel": self.native.launch, "cuEventSynchronize": self.native.wait}
        calls = _native.CardCalls.make([address_of(own[name]) if name in own else addresses[name] for name in CARD_CALLS])
        for module in (kernel, staging, pool, launcher):
            module.card_calls = lambda: calls  # type: ignore[attr-defined]

    def phases(self, text: Any, options: dict[str, Any]) -> list[float]:
        """Return the microseconds of a read, in total and by `PHASES`."""
        self.native.begin()
        begun = time.monotonic()
        table = headrace.read_csv(text, **options)
        done = time.monotonic()
        seconds = (ctypes.c_double * 4)()
        self.native.marks(seconds)
        del table
        marks = [begun, *seconds, done]
        found = [done - begun, *[behind - before for before, behind in pairwise(marks)]]
        return [one * 1e6 for one in found]


def text_of(case: Case, size: int) -> torch.Tensor:
    """Return whole records of about `size` bytes on the GPU."""
    header, body = pieces(case)
    body = (body * (size // len(body) + 1))[: size - len(header)]
    end = b'"\n' if case.quotes else b"\n"
    data = header + body[: body.rindex(end) + len(end)]
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).cuda()


def row_of(name: str, size: int, runs: int, clock: Clock) -> Row:
    """Return a text's row of figures in microseconds: the minimum of the total, and medians by phase."""
    case = CASES[name]
    text, options = text_of(case, size), case.options
    for _ in range(20):
        headrace.read_csv(text, **options)
    torch.cuda.synchronize()
    gc.collect()
    found = [clock.phases(text, options) for _ in range(runs)]
    medians = [statistics.median(one[number] for one in found) for number in range(len(PHASES))]
    least = min(one[0] for one in found)
    facts = {"table": "small", "case": name, "size": size, "bytes": text.numel(), "runs": runs, "least": least}
    return facts | dict(zip(PHASES, medians, strict=True))


def line_of(row: Row) -> str:
    """Return the row of the table."""
    figures = " | ".join(f"{row[phase]:.0f}" for phase in ("least", *PHASES))
    return f"| {row['case']} | {row['bytes']:_} | {figures} |"


def main() -> None:
    """Time the cases, and print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1048576,65536,16777216")
    parser.add_argument("--cases", default="int_444,taxi,taxi_small,taxi_inferred,lineitem,quoted,wide")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.zeros(1, device="cuda")
    clock = Clock(dict(zip(CARD_CALLS, addresses_of(*CARD_CALLS), strict=True)))
    lines = [
        "# Small texts in a GPU's memory to typed columns",
        "",
        f"{torch.cuda.get_device_name()}; {description()}",
        "",
        f"Microseconds, medians of {given.runs} reads, wall clock, everything warm.",
        "",
        f"| text | bytes | least | {' | '.join(PHASES)} |",
        f"| --- | ---: | ---: | {' | '.join(['---:'] * len(PHASES))} |",
    ]
    print("\n".join(lines), flush=True)
    rows: list[Row] = []
    for size in given.sizes.split(","):
        for name in given.cases.split(","):
            rows.append(row_of(name, int(size), given.runs, clock))
            lines.append(line_of(rows[-1]))
            print(lines[-1], flush=True)
            keep(given.out, lines, rows)
        slowest = max((row for row in rows if row["size"] == int(size)), key=lambda row: float(row["all"]))
        lines.append(f"| **slowest: {slowest['case']}** | {line_of(slowest).split('|', 2)[2]}")
        print(lines[-1], flush=True)
    keep(given.out, lines, rows)


if __name__ == "__main__":
    main()
