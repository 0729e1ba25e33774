"""Kernels that search a text for its structure (`headrace.structure.gpu.find`): what each form of it launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import Struct
from typing import Any

import numpy as np

from headrace.gpu.kernels.launcher import Entry, Launcher, Part, Room, Shape
from headrace.gpu.kernels.trace_expressions import least, most, packed
from headrace.structure.gpu.dialect_tables import ENTRY, MOST_STATES, TALLY, TOTALS

_TALLY_PLAIN = Entry("structure/gpu/summarize_plain.cu", "tally_plain", "PQ8sPPPI")
_MAP_TILES = Entry("structure/gpu/summarize_dfa.cu", "map_tiles", "PQPPPPP")
_TALLY_STEPS = Entry("structure/gpu/summarize_dfa.cu", "tally_steps", "PQPPPPPPP")
_CHAIN_MAPS = Entry("structure/gpu/summarize_dfa.cu", "chain_maps", "PIPP")
_START_CHUNKS = Entry("structure/gpu/summarize_dfa.cu", "start_chunks", "PQPPPPP")
_FIND_RUNS = Entry("structure/gpu/lenient_quotes.cu", "find_runs", "PQ24sPP")
_MARK_QUOTES = Entry("structure/gpu/lenient_quotes.cu", "mark_quotes", "PQ24sPPP")
_BLOCKS_BEHIND = 2048
"""Of a form that another one may ask for: enough for any card, few where it does not."""
_OWN_BYTES = 64
"""Of a thread of lenient_quotes.cu."""
_SCAN_TILES = Entry("structure/gpu/scan_summaries.cu", "scan_tiles", "PIPQIIPPPPP")
_SCAN_MAPS = Entry("structure/gpu/scan_summaries.cu", "scan_maps", "PIPPP")
_STATE_BYTES = {"bare": 64, "quoted": 72, "steps": 64, "maps": 16}
"""Of a scan's look-back, for each of its blocks: what tiles have reached, with parities, or maps."""
TEXT_SIZES = Struct("=QI")
"""How begins what kernels that read by rows are told: bytes of the text, and tiles."""
MOST_FORMS = 3
TOTALS_BYTES = TOTALS.itemsize
FORMS_BYTES = MOST_FORMS * TOTALS_BYTES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FindShape:
    """Threads of a block, rows of 16 bytes that each reads, and blocks of a multiprocessor; threads of a block that scans.

    `only_steps`: whatever the dialect, its automaton is to read the text.
    """

    threads: int = 128
    rows: int = 8
    blocks: int = 6
    scan_threads: int = 256
    only_steps: bool = False

    @property
    def tile(self) -> int:
        """Bytes of a tile."""
        return self.threads * self.rows * 16

    def plain(self, *, quoted: bool) -> dict[str, int]:
        """Macros of summarize_plain.cu."""
        shape = {"HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 2, "HR_BLOCKS": self.blocks}
        return {"HR_QUOTED": int(quoted), **shape}

    def steps(self, states: int) -> dict[str, int]:
        """Macros of summarize_dfa.cu, for tables of so many states."""
        return {"HR_STATES": states, "HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 1, "HR_BLOCKS": 1}


@cache
def _plain_defines(shape: FindShape, quoted: bool) -> dict[str, int]:
    return shape.plain(quoted=quoted)


@cache
def _steps_defines(shape: FindShape, states: int) -> dict[str, int]:
    return shape.steps(states)


@cache
def _scan_defines(threads: int) -> dict[str, int]:
    return {"HR_THREADS": threads}


@dataclass(frozen=True, slots=True)
class Steps:
    """What the form ``"steps"`` leaves for those who read the text behind it.

    Parameters
    ----------
    tables
        STEP_TABLES.
    states
        The automaton's state before each 32 bytes, as summarize_dfa.cu's tally_steps leaves it: `chunk` of them for each of its
        threads, `stride` bytes apart.
    marks
        Lenient quotes that open no field, a bit for each byte; None where quotes are strict.
    count
        States that the tables have room for.
    """

    tables: Room
    states: Room
    marks: Room | None
    count: int
    chunk: int
    stride: int


@dataclass(frozen=True, slots=True)
class TallyAndMore:
    """What reads a text in its first form in place of ``tally_plain``, and does more than that.

    Parameters
    ----------
    form
        ``"bare"`` or ``"quoted"``: of which it makes the tallies.
    entry, defines, threads, shared
        A launch of a block for each tile, told the text, the dialect, tallies and totals; of the rooms that the caller wants the
        first and the last that are not cleared, and the second half of the only one of zeros, of two words for each tile, which
        the scan marks too; and `told`.
    told
        What else it is told: the first of it behind the text's size and tiles (`TEXT_SIZES`).
    room
        Bytes of that last room for each tile.
    """

    form: str
    entry: Entry
    defines: Mapping[str, int]
    threads: int
    shared: int
    told: tuple[bytes, bytes]
    room: int


class Search:
    """Launches of one text. Every form has its own totals; the entries are the last one's that did something."""

    def __init__(
        self,
        launcher: Launcher,
        text: Room,
        cut: tuple[FindShape, int],
        forms: list[str],
        more: tuple[Sequence[int], Sequence[int]],
    ) -> None:
        shape, self.tiles = cut
        self._launcher, self._text, self._shape = launcher, text, shape
        self._skew = text.address % 16
        self._bytes = text.nbytes
        self._is_empty = isinstance(self.tiles, int) and not self.tiles
        self._scan_blocks = self.tiles // shape.scan_threads + 1
        scans = [*forms, "maps"] if "steps" in forms else forms
        memory = [(self._scan_blocks + 1) * _STATE_BYTES[scan] for scan in scans]
        sizes = [(self.tiles + 1) * ENTRY.itemsize, most(2 * self.tiles, 1) * TALLY.itemsize]
        zeroed, others = more
        rooms = list(launcher.rooms([*memory, FORMS_BYTES + zeroed[0], *zeroed[1:]], [*sizes, *others]))
        self._scan_memory = dict(zip(scans, rooms, strict=False))
        first, behind = len(scans), len(scans) + len(zeroed)
        self.totals, self.entries, self._tallies = rooms[first], rooms[behind], rooms[behind + 1]
        self.more = rooms[first + 1 : behind] + rooms[behind + 2 :]
        self._scan_shape = Shape(_scan_defines(shape.scan_threads), self._scan_blocks, shape.scan_threads)
        self._before: Part | None = None
        self._marks: Room | None = None
        self.steps: Steps | None = None
        self.tally: TallyAndMore | None = None

    def mark_quotes(self, dialect: np.void) -> None:
        """Start to tell which lenient quotes open no field."""
        threads, size = self._shape.scan_threads, self._bytes
        tiles = -(-(size + self._skew) // (threads * _OWN_BYTES))
        self._marks = self._launcher.room(max(tiles * threads * _OWN_BYTES, self.tiles * self._shape.tile) // 8 + 8)
        if self._is_empty:
            return
        kinds = self._launcher.room(tiles)
        shape, told = Shape(_scan_defines(threads), tiles, threads), dialect.tobytes()
        self._launcher.launch(_FIND_RUNS, shape, [self._text, size, told, kinds, self._before])
        self._launcher.launch(_MARK_QUOTES, shape, [self._text, size, told, kinds, self._marks, self._before])

    def launch(self, form: str, described: Any, *, lenient: bool) -> None:
        """Start a form, behind the one before it."""
        before = self._before
        totals = self._before = Part(self.totals, 0 if before is None else before.begin + TOTALS_BYTES, TOTALS_BYTES)
        states: Room | None = None
        marks: Room | None = None
        if form == "steps":
            states = self._by_steps(described, totals, before)
        elif self.tally is not None and before is None:
            tally = self.tally
            marks, sums = Part(self.more[0], self.tiles * 4, self.tiles * 4), self.more[1]
            shape = Shape(tally.defines, self.tiles, tally.threads, tally.shared)
            head = [self._text, described, self._tallies, totals, sums, self.more[-1], marks]
            task, others = tally.told
            self._launcher.launch(tally.entry, shape, [*head, packed(TEXT_SIZES, self._bytes, self.tiles) + task, others])
        elif not self._is_empty:
            args = [self._text, self._bytes, described, self._tallies, totals, before, self.tiles]
            blocks = self.tiles if before is None else least(self.tiles, _BLOCKS_BEHIND)
            shape = Shape(_plain_defines(self._shape, form == "quoted"), blocks, self._shape.threads)
            self._launcher.launch(_TALLY_PLAIN, shape, args)
        quoted = (2 if lenient else 1) if form == "quoted" else 0
        head = [self._tallies, quoted, states, self._bytes, self._shape.tile, self._skew]
        self._scan(_SCAN_TILES, [*head, self.entries, totals, before, marks, self._scan_memory[form]])

    def _by_steps(self, tables: np.void, totals: Room, before: Room | None) -> Room:
        """The tiles' states."""
        count = tables["steps"].shape[1]
        is_wide = count > MOST_STATES[-1]
        stride = 4 if is_wide else count // 2
        table = self._launcher.put(np.frombuffer(tables.tobytes(), np.uint8))
        maps = self._launcher.room(max(self.tiles, 1) * (count if is_wide else 8))
        chunks = self._launcher.room(max(self.tiles, 1) * self._shape.threads * stride)
        states = self._launcher.room(self.tiles + 1)
        if not self._is_empty:
            head = [self._text, self._bytes, table, self._marks, chunks]
            defines = _steps_defines(self._shape, count)
            self._launch(_MAP_TILES, defines, [*head, maps, before])
            if is_wide:
                one = Shape(defines, 1, self._shape.threads)
                self._launcher.launch(_CHAIN_MAPS, one, [maps, self.tiles, states, before])
                self._launch(_START_CHUNKS, defines, [*head, states, before])
            else:
                self._scan(_SCAN_MAPS, [maps, self.tiles, states, before, self._scan_memory["maps"]])
            self._launch(_TALLY_STEPS, defines, [*head, states, self._tallies, totals, before])
        self.steps = Steps(table, chunks, self._marks, count, self._shape.rows // 2, stride)
        return states

    def _launch(self, entry: Entry, defines: dict[str, int], args: list[object]) -> None:
        self._launcher.launch(entry, Shape(defines, self.tiles, self._shape.threads), args)

    def _scan(self, entry: Entry, args: list[object]) -> None:
        self._launcher.launch(entry, self._scan_shape, args)
