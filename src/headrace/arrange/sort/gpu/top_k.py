"""The first k keys on a GPU, and whether keys are in order: launches of top_k.cu and is_sorted.cu."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.arrange.sort.gpu.common.launch import Common, Keys
from headrace.gpu.kernels.launcher import Entry, Room, Shape

_BITS = 8
_TOP_BYTES = 32 + 8 * (1 << _BITS)
_BLOCKS_OF_MULTIPROCESSOR = 4


@dataclass(frozen=True, slots=True)
class TopShape:
    """Threads of a block, and vectors of 16 bytes of a thread."""

    threads: int = 256
    rows: int = 4

    def tile(self, width: int) -> int:
        """Keys of a tile."""
        return self.threads * self.rows * 16 // width

    def shape(self, keys: Keys, blocks: int) -> Shape:
        """Of either file. Equal codes are made of all keys: they are codes where none are equal."""
        equal = Keys(keys.width, keys.rule, equals=True)
        sizes = ("HR_BITS", _BITS), ("HR_THREADS", self.threads), ("HR_ROWS", self.rows)
        return Shape(equal.defines(*sizes), blocks, self.threads)


def is_in_order(common: Common, keys: Keys, source: Room, shape: TopShape) -> bool:
    """Whether no key comes before a lower one; the host waits. Its memory: 4 bytes."""
    disorder = common.launcher.room(4, fill=0)
    blocks = min(-(-common.count // shape.tile(keys.width)), common.multiprocessors * 8)
    args = (source, common.count, keys.rule, disorder)
    common.launcher.launch(_entry("is_sorted", "sort_check", f"PQ{len(keys.rule)}sP"), shape.shape(keys, blocks), args)
    return int(common.launcher.fetch(disorder).view(np.uint32)[0]) == 0


class Top:
    """The first k keys in the order of their places, 0 < k < `Common.count`.

    Its memory: 2 KiB, and 16 bytes for each block of a grid.
    """

    def __init__(self, common: Common, keys: Keys, shape: TopShape) -> None:
        self._common, self._keys, self._shape = common, keys, shape
        tile = shape.tile(keys.width)
        most = common.multiprocessors * _BLOCKS_OF_MULTIPROCESSOR
        self._chunk = -(-common.count // (most * tile)) * tile
        self._blocks = -(-common.count // self._chunk)
        self._state = common.launcher.room(_TOP_BYTES, fill=0)
        self._before = common.launcher.room(self._blocks * 16)

    def run(self, source: Room, k: int, targets: tuple[Room, Room, int]) -> None:
        """Put them to the first of `targets` and their places to the second, of so many bytes each."""
        common, keys = self._common, self._keys
        taken, places, index_bytes = targets
        rule, launch = len(keys.rule), common.launcher.launch
        start: NDArray[np.uint64] = np.zeros(_TOP_BYTES // 8, np.uint64)
        start[2] = k  # behind the counters
        common.launcher.put(start, self._state)
        shape = self._shape.shape(keys, self._blocks)
        for number in reversed(range(keys.digits(_BITS))):
            launch(_entry("top_k", "top_count", f"PQ{rule}sIP"), shape, (source, common.count, keys.rule, number, self._state))
        chunks = struct.pack("<2Q", self._before.address, self._chunk)
        args = (source, common.count, keys.rule, self._state, chunks)
        launch(_entry("top_k", "top_chunks", f"PQ{rule}sP16s"), shape, args)
        args_taken = (*args, taken, places, index_bytes)
        launch(_entry("top_k", "top_take", f"PQ{rule}sP16sPPI"), shape, args_taken)


@lru_cache(32)
def _entry(file: str, name: str, signature: str) -> Entry:
    return Entry(f"arrange/sort/gpu/{file}.cu", name, signature)
