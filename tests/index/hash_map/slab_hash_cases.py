"""Runs the slab hash in the fiber harness, on arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import MapOperation, MemoryLimitError
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING
from headrace.gpu.kernels.launch_plan import PlanRecorder, RecordedBuffer, recorded
from headrace.gpu.kernels.launcher import Entry, Shape
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedRows, MixedSlabHash
from headrace.index.hash_map.gpu.tuning import BuildTuning, SlabTuning
from headrace.index.hash_map.operations import MAP_KINDS, SET_KINDS
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests.index.hash_map.hash_map_cases import bits_of
from tests.index.sorted_map.fiber_cases import Launcher as ReplayingLauncher

BUILD = BuildTuning(threads=64, buckets=8, min_rows=97, moved_buckets=8, split=SMALL_TUNING)
SMALL = SlabTuning(threads=64, block_rows=96, order_rows=150, order_slabs=1, build=BUILD)
UNLIMITED = SlabTuning(threads=64, block_rows=96, max_load=1e9, build=BUILD)
"""A table that grows only when its memory blocks are full."""
SHORT = SlabTuning(threads=64, block_rows=96, list_slabs=0, build=BUILD)
"""A table whose lists have one slab."""
WIDTHS = {
    (4, 0): ("uint32", ""),
    (4, 4): ("int32", "uint32"),
    (8, 0): ("int64", ""),
    (4, 8): ("float32", "int64"),
    (8, 4): ("uint64", "int32"),
    (8, 8): ("int64", "uint64"),
}


@dataclass
class FiberMap:
    """A slab hash in the harness, with arrays of NumPy."""

    launcher: FiberLauncher
    map: MixedSlabHash
    key: str
    value: str

    @classmethod
    def of(cls, widths: tuple[int, int], launcher: FiberLauncher, tuning: SlabTuning = SMALL, seed: int = 0) -> FiberMap:
        """Return an empty map. `seed`: that of its hash."""
        return cls(launcher, MixedSlabHash(launcher, widths, tuning=tuning, seed=seed), *WIDTHS[widths])

    def rows(self, keys: NDArray[Any], values: NDArray[Any] | None = None) -> Rows:
        """Return a batch."""
        return Rows(self.launcher.put(keys), None if values is None else self.launcher.put(values), len(keys))

    def upsert(self, keys: NDArray[Any], values: NDArray[Any] | None, reduce: str) -> int:
        """Return the number of keys added."""
        return self.map.upsert(self.launcher, self.rows(keys, values), reduce, np.dtype(self.value or "u4").kind)

    def upsert_in_order(self, keys: NDArray[Any], values: NDArray[Any], reduce: str) -> int:
        """Return the number of keys added by a batch of any size."""
        by_key, operation = self.launcher.put(row_numbers(keys)), MapOperation[reduce.upper()]
        return self.map.upsert_in_order(self.launcher, self.rows(keys, values), operation, np.dtype(self.value).kind, by_key)

    def find(self, keys: NDArray[Any]) -> tuple[list[int] | None, list[bool]]:
        """Return bits of values and whether each key is present."""
        found = self.launcher.allocate(len(keys))
        values = self.launcher.allocate(len(keys) * np.dtype(self.value).itemsize) if self.value else None
        self.map.find(self.launcher, self.rows(keys), values, found)
        return None if values is None else bits_of(self.launcher.fetch(values).view(self.value)), self.flags(found)

    def flags(self, found: HostBuffer) -> list[bool]:
        """Return flags of a buffer."""
        return self.launcher.fetch(found).view(bool).tolist()

    def items(self) -> list[tuple[int, int]]:
        """Return the bits of all pairs, by key."""
        size = self.map.size
        keys = self.launcher.allocate(size * np.dtype(self.key).itemsize)
        values = self.launcher.allocate(size * np.dtype(self.value or "u4").itemsize, fill=0)
        self.map.items(self.launcher, keys, values)
        fetched = self.launcher.fetch(keys).view(self.key), self.launcher.fetch(values).view(self.value or "u4")
        return sorted(zip(*map(bits_of, fetched), strict=True))

    def apply(
        self, operations: NDArray[np.uint8], keys: NDArray[Any], values: NDArray[Any], order: str
    ) -> tuple[list[int], list[bool]]:
        """Return the bits of the value of each key before its operation (0 in sets), and whether it was present."""
        mixed = self._mixed(operations, keys, values)
        if order == "small":
            assert self.map.run_small(self.launcher, mixed)
        elif order == "any":
            assert self.map.run_any(self.launcher, mixed)
        else:
            self.map.run_in_order(self.launcher, mixed, self.launcher.put(row_numbers(keys)))
        kind = np.dtype(self.value or "u4")
        before = [0] * len(keys) if mixed.held is None else bits_of(self.launcher.fetch(mixed.held).view(kind))
        return before, self.flags(mixed.found)

    def runs_any(self, operations: NDArray[np.uint8], keys: NDArray[Any], values: NDArray[Any], known: int | None = None) -> bool:
        """Run operations side by side, and return whether the map has them all; `known`: those that it has, if fewer."""
        mixed = self._mixed(operations, keys, values)
        return self.map.run_any(self.launcher, mixed if known is None else replace(mixed, known=known))

    def runs_small(self, operations: NDArray[np.uint8], keys: NDArray[Any], values: NDArray[Any]) -> bool:
        """Run operations by one block, and return whether the map has them all."""
        return self.map.run_small(self.launcher, self._mixed(operations, keys, values))

    def _mixed(self, operations: NDArray[np.uint8], keys: NDArray[Any], values: NDArray[Any]) -> MixedRows:
        launcher, kind = self.launcher, np.dtype(self.value or "u4")
        held = launcher.allocate(len(keys) * kind.itemsize) if self.value else None
        found, rows = launcher.allocate(len(keys)), self.rows(keys, values if self.value else None)
        known = (MAP_KINDS if self.value else SET_KINDS).known
        return MixedRows(launcher.put(operations), rows, held, found, kind.kind, known)


def row_numbers(keys: NDArray[Any]) -> NDArray[np.uint32]:
    """Return row numbers by key."""
    return np.argsort(np.array(bits_of(keys), np.uint64), kind="stable").astype(np.uint32)


class LimitedLauncher(FiberLauncher):
    """A launcher that refuses large buffers."""

    max_bytes = 1 << 30

    def allocate(self, nbytes: int, *, fill: int | None = None) -> HostBuffer:
        """Allocate a buffer of at most `max_bytes`."""
        if nbytes > self.max_bytes:
            raise MemoryLimitError("no more memory")
        return super().allocate(nbytes, fill=fill)


class ListingLauncher(LimitedLauncher):
    """A launcher that lists the kernels that it launches."""

    def __init__(self, order: str = "random", seed: int = 1) -> None:
        super().__init__(order, seed)
        self.names: list[str] = []

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        """List the kernel, and launch it."""
        self.names.append(entry.name)
        super().launch(entry, shape, args)


def replay(launcher: ReplayingLauncher, _key: Any, code: Any, buffers: list[HostBuffer]) -> None:
    """Record launches, and replay them: the first part of `repeated`."""

    def record(recorder: PlanRecorder) -> None:
        code(
            recorder,
            [RecordedBuffer(address, buffer.nbytes) for address, buffer in zip(recorder.addresses, buffers, strict=True)],
        )

    call = recorded(record, [0] * len(buffers))
    scratch = launcher.allocate(call.nbytes)
    scratch.array[: call.zeros] = 0
    launcher.known = [*buffers, scratch]
    launcher.replay_at(call.recording, [buffer.address for buffer in launcher.known])
