"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert/convert.cu), launched behind it for what is expected; the host waits once, for how much there was and what was
met. Where more or less was there than expected, it launches the conversion again.

What is found is what the native loader finds, to the bit, faults included (columns/faults/faults_gpu.py).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from headrace.columns.column import Column
from headrace.columns.convert.convert_gpu import SIGHTINGS, TOTALS_WORDS
from headrace.columns.convert.launch_rows_gpu import measuring
from headrace.columns.convert.string_places_gpu import place_memory_bytes
from headrace.columns.faults.faults_gpu import Conversion, FaultsOfLoad
from headrace.columns.finish.finish_gpu import locate_on_gpu, number_rows, shrink
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.ahead_gpu import Expected, check_room, expect, holds, is_refused
from headrace.columns.load.before_gpu import find_data
from headrace.columns.load.columns_gpu import Taken
from headrace.columns.load.decoded_gpu import original_evidence
from headrace.columns.load.load import CutRecordError, Evidence, Loaded, LoadPlan, native_dialect, type_named
from headrace.columns.load.place_gpu import GpuShape, Place
from headrace.columns.load.plan_gpu import Group, MadeColumns, plan_on_gpu
from headrace.columns.load.second_pass_gpu import SEEN_BYTES, Into, SecondPass, counted_bytes, outcome_bytes
from headrace.columns.load.told_gpu import telling, told_bytes
from headrace.core.gpu.launcher import Launcher, Part, Room
from headrace.core.later import Later
from headrace.core.quick import quick
from headrace.sources.on_gpu import head_bytes
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import FORMS_BYTES, TallyAndMore, find_tiles, tile_count
from headrace.structure.gpu_tables import Found

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


