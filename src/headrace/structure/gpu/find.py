"""Where the records and fields of a text are, tile by tile, on a GPU.

Three forms read a text: by masks where there are no quotes, by masks with quotes, by an automaton's steps. Each but the last
says `Found.REDO` where it meets a byte that it cannot read; the kernels of the next one are launched behind it and do nothing
unless it did. So the form is chosen from the bytes, and the host does not wait. Masks with quotes take every quote for one that
opens or closes, and say `Found.STRAY` where one cannot. If quotes are lenient, that asks for the next form, and kernels of their
own then tell which of them open a field. Otherwise no further form is launched, since such texts are rare: the caller searches
again with ``only_steps`` (`TileStructure.misread`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.identity_cache import Recent
from headrace.core.quick import quick
from headrace.gpu.kernels.launcher import Launcher, Room, Rooms
from headrace.gpu.kernels.trace import Recorder, Recording
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TOTALS, Found, Plain, lenient_dialect, plain_dialect, step_tables
from headrace.structure.gpu.launches import TOTALS_BYTES, FindShape, Search, Steps, TallyAndMore

_COUNTS = TOTALS.names or ()
_FLAGS = _COUNTS.index("flags")
_UNPACKED = Struct("=5QII")
"""TOTALS, at a third of NumPy's time."""
_REDO = int(Found.REDO)
assert _UNPACKED.size == TOTALS_BYTES


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
            known = _UNPACKED.unpack_from(totals, number * TOTALS_BYTES)
            if not known[_FLAGS] & _REDO:
                return dict(zip(_COUNTS, known, strict=True)), form
        raise AssertionError("the last form reads every text")

    @staticmethod
    def misread(counts: dict[str, int], form: str) -> bool:
        """Whether masks may have misread the text's quotes, from an `answer`: the automaton has to read it."""
        return form == "quoted" and bool(counts["flags"] & Found.STRAY)


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
    made: Any = [recorder.number_made(room) for room in (found.totals, found.entries, *found.more)]
    return recording, _Made(made[0], made[1], tuple(made[2:]), found.forms, found.did_more)


def _launched(launcher: Any, text: Room, way: _Way, tiles: Any, more: tuple[Sequence[int], Sequence[int]]) -> TileStructure:
    """Launch the forms; of a recording, sizes and the number of tiles are symbols."""
    dialect, forms = way.dialect, way.forms
    search = Search(launcher, text, (way.shape, tiles), [form for form, _ in forms], more)
    if way.tally is not None and forms[0][0] == way.tally.form:
        search.tally = way.tally
    with launcher.together():
        for form, described in forms:
            if form == "steps" and dialect.lenient_quotes:
                search.mark_quotes(lenient_dialect(dialect))
            search.launch(form, described, lenient=dialect.lenient_quotes)
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
    forms: _Forms = [] if bare is None or (has_quotes and dialect.quote_char) else [("bare", bare.tobytes())]
    if bare is not None and not bare["flags"] & Plain.WATCHES:
        return forms
    if quoted is not None:
        forms.append(("quoted", quoted.tobytes()))
        if not dialect.lenient_quotes:
            return forms
    return [*forms, ("steps", steps)]


_known_forms: Recent[_Forms] = Recent()
