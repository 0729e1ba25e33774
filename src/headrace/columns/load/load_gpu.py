"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert/convert.cu), launched behind it for what is expected; the host waits once, for how much there was and what was
met. Where more or less was there than expected, it launches the conversion again.

What is found is what the native loader finds, to the bit, faults included (columns/faults/faults_gpu.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.convert_gpu import SIGHTINGS, TOTALS_WORDS
from headrace.columns.convert.launch_rows_gpu import MeasuredStrings, strings_of_search
from headrace.columns.faults.faults_gpu import Conversion, FaultsOfLoad, no_rejects
from headrace.columns.finish.finish_gpu import locate_on_gpu, number_rows, shrink
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.ahead_gpu import Expected, expect, holds, is_refused
from headrace.columns.load.before_gpu import find_data
from headrace.columns.load.columns_gpu import Taken
from headrace.columns.load.decoded_gpu import original_evidence
from headrace.columns.load.kept_gpu import kept_for
from headrace.columns.load.later_gpu import columns_later
from headrace.columns.load.load import CutRecordError, Evidence, Loaded, LoadPlan, type_named
from headrace.columns.load.place_gpu import GpuShape, Place
from headrace.columns.load.plan_gpu import Group, MadeColumns, plan_on_gpu
from headrace.columns.load.second_pass_gpu import (
    SEEN_BYTES,
    Into,
    Searched,
    SecondPass,
    counted_bytes,
    outcome_bytes,
)
from headrace.columns.load.told_gpu import telling, told_bytes
from headrace.core.gpu.launcher import Part, Room
from headrace.core.quick import quick
from headrace.sources.on_gpu import head_bytes
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import find_tiles, tile_count
from headrace.structure.gpu_tables import Found
from headrace.structure.search_gpu import FORMS_BYTES

__all__ = ["GpuShape", "Place", "load_on_gpu"]

_MOST_STRING_BYTES = 0x7FFFFFFF
_UNENDED = int(Found.OPEN | Found.UNCLOSED)
_QUOTES_BYTES = 4096
"""Of the data's beginning, by which is guessed whether its fields have quotes."""

_Launched = tuple[MadeColumns, Room, Room]
"""What a conversion makes, where kernels are told of it, and where faults are listed."""


def load_on_gpu(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded:
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
        As `headrace.columns.load.load`.
    MemoryLimitError
        The result does not fit.
    CutRecordError
        Of a part that more text follows: it does not end where a record does.
    """
    return _Load(place, source, dialect, plan).run()


_loaded, _searched, _place = quick(Loaded), quick(Searched), quick(Place)


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> None:
        self._launcher, self._shape, self._device = place.launcher, place.shape, place.device
        self._dialect, self._plan, self._source, self._whole = dialect, plan, source, place.text
        self._known = known = plan_on_gpu(plan)
        self._kept = kept_for(known, dialect, plan, place.shape)
        begin, self._counts = find_data(source, self._kept.native, plan)
        self._begin, self._size = begin, min(plan.end, source.size) - begin
        self._text = Part(place.text, begin, self._size)
        self._here = _place(place.launcher, self._text, place.shape)
        self._infers = bool(known.inferred) or plan.share is not None
        self._rows = 0
        self._filled: int | None = None  # short records, once a conversion met no fault
        self._form = ""  # of the search, once it is known
        self._ahead: MadeColumns | None = None
        self._places: MeasuredStrings | None = None  # by what was recorded

    @cached_property
    def _inference(self) -> Inference:
        """Where something is inferred, or another load is told what was seen."""
        return Inference(self._source, self._dialect, self._plan, self._known, self._begin)

    @cached_property
    def _faults(self) -> FaultsOfLoad:
        """Made when there is a fault, or something that asks for their objects: most texts have none."""
        text = self._launcher, self._whole
        made = FaultsOfLoad(*text, self._source, self._dialect, self._plan, begin=self._begin, see=self._inference.see_field)
        if self._filled is not None:
            made.take_clean(self._filled)
        return made

    @property
    def _has_faults(self) -> bool:
        """Whether faults are known, or may be: otherwise nobody has asked for them."""
        return "_faults" in self.__dict__

    def run(self) -> Loaded:
        known, kept = self._known, self._kept
        positions = kept.positions
        if self._size <= 0:
            group = self._first_group()
            return self._made(dict.fromkeys(positions, group.no_rows(self._launcher)))
        self._find()
        group = self._first_group()  # a guess is made while the search runs
        converted = self._convert_first(group)
        made: dict[int, MadeColumns] = {}
        taken: dict[int, int] = {}
        while True:
            if converted is not None:
                made.update(dict.fromkeys(group.positions, converted))
                if not known.inferred:
                    return self._made(made)
                taken.update(zip(group.positions, group.kinds, strict=True))
                again = self._inference.changed(taken)
                if not again:
                    return self._made(made)
                group = known.group(tuple(again), bytes(again.values()))
            converted = self._convert(group, self._measured(group))

    def _first_group(self) -> Group:
        """All columns, of the types that are given or suggested."""
        kept = self._kept
        return kept.given or self._known.group(kept.positions, self._inference.first()[: len(kept.positions)])

    def _find(self) -> None:
        """Launch the search for structure, with room for what a first conversion needs beside its result."""
        kept, shape = self._kept, self._shape.find
        if self._known.inferred:
            self._inference.fetch_sample()
        quote = self._dialect.quote
        self._first = self._read_beginning()
        quoted = quote is not None and quote in self._first[:_QUOTES_BYTES]
        # No line of the first ones ends with CR: rows that are measured as they are searched have none.
        tally = None if b"\r" in self._first else kept.tally(quoted=quoted)
        tiles = tile_count(self._text, shape)
        rooms = kept.rooms(tiles, tally)
        found = find_tiles(self._launcher, self._text, self._dialect, shape, rooms, has_quotes=quoted, tally=tally)
        self._found, self._entries = found, found.entries
        sums, marks, told, faults, *sizes = found.more
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
        return SecondPass(self._here, self._dialect, self._plan, self._searched, self._faults)

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

    def _launch_ahead(self, group: Group, expected: Expected) -> _Launched | None:
        """Launch all that is behind the search, for what is expected and for its first form; None if there is no room."""
        made = expected.room(group, self._launcher, self._size, strings=True)
        if made is None:
            return None
        searched, known = (
            self._searched,
            (self._found.forms, self._found.did_more, self._searched.quoted, self._searched.has_sums),
        )
        if "steps" in self._found.forms:
            ahead = self._second.ahead(group)
        else:
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
        if self._plan.part is not None and self._plan.part.is_more and counts["flags"] & _UNENDED:
            raise CutRecordError
        self._rows = self._counts["records"] = counts["records"]
        self._counts["blank"] += counts["blank_lines"]
        self._counts["comment"] += counts["comments"]
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
        others = [told_bytes(self._known, len(group.rooms)), self._faults.room_bytes]
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

    def _taken(self, group: Group, launched: _Launched, fetched: NDArray[np.uint8]) -> MadeColumns | None:
        """Take what a conversion met."""
        self._own = None
        made, table, faults = launched
        counts = counted_bytes(len(group.rooms))
        self._counts["passes"] += 1
        words = fetched[:counts].view(np.uint64)
        found, rows = words.tolist(), self._rows
        made.nulls = [rows - there for there in found[TOTALS_WORDS:]]
        is_clean = not self._has_faults and not found[0]
        if is_clean:
            self._filled = found[1] if self._filled is None else self._filled
            if not group.infers:
                return made
        met = fetched[counts:].view(np.uint64).reshape(-1, 2, SIGHTINGS)
        if not is_clean and not self._faults.take(Conversion(made, table, faults, words[:TOTALS_WORDS], met[:, 1])):
            return None
        if group.infers:
            seen = met[[number for number, _ in group.inferred]]
            self._inference.see([position for _, position in group.inferred], seen.tobytes())
        return made

    def _made(self, made: dict[int, MadeColumns]) -> Loaded:
        kept, plan = self._kept, self._plan
        evidence = kept.no_evidence
        if self._infers:
            evidence = self._inference.evidence()
            self._inference.share()
        is_clean = not self._has_faults or self._faults.is_clean
        if not is_clean or kept.collects or plan.values.shrink or plan.row_index is not None:
            return self._made_one_by_one(made, evidence)
        counts = self._counts
        counts["rejected"], counts["rows"] = 0, counts["records"]
        counts["filled"] = self._faults.filled if self._has_faults else self._filled or 0
        count = len(plan.columns)
        columns, described = columns_later(self._launcher, made, count)
        return _loaded(
            columns=columns,
            evidence=evidence,
            rejects=no_rejects(),
            counts=counts,
            row_index=None,
            replaced=(0,) * count,
            device=self._device,
            described=described,
        )

    def _made_one_by_one(self, made: dict[int, MadeColumns], evidence: Sequence[Evidence | None]) -> Loaded:
        """Where columns are still to be changed."""
        launcher, faults, count = self._launcher, self._faults, len(self._plan.columns)
        taken = self._one_by_one(made)
        index = number_rows(launcher, self._plan, self._counts["records"])
        faults.finish(taken, self._counts, index)
        rows = self._counts["rows"]
        evidence = self._shrunk(taken, rows, evidence) if self._plan.values.shrink else evidence
        columns = {one.position: one.column(launcher, rows) for one in taken}
        replaced = {one.position: one.replaced for one in taken}
        return _loaded(
            columns=tuple([columns.get(position) for position in range(count)]),
            evidence=evidence,
            rejects=faults.rejects,
            counts=self._counts,
            row_index=index[0].column(launcher, rows) if index else None,
            replaced=tuple([replaced.get(position, 0) for position in range(count)]),
            device=self._device,
        )

    def _shrunk(self, taken: list[Taken], rows: int, evidence: Sequence[Evidence | None]) -> Sequence[Evidence | None]:
        """The evidence, where types were shrunk to others than the kinds of text call for."""
        settled = shrink(self._launcher, taken, rows)
        text = self._source, self._dialect, self._plan, self._begin
        found = locate_on_gpu(self._launcher, text, self._entries, settled, self._faults.gone) if settled else {}
        if self._source.decoded is not None:
            found = original_evidence(found, self._source.decoded)
        return tuple([found.get(position, one) for position, one in enumerate(evidence)])

    def _one_by_one(self, made: dict[int, MadeColumns]) -> list[Taken]:
        """The columns, each for itself, and the collected one."""
        taken = [one for group in dict.fromkeys(made.values()) for one in group.taken() if made[one.position] is group]
        if self._kept.collects:
            collected = Taken(self._known.wanted[-1], type_named("string"), None)
            self._faults.collect(collected, self._counts["records"])
            taken.append(collected)
        return taken


def _numbers(fetched: NDArray[np.uint8]) -> list[int]:
    numbers: list[int] = fetched.view(np.uint64).tolist()
    return numbers
