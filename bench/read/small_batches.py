"""Measures the cost of a batch of few MB in a scan, and the savings of a captured graph of its launches.

The first table has the microseconds of a batch of `scan_csv`, for a text on the GPU and in pinned memory. For the second one, the
launches of one batch are recorded and repeated with the same arguments. One way is native calls, batched as in the scan, with the
fills between them. The other way is a captured graph, with and without an update of the kernel parameters before each replay. The
batch's memory is kept, so all of them have the same inputs, and their results are compared.

    python -m bench.read.small_batches [--cases int_444,taxi_small] [--mib 1,4,16,64] [--out FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.machine import description
from bench.read.cases import CASES
from bench.read.link import pinned_text
from bench.read.stream import drained, file_of, scan
from bench.tables import keep
from headrace.arrays.device_array import DeviceArray
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.device.driver_calls import addresses_of, card_calls
from headrace.gpu.kernels import launcher as launchers
from headrace.gpu.memory.pool import DevicePool, PoolBuffer

MIB = 1 << 20
BATCHES, RUNS, REPLAYS = 32, 5, 201
CALLS = (
    "cuGraphGetNodes",
    "cuGraphNodeGetType",
    "cuGraphKernelNodeGetParams_v2",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphLaunch",
    "cuStreamSynchronize",
)

Step = Callable[[int], None]
"""A launch or fill, called with a stream."""


def microseconds_a_batch(source: Any, size: int, nbytes: int, options: dict[str, Any]) -> float:
    """Return the microseconds per batch of a scan, the minimum of several runs."""
    found = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        drained(lambda: scan(source, batch_bytes=nbytes, device="cuda", **options))
        found.append(time.perf_counter() - begun)
    return min(found) / (size / nbytes) * 1e6


@contextmanager
def noted() -> Iterator[list[Step]]:
    """Record the steps of the block: kernels, and fills of memory. The memory is not released."""
    steps: list[Step] = []
    take, launch_all, launch = DevicePool._take, launchers.launch_all, launchers.GpuLauncher.launch  # noqa: SLF001
    close, fill = PoolBuffer.close, launchers.GpuLauncher.fill

    def noted_take(pool: DevicePool, nbytes: int, stream: int, ones_and_zeros: tuple[int, int]) -> int:
        address = take(pool, nbytes, stream, ones_and_zeros)
        ones, zeros = ones_and_zeros
        for at, byte, count in ((address, 255, ones), (address + ones, 0, zeros)):
            if count:
                steps.append(lambda stream, at=at, byte=byte, count=count: card_calls().fill(at, byte, count, stream))
        return address

    def noted_all(launches: list[Any], stream: int) -> None:
        kept = list(launches)
        steps.append(lambda stream: launch_all(kept, stream))
        launch_all(launches, stream)

    def noted_launch(self: Any, entry: Any, shape: Any, args: Any) -> None:
        with self.together():  # so that it is made by `launch_all`
            launch(self, entry, shape, args)

    def noted_fill(self: Any, buffer: Any, byte: int) -> None:
        address, count = buffer.address, buffer.nbytes
        steps.append(lambda stream: card_calls().fill(address, byte, count, stream))
        fill(self, buffer, byte)

    patched: list[tuple[Any, str, Any, Any]] = [
        (DevicePool, "_take", noted_take, take),
        (launchers, "launch_all", noted_all, launch_all),
        (launchers.GpuLauncher, "launch", noted_launch, launch),
        (launchers.GpuLauncher, "fill", noted_fill, fill),
        (PoolBuffer, "close", lambda self: None, close),
    ]
    for owner, name, now, _ in patched:
        setattr(owner, name, now)
    try:
        yield steps
    finally:
        for owner, name, _, before in patched:
            setattr(owner, name, before)


def told_as_now(steps: Sequence[Step], stream: int) -> tuple[float, float]:
    """Return the median microseconds of the host, and until the GPU is done."""
    host, everything = [], []
    for _ in range(REPLAYS):
        begun = time.perf_counter()
        for step in steps:
            step(stream)
        told = time.perf_counter()
        checked(driver().cuStreamSynchronize(stream))
        host.append(told - begun)
        everything.append(time.perf_counter() - begun)
    return statistics.median(host) * 1e6, statistics.median(everything) * 1e6


class Graph:
    """Steps as a graph."""

    def __init__(self, steps: Sequence[Step], stream: int) -> None:
        functions, self._stream = driver(), stream
        mode = functions.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        checked(functions.cuStreamBeginCapture(stream, mode))
        for step in steps:
            step(stream)
        self._graph = checked(functions.cuStreamEndCapture(stream))
        begun = time.perf_counter()
        self._exec = checked(functions.cuGraphInstantiate(self._graph, 0))
        self.instantiated = (time.perf_counter() - begun) * 1e6
        self._calls = (ctypes.c_void_p * len(CALLS))(*addresses_of(*CALLS))
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/small_batches.so"
            source = Path(__file__).with_suffix(".cpp")
            subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", str(source), "-o", library], check=True)
            self._library = ctypes.CDLL(library)

    def replayed(self, *, updated: bool) -> tuple[float, float, int]:
        """Return the median microseconds of the host, and until the GPU is done, and the number of kernels."""
        told = (ctypes.c_double * 3)()
        handles = [ctypes.c_void_p(int(each)) for each in (self._graph, self._exec, self._stream)]
        status = self._library.replay(self._calls, *handles, int(updated), REPLAYS, told)
        assert status == 0, status
        return told[0], told[1], int(told[2])


def launches_of(text: Any, nbytes: int, options: dict[str, Any]) -> tuple[list[Step], list[Any]]:
    """Return the steps of a batch in the middle of a scan, and the batch."""
    batches = scan(text, batch_bytes=nbytes, device="cuda", **options).batches()
    with noted() as steps:
        held, marks = [], []
        for _ in range(4):
            held.append(next(batches))
            gpu().synchronize()
            marks.append(len(steps))
        batches.close()  # type: ignore[attr-defined]
    return steps[marks[1] : marks[2]], held


def digest(batches: Sequence[Any]) -> list[bytes]:
    """Return the bytes of the columns of batches."""
    tables = [batch.to("cpu") for batch in batches]
    return [bytes(column.values) for table in tables for column in table.columns.values()]


def lines_of(name: str, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the rows of the table."""
    case, card = CASES[name], gpu()
    options = case.options
    for nbytes in sizes:
        size = nbytes * BATCHES
        path = file_of(name, case, size)
        size = path.stat().st_size
        text = DeviceArray.from_host(np.fromfile(path, np.uint8), card)
        on_card = microseconds_a_batch(text, size, nbytes, options)
        with pinned_text(path) as pinned:
            from_pinned = microseconds_a_batch(pinned, size, nbytes, options)
        from_file = microseconds_a_batch(path, size, nbytes, options)
        rates = f"{on_card:.0f} | {from_pinned:.0f} | {from_file:.0f}"
        steps, held = launches_of(text, nbytes, options)
        before = digest(held)
        now = told_as_now(steps, card.stream)
        graph = Graph(steps, card.stream)
        fresh, same = graph.replayed(updated=True), graph.replayed(updated=False)
        assert digest(held) == before
        cells = " | ".join(f"{host:.0f}, {everything:.0f}" for host, everything, *_ in (now, fresh, same))
        yield f"| {name} | {nbytes // MIB} | {rates} | {len(steps)}, {fresh[2]} | {cells} | {graph.instantiated:.0f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="int_444,taxi_small")
    parser.add_argument("--mib", default="1,4,16,64")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    kept = ["# Batches of few MB", "", str(description()), ""]
    kept += ["Microseconds a batch; of the launches those of the host, and those until the card is done.", ""]
    ways = "text on the card | in pinned memory | in a file | steps, kernels | as now | a graph, set anew | not | made"
    kept += [f"| case | MiB | {ways} |"]
    kept += ["| --- |" + " ---: |" * 9]
    print("\n".join(kept), flush=True)
    for name in given.cases.split(","):
        for line in lines_of(name, [int(each) * MIB for each in given.mib.split(",")]):
            kept.append(line)
            print(line, flush=True)
    keep(given.out, kept)


if __name__ == "__main__":
    main()
