"""Allocates and releases many slabs, one a thread: the launches of allocation.cu."""

from __future__ import annotations

from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.layouts.layout import layout
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.kernels.launcher import Entry, GpuLauncher, Launcher, Shape
from headrace.index.hash_map.paper.programs import THREADS

_TABLE = layout("SlabTable")
_FILE = "index/hash_map/paper/allocation.cu"
_BLOCK_SLABS = 1024
_ROOM = 2  # slabs that the allocator has, as a multiple of those that are allocated
_HEAP_BYTES = 1 << 31
_SLAB_ENTRIES = [Entry(_FILE, f"{verb}_slabs", f"{_TABLE.argument}QP") for verb in ("allocate", "release")]
_MEMORY_ENTRIES = [Entry(_FILE, f"{verb}_memory", "QP") for verb in ("allocate", "free")]


class SlabRequests:
    """Slabs of SlabAlloc for a number of threads."""

    def __init__(self, launcher: Launcher, count: int, threads: int = THREADS) -> None:
        blocks = -(-_ROOM * count // _BLOCK_SLABS)
        self._launcher, self._count = launcher, count
        self._bitmaps = launcher.allocate(blocks * _BLOCK_SLABS // 8 + 4, fill=0)
        self._numbers = launcher.allocate(4 * count)
        is_full = self._bitmaps.address + blocks * _BLOCK_SLABS // 8
        self._table = _TABLE.packer().pack(0, self._bitmaps.address, is_full, 0, blocks, 0, 0, 1 + blocks * _BLOCK_SLABS, 0)
        self._shape = Shape({"HR_THREADS": threads, "HR_SLOT_BYTES": 4}, -(-count // threads), threads)

    def allocate(self) -> None:
        """Allocate all slabs."""
        self._launcher.launch(_SLAB_ENTRIES[0], self._shape, (self._table, self._count, self._numbers))

    def release(self) -> None:
        """Give back all slabs."""
        self._launcher.launch(_SLAB_ENTRIES[1], self._shape, (self._table, self._count, self._numbers))

    def numbers(self) -> NDArray[Any]:
        """Return the number of each slab, from 1 on."""
        return self._launcher.fetch(self._numbers).view(np.uint32)

    def used(self) -> int:
        """Return the number of slabs in use."""
        return int(np.unpackbits(self._launcher.fetch(self._bitmaps)[:-4]).sum())


class MemoryRequests:
    """Memory of 128 bytes for each of a number of threads, from the allocator of CUDA. Parameters as for `SlabRequests`."""

    def __init__(self, launcher: Launcher, count: int, threads: int = THREADS) -> None:
        self._launcher, self._count = launcher, count
        self._addresses = launcher.allocate(8 * count)
        self._shape = Shape({"HR_THREADS": threads, "HR_SLOT_BYTES": 4}, -(-count // threads), threads)

    def allocate(self) -> None:
        """Allocate all memory."""
        self._launcher.launch(_MEMORY_ENTRIES[0], self._shape, (self._count, self._addresses))

    def release(self) -> None:
        """Free all memory."""
        self._launcher.launch(_MEMORY_ENTRIES[1], self._shape, (self._count, self._addresses))

    def numbers(self) -> NDArray[Any]:
        """Return the address of each memory, 0 if there was none."""
        return self._launcher.fetch(self._addresses).view(np.uint64)


def allocation_launcher(device: Device) -> GpuLauncher:
    """Return a launcher on a GPU whose kernels may allocate 2 GiB. The heap of the process's context keeps that size."""
    card = gpu(device)
    functions = driver()
    limit = functions.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE
    with card.current():
        if checked(functions.cuCtxGetLimit(limit)) < _HEAP_BYTES:  # refused after the first launch of a kernel that allocates
            checked(functions.cuCtxSetLimit(limit, _HEAP_BYTES))
    return GpuLauncher(card, stream=None, budget=Budget(), crossings=Crossings())
