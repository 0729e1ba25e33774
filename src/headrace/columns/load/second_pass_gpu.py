"""Launches of one load behind the search for structure: strings measured and placed, columns converted. Nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.columns.convert.convert_gpu import SIGHTINGS, TOTALS_WORDS, pack_steps, pack_task
from headrace.columns.convert.launch_rows_gpu import RowLaunches
from headrace.columns.convert.rows_gpu import RowColumns
from headrace.columns.convert.string_places_gpu import place_strings
from headrace.columns.faults.faults_gpu import FaultsOfLoad
from headrace.columns.load.load import LoadPlan
from headrace.columns.load.place_gpu import Place, convert_program
from headrace.columns.load.plan_gpu import Group, plan_on_gpu
from headrace.columns.load.told_gpu import Told
from headrace.core.gpu.launcher import Entry, Part, Room, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import TileStructure
from headrace.structure.gpu_tables import TOTALS

_MEASURE = Entry("columns/convert/convert.cu", "measure_strings", "PPPPPPI120s")
_CONVERT = Entry("columns/convert/convert.cu", "convert_tiles", "PPPPPPPPI120s")
_COUNT = Entry("columns/convert/string_places.cu", "count_values", "PQPP")
_THREADS = 256
_SMALL = {"HR_THREADS": _THREADS}
_COUNT_BLOCKS = 528
_MARKED_BLOCKS = 2048
SEEN_BYTES = 2 * SIGHTINGS * 8
"""Of the sightings of a column."""


def counted_bytes(columns: int) -> int:
    """Of what a conversion counts: totals of faults, values of each column."""
    return (TOTALS_WORDS + columns) * 8


def outcome_bytes(columns: int, infers: bool) -> int:
    """Of all that a conversion meets: counts, sightings of each column."""
    return counted_bytes(columns) + columns * SEEN_BYTES * infers


@dataclass(frozen=True, slots=True)
class Into:
    """Where a conversion leaves what it makes beside columns.

    Parameters
    ----------
    outcome
        Room of `outcome_bytes`, counts being zero and sightings all ones.
    faults
        Where faults are listed.
    rows
        How many there are, or at most.
    ahead
        What says how many, or that nothing is to be converted (`headrace.columns.load.ahead_gpu.check_room`); None if the host
        knows.
    """

    outcome: Room
    faults: Room
    rows: int
    ahead: Room | None = None


class SecondPass:
    """Of one load.

    Parameters
    ----------
    place, dialect, plan
        Where kernels run, on which text; how that is written; what is wanted of it.
    found
        The text's tiles.
    faults
        What is asked for.
    rooms
        Zeros: marks as `RowLaunches` has them, and for the first time the bytes of strings of each tile, and what `place_strings`
        needs.
    quoted
        Whether fields are taken to have quotes.
    """

    def __init__(
        self,
        place: Place,
        dialect: Dialect,
        plan: LoadPlan,
        found: TileStructure,
        faults: FaultsOfLoad,
        *,
        rooms: tuple[Room, Room, Room],
        quoted: bool,
    ) -> None:
        self._place, self._launcher, self._text = place, place.launcher, place.text
        self._dialect, self._plan, self._known = dialect, plan, plan_on_gpu(plan)
        self._found, self._faults = found, faults
        marks, self._sums, memory = rooms
        self._place_memory: Room | None = memory
        self._rows = RowLaunches(place, dialect, found, marks, quoted)
        self._left: Room | None = None  # marks of the tiles whose strings were not measured by rows

    def by_rows(self, group: Group, *, writes: bool) -> RowColumns | None:
        """The columns as rows are read, if they can be."""
        if not writes and not group.strings:
            return None
        return None if self._faults.listing.leaves_out else self._rows.columns(group, writes=writes)

    def measure(self, group: Group, told: Told, rows: tuple[RowColumns | None, Room], form: str, totals: Room) -> None:
        """Tell how many bytes each column of strings has, and where those of each tile go.

        Parameters
        ----------
        group, told
            The columns, and what kernels are told of them.
        rows
            The same as rows are read, and where that is told.
        form
            Of the search, that read the text; empty if nobody knows.
        totals
            Zeros: a word for each column.
        """
        launcher, strings = self._launcher, group.strings
        if not strings:
            return
        if form or self._known.inferred or self._found.did_more:
            self._sums = launcher.room(self._found.tiles * strings * 8, fill=0)
        columns, told_rows = rows
        marks: Room | None = None
        if columns is not None:
            marks = self._rows.launch(columns, told_rows, self._sums, ascii_only=group.has_text, writes=False)
        self._left = marks
        for one, before in self._measured_forms(form):
            shape, own_tiles = self._shape(one, marks, writes=False)
            args = [self._text, self._found.entries, told.table, self._sums, before, marks, own_tiles, self._task(group, one)]
            launcher.launch(_MEASURE, shape, args)
        self._put_places(strings, totals)

    def measure_left(self, group: Group, told: Told, totals: Room) -> None:
        """The same for the first form of the search, which has measured what it could; parameters as of `measure`."""
        form = self._found.forms[0]
        self._left = self._rows.measured
        shape, own_tiles = self._shape(form, self._rows.measured, writes=False)
        head = [self._text, self._found.entries, told.table, self._sums, Part(self._found.totals, 0, TOTALS.itemsize)]
        self._launcher.launch(_MEASURE, shape, [*head, self._rows.measured, own_tiles, self._task(group, form)])
        self._put_places(group.strings, totals)

    def _put_places(self, strings: int, totals: Room) -> None:
        # Zeros that nobody has written to; the first time they lie with the search's.
        memory, self._place_memory = self._place_memory, None
        place_strings(self._launcher, self._sums, (self._found.tiles, strings), totals, memory)

    def convert(self, group: Group, told: Told, rows: tuple[RowColumns | None, Room], form: str, into: Into) -> None:
        """Make the columns, whose strings are measured; parameters as of `measure`."""
        launcher, count = self._launcher, len(group.rooms)
        counts = counted_bytes(count)
        if group.infers:
            launcher.fill(Part(into.outcome, counts), 0xFF)
        columns, told_rows = rows
        marks: Room | None = None
        if columns is not None:
            kept = {"ascii_only": group.has_text, "writes": True}
            marks = self._rows.launch(columns, told_rows, self._sums, **kept, left=self._left, ahead=into.ahead)
        shape, own_tiles = self._shape(form, marks, writes=True)
        head = [self._text, self._found.entries, told.table, self._sums, into.faults, into.outcome, into.ahead, marks]
        launcher.launch(_CONVERT, shape, [*head, own_tiles, self._task(group, form)])
        if count:
            blocks = min(_COUNT_BLOCKS // count, into.rows // 32 // _THREADS) + 1
            shape = Shape(_SMALL, (count, blocks, 1), _THREADS)
            args = [told.table, into.rows, into.ahead, Part(into.outcome, TOTALS_WORDS * 8, count * 8)]
            launcher.launch(_COUNT, shape, args)

    def _measured_forms(self, form: str) -> list[tuple[str, Room | None]]:
        """The forms to measure strings by, and the totals that say which of two is the text's."""
        forms = self._found.forms
        if form or len(forms) == 1 or "steps" not in forms:
            return [(form or forms[-1], None)]
        before = Part(self._found.totals, (len(forms) - 2) * TOTALS.itemsize, TOTALS.itemsize)
        return [(forms[-2], before), ("steps", before)]

    def _shape(self, form: str, marks: Room | None, *, writes: bool) -> tuple[Shape, int]:
        """The shape, and tiles of a block: one, or more where few of them are marked."""
        tiles = self._found.tiles
        defines, threads, shared = convert_program(self._place.shape, form, writes)
        own_tiles = 1 if marks is None else min(tiles // _MARKED_BLOCKS + 1, 32)
        return Shape(defines, -(-tiles // own_tiles), threads, shared), own_tiles

    def _task(self, group: Group, form: str) -> bytes:
        steps, listing, size = self._found.steps, self._faults.listing, self._text.nbytes
        if form != "steps" or steps is None:
            return self._known.task(group, self._dialect, form == "quoted", listing, (size, self._found.tiles))
        sizes = {"size": size, "tiles": self._found.tiles}
        task: bytes = pack_task(self._plan, group.rooms, pack_steps(self._dialect, steps), **sizes, listing=listing).tobytes()
        return task
