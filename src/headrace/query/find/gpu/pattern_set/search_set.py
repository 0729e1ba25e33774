"""Launches the kernels that find many patterns in a text, in the order of one stream.

Hits are listed as keys of position and pattern, in no order; the caller sorts them. If there are more than expected, the text is
searched again with memory for all.
"""

from __future__ import annotations

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.pattern_set.tuning import SET_TUNING, SetTuning
from headrace.query.find.pattern.pattern_set import PatternSet

_TABLE, _TASK = layout("PatternTable"), layout("SetTask")
_PACK_TASK = _TASK.packer().pack
_FILE = "query/find/gpu/pattern_set/search_set.cu"
_FIND = Entry(_FILE, "find_patterns", f"{_TABLE.argument}{_TASK.argument}")
_SPLIT = Entry(_FILE, "split_hits", "PQIPP")
_SLOTS_PER_ENTRY = 10  # binary logarithm of the slots of the table of bits for each entry, where they fit shared memory
_POINTERS = ("bits", "buckets", "entries", "patterns", "bytes")
_EXPECTED_SHARE, _EXPECTED = 1024, 1 << 16
"""Memory before the hits are counted: for one hit in as many bytes of text, and for some hits in addition."""


class DeviceSetSearch:
    """Finds many patterns in one text of 1 byte or more. Tests pass smaller sizes of kernels."""

    def __init__(
        self, launcher: Launcher, text: DeviceText, patterns: PatternSet, blocks: int, *, tuning: SetTuning = SET_TUNING
    ) -> None:
        """Prepare the search. `blocks`: maximum number of blocks, of which a multiprocessor has memory for one."""
        self._launcher = launcher
        self._text = text
        table = np.frombuffer(patterns.native.table(), _TABLE.dtype).copy()
        slot_bits = min(int(table["bucket_bits"][0]) + _SLOTS_PER_ENTRY, tuning.max_slot_bits)
        self._buffers = [launcher.put(part) for part in patterns.native.parts(slot_bits)]
        for name, buffer in zip(_POINTERS, self._buffers, strict=True):
            table[name] = buffer.address
        table["slot_bits"] = slot_bits
        self._table = table.tobytes()
        words, stride = -(-int(table["width"][0]) // 4), int(table["stride"][0])
        parts = -(-(text.nbytes + text.shift) // tuning.part_bytes(stride))
        self._defines, self._blocks, self._threads = tuning.search(words, stride), min(blocks, parts), tuning.threads
        is_counted = len(patterns) <= tuning.max_block_counts and text.nbytes >> 31 < self._blocks  # in 32 bits a block
        self._block_counts = len(patterns) if is_counted else 0
        self.pattern_bits = (len(patterns) - 1).bit_length()

    def count(self, counts: DeviceBuffer) -> None:
        """Write the number of hits of each pattern, as 64-bit numbers. The host does not wait."""
        self._launcher.fill(counts, 0)
        self._find((counts.address, 0, 0, 0), self._block_counts)

    def keys(self) -> tuple[DeviceBuffer, int]:
        """Return the keys of all hits in no order, and their number. The host waits once, or twice if there are many."""
        capacity = self._text.nbytes // _EXPECTED_SHARE + _EXPECTED
        while True:
            keys, total = self._launcher.allocate(8 * capacity), self._launcher.allocate(8, fill=0)
            self._find((0, keys.address, capacity, total.address), 0)
            found = int(self._launcher.fetch(total).view(np.uint64)[0])
            if found <= capacity:
                return keys, found
            capacity = found

    def split(self, keys: DeviceBuffer, count: int, positions: DeviceBuffer, patterns: DeviceBuffer) -> None:
        """Split sorted keys into positions of 64 bits and patterns of 32."""
        if count:
            shape = Shape(self._defines, -(-count // self._threads), self._threads)
            self._launcher.launch(_SPLIT, shape, (keys, count, self.pattern_bits, positions, patterns))

    def _find(self, result: tuple[int, int, int, int], block_counts: int) -> None:
        task = _PACK_TASK(self._text.address, self._text.nbytes, *result, self.pattern_bits, block_counts)
        shape = Shape(self._defines, self._blocks, self._threads, self._buffers[0].nbytes + 4 * block_counts)
        self._launcher.launch(_FIND, shape, (self._table, task))
