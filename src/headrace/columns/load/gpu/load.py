"""Loads text that is already in GPU memory into typed columns.

The structure search (structure/gpu) and the conversion (columns/convert/gpu) are enqueued back to back, with output buffers
sized from an estimate. The host then synchronises once to read the row counts and the fault summary. If the estimate was
wrong, the conversion runs again. The unquoted and quoted search variants misread quotes inside unquoted fields; if the text
has any, the whole load runs again with the dialect's DFA.

The result equals the native loader's to the bit, faults included (columns/faults/gpu/fault_list.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.load_result import CutRecordError, Loaded
from headrace.columns.convert.gpu.column_group import Group, MadeColumns, plan_on_gpu
from headrace.columns.convert.gpu.fast.launches import MeasuredStrings, strings_of_search
from headrace.columns.convert.gpu.target import GpuShape, Place, by_steps
from headrace.columns.load.gpu.arguments import telling, told_bytes
from headrace.columns.load.gpu.data_start import find_data
from headrace.columns.load.gpu.estimate import Expected, expect, holds, is_refused
from headrace.columns.load.gpu.launches import (
    SEEN_BYTES,
    Into,
    Searched,
    SecondPass,
    counted_bytes,
    outcome_bytes,
)
from headrace.columns.load.gpu.result import Launched, LoadOutcome, LoadRequest
from headrace.columns.load.gpu.setup_cache import kept_for
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.core.quick import quick
from headrace.gpu.kernels.launcher import Part, Room
from headrace.sources.kinds.gpu_array import head_bytes
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import Found
from headrace.structure.gpu.find import find_tiles, tile_count
from headrace.structure.gpu.launches import FORMS_BYTES

__all__ = ["GpuShape", "Place", "load_on_gpu"]

_MOST_STRING_BYTES = 0x7FFFFFFF
_UNENDED = int(Found.OPEN | Found.UNCLOSED)
_QUOTES_BYTES = 4096
"""Of the data's beginning, by which is guessed whether its fields have quotes."""


def load_on_gpu(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan, run: LoadRun = NO_HANDLES) -> Loaded:
    """Read all records into columns where `text` lies.

    Memory: the result, and up to a quarter more; 32 bytes for each tile of text, 72 more during the search, and 8 for each tile
    and column of strings.

    Parameters
    ----------
    place
        Where kernels run, and the whole source, there.
    source
        The same on the host, or a view of it; only its beginning, and the text of evidence, are read.
    dialect, plan
        How it is written, and what is wanted of it.

    Returns
    -------
    Loaded
        The columns, and what was met.

    Raises
    ------
    ParseError
        As `headrace.columns.plan.load_plan`.
    MemoryLimitError
        The result does not fit.
    CutRecordError
        Of a part that more text follows: it does not end where a record does.
    """
    try:
        return _load(place, source, dialect, plan, run)
    except _MisreadError:
        pass  # what the load has made is released before it is made again
    again = _place(place.launcher, place.text, by_steps(place.shape), place.device)
    return replace(_load(again, source, dialect, plan, run), by_steps=True)


def _load(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan, run: LoadRun) -> Loaded:
    known = plan_on_gpu(plan)
    kept = kept_for(known, dialect, plan, place.shape)
    begin, counts = find_data(source, kept.native, plan)
    request = _request(place, source, dialect, plan, known, kept, begin, run)
    return _Load(request, LoadOutcome(request, counts)).run()


class _MisreadError(Exception):
    """The search has misread quotes of the text."""


