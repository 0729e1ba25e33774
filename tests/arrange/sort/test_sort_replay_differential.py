"""Compares replays of recorded sorts, with other addresses and other keys, with NumPy under the fiber harness."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.launch_plan import recorded
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer

pytestmark = pytest.mark.fibers
COUNTERS = 32 << 10


class Launcher(FiberLauncher):
    """Takes addresses in `known` buffers as kernel arguments."""

    known: list[HostBuffer]

    def launch(self, entry, shape, args):
        letters = re.findall(r"\d*([a-zA-Z])", entry.signature)
        super().launch(
            entry, shape, [self._buffer(arg) if letter == "P" else arg for letter, arg in zip(letters, args, strict=True)]
        )

    def _buffer(self, address):
        found = [BufferSlice(one, address - one.address) for one in self.known if 0 <= (address or 0) - one.address < one.nbytes]
        assert (address is None) == (not found)
        return found[0] if found else None


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("count", [100, 600, 1200])  # by ranks, cooperatively, and by passes
def test_a_recorded_sort_of_pairs_sorts_other_arrays(count, in_place):
    def code(launcher):
        source, target, values, moved = (SimpleNamespace(address=address, nbytes=4 * count) for address in launcher.addresses)
        if in_place:
            target, moved = source, values
        request = SortRequest(KeyOrder("unsigned", 32), source, target, (MovedItems(values, moved, 4),))
        Sorter(launcher, count, HARNESS_TUNING, launcher.counters).sort(request)

    call = recorded(code, [0, 0, 0, 0])
    random = np.random.default_rng(count)
    for seed in range(2):
        keys, values = random.integers(0, 300, count, np.uint32), random.integers(0, 2**32, count, np.uint32)
        launcher = Launcher(seed=seed)
        arrays = [launcher.put(keys), launcher.allocate(4 * count), launcher.put(values), launcher.allocate(4 * count)]
        scratch, counters = launcher.allocate(max(1, call.nbytes)), launcher.allocate(COUNTERS, fill=0)
        scratch.array[: call.zeros] = 0
        given = [*arrays, *[counters] * call.uses_counters, scratch]
        launcher.known = given
        launcher.replay(call.recording, [buffer.address for buffer in given], [])
        places = np.argsort(keys, kind="stable")
        sorted_keys, moved = (launcher.fetch(arrays[number]).view(np.uint32) for number in ((0, 2) if in_place else (1, 3)))
        assert np.array_equal(sorted_keys, keys[places]) and np.array_equal(moved, values[places])
        assert not launcher.fetch(counters)[:16].any()
