"""Runs the operations of a slab hash: its memory, its growth, and the launches of hash_map.cu and hash_map_updates.cu.

A batch is inserted in three steps. First, all absent keys are inserted, each with the value of one of its rows. If these are all
rows, the batch is complete. If memory was missing, the inserted keys are removed, the table grows, and the batch starts again.
Else the rows of present and repeated keys store their values. If a slot then has another value than one of its rows, the order of
the rows decides.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Self

import numpy as np  # a dependency of cuda-core

from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher, Shape
from headrace.index.hash_map.gpu.block_batch.bulk_build import ListBuilder
from headrace.index.hash_map.gpu.ordered_rows import HashOrder, ordered_rows
from headrace.index.hash_map.gpu.slab_kernels import (
    ANSWER_WORDS,
    COUNTS_BYTES,
    GROUP_LANES,
    LOCATED,
    ORDERED,
    SLAB_BYTES,
    Memory,
    Rows,
    block_shape,
    reduction_number,
    slab_defines,
    slab_entry,
)
from headrace.index.hash_map.gpu.tables.growing_table import GrowingTable

_UPDATES = (
    "locate_keys",
    "reduce_values",
    "store_values",
    "count_others",
    "begin_contest",
    "enter_contest",
    "end_contest",
    "clear_slots",
)  # kernels that may run after an insertion


_SLOTS_OFFSET = 256  # offset of the slots, which follow the counts of an insertion


@dataclass(frozen=True, slots=True)
class Located:
    """The slot of each row of a batch, and two counters of 8 bytes."""

    slots: DeviceBuffer
    others: DeviceBuffer  # number of rows that have another value than their slot
    won: DeviceBuffer  # number of slots of which a contest has left one row


@dataclass(frozen=True, slots=True)
class Insertion:
    """An insertion of a batch: its rows and their form (batch_rows.cuh)."""

    rows: Rows
    form: int
    slots: DeviceBuffer  # Result: the slot of each row, 4 bytes. Input too if the form is `LOCATED`.
    counts: DeviceBuffer  # counts of 8 bytes, 0 before

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments of the kernel."""
        return self.rows.keys, self.rows.values, self.rows.count, self.form, self.slots, self.counts


@dataclass(frozen=True, slots=True)
class Contest:
    """The contest of rows that have one slot (hash_map_updates.cu)."""

    is_for_key: int = 0  # 1 if the rows compete in the keys of the slots, not in the values
    is_reversed: int = 0  # 1 if the last row wins, not the first
    counter: DeviceBuffer | None = None  # Count of 8 bytes; if it is 0, there is no contest. None for a contest in any case.


