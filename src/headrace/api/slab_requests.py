"""Allocates slabs on a GPU for measurements: by variants of SlabAlloc, alone or in maps, or by the allocator of CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headrace.core.context import Context
from headrace.core.device import Device

if TYPE_CHECKING:
    from headrace.index.hash_map.hash_map import HashMap
    from headrace.index.hash_map.paper.allocation import MemoryRequests, SlabRequests


@contextmanager
def slab_requests(device: str, allocator: str, count: int) -> Iterator[SlabRequests | MemoryRequests]:
    """Yield requests for slabs of 128 bytes, one a thread.

    Raise UnsupportedDeviceError if there is no such GPU. Raise MemoryLimitError if the device has too little memory.

    `device`: a GPU, such as ``"cuda"``.
    `allocator`: ``"SlabAlloc"`` or ``"CUDA"``.
    """
    from headrace.index.hash_map.paper.allocation import MemoryRequests, SlabRequests, allocation_launcher

    launcher = allocation_launcher(Device.parse(device))
    with launcher.current():
        yield SlabRequests(launcher, count) if allocator == "SlabAlloc" else MemoryRequests(launcher, count)


def variant_map(device: str, variant: str, capacity: int) -> HashMap:
    """Return an empty map of unsigned words on a GPU, whose buckets do not grow.

    Raise UnsupportedDeviceError if there is no such GPU.

    `variant`: ``"light"`` for lists in one super block, ``"full"`` for lists that continue in others.
    `capacity`: number of pairs for which it has buckets.
    """
    from headrace.index.hash_map.variant_map import VariantMap

    return VariantMap(variant, capacity, Context(device=Device.parse(device)))
