"""Measures the limits of a GPU: copy, read and fill of its memory, launches, first calls, and the bus.

Every other table of a GPU compares with these. Answers are checked before anything is timed; peers run in the same process.

    python -m bench.primitives.gpu_limits --out bench/results/h200/limits
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from headrace.arrays.device_array import DeviceArray
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.kernels.cache import compiler_release, shipped
from headrace.gpu.kernels.kernel import kernel
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.transfer.staging import staging
from headrace.primitives.copy import (
    COPY_THREADS,
    COPY_TILE,
    FILL_THREADS,
    FILL_TILE,
    READ_THREADS,
    READ_TILE,
    copy_kernel,
    fill_kernel,
    fold_buffer,
    read_kernel,
)

SIZES = (1 << 30, 4 << 30)
REPEAT = 21

# A process that has a context, like any GPU program, and then uses this package for the first time.
FIRST_CALL = """
import os
import time
begin = time.perf_counter()
import cuda.core
imported = time.perf_counter()
device = cuda.core.Device(0)
device.set_current()
stream = device.create_stream()
stream.sync()
ready = time.perf_counter()
import headrace
package = time.perf_counter()
from pathlib import Path
from headrace.gpu.kernels import compile as compiler
from headrace.gpu.kernels.kernel import kernel
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.device.device import gpu
if "NOTHING_SHIPPED" in os.environ:
    compiler.shipped = lambda: None
card = gpu()
buffer = device_pool(card).take(1024)
kernel("primitives/copy.cu", "fill_items", "PqI", {"HR_WIDTH": 4}, card).launch(1, 128, (buffer.address, 256, 7))
card.synchronize()
done = time.perf_counter()
print(imported - begin, ready - imported, package - ready, done - package)
"""


def seconds_of(work, stream: int, repeat: int = REPEAT) -> float:
    """Return the median time by device events; `work` starts one run."""
    card = gpu()
    work()
    card.synchronize()
    times = []
    for _ in range(repeat):
        begin = Event(card, timing=True).record(stream)
        work()
        end = Event(card, timing=True).record(stream)
        end.wait()
        times.append(end.seconds_since(begin))
    return statistics.median(times)


def memory_table(nbytes: int) -> list[dict]:
    """Return GB/s of bytes read plus written."""
    card, functions = gpu(), driver()
    stream = card.stream
    source = DeviceArray.from_host(np.random.default_rng(0).integers(0, 2**63, nbytes // 8, np.int64), card)
    target, folded = device_pool(card).take(nbytes), fold_buffer(card)
    rows = []

    def row(what, moved, work):
        seconds = seconds_of(work, stream)
        rows.append({"what": what, "GB/s": moved / seconds / 1e9, "ms": seconds * 1e3})

    for width in (1, 4, 16):
        args = (source.address, target.address, nbytes // width)
        copy, read = copy_kernel(width, card), read_kernel(width, card)
        copy.launch(nbytes // COPY_TILE, COPY_THREADS, args)
        assert np.array_equal(DeviceArray(target, "<i8", nbytes // 8).to_numpy(), source.to_numpy())
        row(f"copy_items, {width} B", 2 * nbytes, partial(copy.launch, nbytes // COPY_TILE, COPY_THREADS, args))
        reading = (source.address, folded.address, nbytes // width)
        row(f"read_items, {width} B", nbytes, partial(read.launch, nbytes // READ_TILE, READ_THREADS, reading))
    filling = (target.address, nbytes // 4, 7)
    row("fill_items, 4 B", nbytes, partial(fill_kernel(4, card).launch, nbytes // FILL_TILE, FILL_THREADS, filling))
    row(
        "cudaMemcpy, device to device",
        2 * nbytes,
        lambda: functions.cuMemcpyDtoDAsync(target.address, source.address, nbytes, stream),
    )
    row("cudaMemset, 4 B", nbytes, lambda: functions.cuMemsetD32Async(target.address, 7, nbytes // 4, stream))
    return rows


def microseconds_of(call, batch: int = 200, repeat: int = 50) -> float:
    """Return the median time of a call that starts work without waiting; the queue is emptied between batches."""
    times = []
    for _ in range(repeat):
        gpu().synchronize()
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - begin) / batch)
    gpu().synchronize()
    return statistics.median(times) * 1e6


def launch_table() -> list[dict]:
    """Return the microseconds that Python needs to launch a loaded kernel."""
    import cuda.core
    from cuda.core import LaunchConfig

    card = gpu()
    buffer = device_pool(card).take(1024)
    defines = {"HR_WIDTH": 4}
    fill = fill_kernel(4, card)
    args = (buffer.address, 256, 7)
    rows = [("Kernel.launch", lambda: fill.launch(1, 128, args))]
    rows.append(
        (
            "kernel(...) found again, then launch",
            lambda: kernel("primitives/copy.cu", "fill_items", "PqI", defines, card).launch(1, 128, args),
        )
    )
    rows.append(("Kernel.launch, arguments made anew", lambda: fill.launch(1, 128, (buffer.address, 256, 7))))
    rows.append(("pool.take and give back, 1 KB", lambda: device_pool(card).take(1024)))
    wrapped = cuda.core.Kernel.from_handle(int(fill._handle))  # noqa: SLF001
    config, stream = LaunchConfig(grid=1, block=FILL_THREADS), cuda.core.Stream.from_handle(card.stream)
    typed = (buffer.address, np.int64(256), np.uint32(7))
    rows.append(("cuda.core.launch", lambda: cuda.core.launch(stream, config, wrapped, *typed)))
    try:
        import cupy

        raw = cupy.RawKernel(
            'extern "C" __global__ void f(unsigned* p, long long n, unsigned v) { if (threadIdx.x < n) p[threadIdx.x] = v; }', "f"
        )
        array = cupy.empty(256, "u4")
        rows.append(("CuPy RawKernel", lambda: raw((1,), (FILL_THREADS,), (array, np.int64(256), np.uint32(7)))))
    except ImportError:
        pass
    return [{"what": what, "us": microseconds_of(call)} for what, call in rows]


def first_call_table() -> list[dict]:
    """Return milliseconds of a new process, medians of 5: with the kernel in the package, in the user's cache, in neither."""
    names = ("import cuda.core", "context", "import headrace", "first call")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        kept = {"HEADRACE_KERNEL_CACHE": f"{folder}/kept", "NOTHING_SHIPPED": "1"}
        new_process(kept)
        settings = {"from the user's cache": [kept] * 5, "compiled": []}
        for turn in range(5):  # the compiler has its own cache, in CUDA's cache folder
            empty = {"HEADRACE_KERNEL_CACHE": f"{folder}/{turn}", "CUDA_CACHE_PATH": f"{folder}/cuda{turn}"}
            settings["compiled"].append(empty | {"NOTHING_SHIPPED": "1"})
        if shipped() is not None:
            settings = {"from the package": [{}] * 5} | settings
        for what, environments in settings.items():
            runs = [new_process(environment) for environment in environments]
            medians = [statistics.median(part) for part in zip(*runs, strict=True)]
            rows.append({"kernel": what} | dict(zip(names, medians, strict=True)))
    return rows


