"""Runs batches of mixed operations on a slab hash: the launches of mixed.cu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launch_plan import repeated
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.slab_kernels import COUNTS_BYTES, LOCATED, MIXED_TASK, NO_SLOT, SKIPPED, Memory, Rows
from headrace.index.hash_map.gpu.tables.slab_hash import SlabHash

_PACKED = MIXED_TASK.packer()
_LISTED_TURNS = 16  # rows that a thread lists: listed_turns of mixed.cu
_LANES = 32  # of a warp
_ALIGNMENT = 256  # of a part of a buffer, in bytes
_ROUND_BYTES = 24  # the counts of one round of changes, which come first
_NOT_DONE = 0xFFFFFFFF  # state of a change that has not run: not_done of mixed_ref.cuh


@dataclass(slots=True, eq=False)
class MixedRows:
    """Mixed operations in device memory. Not frozen, as `OperationBatch`."""

    operations: Any  # number of each operation
    rows: Rows  # their keys and values
    held: Any
    found: Any
    """Results: value of each key before its operation, None for sets; and whether the key was present. None if not needed."""
    kind: str  # NumPy's letter of the values' type
    known: int  # a bit for each operation that the map has

    @property
    def arrays(self) -> list[Any]:
        """Arrays of the ``MixedTask`` in its order."""
        return [self.operations, self.rows.keys, self.rows.values, self.held, self.found]

    @property
    def packed(self) -> bytes:
        """The ``MixedTask``."""
        return self.packed_at(self.arrays)

    def packed_at(self, arrays: Sequence[Any]) -> bytes:
        """Return the ``MixedTask`` with its arrays in other places."""
        addresses = [0 if array is None else array.address for array in arrays]
        return _PACKED.pack(*addresses, self.rows.count, ord(self.kind), self.known)


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes of a batch, in device memory. One buffer has them all, because the GPU is idle while it is allocated."""

    counts: DeviceBuffer
    rows: DeviceBuffer  # their rows, uint32; the place of a change is that of its row
    firsts: DeviceBuffer  # the place of the first change of each 32 rows, uint32
    states: DeviceBuffer  # the state of each change, uint32 (mixed_ref.cuh); it has room for slots
    held: DeviceBuffer  # the value of each key before its change

    @classmethod
    def of(cls, whole: DeviceBuffer, sizes: Sequence[int]) -> _Changes:
        """Return the parts of a buffer. `sizes`: bytes of each."""
        begins = accumulate(map(_aligned, sizes), initial=0)
        return cls(*(BufferSlice(whole, begin, size) for begin, size in zip(begins, sizes, strict=False)))


@dataclass(frozen=True, slots=True)
class _FirstRound:
    """The table that could not grow in place, and the states of the changes that had run on it."""

    memory: Memory
    states: NDArray[np.uint32]


