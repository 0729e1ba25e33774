"""Where the records and fields of a text are, tile by tile, on a GPU.

Three forms read a text: by masks where there are no quotes, by masks with quotes, by an automaton's steps. Each but the last
says `Found.REDO` where it meets a byte that it cannot read; the kernels of the next one are launched behind it and do nothing
unless it did. So the form is chosen from the bytes, and nobody waits. Lenient quotes are strict ones to masks, which ask for the
next form where some are malformed; kernels of their own then tell which of them open a field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.gpu.figures import least, most
from headrace.core.gpu.launcher import Entry, Launcher, Part, Room, Rooms, Shape
from headrace.core.gpu.recording import Recorder, Recording
from headrace.core.quick import quick
from headrace.core.recent import Recent
from headrace.structure.dialect import Dialect
from headrace.structure.gpu_tables import (
    ENTRY,
    MOST_STATES,
    TALLY,
    TOTALS,
    Found,
    Plain,
    lenient_dialect,
    plain_dialect,
    step_tables,
)

_TALLY_PLAIN = Entry("structure/find_plain.cu", "tally_plain", "PQ8sPPPI")
_MAP_TILES = Entry("structure/find_steps.cu", "map_tiles", "PQPPPPP")
_TALLY_STEPS = Entry("structure/find_steps.cu", "tally_steps", "PQPPPPPPP")
_CHAIN_MAPS = Entry("structure/find_steps.cu", "chain_maps", "PIPP")
_START_CHUNKS = Entry("structure/find_steps.cu", "start_chunks", "PQPPPPP")
_FIND_RUNS = Entry("structure/lenient_runs.cu", "find_runs", "PQ24sPP")
_MARK_QUOTES = Entry("structure/lenient_runs.cu", "mark_quotes", "PQ24sPPP")
_BLOCKS_BEHIND = 2048
"""Of a form that another one may ask for: enough for any card, few where it does not."""
_OWN_BYTES = 64
"""Of a thread of lenient_runs.cu."""
_SCAN_TILES = Entry("structure/scan_tiles.cu", "scan_tiles", "PIPQIIPPPPP")
_SCAN_MAPS = Entry("structure/scan_tiles.cu", "scan_maps", "PIPPP")
_STATE_BYTES = {"bare": 64, "quoted": 72, "steps": 64, "maps": 16}
"""Of a scan's look-back, for each of its blocks: what tiles have reached, with parities, or maps."""
MOST_FORMS = 3
_TOTALS_BYTES = TOTALS.itemsize
FORMS_BYTES = MOST_FORMS * _TOTALS_BYTES
_COUNTS = TOTALS.names or ()
_FLAGS = _COUNTS.index("flags")
_UNPACKED = Struct("=5QII")
"""TOTALS, at a third of NumPy's time."""
_REDO = int(Found.REDO)
assert _UNPACKED.size == _TOTALS_BYTES


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
        """Macros of find_plain.cu."""
        shape = {"HR_THREADS": self.threads, "HR_ROWS": self.rows, "HR_UNROLL": 2, "HR_BLOCKS": self.blocks}
        return {"HR_QUOTED": int(quoted), **shape}

    def steps(self, states: int) -> dict[str, int]:
        """Macros of find_steps.cu, for tables of so many states."""
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
class TallyAndMore:
    """What reads a text in its first form in place of ``tally_plain``, and does more than that.

    Parameters
    ----------
    form
        ``"bare"`` or ``"quoted"``: of which it makes the tallies.
    entry, defines, threads, shared
        A launch of a block for each tile, told the text, the dialect, tallies and totals; the first room of zeros that the caller
        wants, the last of the others, and the second half of the next one of zeros, of two words for each tile, which the scan
        marks too; and `told`.
    told
        What else it is told of a text of so many bytes and tiles.
    room
        Bytes of that last room, of a text of so many tiles.
    """

    form: str
    entry: Entry
    defines: Mapping[str, int]
    threads: int
    shared: int
    told: Callable[[int, int], Sequence[Any]]
    room: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class TileStructure:
    """Where a text's tiles begin in its records.

    Parameters
    ----------
    totals
        MOST_FORMS of TOTALS, one for each of the forms, of which the first without `Found.REDO` holds; and zeros behind them.
    entries
        One ENTRY for each tile, and one for the text's end.
    forms
        The ways to read the text that were launched: ``"bare"``, ``"quoted"``, ``"steps"``.
    tiles
        How many there are.
    steps
        If ``"steps"`` is among the forms. Its memory means something only if that form read the text.
    more
        The rooms that the caller wanted.
    did_more
        Whether the first form was read as the caller wanted, by `TallyAndMore`.
    """

    totals: Room
    entries: Room
    forms: tuple[str, ...]
    tiles: int
    steps: Steps | None
    more: Sequence[Room] = ()
    did_more: bool = False

    def answer(self, totals: NDArray[np.uint8]) -> tuple[dict[str, int], str]:
        """What the bytes of `totals` say, and the form that read the text."""
        for number, form in enumerate(self.forms):
            known = _UNPACKED.unpack_from(totals, number * _TOTALS_BYTES)
            if not known[_FLAGS] & _REDO:
                return dict(zip(_COUNTS, known, strict=True)), form
        raise AssertionError("the last form reads every text")


