"""Where the records and fields of a text are, tile by tile, on a GPU.

Three forms read a text: by masks where there are no quotes, by masks with quotes, by an automaton's steps. Each but the last
says `Found.REDO` where it meets a byte that it cannot read; the kernels of the next one are launched behind it and do nothing
unless it did. So the form is chosen from the bytes, and nobody waits. Lenient quotes are strict ones to masks, which ask for the
next form where some are malformed; kernels of their own then tell which of them open a field.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.core.launcher import Entry, Launcher, Part, Room, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.gpu_tables import ENTRY, TALLY, TOTALS, Found, Plain, lenient_dialect, plain_dialect, step_tables

_TALLY_PLAIN = Entry("structure/find_plain.cu", "tally_plain", "PQ8sPPP")
_MAP_TILES = Entry("structure/find_steps.cu", "map_tiles", "PQPPPPP")
_TALLY_STEPS = Entry("structure/find_steps.cu", "tally_steps", "PQPPPPPPP")
_FIND_RUNS = Entry("structure/lenient_runs.cu", "find_runs", "PQ24sPP")
_MARK_QUOTES = Entry("structure/lenient_runs.cu", "mark_quotes", "PQ24sPPP")
_OWN_BYTES = 64
"""Of a thread of lenient_runs.cu."""
_SCAN_TILES = Entry("structure/scan_tiles.cu", "scan_tiles", "PIPQIIPPPP")
_SCAN_MAPS = Entry("structure/scan_tiles.cu", "scan_maps", "PIPPP")
_STATE_BYTES = {"bare": 64, "quoted": 72, "steps": 64, "maps": 16}
"""Of a scan's look-back, for each of its blocks: what tiles have reached, with parities, or maps."""
MOST_FORMS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
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
        """Macros of find_plain.cu."""
        shape = {"HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 2, "HR_BLOCKS": self.blocks}
        return {"HR_QUOTED": int(quoted), **shape}

    def steps(self, states: int) -> dict[str, int]:
        """Macros of find_steps.cu, for tables of so many states."""
        return {"HR_STATES": states, "HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 1, "HR_BLOCKS": 1}


@dataclass(frozen=True, slots=True)
class Steps:
    """What the form ``"steps"`` leaves for those who read the text behind it.

    Parameters
    ----------
    tables
        STEP_TABLES.
    states
        The automaton's state before each 32 bytes, as find_steps.cu's tally_steps leaves it: `chunk` of them for each of its
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
class TileStructure:
    """Where a text's tiles begin in its records.

    Parameters
    ----------
    entries
        One ENTRY for each tile, and one for the text's end.
    forms
        The ways to read the text that were launched: ``"bare"``, ``"quoted"``, ``"steps"``.
    tiles
        How many there are.
    steps
        If ``"steps"`` is among the forms. Its memory means something only if that form read the text.
    """

    entries: Room
    forms: tuple[str, ...]
    tiles: int
    steps: Steps | None

    def answer(self, totals: NDArray[np.void]) -> tuple[np.void, str]:
        """The totals that hold, and the form that read the text."""
        number = next(i for i in range(len(self.forms)) if not int(totals[i]["flags"]) & Found.REDO)
        return totals[number], self.forms[number]


def find_tiles(launcher: Launcher, text: Room, dialect: Dialect, totals: Room, shape: FindShape) -> TileStructure | None:
    """Start to find the structure of a text; nothing is waited for.

    Parameters
    ----------
    launcher
        Where kernels run.
    text
        The bytes, there.
    dialect
        How the text is written.
    totals
        Room for MOST_FORMS of TOTALS, zeroed: one for each of the forms; the first without `Found.REDO` will hold.
    shape
        Of the kernels.

    Returns
    -------
    TileStructure or None
        None where no form reads the dialect: see `reads`.
    """
    forms = _forms(dialect, shape)
    if forms is None:
        return None
    search = _Search(launcher, text, totals, shape)
    for form, described in forms:
        if form == "steps" and dialect.lenient:
            search.mark_quotes(lenient_dialect(dialect))
        search.launch(form, described, lenient=dialect.lenient)
    return TileStructure(search.entries, tuple(form for form, _ in forms), search.tiles, search.steps)


def reads(dialect: Dialect) -> bool:
    """Whether some form reads every text of the dialect: masks do, or the automaton has sixteen states at most."""
    return _forms(dialect, FindShape()) is not None


def _forms(dialect: Dialect, shape: FindShape) -> list[tuple[str, np.void]] | None:
    """The forms to launch, in order. The last one reads every text of the dialect."""
    steps = step_tables(dialect)
    if shape.only_steps:
        return None if steps is None else [("steps", steps)]
    bare, quoted = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
    forms = [] if bare is None else [("bare", bare)]
    if bare is not None and not bare["flags"] & Plain.WATCHES:
        return forms
    if quoted is not None:
        forms.append(("quoted", quoted))
        if not dialect.lenient:
            return forms
    return None if steps is None else [*forms, ("steps", steps)]


class _Search:
    """Launches of one text. Every form has its own totals; the entries are the last one's that did something."""

    def __init__(self, launcher: Launcher, text: Room, totals: Room, shape: FindShape) -> None:
        self._launcher, self._text, self._shape = launcher, text, shape
        self._skew = text.address % 16
        self.tiles = -(-(text.nbytes + self._skew) // shape.tile) if text.nbytes else 0
        self._scan_blocks = self.tiles // shape.scan_threads + 1
        self.entries = launcher.room((self.tiles + 1) * ENTRY.itemsize)
        self._totals = totals
        self._tallies = launcher.room(max(2 * self.tiles, 1) * TALLY.itemsize)
        self._launched = 0
        self._marks: Room | None = None
        self.steps: Steps | None = None

    def mark_quotes(self, dialect: np.void) -> None:
        """Start to tell which lenient quotes open no field."""
        threads, size = self._shape.scan_threads, self._text.nbytes
        tiles = -(-(size + self._skew) // (threads * _OWN_BYTES))
        self._marks = self._launcher.room(max(tiles * threads * _OWN_BYTES, self.tiles * self._shape.tile) // 8 + 8)
        if not self.tiles:
            return
        kinds = self._launcher.room(tiles)
        before, defines = self._totals_before(), {"HR_THREADS": threads}
        self._launcher.launch(_FIND_RUNS, Shape(defines, tiles, threads), [self._text, size, dialect, kinds, before])
        args = [self._text, size, dialect, kinds, self._marks, before]
        self._launcher.launch(_MARK_QUOTES, Shape(defines, tiles, threads), args)

    def _totals_before(self) -> Room | None:
        """Those of the form that was launched last."""
        size = TOTALS.itemsize
        return Part(self._totals, (self._launched - 1) * size, size) if self._launched else None

    def launch(self, form: str, described: np.void, *, lenient: bool) -> None:
        """Start a form, behind the one before it."""
        before = self._totals_before()
        totals = Part(self._totals, self._launched * TOTALS.itemsize, TOTALS.itemsize)
        self._launched += 1
        states = None
        if form == "steps":
            states = self._by_steps(described, totals, before)
        elif self.tiles:
            args = [self._text, self._text.nbytes, described, self._tallies, totals, before]
            self._launch(_TALLY_PLAIN, self._shape.plain(quoted=form == "quoted"), args)
        sizes = [self._text.nbytes, self._shape.tile, self._skew]
        memory = self._scan_memory(form)
        quoted = (2 if lenient else 1) if form == "quoted" else 0
        args = [self._tallies, quoted, states, *sizes, self.entries, totals, before, memory]
        self._scan(_SCAN_TILES, args)

    def _by_steps(self, tables: np.void, totals: Room, before: Room | None) -> Room:
        """The tiles' states."""
        count = tables["steps"].shape[1]
        table = self._launcher.put(np.frombuffer(tables.tobytes(), np.uint8))
        maps = self._launcher.room(max(self.tiles, 1) * 8)
        chunks = self._launcher.room(max(self.tiles, 1) * self._shape.threads * count // 2)
        states = self._launcher.room(self.tiles + 1)
        if self.tiles:
            head = [self._text, self._text.nbytes, table, self._marks, chunks]
            defines = self._shape.steps(count)
            self._launch(_MAP_TILES, defines, [*head, maps, before])
            self._scan(_SCAN_MAPS, [maps, self.tiles, states, before, self._scan_memory("maps")])
            self._launch(_TALLY_STEPS, defines, [*head, states, self._tallies, totals, before])
        self.steps = Steps(table, chunks, self._marks, count, self._shape.rows // 2, count // 2)
        return states

    def _launch(self, entry: Entry, defines: dict[str, int], args: list[object]) -> None:
        self._launcher.launch(entry, Shape(defines, self.tiles, self._shape.threads), args)

    def _scan(self, entry: Entry, args: list[object]) -> None:
        threads = self._shape.scan_threads
        self._launcher.launch(entry, Shape({"HR_THREADS": threads}, self._scan_blocks, threads), args)

    def _scan_memory(self, form: str) -> Room:
        return self._launcher.room((self._scan_blocks + 1) * _STATE_BYTES[form], fill=0)
