"""Finds the first k keys on a GPU, and checks whether keys are in order: launches of top_k.cu."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np  # a dependency of cuda-core

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import SortContext
from headrace.arrange.sort.gpu.row_tuning import TOP_K_BITS, TopKTuning
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

_STATE = layout("TopKState")
_BLOCKS_PER_MULTIPROCESSOR = 4
_CHUNKS = layout("TopKChunks").packer()


def is_in_order(context: SortContext, keys: KeyType, source: DeviceBuffer, tuning: TopKTuning) -> bool:
    """Return whether no key precedes a lower one. The host waits; the check takes 4 bytes of memory."""
    disorder = context.launcher.allocate(4, fill=0)
    blocks = min(-(-context.count // tuning.tile(keys.width)), context.multiprocessors * 8)
    args = (source, context.count, keys.rule, disorder)
    context.launcher.launch(_entry("is_sorted", f"PQ{len(keys.rule)}sP"), _shape(tuning, keys, blocks), args)
    return int(context.launcher.fetch(disorder).view(np.uint32)[0]) == 0


@dataclass(frozen=True, slots=True)
class TopKTargets:
    """Output buffers: `keys` for the k keys, and `indices` for their positions, of `index_bytes` each."""

    keys: DeviceBuffer
    indices: DeviceBuffer
    index_bytes: int


class TopKSearch:
    """Finds the first k keys, in the order of their positions, for 0 < k < `SortContext.count`.

    It takes 2 KiB, and 16 bytes for each block of a grid.
    """

    def __init__(self, context: SortContext, keys: KeyType, tuning: TopKTuning) -> None:
        self._context, self._keys, self._tuning = context, keys, tuning
        tile = tuning.tile(keys.width)
        max_blocks = context.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR
        self._chunk = -(-context.count // (max_blocks * tile)) * tile
        self._blocks = -(-context.count // self._chunk)
        self._state = context.launcher.allocate(_STATE.size, fill=0)
        self._preceding = context.launcher.allocate(self._blocks * 16)

    def run(self, source: DeviceBuffer, k: int, targets: TopKTargets) -> None:
        """Write the first `k` keys and their positions to `targets`."""
        context, keys = self._context, self._keys
        rule, launch = len(keys.rule), context.launcher.launch
        state = np.zeros(1, _STATE.dtype)
        state["wanted"] = k
        context.launcher.put(state.view(np.uint64), self._state)
        shape = _shape(self._tuning, keys, self._blocks)
        for number in reversed(range(keys.digit_count(TOP_K_BITS))):
            launch(_entry("count_top", f"PQ{rule}sIP"), shape, (source, context.count, keys.rule, number, self._state))
        chunks = _CHUNKS.pack(self._preceding.address, self._chunk)
        args = (source, context.count, keys.rule, self._state, chunks)
        launch(_entry("count_chunks", f"PQ{rule}sP{_CHUNKS.size}s"), shape, args)
        take_args = (*args, targets.keys, targets.indices, targets.index_bytes)
        launch(_entry("take_top", f"PQ{rule}sP{_CHUNKS.size}sPPI"), shape, take_args)


@lru_cache(32)
def _entry(name: str, signature: str) -> Entry:
    return Entry("arrange/sort/gpu/top_k.cu", name, signature)


def _shape(tuning: TopKTuning, keys: KeyType, blocks: int) -> Shape:
    return Shape(tuning.defines(keys), blocks, tuning.threads)
