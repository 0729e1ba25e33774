"""Allocates many slabs on a GPU for measurements: by SlabAlloc, or by the allocator of CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headrace.core.device import Device

if TYPE_CHECKING:
    from headrace.index.hash_map.paper.allocation import MemoryRequests, SlabRequests


@contextmanager
def slab_requests(device: str, allocator: str, count: int) -> Iterator[SlabRequests | MemoryRequests]:
    """Yield requests for slabs of 128 bytes, one a thread.

    Parameters
    ----------
    device
        A GPU, such as ``"cuda"``.
    allocator
        ``"SlabAlloc"`` or ``"CUDA"``.
    count
        Number of slabs.

    Raises
    ------
    UnsupportedDeviceError
        There is no such GPU.
    MemoryLimitError
        The device has too little memory.
    """
    from headrace.index.hash_map.paper.allocation import MemoryRequests, SlabRequests, allocation_launcher

    launcher = allocation_launcher(Device.parse(device))
    with launcher.current():
        yield SlabRequests(launcher, count) if allocator == "SlabAlloc" else MemoryRequests(launcher, count)