def tile_count(text: Room, shape: FindShape) -> int:
    """Tiles of a text: of whole 16 bytes in memory, so that of the first a part may lie before the text."""
    return -(-(text.nbytes + text.address % 16) // shape.tile) if text.nbytes else 0


def find_tiles(
    launcher: Launcher,
    text: Room,
    dialect: Dialect,
    shape: FindShape,
    more: tuple[Sequence[int], Sequence[int]] = ((0,), ()),
    *,
    has_quotes: bool = False,
    tally: TallyAndMore | None = None,
) -> TileStructure:
    """Start to find the structure of a text; nothing is waited for.

    Parameters
    ----------
    launcher
        Where kernels run.
    text
        The bytes, there.
    dialect
        How the text is written.
    shape
        Of the kernels.
    more
        What the caller wants room for as well, since to take memory at once is cheaper: so many zeros behind the totals, to be
        fetched with them, and rooms of zeros; and rooms of anything.
    has_quotes
        Whether there are quotes in the text, as far as is known.
    tally
        What reads the text, if its first form is that one's.

    Returns
    -------
    TileStructure
        Of which nothing means anything until the kernels have run.
    """
    tiles = tile_count(text, shape)
    known = shape.only_steps, has_quotes
    forms = _known_forms.of(lambda: _forms(dialect, *known), dialect, key=known)
    zeroed, others = more
    if forms[-1][0] == "steps" or not tiles:  # tables are put in memory, or little is launched
        return _launched(launcher, text, _Way(dialect, forms, shape, tally if tiles else None), tiles, more)
    numbers = text.nbytes, tiles, *zeroed, *others
    counts = len(zeroed), len(others)
    way = dialect, forms, shape, tally
    recording, made = _searches.of(lambda: _recorded(_Way(*way), counts), *way, key=counts)
    rooms = launcher.replay(recording, numbers, (text,))
    assert rooms is not None
    return made.run(rooms, tiles)


@dataclass(frozen=True, slots=True)
class _Made:
    """What a recorded search leaves: numbers of rooms, and what is known of any text."""

    totals: int
    entries: int
    more: tuple[int, ...]
    forms: tuple[str, ...]
    did_more: bool

    def run(self, rooms: Rooms, tiles: int) -> TileStructure:
        """Of a text of so many tiles."""
        more = [rooms[number] for number in self.more]
        return _structure(rooms[self.totals], rooms[self.entries], self.forms, tiles, None, more, self.did_more)


_searches: Recent[tuple[Recording, _Made]] = Recent()


@dataclass(frozen=True, slots=True)
class _Way:
    """How a text is searched: by which forms, in which shape, and what more is done."""

    dialect: Dialect
    forms: _Forms
    shape: FindShape
    tally: TallyAndMore | None


def _recorded(way: _Way, counts: tuple[int, int]) -> tuple[Recording, _Made]:
    """Of a text by its bytes and tiles, with so many rooms that the caller wants, by their sizes."""
    recorder = Recorder(2 + sum(counts), 1)
    nbytes, tiles, *sizes = recorder.numbers
    text: Any = recorder.given[0].of_size(nbytes)
    more: Any = sizes[: counts[0]], sizes[counts[0] :]
    found: Any = _launched(recorder, text, way, tiles, more)
    recording = recorder.done()
    numbers = [room.number - recording.rooms for room in (found.totals, found.entries, *found.more)]
    return recording, _Made(numbers[0], numbers[1], tuple(numbers[2:]), found.forms, found.did_more)


def _launched(launcher: Any, text: Room, way: _Way, tiles: Any, more: tuple[Sequence[int], Sequence[int]]) -> TileStructure:
    """Launch the forms; of a recording, sizes and the number of tiles are symbols."""
    dialect, forms = way.dialect, way.forms
    search = _Search(launcher, text, (way.shape, tiles), [form for form, _ in forms], more)
    if way.tally is not None and forms[0][0] == way.tally.form:
        search.tally = way.tally
    with launcher.together():
        for form, described in forms:
            if form == "steps" and dialect.lenient:
                search.mark_quotes(lenient_dialect(dialect))
            search.launch(form, described, lenient=dialect.lenient)
    names = tuple([form for form, _ in forms])
    return _structure(search.totals, search.entries, names, search.tiles, search.steps, search.more, search.tally is not None)


_structure = quick(TileStructure)
_Forms = list[tuple[str, Any]]


def _forms(dialect: Dialect, only_steps: bool, has_quotes: bool) -> _Forms:
    """The forms to launch, in order, and what they are told. The last one reads every text of the dialect."""
    steps = step_tables(dialect)
    if only_steps:
        return [("steps", steps)]
    bare, quoted = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
    forms: _Forms = [] if bare is None or (has_quotes and dialect.quote) else [("bare", bare.tobytes())]
    if bare is not None and not bare["flags"] & Plain.WATCHES:
        return forms
    if quoted is not None:
        forms.append(("quoted", quoted.tobytes()))
        if not dialect.lenient:
            return forms
    return [*forms, ("steps", steps)]


_known_forms: Recent[_Forms] = Recent()


class _Search:
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
        totals = self._before = Part(self.totals, 0 if before is None else before.begin + _TOTALS_BYTES, _TOTALS_BYTES)
        states: Room | None = None
        marks: Room | None = None
        if form == "steps":
            states = self._by_steps(described, totals, before)
        elif self.tally is not None and before is None:
            tally = self.tally
            sums, marks = self.more[0], Part(self.more[1], self.tiles * 4, self.tiles * 4)
            shape = Shape(tally.defines, self.tiles, tally.threads, tally.shared)
            head = [self._text, described, self._tallies, totals, sums, self.more[-1], marks]
            self._launcher.launch(tally.entry, shape, [*head, *tally.told(self._bytes, self.tiles)])
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
