"""Describes the kernels of the slab hash to launchers: files, parameters, macros, and the table that they get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape

_TABLE = layout("SlabTable")
MIXED_TASK = layout("MixedTask")
_PACKED = _TABLE.packer()
SLAB_BYTES = 128  # slab_bytes of slab_table.hpp
BLOCK_SLABS = 1024  # block_slabs of slab_table.hpp
GROUP_LANES = 8  # lanes that search a slab
COUNTS_BYTES = 48  # three counts of an insertion, and three counters
ANSWER_WORDS = 4  # keys that were added, rows without memory, keys that were erased, and whether an operation is unknown
MAX_SLABS = 0xFFFF0000
NARROW_SLABS = (1 << 26) - 1  # maximum number of slabs of a table whose slots have numbers of 4 bytes
LOCATED, ORDERED = 1, 2  # BatchForm of batch_rows.cuh
NO_SLOT = -1  # number of the slot of a key that is absent
SKIPPED = -2  # that of a row that has nothing to do
_SIGNATURES = {
    "find_pairs": "PQPP",
    "locate_keys": "PQIPP",
    "insert_pairs": "PPQIPP",
    "copy_items": "IPPP",
    "measure_chains": "P",
    "copy_words": "PPQ",
    "begin_contest": "PQIIP",
    "enter_contest": "PQIIP",
    "end_contest": "PQIIPPP",
    "store_values": "PQPP",
    "count_others": "PQPP",
    "erase_slots": "PQPPP",
    "clear_slots": "PQI",
    "flush_lists": "",
    "reduce_values": "PQPI",
    "upsert_rows": "PPIIP",
    "replace_rows": "PPIP",
    "erase_rows": "PIPP",
    "apply_rows": f"{MIXED_TASK.argument}P",
    "build_lists": "IPPPIIIP",
    "build_multi_lists": "IPPPIIPPPP",
    "move_lists": f"II{_TABLE.argument}P",
    "copy_pairs": f"{_TABLE.argument}PQIP",
    "locate_copies": f"{_TABLE.argument}PQIP",
    "append_pairs": "PPQIPPIQ",
    "list_rows": "PQPIPPP",
    "append_slabs": "PPQPIP",
    "count_values": "PQIPP",
    "count_sorted": "PQPQPP",
    "copy_sorted": "PPQPQPP",
    "copy_values": "PQPPP",
    "erase_values": "PQPIPPP",
    "erase_sorted": "IPPQPP",
    "replay_lists": f"{MIXED_TASK.argument}PPPQPPPPP",
    "list_slots": "PQPPIPPPP",
    "clear_first": "PPQP",
    "replay_operations": f"{MIXED_TASK.argument}PPPPP",
    "finish_operations": "QPPP",
    "list_changes": f"{MIXED_TASK.argument}PPP",
    "run_changes": f"{MIXED_TASK.argument}PPPPP",
    "run_searches": f"{MIXED_TASK.argument}PPPP",
}
_FILES = {
    "hash_map.cu": ("find_pairs", "locate_keys", "insert_pairs", "copy_items", "measure_chains", "copy_words"),
    "block_batch/small_batch.cu": ("upsert_rows", "replace_rows", "erase_rows", "apply_rows"),
    "block_batch/bulk_build.cu": ("build_lists", "build_multi_lists", "move_lists"),
    "mixed.cu": ("replay_operations", "finish_operations", "list_changes", "run_changes", "run_searches"),
    "multimap/multi_map.cu": (
        "append_pairs",
        "list_rows",
        "append_slabs",
        "count_values",
        "count_sorted",
        "copy_sorted",
        "copy_values",
        "erase_values",
        "erase_sorted",
        "replay_lists",
        "list_slots",
        "clear_first",
    ),
}
_REDUCTIONS = {"sum": 0, "min": 1, "max": 2, "last": 5, "first": 6}
_FLOAT_REDUCTIONS = {"sum": 7, "min": 8, "max": 9}
_SIGNED = 2  # added to the numbers of `min` and `max` for signed integers


@dataclass(slots=True, eq=False)
class Rows:
    """Rows of a batch in device memory. Not frozen, as `OperationBatch`."""

    keys: Any
    values: Any  # the arrays; `values` is None for sets and searches
    count: int  # number of rows


@dataclass(frozen=True)
class Memory:
    """The memory of a table: see ``SlabTable``."""

    slabs: DeviceBuffer
    bitmaps: DeviceBuffer  # those of the first super block
    buckets: int
    blocks: int
    seed: int
    supers: tuple[DeviceBuffer, ...] = ()  # the other super blocks
    pointers: DeviceBuffer | None = None  # their addresses, in device memory
    super_log: int = 0

    @cached_property
    def packed(self) -> bytes:
        """The ``SlabTable``."""
        is_full, pointers = self.bitmaps.address + self.is_full_offset, 0 if self.pointers is None else self.pointers.address
        first, first_slabs = (self.slabs.address, self.bitmaps.address, is_full), self.buckets + 1 + self.is_full_offset * 8
        return _PACKED.pack(*first, self.buckets, self.blocks, self.seed, pointers, first_slabs, self.super_log)

    @property
    def slot_bytes(self) -> int:
        """Bytes of the number of a slot in kernels: 8 if the table has super blocks or many slabs."""
        return 8 if self.supers or self.slab_count > NARROW_SLABS else 4

    @property
    def is_full_offset(self) -> int:
        """Bytes of the first super block's bitmaps, after which the word ``is_full`` comes."""
        return self.bitmaps.nbytes - 4

    @property
    def parts(self) -> list[DeviceBuffer]:
        """All buffers."""
        return [self.slabs, self.bitmaps, *self.supers, *([] if self.pointers is None else [self.pointers])]

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(part.nbytes for part in self.parts)

    @cached_property
    def slab_count(self) -> int:
        """Number of first slabs and of slabs in memory blocks."""
        return self.buckets + 1 + self.blocks * BLOCK_SLABS


def is_ordered_reduction(reduce: str, kind: str) -> bool:
    """Return whether values are computed in the order of their rows."""
    return kind == "f" and reduce in _FLOAT_REDUCTIONS


def reduction_number(reduce: str, kind: str) -> int:
    """Return the number of a ``SlotReduction`` (reductions.cuh); `kind`: NumPy's letter of the values' type."""
    if is_ordered_reduction(reduce, kind):
        return _FLOAT_REDUCTIONS[reduce]
    return _REDUCTIONS[reduce] + (_SIGNED if kind == "i" and reduce in {"min", "max"} else 0)


@cache
def slab_defines(widths: tuple[int, int], threads: int, slot: int = 4, **others: int) -> dict[str, int]:
    """Return the macros of a kernel for keys and values of these widths; always the same object for equal arguments.

    `slot`: bytes of the number of a slot.
    """
    sizes = {"HR_KEY_WIDTH": widths[0], "HR_VALUE_WIDTH": widths[1], "HR_SLOT_BYTES": slot}
    return {**sizes, "HR_THREADS": threads, **others}


@cache
def block_shape(widths: tuple[int, int], threads: int, slot: int) -> Shape:
    """Return the launch configuration of a kernel of one block. Parameters are those of `slab_defines`."""
    return Shape(slab_defines(widths, threads, slot), 1, threads)


@cache
def slab_entry(name: str) -> Entry:
    """Return the entry point of a kernel."""
    file = next((file for file, names in _FILES.items() if name in names), "hash_map_updates.cu")
    return Entry(f"index/hash_map/gpu/{file}", name, f"{_TABLE.argument}{_SIGNATURES[name]}")