def new_process(environment: dict[str, str]) -> list[float]:
    """Return the milliseconds that `FIRST_CALL` prints."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return [float(part) * 1e3 for part in done.stdout.split()]


def bus_table(nbytes: int = 1 << 30) -> list[dict]:
    """Return GB/s between host and device, by the wall clock."""
    card, functions = gpu(), driver()
    host, buffer = np.random.default_rng(1).integers(0, 256, nbytes, np.uint8), device_pool(card).take(nbytes)
    back, moved, counted = np.zeros(nbytes, np.uint8), staging(card), Crossings()

    def up():
        moved.upload(host, buffer, counted=counted)

    def down():
        moved.download(buffer, back, counted=counted)

    def plain_up():
        checked(functions.cuMemcpyHtoDAsync(buffer.address, host.ctypes.data, nbytes, card.stream))

    def plain_down():
        checked(functions.cuMemcpyDtoHAsync(back.ctypes.data, buffer.address, nbytes, card.stream))

    up()
    down()
    assert np.array_equal(host, back)
    pinned = int(checked(functions.cuMemHostAlloc(nbytes, 0)))
    rows = []
    for what, work in [
        ("to the card, staged", up),
        ("to the host, staged", down),
        ("to the card, cudaMemcpy of pageable memory", plain_up),
        ("to the host, cudaMemcpy to pageable memory", plain_down),
        ("to the card, pinned memory", lambda: checked(functions.cuMemcpyHtoDAsync(buffer.address, pinned, nbytes, card.stream))),
        ("to the host, pinned memory", lambda: checked(functions.cuMemcpyDtoHAsync(pinned, buffer.address, nbytes, card.stream))),
    ]:
        times = []
        for _ in range(6):
            begin = time.perf_counter()
            work()
            card.synchronize()
            times.append(time.perf_counter() - begin)
        rows.append({"what": what, "GB/s": nbytes / statistics.median(times[1:]) / 1e9})
    checked(functions.cuMemFreeHost(pinned))
    return rows


def as_markdown(rows: list[dict]) -> str:
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "| --- |" + " ---: |" * (len(names) - 1)]
    shown = [[value if isinstance(value, str) else f"{value:.2f}" for value in row.values()] for row in rows]
    lines += ["| " + " | ".join(cells) + " |" for cells in shown]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a GPU allows: memory, launches, first calls, the bus.")
    parser.add_argument("--out", help="path of the results; .md and .json are made of it")
    parser.add_argument("--nbytes", type=int, nargs="+", default=SIZES, help="sizes of the buffers that are copied")
    given = parser.parse_args()
    card = gpu()
    version = checked(driver().cuDriverGetVersion())
    machine = {"card": card.name, "multiprocessors": card.multiprocessors, "driver": version, "nvrtc": compiler_release()}
    parts = [(f"Memory, {size >> 20} MiB, GB/s of bytes read and written", partial(memory_table, size)) for size in given.nbytes]
    parts.append(("Launch of a kernel that is there", launch_table))
    parts.append(("First call of a process, ms", first_call_table))
    parts.append(("The bus, 1 GiB", bus_table))
    pages = [f"# Limits of a GPU\n\n{', '.join(f'{name} {value}' for name, value in machine.items())}"]
    tables = {}
    print(pages[0], flush=True)
    for title, measure in parts:
        tables[title] = measure()
        pages.append(f"## {title}\n\n{as_markdown(tables[title])}")
        print(pages[-1], flush=True)
    if given.out:
        out = Path(given.out)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.with_suffix(".md").write_text("\n\n".join(pages) + "\n", encoding="utf-8")
        out.with_suffix(".json").write_text(json.dumps({"machine": machine, "tables": tables}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
