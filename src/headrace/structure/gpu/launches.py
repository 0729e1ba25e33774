"""Launches the kernels that search a text for its structure, variant by variant (`headrace.structure.gpu.find`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.gpu.kernels.trace_expressions import least, most, packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import LENIENT_DIALECT, MAX_STATES, PLAIN_DIALECT, TILE_START, TILE_SUMMARY, TOTALS

_SUMMARIZE_PLAIN = Entry("structure/gpu/summarize_plain.cu", "summarize_plain", f"PQ{PLAIN_DIALECT.argument}PPPI")
_MAP_TILES = Entry("structure/gpu/summarize_dfa.cu", "map_tiles", "PQPPPPP")
_SUMMARIZE_DFA = Entry("structure/gpu/summarize_dfa.cu", "summarize_dfa", "PQPPPPPPPP")
_CHAIN_MAPS = Entry("structure/gpu/summarize_dfa.cu", "chain_maps", "PIPP")
_START_CHUNKS = Entry("structure/gpu/summarize_dfa.cu", "start_chunks", "PQPPPPP")
_MARK_QUOTES = Entry("structure/gpu/opening_quotes.cu", "mark_quotes", f"PQ{LENIENT_DIALECT.argument}PPP")
_MARK_LAST_QUOTES = Entry("structure/gpu/opening_quotes.cu", "mark_last_quotes", f"PQ{LENIENT_DIALECT.argument}PIPP")
_FALLBACK_BLOCKS = 2048
"""Blocks of a fallback variant: enough to fill any GPU, and cheap when the variant is not needed and they return at once."""
_THREAD_BYTES = 64  # `thread_bytes` of opening_quotes.cu
_SCAN_TILES = Entry("structure/gpu/scan_summaries.cu", "scan_tiles", "PIPQIIPPPPP")
_SCAN_MAPS = Entry("structure/gpu/scan_summaries.cu", "scan_maps", "PIPPP")
_STATE_BYTES = {"unquoted": 64, "quoted": 72, "dfa": 64, "maps": 16}
"""Look-back memory of a scan, for each of its blocks: `Reached` (with quotes also parities), or maps."""
_ROLES_BYTES = layout("DfaRoles").size
TEXT_SIZES = Struct("=QI")  # first fields of the task of kernels that read a record a thread: bytes of the text, number of tiles
MAX_VARIANTS = 3
TOTALS_BYTES = TOTALS.itemsize
VARIANTS_BYTES = MAX_VARIANTS * TOTALS_BYTES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchTuning:
    """Launch configuration of the search."""

    threads: int = 128
    rows: int = 8
    blocks: int = 8  # threads a block, vectors of 16 bytes that each thread reads, and resident blocks a multiprocessor
    scan_threads: int = 256  # threads a block of the scans
    only_dfa: bool = False  # read the text by the automaton, whatever its dialect

    @property
    def tile(self) -> int:
        """Return the bytes of a tile."""
        return self.threads * self.rows * 16

    def plain(self, *, quoted: bool) -> dict[str, int]:
        """Return the macros of summarize_plain.cu."""
        defines = {"HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 4, "HR_BLOCKS": self.blocks}
        return {"HR_QUOTED": int(quoted), **defines}

    def dfa(self, states: int) -> dict[str, int]:
        """Return the macros of summarize_dfa.cu for tables of `states` states."""
        return {"HR_STATES": states, "HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 1, "HR_BLOCKS": 9}


@cache
def _plain_defines(tuning: SearchTuning, quoted: bool) -> dict[str, int]:
    return tuning.plain(quoted=quoted)


@cache
def _dfa_defines(tuning: SearchTuning, states: int) -> dict[str, int]:
    return tuning.dfa(states)


@cache
def _scan_defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}


@dataclass(frozen=True, slots=True)
class DfaOutput:
    """Output of the variant ``"dfa"`` for the conversion, which reads the text again."""

    tables: DeviceBuffer  # DFA_TABLES
    roles: DeviceBuffer  # DfaRoles of each 32 bytes (dfa_tables.hpp)


@dataclass(frozen=True, slots=True)
class FusedSummary:
    """A kernel that replaces ``summarize_plain`` in the first variant: it also measures the strings of every record.

    One pass over the text then serves the search and the conversion's string offsets. The kernel has a block for each tile and
    these parameters: text, dialect, tile summaries, totals, `string_sums`, `string_sizes`, `declined_tiles`, task and columns.
    `Search` takes the three buffers from those that the caller asked for:

    - `declined_tiles` (zeros): a word a tile, the second half of the first zeroed buffer. It marks tiles that the kernel could
      not measure, or measured from the wrong side of quotes; the latter is found by the scan.
    - `string_sums`: the first buffer that is not zeroed.
    - `string_sizes`: the last one, of `buffer` bytes a tile.
    """

    variant: str  # the variant that it replaces: `"unquoted"` or `"quoted"`
    entry: Entry
    defines: Mapping[str, int]
    threads: int
    shared: int  # the kernel, its macros, threads a block, and bytes of shared memory
    task: bytes
    columns: bytes  # the rest of the task, which begins with `TEXT_SIZES`; and the columns
    buffer: int  # bytes of `string_sizes` for each tile


class BufferSizes(NamedTuple):
    """Sizes in bytes of buffers that are allocated together with the search's own, which is cheaper."""

    zeroed: Sequence[int] = (0,)
    """Buffers that begin as zeros. The first is appended to the totals, to be fetched with them; the others are separate."""
    others: Sequence[int] = ()  # buffers without initial content


