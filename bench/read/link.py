"""Measures the link between host and GPU by plain copies, and allocates texts in pinned memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headrace.core.device import Device
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import device_pool

MIB = 1 << 20


@contextmanager
def pinned_text(path: Path) -> Iterator[Any]:
    """Yield a file's bytes in pinned host memory."""
    functions, size = driver(), path.stat().st_size
    gpu(Device("cuda")).make_current()
    address = int(checked(functions.cuMemHostAlloc(size, functions.CU_MEMHOSTALLOC_PORTABLE)))
    try:
        view = memoryview((ctypes.c_char * size).from_address(address)).cast("B")
        with path.open("rb", buffering=0) as file:
            at = 0
            while at < size:
                at += file.readinto(view[at : at + 64 * MIB])
        yield view
    finally:
        checked(functions.cuMemFreeHost(address))


def link_rates(nbytes: int = 256 * MIB) -> tuple[float, float]:
    """Return the GB/s of copies from pinned memory to the GPU and back, one direction at a time: the best of several runs."""
    functions = driver()
    card = gpu(Device("cuda"))
    card.make_current()
    host = int(checked(functions.cuMemHostAlloc(nbytes, functions.CU_MEMHOSTALLOC_PORTABLE)))
    buffer = device_pool(card).take(nbytes)
    rates = []
    for copy, given in (
        (functions.cuMemcpyHtoDAsync, (buffer.address, host)),
        (functions.cuMemcpyDtoHAsync, (host, buffer.address)),
    ):
        seconds = []
        for _ in range(5):
            begun = Event(card, timing=True).record(card.stream)
            checked(copy(*given, nbytes, card.stream))
            ended = Event(card, timing=True).record(card.stream)
            ended.wait()
            seconds.append(ended.seconds_since(begun))
        rates.append(nbytes / min(seconds) / 1e9)
    buffer.close()
    checked(functions.cuMemFreeHost(host))
    return rates[0], rates[1]