_loaded = quick(Loaded)


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> None:
        self._launcher, self._shape, self._device = place.launcher, place.shape, place.device
        self._dialect, self._plan = dialect, plan
        self._native = native_dialect(dialect)
        self._known = plan_on_gpu(plan)
        begin, self._counts = find_data(source, self._native, plan)
        self._begin, self._size = begin, min(plan.end, source.size) - begin
        self._text = Part(place.text, begin, self._size)
        self._inference = Inference(source, dialect, plan, self._known, begin)
        see = self._inference.see_field
        self._faults = FaultsOfLoad(place.launcher, place.text, source, dialect, plan, begin=begin, see=see)
        self._source = source
        self._rows = 0
        self._form = ""  # of the search, once it is known
        self._ahead: MadeColumns | None = None
        wanted = self._known.wanted
        self._collects = plan.rows.collect_long and len(plan.columns) - 1 in wanted
        self._positions = wanted[:-1] if self._collects else wanted

    def run(self) -> Loaded:
        known, positions = self._known, self._positions
        if self._size <= 0:
            group = known.group(positions, self._inference.first()[: len(positions)])
            return self._made(dict.fromkeys(positions, self._make_room(group, [0] * group.strings)))
        self._find()
        group = known.group(positions, self._inference.first()[: len(positions)])  # a guess is made while the search runs
        converted = self._convert_first(group)
        made: dict[int, MadeColumns] = {}
        taken: dict[int, int] = {}
        while True:
            if converted is not None:
                made.update(dict.fromkeys(group.positions, converted))
                taken.update(zip(group.positions, group.kinds, strict=True))
                again = self._inference.changed(taken)
                if not again:
                    return self._made(made)
                group = known.group(tuple(again), bytes(again.values()))
            converted = self._convert(group, self._measured(group))

    def _find(self) -> None:
        """Launch the search for structure, with room for what a first conversion needs beside its result."""
        self._inference.fetch_sample()
        known, count = self._known, len(self._positions)
        # Each column may turn out to be of strings.
        tiles = tile_count(self._text, self._shape.find)
        sums = 0 if known.inferred else tiles * known.given_strings * 8
        self._behind = _BehindTotals(count, bool(known.inferred))
        place_bytes = place_memory_bytes(tiles, count)
        zeroed = [self._behind.end - FORMS_BYTES + place_bytes, sums, 8 * tiles]
        others = [told_bytes(known, count), self._faults.room_bytes]
        quote = self._dialect.quote
        self._first = self._read_beginning()
        quoted = quote is not None and quote in self._first[:_QUOTES_BYTES]
        tally = self._measuring(quoted=quoted)
        if tally is not None:
            others.append(tally.room)
        found = find_tiles(
            self._launcher, self._text, self._dialect, self._shape.find, (zeroed, others), has_quotes=quoted, tally=tally
        )
        self._found, self._entries = found, found.entries
        sums_room, marks, told, faults = found.more[:4]
        memory = Part(found.totals, self._behind.end, place_bytes)
        self._own: tuple[Room, Room] | None = told, faults
        place = Place(self._launcher, self._text, self._shape)
        rooms = marks, sums_room, memory
        self._second = SecondPass(place, self._dialect, self._plan, found, self._faults, rooms=rooms, quoted=quoted)

    def _measuring(self, *, quoted: bool) -> TallyAndMore | None:
        """What measures strings while it searches, where all types are given, and no line of the first ones ends with CR."""
        if self._known.inferred or not self._shape.ahead or b"\r" in self._first:
            return None
        group = self._known.group(self._positions, self._inference.first()[: len(self._positions)])
        return measuring(self._shape, group, self._text, quoted=quoted)

    def _read_beginning(self) -> bytes:
        """The data's first bytes: what the host has of them, if that is most of what it fetches at once."""
        most = head_bytes(self._source.size)
        there = most - self._begin if self._source.is_far and 2 * self._begin <= most else most
        return bytes(self._source.native.read(self._begin, min(there, self._size)))

    def _expected(self, group: Group) -> Expected | None:
        """What the first records let one expect of all; while the search runs."""
        return expect(self._native, self._first, self._size, group.string_positions)

    def _convert_first(self, group: Group) -> MadeColumns | None:
        """As `_convert`, of a text whose records nobody has counted: behind the search at once, if there is room for what is
        expected and that holds.
        """
        launcher, strings = self._launcher, group.strings
        expected = self._expected(group)
        ahead = None if expected is None or not self._shape.ahead else self._launch_ahead(group, expected)
        if ahead is None:
            self._measure(group, "", self._string_bytes(group))
            if expected is not None:
                self._ahead = expected.room(group, launcher, self._size, strings=False)
            fetched = launcher.fetch(Part(self._found.totals, 0, FORMS_BYTES + strings * 8))
            return self._convert(group, self._take_counts(fetched, strings))
        word, begin = self._behind.word, self._behind.outcome
        behind = begin + outcome_bytes(len(group.rooms), group.infers)
        fetched = launcher.fetch(Part(self._found.totals, 0, behind))
        counted = self._take_counts(fetched, strings)
        if is_refused(_numbers(fetched[word : word + 8])[0]):
            del ahead  # before more is taken
            # Strings that the search was to measure are those of its first form.
            is_counted = not self._found.did_more or self._form == self._found.forms[0]
            return self._convert(group, counted if is_counted else self._measured(group))
        ahead[0].trim(self._rows, counted)
        return self._taken(group, ahead, fetched[begin:])

    def _launch_ahead(self, group: Group, expected: Expected) -> _Launched | None:
        """Launch all that is behind the search, for what is expected and for its first form; None if there is no room."""
        made = expected.room(group, self._launcher, self._size, strings=True)
        if made is None:
            return None
        outcome, room, faults = self._rooms(group)
        is_measured = self._found.did_more
        measured = None if is_measured else self._second.by_rows(group, writes=False)
        by_rows = self._second.by_rows(group, writes=True)
        known = telling(self._known, group, (measured, by_rows))
        sightings = self._sightings(group, outcome)
        told = known.put(self._launcher, room, made.rooms.addresses, sightings=sightings, ranges=expected.ranges(group))
        totals, word = self._string_bytes(group), Part(self._found.totals, self._behind.word, 8)
        with self._launcher.together():
            if is_measured:
                self._second.measure_left(group, told, totals)
            else:
                self._second.measure(group, told, (measured, told.rows[0]), "", totals)
            check_room(self._launcher, (self._found.totals, 1), told.ranges, totals, word)
            into = Into(outcome, faults, made.rows, word)
            self._second.convert(group, told, (by_rows, told.rows[1]), self._found.forms[0], into)
        return made, told.table, faults

    def _string_bytes(self, group: Group) -> Room:
        """Where the bytes of each column of strings are counted the first time, behind the search's totals."""
        return Part(self._found.totals, FORMS_BYTES, group.strings * 8)

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
            told = telling(self._known, group, (rows,)).put(self._launcher, room)
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
            return Part(self._found.totals, self._behind.outcome, nbytes), *self._own
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
        told = known.put(self._launcher, room, made.rooms.addresses, sightings=sightings)
        self._second.convert(group, told, (rows, told.rows[0]), self._form, Into(outcome, faults, self._rows))
        return self._taken(group, (made, told.table, faults), self._launcher.fetch(outcome))

    def _taken(self, group: Group, launched: _Launched, fetched: NDArray[np.uint8]) -> MadeColumns | None:
        """Take what a conversion met."""
        self._own = None
        made, table, faults = launched
        counts = counted_bytes(len(group.rooms))
        self._counts["passes"] += 1
        words = fetched[:counts].view(np.uint64)
        rows = self._rows
        made.nulls = [rows - there for there in words[TOTALS_WORDS:].tolist()]
        met = fetched[counts:].view(np.uint64).reshape(-1, 2, SIGHTINGS)
        if not self._faults.take(Conversion(made, table, faults, words[:TOTALS_WORDS], met[:, 1])):
            return None
        if group.infers:
            seen = met[[number for number, _ in group.inferred]]
            self._inference.see([position for _, position in group.inferred], seen.tobytes())
        return made

    def _made(self, made: dict[int, MadeColumns]) -> Loaded:
        evidence = self._inference.evidence()
        self._inference.share()
        faults, values = self._faults, self._plan.values
        if not faults.is_clean or self._collects or values.shrink or self._plan.row_index is not None:
            return self._made_one_by_one(made, evidence)
        faults.finish_clean(self._counts)
        for one in {id(one): one for one in made.values()}.values():
            one.close()
        places = {position: (one, one.group.numbers[position]) for position, one in made.items()}
        # A report tells of columns without holding them.
        told = {position: (one.group.types[number], one.nulls[number]) for position, (one, number) in places.items()}
        count = len(self._plan.columns)
        return _loaded(
            columns=Later(count, partial(_column_at, self._launcher, places)),
            evidence=evidence,
            rejects=faults.rejects,
            counts=self._counts,
            row_index=None,
            replaced=(0,) * count,
            device=self._device,
            described=[told.get(position) for position in range(count)],
        )

    def _made_one_by_one(self, made: dict[int, MadeColumns], evidence: tuple[Evidence | None, ...]) -> Loaded:
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

    def _shrunk(self, taken: list[Taken], rows: int, evidence: tuple[Evidence | None, ...]) -> tuple[Evidence | None, ...]:
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
        if self._collects:
            collected = Taken(self._known.wanted[-1], type_named("string"), None)
            self._faults.collect(collected, self._counts["records"])
            taken.append(collected)
        return taken


def _column_at(launcher: Launcher, places: dict[int, tuple[MadeColumns, int]], position: int) -> Column | None:
    found = places.get(position)
    return None if found is None else found[0].column(launcher, found[1])


def _numbers(fetched: NDArray[np.uint8]) -> list[int]:
    return list(fetched.view(np.uint64).tolist())


class _BehindTotals:
    """Where things lie behind the search's totals, so that one copy brings all that the host waits for: the bytes of so many
    columns of strings, the word that `check_room` leaves, and what a first conversion meets.
    """

    def __init__(self, columns: int, infers: bool) -> None:
        self.word = FORMS_BYTES + -(-columns // 2) * 16
        self.outcome = self.word + 16
        self.end = self.outcome + -(-outcome_bytes(columns, infers) // 16) * 16
