"""Tests the allocator of slabs under the interleavings of the fiber harness: no slab is handed out twice, none is lost."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.core.device import Device
from headrace.index.hash_map.paper.allocation import MemoryRequests, SlabRequests, allocation_launcher
from headrace.testing.fibers.launcher import FiberLauncher


@pytest.mark.fibers
@pytest.mark.parametrize(("order", "seed"), [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_each_thread_has_a_slab_of_its_own(order: str, seed: int) -> None:
    """Three blocks of memory for 1,100 to 1,500 slabs, so that warps also leave full blocks."""
    launcher = FiberLauncher(order, seed)
    for count in (1, 33, 1100, 1500):
        slabs = SlabRequests(launcher, count, threads=64)
        for _ in range(2):
            slabs.allocate()
            numbers = slabs.numbers()
            assert len(np.unique(numbers)) == slabs.used() == count
            assert 1 <= numbers.min() <= numbers.max() <= 3072
            slabs.release()
            assert slabs.used() == 0


@pytest.mark.fibers
def test_each_thread_has_memory_of_its_own() -> None:
    requests = MemoryRequests(FiberLauncher(), 1100, threads=64)
    for _ in range(2):
        requests.allocate()
        numbers = np.sort(requests.numbers())
        assert numbers[0] > 0
        assert np.diff(numbers).min() >= 128
        requests.release()


@pytest.mark.gpu
def test_allocators_of_a_gpu() -> None:
    launcher = allocation_launcher(Device("cuda", 0))
    with launcher.current():
        for kind in (SlabRequests, MemoryRequests):
            requests = kind(launcher, 100_000)
            for _ in range(2):
                requests.allocate()
                numbers = requests.numbers()
                assert len(np.unique(numbers)) == 100_000
                assert numbers.min() > 0
                requests.release()