_request, _searched, _place = quick(LoadRequest), quick(Searched), quick(Place)


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, request: LoadRequest, outcome: LoadOutcome) -> None:
        place, plan, source, begin = request.place, request.plan, request.source, request.begin
        self._launcher, self._shape = place.launcher, place.shape
        self._dialect, self._plan, self._source = request.dialect, plan, source
        self._known, self._kept, self._outcome = request.known, request.kept, outcome
        self._begin, self._size = begin, min(plan.end, source.size) - begin
        self._text = Part(place.text, begin, self._size)
        self._here = _place(place.launcher, self._text, place.shape)
        self._rows = 0
        self._form = ""  # of the search, once it is known
        self._ahead: MadeColumns | None = None
        self._places: MeasuredStrings | None = None  # by what was recorded

    def run(self) -> Loaded:
        known, kept = self._known, self._kept
        positions = kept.positions
        if self._size <= 0:
            group = self._first_group()
            return self._outcome.loaded(dict.fromkeys(positions, group.no_rows(self._launcher)))
        self._find()
        group = self._first_group()  # a guess is made while the search runs
        converted = self._convert_first(group)
        made: dict[int, MadeColumns] = {}
        taken: dict[int, int] = {}
        while True:
            if converted is not None:
                made.update(dict.fromkeys(group.positions, converted))
                if not known.inferred:
                    return self._outcome.loaded(made)
                taken.update(zip(group.positions, group.kinds, strict=True))
                again = self._outcome.inference.changed(taken)
                if not again:
                    return self._outcome.loaded(made)
                group = known.group(tuple(again), bytes(again.values()))
            converted = self._convert(group, self._measured(group))

    def _first_group(self) -> Group:
        """All columns, of the types that are given or suggested."""
        kept = self._kept
        return kept.given or self._known.group(kept.positions, self._outcome.inference.first()[: len(kept.positions)])

    def _find(self) -> None:
        """Launch the search for structure, with room for what a first conversion needs beside its result."""
        kept, shape = self._kept, self._shape.find
        if self._known.inferred:
            self._outcome.inference.fetch_sample()
        quote = self._dialect.quote_char
        self._first = self._read_beginning()
        quoted = quote is not None and quote in self._first[:_QUOTES_BYTES]
        # No line of the first ones ends with CR: rows that are measured as they are searched have none.
        tally = None if b"\r" in self._first else kept.tally(quoted=quoted)
        tiles = tile_count(self._text, shape)
        rooms = kept.rooms(tiles, tally)
        found = find_tiles(self._launcher, self._text, self._dialect, shape, rooms, has_quotes=quoted, tally=tally)
        self._found, self._outcome.entries = found, found.entries
        marks, sums, told, faults, *sizes = found.more
        strings = strings_of_search(found, sums, sizes[0] if sizes else None, marks)
        self._searched = _searched(found, strings, marks, told, faults, kept.behind, quoted, kept.has_sums(tiles))
        self._own: tuple[Room, Room] | None = told, faults

    @cached_property
    def _second(self) -> SecondPass:
        """Made where something is launched by itself, and not replayed."""
        second = self._new_second()
        if self._places is not None:
            second.go_on(self._places)
        return second

    def _new_second(self) -> SecondPass:
        return SecondPass(self._here, self._dialect, self._plan, self._searched, self._outcome.faults)

    def _read_beginning(self) -> bytes:
        """The data's first bytes: what the host has of them, if that is most of what it fetches at once."""
        most = head_bytes(self._source.size)
        there = most - self._begin if self._source.is_far and 2 * self._begin <= most else most
        return bytes(self._source.native.read(self._begin, min(there, self._size)))

    def _expected(self, group: Group) -> Expected | None:
        """What the first records let one expect of all; while the search runs."""
        return expect(self._kept.native, self._first, self._size, group.string_positions)

    def _convert_first(self, group: Group) -> MadeColumns | None:
        """As `_convert`, of a text whose records nobody has counted: behind the search at once, if there is room for what is
        expected and that holds.
        """
        launcher, strings = self._launcher, group.strings
        expected = self._expected(group)
        ahead = None if expected is None or not self._shape.ahead else self._launch_ahead(group, expected)
        if ahead is None:
            self._measure(group, "", self._searched.string_bytes(group))
            if expected is not None:
                self._ahead = expected.room(group, launcher, self._size, strings=False)
            fetched = launcher.fetch(Part(self._found.totals, 0, FORMS_BYTES + strings * 8))
            return self._convert(group, self._take_counts(fetched, strings))
        behind = self._searched.behind
        fetched = launcher.fetch(Part(self._found.totals, 0, behind.outcome + outcome_bytes(len(group.rooms), group.infers)))
        counted = self._take_counts(fetched, strings)
        if is_refused(int.from_bytes(fetched[behind.word : behind.word + 8].data, "little")):
            del ahead  # before more is taken
            # Strings that the search was to measure are those of its first form.
            is_counted = not self._found.did_more or self._form == self._found.forms[0]
            return self._convert(group, counted if is_counted else self._measured(group))
        ahead[0].trim(self._rows, counted)
        return self._taken(group, ahead, fetched[behind.outcome :])

    def _launch_ahead(self, group: Group, expected: Expected) -> Launched | None:
        """Launch all that is behind the search, for what is expected and for its first form; None if there is no room."""
        made = expected.room(group, self._launcher, self._size, strings=True)
        if made is None:
            return None
        searched, found = self._searched, self._found
        known = found.forms, found.did_more, searched.quoted, searched.has_sums
        ahead = self._kept.aheads.of(lambda: self._new_second().ahead(group), group, key=known)
        sightings = self._sightings(group, searched.outcome(group))
        ahead.telling.upload(
            self._launcher, searched.told, made.rooms.addresses, sightings=sightings, ranges=expected.ranges(group)
        )
        if ahead.recording is None:
            self._second.launch_ahead(group, ahead, expected.rows)
        else:
            self._places = ahead.replay(self._here, searched, expected.rows)
        return made, ahead.telling.table(searched.told), searched.faults

    def _take_counts(self, fetched: NDArray[np.uint8], strings: int) -> list[int]:
        """Take what the search has found; how many bytes each column of strings has."""
        counts, self._form = self._found.answer(fetched)
        if self._found.misread(counts, self._form):
            raise _MisreadError
        if self._plan.part is not None and self._plan.part.is_more and counts["flags"] & _UNENDED:
            raise CutRecordError
        so_far = self._outcome.counts
        self._rows = so_far["records"] = counts["records"]
        so_far["blank"] += counts["blank_lines"]
        so_far["comment"] += counts["comments"]
        return _numbers(fetched[FORMS_BYTES : FORMS_BYTES + 8 * strings])

    def _measure(self, group: Group, form: str, totals: Room) -> None:
        """Start to count the bytes of each column of strings, in `totals`."""
        if group.strings:
            _, room, _ = self._rooms(group)
            rows = self._second.by_rows(group, writes=False)
            known = telling(self._known, group, (rows,))
            known.upload(self._launcher, room)
            told = known.told(room)
            self._second.measure(group, told, (rows, told.rows[0]), form, totals)

    def _measured(self, group: Group) -> list[int]:
        """How many bytes each column of strings has, of a text whose records are counted."""
        if not group.strings:
            return []
        totals = self._launcher.room(group.strings * 8, fill=0)
        self._measure(group, self._form, totals)
        return _numbers(self._launcher.fetch(totals))

    def _make_room(self, group: Group, strings: list[int]) -> MadeColumns:
        """Room for all rows; what was taken ahead, if it does."""
        rows, made = self._rows, self._ahead
        self._ahead = None
        if made is None or made.group is not group or not holds(made.rows, rows):
            del made  # before more is taken
            return group.make_room(self._launcher, rows, strings)
        made.settle(self._launcher, rows, strings)
        return made

    def _rooms(self, group: Group) -> tuple[Room, Room, Room]:
        """Room for what a conversion meets, is told, and lists as faults: a first one's was made with the search's."""
        nbytes = outcome_bytes(len(group.rooms), group.infers)
        if self._own is not None:
            return self._searched.outcome(group), *self._own
        others = [told_bytes(self._known, len(group.rooms)), self._outcome.faults.room_bytes]
        outcome, told, faults = self._launcher.rooms([nbytes], others)
        return outcome, told, faults

    def _sightings(self, group: Group, outcome: Room) -> tuple[int, int]:
        """Where those of the first column are, and how many bytes each has; 0 where nothing is inferred."""
        return (outcome.address + counted_bytes(len(group.rooms)), SEEN_BYTES) if group.infers else (0, 0)

    def _with_large_offsets(self, group: Group, strings: list[int]) -> Group:
        """The group, with offsets of 64 bits where there are more bytes than those of 32 reach."""
        many = [number for number, size in enumerate(strings) if size > _MOST_STRING_BYTES and group.types[number].bits == 32]
        if not many:
            return group
        return self._known.group(group.positions, group.kinds, frozenset(group.rooms[number].position for number in many))

    def _convert(self, group: Group, strings: list[int]) -> MadeColumns | None:
        """Launch the conversion, and wait for what it met; None if that is to be done again."""
        group = self._with_large_offsets(group, strings)
        outcome, room, faults = self._rooms(group)
        made = self._make_room(group, strings)
        rows = self._second.by_rows(group, writes=True)
        known, sightings = telling(self._known, group, (rows,)), self._sightings(group, outcome)
        known.upload(self._launcher, room, made.rooms.addresses, sightings=sightings)
        told = known.told(room)
        self._second.convert(group, told, (rows, told.rows[0]), self._form, Into(outcome, faults, self._rows))
        return self._taken(group, (made, told.table, faults), self._launcher.fetch(outcome))

    def _taken(self, group: Group, launched: Launched, fetched: NDArray[np.uint8]) -> MadeColumns | None:
        """The columns of a conversion, which left this; None if it is to be done again."""
        self._own = None
        return launched[0] if self._outcome.take(group, launched, fetched) else None


def _numbers(fetched: NDArray[np.uint8]) -> list[int]:
    numbers: list[int] = fetched.view(np.uint64).tolist()
    return numbers