NO_EXTRA = BufferSizes()
Variants = list[tuple[str, Any]]  # search variants in the order of their launches, each with its tables


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Everything that selects a search's launches."""

    dialect: Dialect
    variants: Variants  # the text's dialect, and the variants to enqueue
    tuning: SearchTuning  # launch configuration
    fused: FusedSummary | None  # kernel that replaces the first variant, if that is the variant it is made for
    tables_begin: int | None = None
    """First byte of the automaton's tables in the caller's arguments (`ARGUMENTS`); None if the search copies them itself."""


ARGUMENTS = 1  # index of the caller's arguments among its buffers without initial content


class Search:
    """Launches for one text. Each variant has its own totals; tile starts are those of the last variant that ran."""

    def __init__(self, launcher: Launcher, text: DeviceBuffer, plan: SearchPlan, tiles: int, extra: BufferSizes) -> None:
        tuning, self.tiles = plan.tuning, tiles
        self._launcher, self._text, self._tuning = launcher, text, tuning
        self._skew = text.address % 16
        self._bytes = text.nbytes
        self._is_empty = isinstance(tiles, int) and not tiles
        self._scan_blocks = tiles // tuning.scan_threads + 1
        variants = [variant for variant, _ in plan.variants]
        scans = [*variants, "maps"] if "dfa" in variants else variants
        memory = [(self._scan_blocks + 1) * _STATE_BYTES[scan] for scan in scans]
        sizes = [(tiles + 1) * TILE_START.itemsize, most(2 * tiles, 1) * TILE_SUMMARY.itemsize]
        zeroed, others = extra
        buffers = list(launcher.allocate_group([*memory, VARIANTS_BYTES + zeroed[0], *zeroed[1:]], [*sizes, *others]))
        self._scan_memory = dict(zip(scans, buffers, strict=False))
        first, others_begin = len(scans), len(scans) + len(zeroed)
        self.totals, self.entries, self._summaries = buffers[first], buffers[others_begin], buffers[others_begin + 1]
        self.extra = buffers[first + 1 : others_begin] + buffers[others_begin + 2 :]
        begin = plan.tables_begin
        self._tables = None if begin is None else BufferSlice(buffers[others_begin + 2 + ARGUMENTS], begin)
        self._scan_shape = Shape(_scan_defines(tuning.scan_threads), self._scan_blocks, tuning.scan_threads)
        self._before: BufferSlice | None = None
        self._marks: DeviceBuffer | None = None
        self.dfa: DfaOutput | None = None
        is_fused = plan.fused is not None and variants[0] == plan.fused.variant
        self.fused = plan.fused if is_fused else None

    def mark_quotes(self, dialect: np.void) -> None:
        """Enqueue the kernels that mark lenient quotes that open no field."""
        threads, size = self._tuning.scan_threads, self._bytes
        tiles = -(-(size + self._skew) // (threads * _THREAD_BYTES))
        self._marks = self._launcher.allocate(most(tiles * threads * _THREAD_BYTES, self.tiles * self._tuning.tile) // 8 + 8)
        if self._is_empty:
            return
        runs = self._launcher.allocate(2 * tiles)
        head, defines = [self._text, size, dialect.tobytes(), runs], _scan_defines(threads)
        self._launcher.launch(_MARK_QUOTES, Shape(defines, tiles, threads), [*head, self._marks, self._before])
        shape = Shape(defines, -(-tiles // (threads // 32)), threads)
        self._launcher.launch(_MARK_LAST_QUOTES, shape, [*head, tiles, self._marks, self._before])

    def launch(self, variant: str, tables: Any, *, lenient: bool) -> None:
        """Enqueue a variant with its tables, after the preceding one, which decides on the device whether this one is needed."""
        before = self._before
        totals = self._before = BufferSlice(self.totals, 0 if before is None else before.begin + TOTALS_BYTES, TOTALS_BYTES)
        states: DeviceBuffer | None = None
        declined_tiles: DeviceBuffer | None = None
        if variant == "dfa":
            states = self._launch_dfa(tables, totals, before)
        elif self.fused is not None and before is None:
            fused = self.fused
            declined_tiles = BufferSlice(self.extra[0], self.tiles * 4, self.tiles * 4)
            string_sums, string_sizes = self.extra[1], self.extra[-1]
            shape = Shape(fused.defines, self.tiles, fused.threads, fused.shared)
            head = [self._text, tables, self._summaries, totals, string_sums, string_sizes, declined_tiles]
            self._launcher.launch(
                fused.entry, shape, [*head, packed(TEXT_SIZES, self._bytes, self.tiles) + fused.task, fused.columns]
            )
        elif not self._is_empty:
            args = [self._text, self._bytes, tables, self._summaries, totals, before, self.tiles]
            blocks = self.tiles if before is None else least(self.tiles, _FALLBACK_BLOCKS)
            shape = Shape(_plain_defines(self._tuning, variant == "quoted"), blocks, self._tuning.threads)
            self._launcher.launch(_SUMMARIZE_PLAIN, shape, args)
        quoted = (2 if lenient else 1) if variant == "quoted" else 0
        head = [self._summaries, quoted, states, self._bytes, self._tuning.tile, self._skew]
        self._scan(_SCAN_TILES, [*head, self.entries, totals, before, declined_tiles, self._scan_memory[variant]])

    def _launch_dfa(self, tables: np.void, totals: DeviceBuffer, before: DeviceBuffer | None) -> DeviceBuffer:
        """Enqueue the automaton's kernels; return the state before each tile."""
        count = tables["steps"].shape[1]
        is_wide = count > MAX_STATES[-1]
        table = self._tables or self._launcher.put(tables.tobytes())
        tiles = most(self.tiles, 1)
        maps = self._launcher.allocate(tiles * (count if is_wide else 8))
        before_chunks = self._launcher.allocate(tiles * (self._tuning.threads * (4 if is_wide else count // 2)))
        roles = self._launcher.allocate(tiles * (self._tuning.tile // 32 * _ROLES_BYTES))
        states = self._launcher.allocate(self.tiles + 1)
        if not self._is_empty:
            head = [self._text, self._bytes, table, self._marks, before_chunks]
            defines = _dfa_defines(self._tuning, count)
            self._launch(_MAP_TILES, defines, [*head, maps, before])
            if is_wide:
                one = Shape(defines, 1, self._tuning.threads)
                self._launcher.launch(_CHAIN_MAPS, one, [maps, self.tiles, states, before])
                self._launch(_START_CHUNKS, defines, [*head, states, before])
            else:
                self._scan(_SCAN_MAPS, [maps, self.tiles, states, before, self._scan_memory["maps"]])
            self._launch(_SUMMARIZE_DFA, defines, [*head, states, roles, self._summaries, totals, before])
        self.dfa = DfaOutput(table, roles)
        return states

    def _launch(self, entry: Entry, defines: dict[str, int], args: list[object]) -> None:
        self._launcher.launch(entry, Shape(defines, self.tiles, self._tuning.threads), args)

    def _scan(self, entry: Entry, args: list[object]) -> None:
        self._launcher.launch(entry, self._scan_shape, args)
