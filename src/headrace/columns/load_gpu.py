"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert.cu), with one wait between them, in which the host learns how much there is.

What is found is what the native loader finds, to the bit. Where the kernels meet what they leave to that loader (a fault of a
record or a field), they say so, and the caller takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.convert_gpu import FAULT, SIGHTINGS, ColumnRoom, ConvertShape, has_offsets, pack_columns, pack_task
from headrace.columns.load import Evidence, Loaded, LoadPlan, column_of, native_errors, type_named
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.gpu import gpu
from headrace.core.launcher import Entry, GpuLauncher, Launcher, Part, Room, Shape
from headrace.sources.open import OpenSource
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import MOST_FORMS, FindShape, find_tiles
from headrace.structure.gpu_tables import TOTALS, Found, plain_dialect

_MEASURE = Entry("columns/convert.cu", "measure_strings", "PPPP48s")
_CONVERT = Entry("columns/convert.cu", "convert_tiles", "PPPPPP48s")
_PLACE = Entry("columns/string_places.cu", "place_strings", "PIIP")
_COUNT = Entry("columns/string_places.cu", "count_values", "PQP")
_SMALL = {"HR_THREADS": 256}
_MOST_STRING_BYTES = 0x7FFFFFFF
_SHOWN = 100
_EMPTY, _BIG_INT = 0, 5
_COUNT_BLOCKS = 32
_UPLOAD_BYTES = 64 << 20
_MOST_FAULTS = 4096
_OF_VALUES = {0, 1, 2}
"""Faults that concern a field alone: type, overflow, encoding."""
_NEVER = 2**64 - 1
_FORMS_BYTES = MOST_FORMS * TOTALS.itemsize
_SEEN_BYTES = 2 * SIGHTINGS * 8
_LEFT = Found.STRAY | Found.UNCLOSED | Found.UNFINISHED | Found.COMMENT
"""What is left to the native loader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuShape:
    """Tiles of both passes: the search's shape, threads of the conversion, and fields that it looks at together."""

    find: FindShape = field(default_factory=FindShape)
    threads: int = 256
    window: int = 4096
    blocks: int = 4

    def convert(self, *, quotes: bool) -> ConvertShape:
        """The conversion's."""
        return ConvertShape(threads=self.threads, tile=self.find.tile, window=self.window, quotes=quotes, blocks=self.blocks)


@dataclass(frozen=True, slots=True)
class Place:
    """Where kernels run, the text there, and the shape of their tiles."""

    launcher: Launcher
    text: Room
    shape: GpuShape = field(default_factory=GpuShape)


def why_not(source: OpenSource, dialect: Dialect, plan: LoadPlan) -> str:
    """Why the kernels cannot load such a text; empty if they can."""
    if source.codec != "utf-8":
        return f"text in {source.codec}"
    if dialect.lenient:
        return "lenient quotes"
    if plain_dialect(dialect, quoted=dialect.quote is not None) is None:
        return "a dialect that masks cannot read"
    if plan.values.replace_invalid or plan.values.shrink or plan.row_index is not None:
        return "encoding_errors='replace', shrink and row_index_name"
    return "" if any(wanted for _, _, wanted in plan.columns) else "no columns"


def load_text(
    source: OpenSource, dialect: Dialect, plan: LoadPlan, context: Context, device: Device
) -> tuple[Loaded | None, str]:
    """Read a text on a GPU, where it lies or is copied to; or None, and why it is to be read on the host.

    Memory: beside that of `load_on_gpu`, the text if it is on the host.

    Raises
    ------
    MemoryLimitError
        It does not fit.
    """
    if why := why_not(source, dialect, plan):
        return None, why
    stream = None if source.on_gpu is None else source.on_gpu.stream
    launcher = GpuLauncher(gpu(device), stream=stream, budget=context.new_budget(), crossings=context.crossings)
    text = _uploaded(launcher, source) if source.on_gpu is None else source.on_gpu
    loaded = load_on_gpu(Place(launcher, text), source, dialect, plan)
    return (None, "a fault") if loaded is None else (replace(loaded, device=str(device)), "")


def _uploaded(launcher: Launcher, source: OpenSource) -> Room:
    text = launcher.room(source.size)
    for begin in range(0, source.size, _UPLOAD_BYTES):
        piece = np.frombuffer(source.native.read(begin, _UPLOAD_BYTES), np.uint8)
        launcher.put(piece, Part(text, begin, piece.nbytes))
    return text


