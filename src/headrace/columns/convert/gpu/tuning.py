"""Defines launch configurations of the conversion kernels: macros, threads, tiles, and dynamic shared memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from headrace.gpu.kernels.source import Programs

MAX_STRINGS = 16  # columns of strings that the fast conversion reads at most (MAX_ROW_STRINGS of fast/row_task.hpp)

_MEASURE_BLOCKS = 8  # blocks per multiprocessor of `measure_rows`
_SUMMARY_BLOCKS = 12, 10  # blocks per multiprocessor of `summarize_rows`, without and with quotes
_STREAM_BYTES = 1360, 512
"""Shared memory in which a warp gathers strings before it stores them, without and with quotes. More would leave no room for
as many blocks.
"""
_LONG_STRINGS, _LONG_BYTES = 4096, 200
"""A group of 32 records with at least 4096 string bytes is copied by all warps of the block. Its entry in the block's list
in fast/row_strings.cuh has 200 bytes."""
_MAX_MALFORMED = 256  # malformed quotes in a tile that the fast conversion lists (`max_malformed` of fast/row_tile.cuh)
_MAX_LEFT = 108  # fields of a tile that the fast conversion leaves to the rules at most (`max_left` of fast/row_tile.cuh)
_LONG_PIECE, _SIZED_STRINGS = 96, 512
_HEAD_BYTES = 64
_LEFT_BYTES = 4 * (512 + 1)  # the list of fields that a tile leaves to the rules, and their number

OFFSETS_THREADS = 256  # threads of a block of string_offsets.cu
PROGRAMS: Programs = (("string_offsets.cu", {"HR_THREADS": [OFFSETS_THREADS]}),)

LISTED_DEFINES = {"HR_THREADS": 256, "HR_BLOCKS": 4}
"""Macros of general/listed_strings.cu: threads of a block, and resident blocks per multiprocessor."""

ALL_KINDS = (1 << 23) - 1  # all bits of a program's mask of RowKind, and those after them: ALL_ROW_KINDS of fast/row_task.hpp
USUAL_KINDS = (1 << 16) - 1  # the bits of RowKind alone, without those of forms that only few columns have
TEXT_KIND = 1 << 8  # the bit of columns of strings
INFERS_BIT = 10  # the bit of a mask of families that is set if types are inferred
LISTS_BIT = 11  # the bit of a mask of families of a program that lists fields: `list_fields`, for which no other bit is needed
LANES_BIT = 12  # the bit of a mask of families of a program that gives each lane a column of a tile with few rows
LANE_COLUMNS = 32  # columns of a group from which on its programs have that bit: `lane_columns` of wide_tiles.cuh
ALL_FAMILIES = (2 << LANES_BIT) - 1  # all bits of a mask of ConvertFamily (convert_task.hpp), and the bits above

Program = tuple[dict[str, int], int, int]  # macros of a program, threads per block, and dynamic shared memory in bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertTuning:
    """Launch configuration of the general conversion (general/convert.cu)."""

    threads: int = 256  # threads per block
    tile: int = 16384  # bytes per tile
    window: int = 4096  # fields that are indexed at a time
    quotes: bool = True  # True if the dialect has quotes
    dfa: bool = False  # True if a DFA classifies the bytes instead of byte masks
    blocks: int = 4  # resident blocks per multiprocessor that the compiler is asked for
    span: int = 1  # tiles of the search in a tile

    def defines(self, *, writes: bool, families: int = ALL_FAMILIES) -> dict[str, int]:
        """Return the macros of ``convert_tiles`` (`writes`) or ``measure_strings``, for columns of these families."""
        names = ("HR_THREADS", "HR_TILE", "HR_WINDOW", "HR_QUOTES", "HR_BLOCKS", "HR_SPAN", "HR_WRITES", "HR_FAMILIES")
        variant = 2 if self.dfa else int(self.quotes)
        values = self.threads, self.tile, self.window, variant, self.blocks, self.span, int(writes), families
        return dict(zip(names, values, strict=True))

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block: the size of TileMemory (general/tile_text.cuh)."""
        words = (self.tile + _HEAD_BYTES) // 32
        size = self.tile + _HEAD_BYTES + 16 + 2 * 4 * words
        size += 4 * words if self.dfa else 4
        size += 6 * (words + 1) if self.quotes or self.dfa else 8
        size = _aligned(size + 2 * (self.window + 2), 4) + 6 * (self.window // 32)
        pieces = 16 * ((self.tile + _HEAD_BYTES) // _LONG_PIECE + 1) + 2 * self.window + 4 * _SIZED_STRINGS + 8 * self.threads
        return _aligned(_aligned(size, 8) + 8 * (self.threads // 32) + pieces + _LEFT_BYTES, 16) + 192


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowTuning:
    """Launch configuration of the fast conversion (fast/convert_rows.cu), which reads one record per thread.

    A block has about as many threads as a 16 KB tile has records: 192 threads for records of 85 bytes and more, 160 with quotes
    for 102 bytes and more. The taxi data has 178 records per tile, lineitem 131; with 128 threads, three warps waited for the
    one that converted the records of the second round.
    """

    quotes: bool = False  # True if the dialect has quotes
    dfa: bool = False  # True if the DFA finds the fields instead of byte masks
    threads: int = 192  # threads per block
    tile: int = 16384
    head: int = 512  # bytes per tile, and bytes before it that are staged with it
    records: int = 1  # records that a thread converts side by side
    record_bytes: int = 8  # the fast conversion declines tiles with more records than records of this size would give
    blocks: int = 6  # resident blocks per multiprocessor that the compiler is asked for

    def defines(self, *, writes: bool, kinds: int = ALL_KINDS) -> dict[str, int]:
        """Return the macros of ``convert_rows`` (`writes`), for columns of these kinds, or those of kernels that measure."""
        names = ("HR_QUOTES", "HR_THREADS", "HR_TILE", "HR_HEAD", "HR_RECORDS", "HR_RECORD_BYTES", "HR_BLOCKS", "HR_WRITES")
        sizes = self.threads, self.tile, self.head, self.records, self.record_bytes, self.blocks
        values = (2 if self.dfa else int(self.quotes), *sizes, int(writes))
        return dict(zip(names, values, strict=True)) | ({"HR_KINDS": kinds} if writes else {})

    def shared_bytes(self, *, strings: bool, writes: bool) -> int:
        """Return the dynamic shared memory of a block: RowMemory, then RowStrings.

        The text is staged only if columns are written.
        """
        warps, chunks = self.threads // 32, (self.tile + self.head) // 32
        records = self.tile // self.record_bytes
        starts, lines = 2 * records + 8 + (records // 64 * 4 if self.record_bytes < 4 else 0), self.tile // 8  # a union
        size = (self.tile + self.head + 80 if writes else 16) + 4 * (chunks + 3) + 12 + max(starts, lines)
        size += (6 * (chunks + 2) + 12 * warps if self.quotes else 20) + 12 + 8 * warps + 4 * MAX_STRINGS
        size += 4 * chunks + 4 + 2 * _MAX_MALFORMED if self.dfa else 8 + 4
        size += 8 + 6 * (_MAX_LEFT if writes and not self.dfa else 1) + 16
        size = _aligned(size, 16) + 16
        if strings:
            streams = _aligned(warps * (_STREAM_BYTES[self.quotes] + 4), 8)
            size += 8 + streams + _LONG_BYTES * ((self.tile + self.head) // _LONG_STRINGS + 1)
        return size


@cache
def row_program(tuning: RowTuning, strings: bool, kinds: int) -> Program:
    """Return the program of ``convert_rows`` for columns of these kinds."""
    return tuning.defines(writes=True, kinds=kinds), tuning.threads, tuning.shared_bytes(strings=strings, writes=True)


@cache
def measure_program(tuning: RowTuning, threads: int, has_null_words: bool) -> Program:
    """Return the program of ``measure_rows``, with the search's number of threads.

    A record costs little here, compared with the work per tile, so the search's configuration fits better.
    """
    measuring = replace(tuning, threads=threads, records=1, blocks=_MEASURE_BLOCKS)
    defines = {**measuring.defines(writes=False), "HR_NULLS": int(has_null_words)}
    return defines, threads, measuring.shared_bytes(strings=False, writes=False)


@cache
def summary_program(tuning: RowTuning, threads: int) -> Program:
    """Return the program of ``summarize_rows``, whose shared memory is SummaryMemory (fast/measure_rows.cu)."""
    measuring = replace(tuning, threads=threads, records=1, blocks=_SUMMARY_BLOCKS[tuning.quotes])
    words, of_warps = 2 * (tuning.tile + tuning.head) // 32 + 2 * tuning.tile // 32, 11 * (threads // 32)
    shared = measuring.shared_bytes(strings=False, writes=False) + 4 * (words + of_warps) + 32
    return {**measuring.defines(writes=False), "HR_UNROLL": 3}, threads, shared


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to
