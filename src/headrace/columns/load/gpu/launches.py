"""Launches of one load behind the search for structure: strings measured and placed, columns converted. Nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.columns.convert.gpu.column_group import Group, plan_on_gpu
from headrace.columns.convert.gpu.fast.launches import MeasuredStrings, RowLaunches, halves_of, strings_of_search
from headrace.columns.convert.gpu.layouts import CONVERT_TASK, SIGHTINGS, TOTALS_WORDS, pack_steps, pack_task
from headrace.columns.convert.gpu.row_columns import RowColumns
from headrace.columns.convert.gpu.string_offsets import place_strings
from headrace.columns.convert.gpu.target import Place, convert_program
from headrace.columns.faults.gpu.fault_list import FaultsOfLoad
from headrace.columns.load.gpu.arguments import Telling, Told, telling
from headrace.columns.load.gpu.estimate import check_room
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape
from headrace.gpu.kernels.trace import Recorder, Recording
from headrace.gpu.kernels.trace_expressions import least
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TOTALS
from headrace.structure.gpu.find import TileStructure
from headrace.structure.gpu.launches import FORMS_BYTES

_MEASURE = Entry("columns/convert/gpu/general/convert.cu", "measure_strings", f"PPPPPPI{CONVERT_TASK.argument}")
_CONVERT = Entry("columns/convert/gpu/general/convert.cu", "convert_tiles", f"PPPPPPPPI{CONVERT_TASK.argument}")
_COUNT = Entry("columns/convert/gpu/string_offsets.cu", "count_values", "PQPP")
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
class Ahead:
    """What is launched behind a search, for what is expected: recorded for any text.

    Parameters
    ----------
    telling
        What the kernels are told of the columns.
    recording
        The launches; None where they cannot be recorded.
    rows
        The columns as rows are measured, and as they are read.
    sums, sizes
        Which of the rooms that it makes has what `MeasuredStrings` tells of; None where that lies with the search.
    by_rows
        Whether strings are measured by rows.
    """

    telling: Telling
    recording: Recording | None
    rows: tuple[RowColumns | None, RowColumns | None]
    sums: int | None = None
    sizes: int | None = None
    by_rows: bool = False

    def replay(self, place: Place, searched: Searched, expected: int) -> MeasuredStrings:
        """Launch what was recorded for a text, of which so many rows are expected."""
        assert self.recording is not None
        found, strings = searched.found, searched.strings
        rooms = [place.text, found.totals, found.entries, strings.sums, strings.sizes, searched.marks, searched.told]
        numbers = place.text.nbytes, found.tiles, expected
        made = place.launcher.replay(self.recording, numbers, [*rooms, searched.faults])
        sums = strings.sums if made is None or self.sums is None else made[self.sums]
        sizes = strings.sizes if made is None or self.sizes is None else made[self.sizes]
        return MeasuredStrings(sums, sizes, halves_of(searched.marks, found.tiles)[1] if self.by_rows else None)


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
        What says how many, or that nothing is to be converted (`headrace.columns.load.gpu.estimate.check_room`); None if the host
        knows.
    """

    outcome: Room
    faults: Room
    rows: int
    ahead: Room | None = None


