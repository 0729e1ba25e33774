"""Measures the first `read_csv(path, device="cuda")` of a new process, by phase, from the start of the interpreter to the table.

Figures are medians of several processes. Kernels are cached on disk, and the package has bytecode, as in an installation.

    python -m bench.read.first_call [--bytes N] [--cases int_444,taxi] [--runs N] [--out FILE]
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import headrace
from bench.machine import description
from bench.read.cases import CASES
from bench.read.stream import file_of
from bench.tables import keep

CHILD = """
import sys, time
started = time.monotonic()
import headrace
imported = time.monotonic()
import functools, json
from headrace.gpu.device import device
from headrace.gpu.kernels import kernel
from headrace.gpu.memory import pinned, pool

spent, inner = {}, [0]  # seconds by phase; of what is timed inside what is timed

def timed(owner, name, told):
    work = getattr(owner, name)

    @functools.wraps(work)
    def call(*args, **named):
        begun = time.monotonic()
        inner.append(0)
        try:
            return work(*args, **named)
        finally:
            took = time.monotonic() - begun
            spent[told] = spent.get(told, 0) + took - inner.pop()
            inner[-1] += took

    setattr(owner, name, call)

timed(device, "driver", "bindings")
timed(device, "gpu_count", "driver")
timed(device.Gpu, "__init__", "context")
timed(pool.DevicePool, "__init__", "pool")
timed(pool.DevicePool, "take", "memory")
timed(kernel, "find_cubin", "cubins")
timed(kernel, "_loaded", "programs")
timed(pinned.PinnedRing, "_new_sender", "slots")
timed(pinned.PinnedRing, "send_source", "sent")
options = json.loads(sys.argv[2])
ready = time.monotonic()
headrace.read_csv(sys.argv[1], device="cuda", **options)
device.gpu().synchronize()
done = time.monotonic()
known = dict(spent)
headrace.read_csv(sys.argv[1], device="cuda", **options)
device.gpu().synchronize()
again = time.monotonic()
print(json.dumps({"started": started, "imported": imported, "ready": ready, "done": done, "again": again, "spent": known}))
"""
BEFORE = ("interpreter", "import headrace")
INSIDE = ("bindings", "driver", "context", "pool", "memory", "slots", "sent", "cubins", "programs")
PHASES = (*BEFORE, *INSIDE, "rest")
"""Phases of a first call, in milliseconds. `bindings` is the import of ``cuda.bindings``; `driver` and `context` are waits for
them. `slots` is the allocation of pinned memory, and `sent` the reading of the text into it. `cubins` is their search on disk,
and `programs` their loading. `rest` includes other imports."""


def first_call(path: Path, options: dict[str, object]) -> dict[str, float]:
    """Return the milliseconds of a new process, by phase."""
    begun = time.monotonic()
    command = [sys.executable, "-c", CHILD, str(path), json.dumps(options)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout)
    inside = {name: 1e3 * told["spent"].get(name, 0.0) for name in INSIDE}
    read = 1e3 * (told["done"] - told["ready"])
    outside = dict(zip(BEFORE, (1e3 * (told["started"] - begun), 1e3 * (told["imported"] - told["started"])), strict=True))
    return {
        **outside,
        **inside,
        "rest": read - sum(inside.values()),
        "all": sum(outside.values()) + read,
        "again": 1e3 * (told["again"] - told["done"]),
    }


def lines_of(name: str, nbytes: int, runs: int) -> list[str]:
    """Return a row of the table, and the range of the total."""
    case = CASES[name]
    path = file_of(name, case, nbytes)
    found = [first_call(path, case.options) for _ in range(runs + 1)][1:]  # the first one may compile
    median = {phase: statistics.median(one[phase] for one in found) for phase in found[0]}
    least, most = min(one["all"] for one in found), max(one["all"] for one in found)
    cells = " | ".join(f"{median[phase]:.0f}" for phase in PHASES)
    return [
        f"| {name} | {nbytes / 1e6:.0f} | {median['all']:.0f} ({least:.0f} to {most:.0f}) | {cells} | {median['again']:.0f} |"
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Time processes, and print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", default="16777216,1073741824")
    parser.add_argument("--cases", default="int_444,taxi")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    compileall.compile_dir(Path(headrace.__file__).parent, quiet=2)
    kept = ["# The first read of a process", "", str(description()), ""]
    kept += [f"Milliseconds, medians of {given.runs} new processes, kernels on disk; of `all` its range.", ""]
    kept += [f"| case | MB | all | {' | '.join(PHASES)} | the second |", f"| --- |{' ---: |' * (len(PHASES) + 3)}"]
    print("\n".join(kept), flush=True)
    for name in given.cases.split(","):
        for nbytes in given.bytes.split(","):
            rows = lines_of(name, int(nbytes), given.runs)
            print("\n".join(rows), flush=True)
            kept += rows
    keep(given.out, kept)


if __name__ == "__main__":
    main()
