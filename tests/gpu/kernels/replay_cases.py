"""Replays recorded calls (`headrace.gpu.kernels.launch_plan`) under the fiber harness."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from headrace.gpu.kernels.launch_plan import RecordedCall
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer

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


def replay(call: RecordedCall, given: Sequence[np.ndarray], count: int, *, seed: int) -> list[np.ndarray]:
    """Replay a call with these arrays and number of items, and return the bytes of each array after it."""
    launcher = Launcher(seed=seed)
    arrays = [launcher.put(np.frombuffer(array.tobytes(), np.uint8)) for array in given]
    scratch, counters = launcher.allocate(max(1, call.nbytes)), launcher.allocate(COUNTERS, fill=0)
    scratch.array[: call.zeros] = 0
    launcher.known = [*arrays, counters, scratch]
    sizes, used = [count] if call.counts else [], [counters.address] * call.uses_counters
    launcher.replay(call.recording, [*(buffer.address for buffer in arrays), *sizes, *used, scratch.address], [])
    assert not launcher.fetch(counters)[:16].any()
    return [launcher.fetch(array) for array in arrays]