def load_on_gpu(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded | None:
    """Read all records into columns where `text` lies.

    Memory: the result, 32 bytes for each tile of text, 72 more during the search, and 8 for each tile and column of strings.

    Parameters
    ----------
    place
        Where kernels run, and the whole source, there.
    source
        The same on the host, or a view of it; only its beginning, and the text of evidence, are read.
    dialect, plan
        For which `why_not` is empty.

    Returns
    -------
    Loaded
        None if there is a fault: the native loader tells which, and what becomes of it.

    Raises
    ------
    MemoryLimitError
        The result does not fit.
    """
    return _Load(place, source, dialect, plan).run()


@dataclass(slots=True)
class _Taken:
    """What a column is taken for, and its rooms."""

    position: int
    type: DataType
    guess: int | None
    large: bool = False
    rooms: dict[str, Room] = field(default_factory=dict)
    nulls: int = 0

    @property
    def made(self) -> DataType:
        """The type of its memory: offsets of 64 bits where those of 32 do not reach."""
        return type_named(f"large_{self.type}") if self.large else self.type

    def described(self) -> ColumnRoom:
        values, offsets, validity, sightings = (
            self.rooms[name].address if name in self.rooms else 0 for name in ("values", "offsets", "validity", "sightings")
        )
        return ColumnRoom(
            position=self.position,
            type=self.made,
            guess=self.guess,
            values=values,
            offsets=offsets,
            validity=validity,
            sightings=sightings,
        )


def _first_record(source: OpenSource, dialect: Dialect, begin: int, least: int) -> int:
    """Where the first record that begins at `least` or behind it does; the source's end if there is none."""
    count = 2
    while True:
        records = _native.peek(source.native, _native.Dialect.make(dialect), "", begin, count)
        found = next((record[0] for record in records if record[0] >= least), None)
        if found is not None or len(records) < count:
            return source.size if found is None else found
        count *= 4


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> None:
        self._launcher, self._text, self._shape = place.launcher, place.text, place.shape
        self._source, self._dialect, self._plan = source, dialect, plan
        self._counts = dict.fromkeys(("records", "rows", "rejected", "leading", "filled", "blank", "comment", "passes"), 0)
        self._begin = self._skip_beginning()
        self._size = min(plan.end, source.size) - self._begin
        self._ledger = _native.KindLedger(len(plan.columns))
        self._rows = 0
        self._quotes = dialect.quote is not None
        self._faults: list[NDArray[np.void]] = []
        # Faults that leave their record in the table are listed; others are the native loader's.
        self._fault_room = _MOST_FAULTS if plan.values.on_error == "null" and not plan.zones else 0

    def run(self) -> Loaded | None:
        if self._size <= 0:
            return None
        taken = self._first_taken()
        self._prepare(sum(has_offsets(one.type) for one in taken))
        self._measure(taken, Part(self._totals, _FORMS_BYTES))
        if not self._learn(taken):
            return None
        columns: dict[int, _Taken] = {}
        while taken:
            if columns and any(has_offsets(one.type) for one in taken):
                totals = self._launcher.room(len(taken) * 8, fill=0)
                self._measure(taken, totals)
                self._learn_strings(taken, self._launcher.fetch(totals).view(np.uint64))
            if not self._convert(taken):
                return None
            columns.update((one.position, one) for one in taken)
            taken = self._changed(columns)
        return self._loaded(columns)

    def _skip_beginning(self) -> int:
        """Where the data begins: records before, and blank lines in front of the first, are counted by the native loader."""
        plan = self._plan
        begin = plan.begin
        if plan.data_begin > begin:
            begin = min(_first_record(self._source, self._dialect, begin, plan.data_begin), plan.end)
        nothing: list[tuple[str, DataType | None, bool]] = [(name, type_named("string"), False) for name, _, _ in plan.columns]
        before = replace(plan, columns=nothing, end=begin, progress=None)
        with native_errors():
            made = _native.load(self._source.native, _native.Dialect.make(self._dialect), before)
        self._no_rejects = {name: column_of(parts, 0) for name, parts in made["rejects"]}
        for name in ("leading", "blank", "comment"):
            self._counts[name] += made["counts"][name]
        return begin

    def _prepare(self, strings: int) -> None:
        launcher = self._launcher
        self._at = Part(self._text, self._begin, self._size)
        # Of each form of the search, then of strings.
        self._totals = launcher.room(_FORMS_BYTES + strings * 8, fill=0)
        found = find_tiles(launcher, self._at, self._dialect, Part(self._totals, 0, _FORMS_BYTES), self._shape.find)
        assert found is not None  # why_not has asked
        self._found, self._entries, self._tiles = found, found.entries, found.tiles
        # The rules hold addresses of what they point to, so their place must be known before they are made.
        self._rules_room = launcher.room(len(_native.pack_rules(self._plan, 0)))
        self._rules = _native.pack_rules(self._plan, self._rules_room.address)
        launcher.put(np.frombuffer(self._rules, np.uint8), self._rules_room)

    def _first_taken(self) -> list[_Taken]:
        plan = self._plan
        if any(wanted and type_ is None for _, type_, wanted in plan.columns):
            with native_errors():
                self._ledger.sample(self._source.native, _native.Dialect.make(self._dialect), plan)
        return [
            self._taken_for(position) if type_ is None else _Taken(position, type_, None)
            for position, (_, type_, wanted) in enumerate(plan.columns)
            if wanted
        ]

    def _taken_for(self, position: int) -> _Taken:
        return _Taken(position, type_named(self._ledger.type(position)), self._ledger.kind(position))

    def _measure(self, taken: Sequence[_Taken], totals: Room) -> None:
        """How many bytes the strings of each tile have, and where they go."""
        launcher = self._launcher
        strings = [one for one in taken if has_offsets(one.type)]
        self._sums = launcher.room(self._tiles * len(strings) * 8, fill=0)
        if not strings:
            return
        args = [self._at, self._entries, launcher.put(self._table(taken)), self._sums, self._task(taken)]
        launcher.launch(_MEASURE, self._convert_shape(writes=False), args)
        args = [self._sums, self._tiles, len(strings), totals]
        launcher.launch(_PLACE, Shape(_SMALL, len(strings), _SMALL["HR_THREADS"]), args)

    def _convert_shape(self, *, writes: bool) -> Shape:
        shape = self._shape.convert(quotes=self._quotes)
        return Shape(shape.defines(writes=writes), self._tiles, shape.threads, shape.shared_bytes)

    def _learn(self, taken: Sequence[_Taken]) -> bool:
        """Wait for the counts; whether the kernels can go on."""
        fetched = self._launcher.fetch(self._totals)
        totals, form = self._found.answer(fetched[:_FORMS_BYTES].view(TOTALS))
        if form == "steps" or Found(int(totals["flags"])) & _LEFT:
            return False
        self._quotes = form == "quoted"
        self._rows = int(totals["records"])
        self._counts["records"] = self._counts["rows"] = self._rows
        self._counts["blank"] += int(totals["blank_lines"])
        self._counts["comment"] += int(totals["comments"])
        self._learn_strings(taken, fetched[_FORMS_BYTES:].view(np.uint64))
        return True

    def _learn_strings(self, taken: Sequence[_Taken], totals: NDArray[np.uint64]) -> None:
        strings = [one for one in taken if has_offsets(one.type)]
        for one, total in zip(strings, totals.tolist(), strict=False):
            one.large = total > _MOST_STRING_BYTES and one.type.bits == 32
            one.rooms["values"] = self._launcher.room(total)

    def _convert(self, taken: Sequence[_Taken]) -> bool:
        """Launch the conversion, and wait for what it met; whether there was no fault."""
        launcher, rows, count = self._launcher, self._rows, len(taken)
        words = rows // 32 + 1
        counts = 8 + count * 8
        # Faults, values of each column, sightings of each column.
        outcome = launcher.room(counts + count * _SEEN_BYTES, fill=0)
        launcher.fill(Part(outcome, counts), 0xFF)
        ordered = sorted(taken, key=lambda one: not has_offsets(one.type))
        for number, one in enumerate(ordered):
            self._make_rooms(one, words)
            one.rooms["sightings"] = Part(outcome, counts + number * _SEEN_BYTES, _SEEN_BYTES)
        table = launcher.put(self._table(ordered))
        faults = launcher.room(self._fault_room * FAULT.itemsize)
        args = [self._at, self._entries, table, self._sums, faults, outcome, self._task(taken)]
        launcher.launch(_CONVERT, self._convert_shape(writes=True), args)
        shape = Shape(_SMALL, (_COUNT_BLOCKS, count, 1), _SMALL["HR_THREADS"])
        launcher.launch(_COUNT, shape, [table, words, Part(outcome, 8, count * 8)])
        fetched = launcher.fetch(outcome).view(np.uint64)
        self._counts["passes"] += 1
        if not self._take_faults(faults, int(fetched[0]), {one.position for one in taken}):
            return False
        met = fetched[1 + count :].reshape(count, 2, SIGHTINGS)
        for number, one in enumerate(ordered):
            one.nulls = rows - int(fetched[1 + number])
            if one.guess is not None:
                self._see(one.position, met[number])
        return True

    def _take_faults(self, faults: Room, count: int, converted: set[int]) -> bool:
        """Keep the faults of the columns just converted, in place of those of an earlier time; whether that can be done."""
        if count > self._fault_room:
            return False
        self._faults = [fault for fault in self._faults if int(fault["column"]) not in converted]
        if count:
            listed = self._launcher.fetch(Part(faults, 0, count * FAULT.itemsize)).view(FAULT)
            if not set(listed["kind"].tolist()) <= _OF_VALUES:
                return False
            self._faults += list(listed)
        return True

    def _rejects(self, columns: dict[int, _Taken]) -> dict[str, Column]:
        """A row for each fault, by record, then column."""
        if not self._faults:
            return self._no_rejects
        source, dialect = self._source.native, _native.Dialect.make(self._dialect)
        listed = []
        for fault in sorted(self._faults, key=lambda one: (one["record"], one["column"], one["at"])):
            begin, end, record, at = (self._begin + int(fault[name]) for name in ("begin", "end", "record_begin", "at"))
            text = _native.peek(source, dialect, "", record, 1)[0][3]
            place = (int(fault["record"]) + 1, record, at, int(fault["column"]), int(fault["kind"]))
            listed.append((*place, source.read(begin, end - begin), text))
        types = [columns[position].made if position in columns else None for position in range(len(self._plan.columns))]
        made = _native.rejects(source, self._plan, types, listed)
        return {name: column_of(parts, len(listed)) for name, parts in made}

    def _make_rooms(self, one: _Taken, words: int) -> None:
        launcher, rows = self._launcher, self._rows
        one.rooms["validity"] = launcher.room(words * 4, fill=0)
        if has_offsets(one.made):
            one.rooms["offsets"] = launcher.room((rows + 1) * one.made.bits // 8, fill=0)
        elif one.made.bits == 1:
            one.rooms["values"] = launcher.room(words * 4, fill=0)
        else:
            one.rooms["values"] = launcher.room(rows * one.made.bits // 8)

    def _see(self, position: int, met: NDArray[np.uint64]) -> None:
        for kind in np.flatnonzero(met[0] != _NEVER).tolist():
            at = self._begin + int(met[0, kind])
            self._ledger.see(position, kind, int(met[1, kind]) + 1, at, self._field_text(at))

    def _field_text(self, at: int) -> bytes:
        """The raw text of the field that begins there, its first bytes."""
        text, state = self._source.native.read(at, _SHOWN), 0
        for length, byte in enumerate(text):
            state, emit = self._dialect.automaton.step(state, byte)
            if emit & (Emit.FLD | Emit.REC):
                return text[:length]
        return text

    def _changed(self, columns: dict[int, _Taken]) -> list[_Taken]:
        """Columns that are to be converted again, because their guess did not hold; native: follow_ledger."""
        again = []
        for position, one in columns.items():
            if one.guess is None:
                continue
            now = self._taken_for(position)
            if now.guess == _BIG_INT and one.guess == _BIG_INT:
                again.append(_Taken(position, one.type, None))  # no float among the long integers: they are text
            elif now.guess == _BIG_INT or (one.guess == _EMPTY and now.guess != _EMPTY) or now.type != one.type:
                again.append(now)
        return again

    def _table(self, taken: Sequence[_Taken]) -> NDArray[np.void]:
        return pack_columns(self._plan, [one.described() for one in taken], self._rules_room.address, self._rules)

    def _task(self, taken: Sequence[_Taken]) -> NDArray[np.void]:
        dialect = plain_dialect(self._dialect, quoted=self._quotes)
        assert dialect is not None
        rooms = [one.described() for one in taken]
        return pack_task(self._plan, rooms, dialect.tobytes(), size=self._size, tiles=self._tiles, fault_room=self._fault_room)[0]

    def _loaded(self, columns: dict[int, _Taken]) -> Loaded:
        count = len(self._plan.columns)
        evidence: list[Evidence | None] = [None] * count
        for position, (_, type_, wanted) in enumerate(self._plan.columns):
            found = self._ledger.evidence(position) if wanted and type_ is None else None
            if found is not None:
                evidence[position] = Evidence(*found[:3])
        made = tuple(self._column(columns[position]) if position in columns else None for position in range(count))
        return Loaded(
            columns=made,
            evidence=tuple(evidence),
            rejects=self._rejects(columns),
            counts=self._counts,
            row_index=None,
            replaced=(0,) * count,
        )

    def _column(self, taken: _Taken) -> Column:
        result: Any = self._launcher.result
        rooms = taken.rooms
        return Column(
            type=taken.made,
            length=self._rows,
            null_count=taken.nulls,
            values=result(rooms["values"]),
            validity=result(rooms["validity"]) if taken.nulls and taken.type.name != "null" else None,
            offsets=result(rooms["offsets"]) if "offsets" in rooms else None,
        )
