"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert/convert.cu), with one wait between them, in which the host learns how much there is.

What is found is what the native loader finds, to the bit, faults included (columns/faults/faults_gpu.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headrace.columns.column import Column
from headrace.columns.convert.convert_gpu import COLUMN, SIGHTINGS, TOTALS_WORDS, pack_steps, pack_task
from headrace.columns.convert.launch_rows_gpu import RowLaunches
from headrace.columns.convert.rows_gpu import RowColumns, most_row_bytes
from headrace.columns.convert.string_places_gpu import place_memory_bytes, place_strings
from headrace.columns.faults.faults_gpu import Conversion, FaultsOfLoad
from headrace.columns.finish.finish_gpu import locate_on_gpu, number_rows, shrink
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.ahead_gpu import RowsAhead, is_enough
from headrace.columns.load.before_gpu import find_data
from headrace.columns.load.columns_gpu import Taken
from headrace.columns.load.decoded_gpu import original_evidence
from headrace.columns.load.load import CutRecordError, Evidence, Loaded, LoadPlan, native_dialect, type_named
from headrace.columns.load.place_gpu import GpuShape, Place, convert_program
from headrace.columns.load.plan_gpu import Group, MadeColumns, plan_on_gpu
from headrace.core.gpu.launcher import Entry, Part, Room, Shape
from headrace.core.quick import quick
from headrace.sources.on_gpu import HEAD_BYTES
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import FORMS_BYTES, find_tiles, tile_count
from headrace.structure.gpu_tables import TOTALS, Found

__all__ = ["GpuShape", "Place", "load_on_gpu"]

_MEASURE = Entry("columns/convert/convert.cu", "measure_strings", "PPPPPPI120s")
_CONVERT = Entry("columns/convert/convert.cu", "convert_tiles", "PPPPPPPI120s")
_COUNT = Entry("columns/convert/string_places.cu", "count_values", "PQP")
_THREADS = 256
_SMALL = {"HR_THREADS": _THREADS}
_MOST_STRING_BYTES = 0x7FFFFFFF
_COUNT_BLOCKS = 528
_SAMPLED_BYTES = 4096
"""Of the text's beginning, by which is guessed whether its fields have quotes, and how many rows there are."""
_MARKED_BLOCKS = 2048
_SEEN_BYTES = 2 * SIGHTINGS * 8


def load_on_gpu(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded:
    """Read all records into columns where `text` lies.

    Memory: the result, and up to an eighth more; 32 bytes for each tile of text, 72 more during the search, and 8 for each tile
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
        self._known = plan_on_gpu(plan)
        begin, self._counts = find_data(source, native_dialect(dialect), plan)
        self._begin, self._size = begin, min(plan.end, source.size) - begin
        self._text = Part(place.text, begin, self._size)
        self._inference = Inference(source, dialect, plan, self._known, begin)
        see = self._inference.see_field
        self._faults = FaultsOfLoad(place.launcher, place.text, source, dialect, plan, begin=begin, see=see)
        self._source = source
        self._rows = 0
        self._ahead: MadeColumns | None = None
        self._form = ""  # of the search, once it is known
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
        strings = self._measure(group, Part(self._found.totals, FORMS_BYTES, group.strings * 8))
        made: dict[int, MadeColumns] = {}
        taken: dict[int, int] = {}
        while True:
            converted = self._convert(group, strings)
            if converted is not None:
                made.update(dict.fromkeys(group.positions, converted))
                taken.update(zip(group.positions, group.kinds, strict=True))
                again = self._inference.changed(taken)
                if not again:
                    return self._made(made)
                group = known.group(tuple(again), bytes(again.values()))
            strings = self._measure(group, self._launcher.room(group.strings * 8, fill=0))

    def _find(self) -> None:
        """Launch the search for structure, with room for what a first conversion needs beside its result."""
        self._inference.fetch_sample()
        known, count = self._known, len(self._positions)
        # Each column may turn out to be of strings.
        self._tiles = tile_count(self._text, self._shape.find)
        sums = 0 if known.inferred else self._tiles * known.given_strings * 8
        place_bytes = place_memory_bytes(self._tiles, count)
        sizes = -(-count // 2) * 16  # of strings; what is behind them begins at sixteen bytes
        zeroed = [sizes + place_bytes, _outcome_bytes(count, bool(known.inferred)), sums, 8 * self._tiles]
        others = [self._told_bytes(count), self._faults.room_bytes]
        quote, shape = self._dialect.quote, self._shape.find
        self._first = self._beginning()
        quoted = quote is not None and quote in self._first
        found = find_tiles(self._launcher, self._text, self._dialect, shape, (zeroed, others), has_quotes=quoted)
        self._found, self._entries = found, found.entries
        self._place_memory: Room | None = Part(found.totals, found.totals.nbytes - place_bytes, place_bytes)
        outcome, self._sums, marks, told, faults = found.more
        self._own: Sequence[Room] = outcome, told, faults
        place = Place(self._launcher, self._text, self._shape)
        self._rows_kernel = RowLaunches(place, self._dialect, found, marks, quoted)

    def _beginning(self) -> bytes:
        """Of the text, what the host has already: other bytes would be waited for, behind the search."""
        begin = min(self._begin, HEAD_BYTES - _SAMPLED_BYTES)
        return bytes(self._source.native.read(begin, min(_SAMPLED_BYTES, self._size)))

    def _measure(self, group: Group, totals: Room) -> list[int]:
        """How many bytes each column of strings has, and, in `_sums`, where those of each tile go. The first time also what else
        the search has found. `totals` is zero; the host waits for them.
        """
        launcher, strings = self._launcher, group.strings
        if self._form or self._known.inferred:
            self._sums = launcher.room(self._tiles * strings * 8, fill=0)
        if strings:
            room, rows = self._told(group), self._by_rows(group, writes=False)
            table, told_rows = self._put_tables(room, group.table(room.address), rows)
            marks = self._launch_rows(group, rows, told_rows, writes=False)
            for form, before in self._measured_forms():
                shape, own_tiles = self._convert_shape(form, marks, writes=False)
                args = [self._text, self._entries, table, self._sums, before, marks, own_tiles, self._task(group, form)]
                launcher.launch(_MEASURE, shape, args)
            place_strings(launcher, self._sums, (self._tiles, strings), totals, self._take_place_memory())
        if self._form:
            return _numbers(launcher.fetch(totals)) if strings else []
        ahead = RowsAhead(self._first, self._dialect.line_end or b"\n", self._size)
        self._ahead = ahead.room(group, launcher)
        fetched = launcher.fetch(Part(self._found.totals, 0, FORMS_BYTES + strings * 8))
        counts, self._form = self._found.answer(fetched)
        if self._plan.part is not None and self._plan.part.is_more and counts["flags"] & (Found.OPEN | Found.UNCLOSED):
            raise CutRecordError
        self._rows = self._counts["records"] = counts["records"]
        self._counts["blank"] += counts["blank_lines"]
        self._counts["comment"] += counts["comments"]
        return _numbers(fetched[FORMS_BYTES:])

    def _make_room(self, group: Group, strings: list[int]) -> MadeColumns:
        """Room for all rows; what was taken ahead, if it does."""
        rows, made = self._rows, self._ahead
        self._ahead = None
        if made is None or made.group is not group or not is_enough(made.rows, rows):
            del made  # before more is taken
            made = group.make_room(self._launcher, rows)
        made.settle(self._launcher, rows, strings)
        return made

    def _take_place_memory(self) -> Room | None:
        """Zeros that nobody has written to; the first time they lie with the search's."""
        memory, self._place_memory = self._place_memory, None
        return memory

    def _by_rows(self, group: Group, *, writes: bool) -> RowColumns | None:
        """The columns as rows are read, if they can be."""
        return None if self._faults.listing.leaves_out else self._rows_kernel.columns(group, writes=writes)

    def _launch_rows(self, group: Group, rows: RowColumns | None, told: Room, *, writes: bool) -> Room | None:
        """Read tiles by rows; what says which are left, or None if all are."""
        if rows is None:
            return None
        return self._rows_kernel.launch(rows, told, self._sums, ascii_only=group.has_text, writes=writes)

    def _told(self, group: Group) -> Room:
        """Where rules and the tables of columns go: a first conversion's room, if they are no more than those."""
        size = self._told_bytes(len(group.rooms))
        return Part(self._own[1], 0, size) if self._own else self._launcher.room(size)

    def _told_bytes(self, columns: int) -> int:
        """Of rules and the tables of so many columns."""
        return int(-(-self._known.rules_bytes // 16) * 16 + columns * COLUMN.itemsize + 16 + most_row_bytes(columns))

    def _put_tables(self, room: Room, table: NDArray[np.uint64], rows: RowColumns | None) -> tuple[Room, Room]:
        """The tables of columns in memory, behind the rules that the first points to; one upload for all."""
        parts = [self._known.rules(room.address), table.reshape(-1)]
        behind = parts[0].nbytes + table.nbytes
        if rows is not None:
            # Its rows are read sixteen bytes at a time.
            parts += [np.zeros(behind % 16 // 8, np.uint64), rows.table(table).reshape(-1)]
        words = np.concatenate(parts)
        self._launcher.put(words, Part(room, 0, words.nbytes))
        return Part(room, parts[0].nbytes, table.nbytes), Part(room, behind + behind % 16, words.nbytes - behind - behind % 16)

    def _measured_forms(self) -> list[tuple[str, Room | None]]:
        """The forms to measure strings by, and the totals that say which of two is the text's."""
        forms = self._found.forms
        if self._form or len(forms) == 1 or "steps" not in forms:
            return [(self._form or forms[-1], None)]
        before = Part(self._found.totals, (len(forms) - 2) * TOTALS.itemsize, TOTALS.itemsize)
        return [(forms[-2], before), ("steps", before)]

    def _convert_shape(self, form: str, marks: Room | None, *, writes: bool) -> tuple[Shape, int]:
        """The shape, and tiles of a block: one, or more where few of them are marked."""
        defines, threads, shared = convert_program(self._shape, form, writes)
        own_tiles = 1 if marks is None else min(self._tiles // _MARKED_BLOCKS + 1, 32)
        return Shape(defines, -(-self._tiles // own_tiles), threads, shared), own_tiles

    def _with_large_offsets(self, group: Group, strings: list[int]) -> Group:
        """The group, with offsets of 64 bits where there are more bytes than those of 32 reach."""
        many = [number for number, size in enumerate(strings) if size > _MOST_STRING_BYTES and group.types[number].bits == 32]
        if not many:
            return group
        return self._known.group(group.positions, group.kinds, frozenset(group.rooms[number].position for number in many))

    def _convert(self, group: Group, strings: list[int]) -> MadeColumns | None:
        """Launch the conversion, and wait for what it met; None if that is to be done again."""
        launcher, rows, count = self._launcher, self._rows, len(group.rooms)
        group = self._with_large_offsets(group, strings)
        outcome, told, faults = self._take_own(group)
        counts = (TOTALS_WORDS + count) * 8
        # Totals of faults, values of each column, sightings of each column.
        if group.infers:
            launcher.fill(Part(outcome, counts), 0xFF)
        made = self._make_room(group, strings)
        sightings = outcome.address + counts if group.infers else None
        by_rows = self._by_rows(group, writes=True)
        table, told_rows = self._put_tables(told, made.table(told.address, sightings, _SEEN_BYTES), by_rows)
        marks = self._launch_rows(group, by_rows, told_rows, writes=True)
        shape, own_tiles = self._convert_shape(self._form, marks, writes=True)
        args = [self._text, self._entries, table, self._sums, faults, outcome, marks, own_tiles, self._task(group, self._form)]
        launcher.launch(_CONVERT, shape, args)
        if count:
            blocks = min(_COUNT_BLOCKS // count, rows // 32 // _THREADS) + 1
            shape = Shape(_SMALL, (count, blocks, 1), _THREADS)
            launcher.launch(_COUNT, shape, [table, rows, Part(outcome, TOTALS_WORDS * 8, count * 8)])
        fetched = launcher.fetch(outcome)
        self._counts["passes"] += 1
        words = fetched[:counts].view(np.uint64)
        made.nulls = [rows - there for there in words[TOTALS_WORDS:].tolist()]
        met = fetched[counts:].view(np.uint64).reshape(-1, 2, SIGHTINGS)
        if not self._faults.take(Conversion(made, table, faults, words[:TOTALS_WORDS], met[:, 1])):
            return None
        if group.infers:
            seen = met[[number for number, _ in group.inferred]]
            self._inference.see([position for _, position in group.inferred], seen.tobytes())
        return made

    def _take_own(self, group: Group) -> tuple[Room, Room, Room]:
        """Room for what a conversion meets, is told, and lists as faults: the first's was made with the search's."""
        count = len(group.rooms)
        nbytes = _outcome_bytes(count, group.infers)
        if self._own:
            outcome, _, faults = self._own
            told, self._own = self._told(group), ()
            return Part(outcome, 0, nbytes), told, faults
        others = [self._told_bytes(count), self._faults.room_bytes]
        outcome, told, faults = self._launcher.rooms([nbytes], others)
        return outcome, told, faults

    def _task(self, group: Group, form: str) -> bytes:
        steps, listing = self._found.steps, self._faults.listing
        if form != "steps" or steps is None:
            return self._known.task(group, self._dialect, form == "quoted", listing, (self._size, self._tiles))
        sizes = {"size": self._size, "tiles": self._tiles}
        task: bytes = pack_task(self._plan, group.rooms, pack_steps(self._dialect, steps), **sizes, listing=listing).tobytes()
        return task

    def _made(self, made: dict[int, MadeColumns]) -> Loaded:
        count, launcher, faults = len(self._plan.columns), self._launcher, self._faults
        columns: dict[int, Column] = {}
        evidence = self._inference.evidence()
        self._inference.share()
        row_index: Column | None = None
        replaced = [0] * count
        if faults.is_clean and not self._collects and not self._plan.values.shrink and self._plan.row_index is None:
            faults.finish_clean(self._counts)
            for group in dict.fromkeys(made.values()):
                columns.update(one for one in group.columns(launcher) if made[one[0]] is group)
        else:
            taken = self._one_by_one(made)
            index = number_rows(launcher, self._plan, self._counts["records"])
            faults.finish(taken, self._counts, index)
            rows = self._counts["rows"]
            evidence = self._shrunk(taken, rows, evidence) if self._plan.values.shrink else evidence
            columns = {one.position: one.column(launcher, rows) for one in taken}
            row_index = index[0].column(launcher, rows) if index else None
            for one in taken:
                replaced[one.position] = one.replaced
        return _loaded(
            columns=tuple([columns.get(position) for position in range(count)]),
            evidence=evidence,
            rejects=faults.rejects,
            counts=self._counts,
            row_index=row_index,
            replaced=tuple(replaced),
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


def _numbers(fetched: NDArray[np.uint8]) -> list[int]:
    return list(fetched.view(np.uint64).tolist())


def _outcome_bytes(columns: int, infers: bool) -> int:
    """Of what a conversion meets: totals of faults, values of each column, sightings of each."""
    return (TOTALS_WORDS + columns) * 8 + columns * _SEEN_BYTES * infers