class BehindTotals:
    """Where things lie behind the search's totals, so that one copy brings all that the host waits for: the bytes of so many
    columns of strings, the word that `check_room` leaves, and what a first conversion meets.
    """

    def __init__(self, columns: int, infers: bool) -> None:
        self.word = FORMS_BYTES + -(-columns // 2) * 16
        self.outcome = self.word + 16
        self.end = self.outcome + -(-outcome_bytes(columns, infers) // 16) * 16


@dataclass(frozen=True, slots=True)
class Searched:
    """A text whose search is launched, and the rooms that lie with what it finds.

    Parameters
    ----------
    found
        The text's tiles.
    strings
        What it has measured; where it has not, sums may be anything: of each tile a kernel that measures writes them.
    marks
        As `RowLaunches` has them.
    told, faults
        For a first conversion: where kernels are told of columns, and where faults are listed.
    behind
        What lies behind the search's totals; and behind that zeros that `place_strings` needs the first time.
    quoted
        Whether fields are taken to have quotes.
    has_sums
        Whether the sums have room for all columns of strings.
    """

    found: TileStructure
    strings: MeasuredStrings
    marks: Room
    told: Room
    faults: Room
    behind: BehindTotals
    quoted: bool
    has_sums: bool

    def string_bytes(self, group: Group) -> Room:
        """Where the bytes of each column of strings are counted the first time."""
        return Part(self.found.totals, FORMS_BYTES, group.strings * 8)

    def outcome(self, group: Group) -> Room:
        """Where a first conversion leaves what it meets."""
        return Part(self.found.totals, self.behind.outcome, outcome_bytes(len(group.rooms), group.infers))


class SecondPass:
    """Of one load.

    Parameters
    ----------
    place, dialect, plan
        Where kernels run, on which text; how that is written; what is wanted of it.
    searched
        What is launched in front of it.
    faults
        What is asked for.
    """

    def __init__(self, place: Place, dialect: Dialect, plan: LoadPlan, searched: Searched, faults: FaultsOfLoad) -> None:
        self._place, self._launcher, self._text = place, place.launcher, place.text
        self._dialect, self._plan, self._known = dialect, plan, plan_on_gpu(plan)
        self._searched, self._found, self._faults = searched, searched.found, faults
        self._strings = searched.strings
        self._place_memory: Room | None = Part(searched.found.totals, searched.behind.end)
        self._rows = RowLaunches(place, dialect, searched.found, searched.marks, searched.quoted)

    def ahead(self, group: Group) -> Ahead:
        """All of it for what is expected of a text, by the search's first form. Searches by steps have other memory each time:
        for them it is not recorded.
        """
        measured = None if self._found.did_more else self.by_rows(group, writes=False)
        rows = measured, self.by_rows(group, writes=True)
        told = telling(self._known, group, rows)
        ahead = Ahead(told, None, rows)
        if "steps" in self._found.forms:
            return ahead
        recorder = Recorder(3, 8)
        nbytes, tiles, expected = recorder.numbers
        text, totals, entries, sums, sizes, marks, told_room, faults = recorder.given
        known: Any = {"totals": totals, "entries": entries, "tiles": tiles, "more": ()}
        found = replace(self._found, **known)
        strings: Any = strings_of_search(found, sums, sizes, marks)
        rooms: Any = {"strings": strings, "marks": marks, "told": told_room, "faults": faults}
        where: Any = {"launcher": recorder, "text": text.of_size(nbytes)}
        searched = replace(self._searched, found=found, **rooms)
        twin = SecondPass(replace(self._place, **where), self._dialect, self._plan, searched, self._faults)
        twin.launch_ahead(group, ahead, expected)
        recording, strings = recorder.done(), twin._strings
        sums_made, sizes_made = recorder.number_made(strings.sums), recorder.number_made(strings.sizes)
        return Ahead(told, recording, rows, sums_made, sizes_made, by_rows=strings.left is not None)

    def go_on(self, strings: MeasuredStrings) -> None:
        """Behind a run of what was recorded, which has used what lies with the search, and measured strings."""
        self._strings, self._place_memory = strings, None
        self._rows.go_on()

    def launch_ahead(self, group: Group, ahead: Ahead, expected: Any) -> None:
        """Measure strings and make columns in room for so many rows, if that does."""
        searched, found, (measured, by_rows) = self._searched, self._found, ahead.rows
        told = ahead.telling.told(searched.told, 2 * (group.strings + 1))
        totals, word = searched.string_bytes(group), Part(found.totals, searched.behind.word, 8)
        with self._launcher.together():
            if found.did_more:
                self.measure_left(group, told, totals)
            else:
                self.measure(group, told, (measured, told.rows[0]), "", totals)
            check_room(self._launcher, (found.totals, 1), told.ranges, totals, word)
            into = Into(searched.outcome(group), searched.faults, expected, word)
            self.convert(group, told, (by_rows, told.rows[1]), found.forms[0], into)

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
        sums = self._strings.sums
        if form or not self._searched.has_sums or self._found.did_more:
            sums = launcher.room(self._found.tiles * strings * 8)
        columns, told_rows = rows
        if columns is None:
            self._strings = MeasuredStrings(sums)
        else:
            self._strings = self._rows.measure(columns, told_rows, sums, ascii_only=group.has_text)
        for one, before in self._measured_forms(form):
            self._measure_others(group, told, one, before)
        self._put_places(strings, totals)

    def measure_left(self, group: Group, told: Told, totals: Room) -> None:
        """The same for the first form of the search, which has measured what it could; parameters as of `measure`."""
        self._measure_others(group, told, self._found.forms[0], Part(self._found.totals, 0, TOTALS.itemsize))
        self._put_places(group.strings, totals)

    def _measure_others(self, group: Group, told: Told, form: str, of_form: Room | None) -> None:
        """What was not measured by rows, if these totals say that the form is the text's."""
        left = self._strings.left
        shape, own_tiles = self._shape(form, left, writes=False)
        head = [self._text, self._found.entries, told.table, self._strings.sums, of_form, left]
        self._launcher.launch(_MEASURE, shape, [*head, own_tiles, self._task(group, form)])

    def _put_places(self, strings: int, totals: Room) -> None:
        # Zeros that nobody has written to; the first time they lie with the search's.
        memory, self._place_memory = self._place_memory, None
        place_strings(self._launcher, self._strings.sums, (self._found.tiles, strings), totals, memory)

    def convert(self, group: Group, told: Told, rows: tuple[RowColumns | None, Room], form: str, into: Into) -> None:
        """Make the columns, whose strings are measured; parameters as of `measure`."""
        launcher, count = self._launcher, len(group.rooms)
        counts = counted_bytes(count)
        if group.infers:
            launcher.fill(Part(into.outcome, counts), 0xFF)
        columns, told_rows = rows
        marks: Room | None = None
        if columns is not None:
            marks = self._rows.convert(columns, told_rows, self._strings, ascii_only=group.has_text, ahead=into.ahead)
        shape, own_tiles = self._shape(form, marks, writes=True)
        head = [self._text, self._found.entries, told.table, self._strings.sums, into.faults, into.outcome, into.ahead, marks]
        launcher.launch(_CONVERT, shape, [*head, own_tiles, self._task(group, form)])
        if count:
            blocks = least(_COUNT_BLOCKS // count, into.rows // 32 // _THREADS) + 1
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
        own_tiles = 1 if marks is None else least(tiles // _MARKED_BLOCKS + 1, 32)
        return Shape(defines, -(-tiles // own_tiles), threads, shared), own_tiles

    def _task(self, group: Group, form: str) -> bytes:
        steps, listing, size = self._found.steps, self._faults.listing, self._text.nbytes
        if form != "steps" or steps is None:
            return self._known.task(group, self._dialect, form == "quoted", listing, (size, self._found.tiles))
        sizes = {"size": size, "tiles": self._found.tiles}
        task: bytes = pack_task(self._plan, group.rooms, pack_steps(self._dialect, steps), **sizes, listing=listing).tobytes()
        return task