class SlabHash(GrowingTable):
    """A hash map or set in device memory."""

    _insertion = "insert_pairs"  # kernel of insertions

    def __init__(self, launcher: Launcher, widths: tuple[int, int], capacity: int = 0, **sizes: Any) -> None:
        super().__init__(launcher, widths, capacity, **sizes)
        self._added_part = 1.0  # of the rows of the last batch, which is expected of the next one
        self._loaded_slot = 0  # bytes of the number of a slot in the kernels of insertions that are loaded

    def find(self, launcher: Launcher, keys: Rows, values: Any, found: Any) -> None:
        """Write the values of keys, 0 for absent ones, unless `values` is None; and whether each is present."""
        self._launch(launcher, "find_pairs", keys.count, (keys.keys, keys.count, values, found))

    def upsert(self, launcher: Launcher, rows: Rows, reduce: str, kind: str) -> int:
        """Insert rows, and reduce the values of present keys. Return the number of keys added.

        `reduce`, `kind`: As `headrace.HashMap.upsert`, and NumPy's letter of the values' type. Only small batches reduce floats,
        except by ``"first"`` and ``"last"``.
        Raise MemoryLimitError if the map does not fit; it is as before.
        """
        before = self._memory.buckets
        added = self._change(launcher, rows, lambda: self._upsert(launcher, rows, reduce, kind))
        self._added_part = added / rows.count
        if self._memory.buckets > before and self._memory.buckets > self._buckets_for(4 * self.size):
            with suppress(MemoryLimitError):
                self._rebuild(launcher, self._buckets_for(2 * self.size))
        return added

    def _upsert(self, launcher: Launcher, rows: Rows, reduce: str, kind: str) -> int:
        if self._is_bulk(rows):
            added = self._fill(launcher, rows, reduction_number(reduce, kind))
            if added is not None:
                return added
        self._reserve(launcher, ceil(rows.count * self._added_part))
        if self.is_small(rows.count):
            return self._upsert_small(launcher, rows, reduction_number(reduce, kind))
        self._load(launcher)
        work = launcher.allocate(_SLOTS_OFFSET + rows.count * self._slot_bytes)  # one allocation, since the GPU is idle meanwhile
        counts, slots = BufferSlice(work, 0, COUNTS_BYTES), BufferSlice(work, _SLOTS_OFFSET)
        launcher.fill(counts, 0)
        located = Located(slots, BufferSlice(counts, 24, 8), BufferSlice(counts, 32, 8))
        form = LOCATED if reduce == "first" and self._widths[1] else 0
        ordered = self._ordered(launcher, rows)
        if ordered is not None:
            rows, form = ordered, form | ORDERED
        buckets = max(self._memory.buckets, self._buckets_for(self.size + rows.count))
        while True:
            if form & LOCATED:
                self._launch(launcher, "locate_keys", rows.count, (rows.keys, rows.count, form, slots, None))
            batch = Insertion(rows, form, slots, counts)
            self._insert(launcher, batch)
            try:
                skipped, failed, repeated = self._inserted(launcher, batch)
                if not failed and repeated and self._widths[1]:
                    self._resolve(launcher, rows, located, (reduce, kind))
            except BaseException:  # an interrupt too
                self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 1))
                raise
            if not failed:
                break
            self._launch(launcher, "clear_slots", rows.count, (slots, rows.count, 1))
            self._make_room(launcher, buckets, rows.count)
            launcher.fill(counts, 0)
            buckets = 2 * self._memory.buckets
        added = rows.count - skipped - repeated
        self.size += added
        return int(added)

    def _insert(self, launcher: Launcher, batch: Insertion) -> None:
        """Launch the kernel of an insertion."""
        self._launch(launcher, "insert_pairs", batch.rows.count, batch.args)

    def _inserted(self, launcher: Launcher, batch: Insertion) -> list[int]:
        """Complete an insertion, and return the numbers of rows that were skipped, had no memory, or had a present key."""
        found: list[int] = launcher.fetch(batch.counts).view(np.uint64)[:3].tolist()
        return found

    def _ordered(self, launcher: Launcher, rows: Rows) -> Rows | None:
        """Return the hashes and values of a large batch in the order of a large table; None if it is inserted as it is.

        Rows that follow each other then change slabs that follow each other, which memory serves faster than random ones.
        """
        tuning, split = self._tuning, self._tuning.build.split
        if split is None or rows.count < tuning.order_rows or self._memory.slab_count < tuning.order_slabs:
            return None
        try:
            return ordered_rows(launcher, rows, self._widths, HashOrder(tuning.order_bits, self._seed, split))
        except MemoryLimitError:
            return None

    def _load(self, launcher: Launcher) -> None:
        """Load the kernels of an insertion, so that none is refused for memory after another one has changed the table."""
        if self._loaded_slot != self._slot_bytes:
            launcher.load(
                [slab_entry(name) for name in (self._insertion, *_UPDATES)],
                slab_defines(self._widths, self._tuning.threads, self._slot_bytes),
            )
            self._loaded_slot = self._slot_bytes

    def recount(self, launcher: Launcher) -> None:
        """Count the pairs, after an update was interrupted. The host waits."""
        counter = launcher.allocate(8, fill=0)
        self._launch(
            launcher, "copy_items", self._memory.slab_count * GROUP_LANES, (self._memory.slab_count, None, None, counter)
        )
        self.size = int(launcher.fetch(counter).view(np.uint64)[0])

    def is_small(self, count: int) -> bool:
        """Return whether one block inserts, replaces or erases that number of rows."""
        return self._insertion == "insert_pairs" and count <= self._tuning.block_rows

    def _upsert_small(self, launcher: Launcher, rows: Rows, reduction: int) -> int:
        """Insert a batch by one launch, and one more after each rebuild for slabs. Return the number of keys added."""
        buckets = self._memory.buckets
        while True:
            added, failed, *_ = self._block_answer(launcher, "upsert_rows", (rows.keys, rows.values, rows.count, reduction))
            if not failed:
                self.size += added
                return added
            self._make_room(launcher, max(buckets, self._buckets_for(self.size + rows.count)), rows.count)
            buckets = 2 * self._memory.buckets

    def _block_answer(self, launcher: Launcher, name: str, args: tuple[Any, ...]) -> list[int]:
        """Run a kernel of one block, and return its answer, four numbers. The host waits."""
        self._is_used = True
        return launcher.answer(slab_entry(name), self._block_shape(), (self._memory.packed, *args), ANSWER_WORDS)

    def _block_shape(self) -> Shape:
        """Return the launch configuration of a kernel of one block."""
        return block_shape(self._widths, self._tuning.block_rows, self._slot_bytes)

    def _is_bulk(self, rows: Rows) -> bool:
        """Return whether lists are built from a batch."""
        build = self._tuning.build
        return self.size == 0 and build.split is not None and rows.count >= build.min_rows

    def _fill(self, launcher: Launcher, rows: Rows, reduction: int) -> int | None:
        """Build all lists from a batch, in another table if this one is too small. No pair is in the table.

        Return the number of keys, or None if the batch must be inserted into the table, which has no pairs.
        """
        before = memory = self._memory
        filled = None
        try:
            if rows.count > self._tuning.max_load * self.capacity:
                memory = self._allocate(launcher, self._buckets_for(rows.count), is_built=True)
            builder = ListBuilder(launcher, memory, self._widths, self._tuning.build)
            if memory is before and self._is_used:
                builder.empty(first_slab=memory.buckets)
            filled = builder.fill(rows, reduction if self._insertion == "insert_pairs" else None)
        except MemoryLimitError:  # slabs may be free already that lists of the table still have
            pass
        except BaseException:
            self._restore(launcher, before, is_empty=memory is not before)
            raise
        if filled is None:
            self._restore(launcher, before, is_empty=memory is not before)
            return None
        self._memory, self.size, self._is_used = memory, filled.size, True
        if filled.left is None:
            return filled.size
        try:
            return filled.size + self.upsert(launcher, filled.left, "last", "u")
        except BaseException:  # an interrupt too
            self._restore(launcher, before, is_empty=memory is not before)
            raise

    def _restore(self, launcher: Launcher, memory: Memory, *, is_empty: bool) -> None:
        """Make the table one without pairs. `is_empty`: it has none already."""
        self._memory, self.size = memory, 0
        if not is_empty:
            ListBuilder(launcher, memory, self._widths, self._tuning.build).empty()

    def _resolve(self, launcher: Launcher, rows: Rows, located: Located, how: tuple[str, str]) -> None:
        """Reduce the values of rows whose key was present, or is repeated in the batch.

        No memory is allocated, and the host does not wait: the contest ends at once if no row has another value than its slot.
        """
        (reduce, kind), slots = how, located.slots
        if reduce not in {"first", "last"}:
            number = reduction_number(reduce, kind)
            self._launch(launcher, "reduce_values", rows.count, (slots, rows.count, rows.values, number))
            return
        is_last, others = reduce == "last", located.others
        with launcher.together():  # all are launched, or none
            if is_last:
                self._launch(launcher, "store_values", rows.count, (slots, rows.count, rows.values, None))
            self._launch(launcher, "count_others", rows.count, (slots, rows.count, rows.values, others))
            self._contest(launcher, located, rows.count, Contest(is_reversed=int(is_last), counter=others))
            self._launch(launcher, "store_values", rows.count, (slots, rows.count, rows.values, others))

    def _contest(self, launcher: Launcher, located: Located, count: int, how: Contest, won: Any = None) -> None:
        """Leave the slot of one row for each slot. `located.won`, 0 before, gets the number of slots."""
        args = (located.slots, count, how.is_for_key, how.is_reversed, how.counter)
        self._launch(launcher, "begin_contest", count, args)
        self._launch(launcher, "enter_contest", count, args)
        self._launch(launcher, "end_contest", count, (*args, won, located.won))

    def _locate(self, launcher: Launcher, keys: Rows, found: Any = None) -> Located:
        """Return the slots of keys, and write whether each is present, unless `found` is None."""
        counters, slots = launcher.allocate_group([16], [keys.count * self._slot_bytes])
        located = Located(slots, BufferSlice(counters, 0, 8), BufferSlice(counters, 8, 8))
        self._launch(launcher, "locate_keys", keys.count, (keys.keys, keys.count, 0, located.slots, found))
        return located

    def replace(self, launcher: Launcher, rows: Rows, found: Any) -> None:
        """Replace the values of present keys, and write whether each is present."""
        self._change(launcher, rows, lambda: self._replace(launcher, rows, found))

    def _replace(self, launcher: Launcher, rows: Rows, found: Any) -> None:
        if self.is_small(rows.count):
            args = self._memory.packed, rows.keys, rows.values, rows.count, found
            launcher.launch(slab_entry("replace_rows"), self._block_shape(), args)
        else:
            self._resolve(launcher, rows, self._locate(launcher, rows, found), ("last", "u"))

    def erase(self, launcher: Launcher, keys: Rows, found: Any) -> None:
        """Erase keys, and write for each whether it was present before its row. The host waits."""
        self._change(launcher, keys, lambda: self._erase(launcher, keys, found), adds=False, erases=True)

    def _erase(self, launcher: Launcher, keys: Rows, found: Any) -> None:
        if self.is_small(keys.count):
            self.size -= self._block_answer(launcher, "erase_rows", (keys.keys, keys.count, found))[0]
            return
        located, counts = self._locate(launcher, keys), launcher.allocate(16, fill=0)
        self._launch(launcher, "erase_slots", keys.count, (located.slots, keys.count, keys.keys, found, counts))
        erased, repeated = launcher.fetch(counts).view(np.uint64).tolist()
        self.size -= erased
        if repeated:
            with launcher.together():
                self._contest(launcher, located, keys.count, Contest(is_for_key=1), found)
                self._launch(launcher, "clear_slots", keys.count, (located.slots, keys.count, 0))

    def items(self, launcher: Launcher, keys: Any, values: Any) -> None:
        """Write all pairs in no order."""
        slabs, counter = self._memory.slab_count, launcher.allocate(8, fill=0)
        self._launch(launcher, "copy_items", slabs * GROUP_LANES, (slabs, keys, values, counter))

    def copy(self, launcher: Launcher) -> Self:
        """Return a table with the same pairs."""
        memory, parts = self._memory, list[DeviceBuffer]()
        for part in (memory.slabs, memory.bitmaps, *memory.supers):
            parts.append(launcher.allocate(part.nbytes))
            self._launch(launcher, "copy_words", part.nbytes // 4, (part, parts[-1], part.nbytes // 4))
        slabs, bitmaps, *supers = parts
        pointers = launcher.put(np.array([block.address for block in supers], np.uint64)) if supers else None
        result = copy(self)
        result._growth = None  # noqa: SLF001  # a new object
        copied = replace(memory, slabs=slabs, bitmaps=bitmaps, supers=tuple(supers), pointers=pointers)
        result._memory = copied  # noqa: SLF001  # a new object
        return result

    def clear(self, launcher: Launcher) -> None:
        """Remove all pairs, and free their memory."""
        self._growth, self._memory = None, self._allocate(launcher, self._buckets_for(0))
        self.size, self._is_used = 0, False

    def compact(self, launcher: Launcher) -> None:
        """Rebuild the table with the buckets that its pairs need. No list then has an empty slab.

        If memory for that is refused, the lists are flushed in their place.
        """
        try:
            self._rebuild(launcher, self._buckets_for(self.size))
        except MemoryLimitError:
            self.flush(launcher)

    def flush(self, launcher: Launcher) -> None:
        """Move the pairs of each list to as few slabs as they need, without memory (FLUSH of the paper)."""
        self._launch(launcher, "flush_lists", (self._memory.buckets + 1) * GROUP_LANES, ())

    def chains(self, launcher: Launcher) -> tuple[int, int]:
        """Return the number of slabs in all lists, and in the longest one."""
        results = launcher.allocate(16, fill=0)
        self._launch(launcher, "measure_chains", self._memory.buckets + 1, (results,))
        total, longest = launcher.fetch(results).view(np.uint64).tolist()
        return int(total), int(longest)

    def slabs_in_use(self, launcher: Launcher) -> int:
        """Return the number of first slabs and of slabs that are allocated in memory blocks."""
        memory = self._memory
        bits = [launcher.fetch(memory.bitmaps)[: memory.is_full_offset]]
        slabs = SLAB_BYTES << memory.super_log
        bits.extend(launcher.fetch(BufferSlice(block, slabs, block.nbytes - slabs)) for block in memory.supers)
        return memory.buckets + 1 + int(np.unpackbits(np.concatenate(bits)).sum())

    def _reserve(self, launcher: Launcher, added: int) -> bool:
        """Grow the table for that many keys more, and return whether it has grown.

        If memory is refused, the table may be large enough nevertheless.
        """
        if self.size + added <= self._tuning.max_load * self.capacity:
            return False
        with suppress(MemoryLimitError):
            self._rebuild(launcher, max(self._buckets_for(self.size + added), 2 * self._memory.buckets))
            return True
        return False

    def _rebuild(self, launcher: Launcher, buckets: int) -> None:
        """Move all pairs to a table of that many buckets, with super blocks if they do not fit.

        Raise MemoryLimitError if there is no memory for it; the table is as before.
        """
        self._growth, old, size = None, self._memory, self.size
        is_parallel = buckets >= min(old.buckets, self._tuning.build.moved_buckets)
        if size and is_parallel and self._insertion == "insert_pairs" and self._move(launcher, buckets):
            return
        items = Rows(launcher.allocate(size * self._widths[0]), launcher.allocate(size * self._widths[1] or 1), size)
        if size:
            self.items(launcher, items.keys, items.values)
        try:
            self._memory = self._allocate(launcher, buckets)
            if size:
                self._insert_all(launcher, items)
        except BaseException:
            self._memory = old
            raise

    def _insert_all(self, launcher: Launcher, items: Rows) -> None:
        """Insert pairs into an empty table, which gets super blocks if slabs run out."""
        while True:
            slots, counts = launcher.allocate(items.count * self._slot_bytes), launcher.allocate(COUNTS_BYTES, fill=0)
            batch = Insertion(items, 0, slots, counts)
            self._insert(launcher, batch)
            if not self._inserted(launcher, batch)[1]:
                return
            self._launch(launcher, "clear_slots", items.count, (slots, items.count, 1))
            self._add_super_blocks(launcher, ceil(items.count / self._slots))

    def _move(self, launcher: Launcher, buckets: int) -> bool:
        """Build a table of that many buckets from the lists of this one. Return False if lists need more slabs than it has."""
        memory = self._allocate(launcher, buckets, is_built=True)
        if not ListBuilder(launcher, memory, self._widths, self._tuning.build).move(self._memory):
            return False
        self._memory = memory
        return True