class MixedSlabHash(SlabHash):
    """A hash map or set in device memory with mixed operations."""

    def upsert_in_order(self, launcher: Launcher, rows: Rows, operation: int, kind: str, by_key: Any) -> int:
        """Insert rows, and reduce the values of each key in the order of its rows. Return the number of keys added.

        `operation`: number of ``"sum"``, ``"min"`` or ``"max"``. `kind`: NumPy's letter of the values' type.
        `by_key`, errors: as for `run_in_order`.
        """
        before, operations = self.size, launcher.allocate(rows.count, fill=operation)
        self.run_in_order(launcher, MixedRows(operations, rows, None, None, kind, 1 << operation), by_key)
        return self.size - before

    def run_small(self, launcher: Launcher, mixed: MixedRows) -> bool:
        """Run a small batch in its order by one launch; see `is_small`. The host waits.

        Return False if the map does not have an operation; it is as before.
        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        return self._change(launcher, mixed.rows, lambda: self._run_small(launcher, mixed), erases=True)

    def _run_small(self, launcher: Launcher, mixed: MixedRows) -> bool:
        while True:
            added, failed, erased, unknown = self._block_answer(launcher, "apply_rows", (mixed.packed,))
            if not failed:
                break
            self._make_room(launcher, 2 * self._memory.buckets, mixed.rows.count)
        self.size += added - erased
        self._reserve(launcher, 0)
        return not unknown

    def run_in_order(self, launcher: Launcher, mixed: MixedRows, by_key: Any) -> None:
        """Run operations in their order. The host waits twice.

        `by_key`: row numbers as uint32, by key; those of a key are ascending.
        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        self._change(launcher, mixed.rows, lambda: self._run_in_order(launcher, mixed, by_key), erases=True)

    def _run_in_order(self, launcher: Launcher, mixed: MixedRows, by_key: Any) -> None:
        rows, count = mixed.rows, mixed.rows.count
        size = count * self._slot_bytes
        counts, slots, old_slots = (launcher.allocate(nbytes) for nbytes in (COUNTS_BYTES, size, size))
        finals = launcher.allocate(count * self._widths[1] or 1)
        is_reserved = False
        while True:
            launcher.fill(counts, 0)
            self._launch(launcher, "replay_operations", count, (mixed.packed, by_key, slots, old_slots, finals, counts))
            added = int(self._counts(launcher, counts)[3])
            if not is_reserved and self._reserve(launcher, added):
                is_reserved = True
                continue  # the slots are those of another table
            with launcher.together():  # both are launched, or none
                if added:
                    self._launch(launcher, "insert_pairs", count, (rows.keys, finals, count, LOCATED, slots, counts))
                self._launch(launcher, "finish_operations", count, (count, old_slots, finals, counts))
            _, failed, _, _, erased, _ = self._counts(launcher, counts)
            if not failed:
                break
            self._launch(launcher, "clear_slots", count, (slots, count, 1))
            self._make_room(launcher, 2 * self._memory.buckets, added)
        self.size += added - int(erased)

    def run_any(self, launcher: Launcher, mixed: MixedRows) -> bool:
        """Run all changes side by side, and then all searches. The host waits once; more often if slabs run out.

        Return False if the map does not have an operation; it is as before.

        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        return self._change(launcher, mixed.rows, lambda: self._run_any(launcher, mixed), erases=True)

    def _run_any(self, launcher: Launcher, mixed: MixedRows) -> bool:
        count, before, failed = mixed.rows.count, self.size, 0
        sizes = self._sizes_of_changes(count)
        work = launcher.allocate(sum(map(_aligned, sizes)))
        changes = _Changes.of(work, sizes)
        start: _FirstRound | None = None
        while True:
            try:
                if start is not None:
                    self._rebuild(launcher, max(2 * self._memory.buckets, self._buckets_for(self.size + failed)))
                self._run_side_by_side(launcher, mixed, work, is_first=start is None)
            except MemoryLimitError:
                if start is not None:
                    self._memory, self.size = start.memory, before
                    self._undo(launcher, mixed, changes, start.states)
                raise
            added, failed, erased, listed, _, unknown = self._counts(launcher, changes.counts).tolist()
            if unknown:
                return False
            self.size += added - erased
            if not failed:
                break
            if start is None:
                start = _FirstRound(self._memory, launcher.fetch(changes.states).view(np.uint32)[:listed].copy())
        self._reserve(launcher, 0)
        return True

    def _sizes_of_changes(self, count: int) -> tuple[int, ...]:
        return COUNTS_BYTES, 4 * count, 4 * ceil(count / _LANES), self._slot_bytes * count, self._widths[1] * count or 1

    def _run_side_by_side(self, launcher: Launcher, mixed: MixedRows, work: DeviceBuffer, *, is_first: bool) -> None:
        """Run changes that are not done, and all searches, in launches that later batches of this size replay.

        `work`: the buffer that has the changes.
        """
        count = mixed.rows.count

        def run(launcher: Launcher, buffers: Sequence[DeviceBuffer]) -> None:
            left = iter(buffers)
            task = mixed.packed_at([None if array is None else next(left) for array in mixed.arrays])
            changes = _Changes.of(next(left), self._sizes_of_changes(count))
            counts, rows, states = changes.counts, changes.rows, changes.states
            locks = launcher.allocate(4 * (self._memory.buckets + 1), fill=0)
            launcher.fill(counts if is_first else BufferSlice(counts, 0, _ROUND_BYTES), 0)
            if is_first:
                launcher.fill(states, 0xFF)
                self._launch(launcher, "list_changes", ceil(count / _LISTED_TURNS), (task, rows, changes.firsts, counts))
            self._launch(launcher, "run_changes", count, (task, rows, locks, states, changes.held, counts))
            self._launch(launcher, "run_searches", count, (task, changes.firsts, states, changes.held, counts))

        kind = self._widths, self._tuning.threads, self._slot_bytes, self._memory.packed, count, mixed.kind, mixed.known, is_first
        repeated(launcher, (MixedSlabHash, *kind), run, [*(array for array in mixed.arrays if array is not None), work])

    def _undo(self, launcher: Launcher, mixed: MixedRows, changes: _Changes, states: NDArray[np.uint32]) -> None:
        """Give all keys the state before the batch: that which the first change of each has found.

        The keys are erased, and those that were present are inserted into the slots that their lists have. No memory is
        allocated, except on the host.

        `changes`: their buffers, which are overwritten.
        `states`: states of the changes that have run on the table, by place.
        """
        rows, slots, slot = mixed.rows, changes.states, np.dtype(f"i{self._slot_bytes}")
        done = np.flatnonzero(states != _NOT_DONE)
        of_place = launcher.fetch(changes.rows).view(np.uint32)[: len(states)].copy()
        keys = launcher.fetch(rows.keys).view(f"u{self._widths[0]}")[of_place]
        done = done[np.lexsort((states[done], keys[done]))]
        first = done[np.append(True, keys[done][1:] != keys[done][:-1])[: len(done)]]
        present = first[states[first] % 2 == 1]
        if self._widths[1]:
            held = launcher.fetch(mixed.held).view(f"u{self._widths[1]}").copy()
            held[of_place[present]] = launcher.fetch(changes.held).view(f"u{self._widths[1]}")[present]
            launcher.put(held, mixed.held)
        self._launch(launcher, "locate_keys", rows.count, (rows.keys, rows.count, 0, slots, None))
        located: NDArray[Any] = np.full(rows.count, SKIPPED, slot)
        located[of_place[done]] = launcher.fetch(slots).view(slot)[of_place[done]]
        self._launch(launcher, "clear_slots", rows.count, (launcher.put(located, slots), rows.count, 0))
        wanted: NDArray[Any] = np.full(rows.count, SKIPPED, slot)
        wanted[of_place[present]] = NO_SLOT
        args = (rows.keys, mixed.held, rows.count, LOCATED, launcher.put(wanted, slots), changes.counts)
        self._launch(launcher, "insert_pairs", rows.count, args)

    @staticmethod
    def _counts(launcher: Launcher, counts: DeviceBuffer) -> Any:
        return launcher.fetch(counts).view(np.uint64)


def _aligned(nbytes: int) -> int:
    """Return the bytes of a part of a buffer, rounded up so that the next part is aligned."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT
