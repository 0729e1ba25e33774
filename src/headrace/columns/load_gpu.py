"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert.cu), with one wait between them, in which the host learns how much there is.

What is found is what the native loader finds, to the bit, faults included (columns/faults_gpu.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.before_gpu import find_data
from headrace.columns.columns_gpu import Taken, ordered, strings_of, validity_words
from headrace.columns.convert_gpu import (
    SIGHTINGS,
    TOTALS_WORDS,
    ConvertShape,
    has_offsets,
    pack_columns,
    pack_steps,
    pack_task,
)
from headrace.columns.faults_gpu import Conversion, FaultsOfLoad
from headrace.columns.infer_gpu import Inference
from headrace.columns.load import Loaded, LoadPlan
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.gpu import gpu
from headrace.core.launcher import Entry, GpuLauncher, Launcher, Part, Room, Shape
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import MOST_FORMS, FindShape, find_tiles, reads
from headrace.structure.gpu_tables import TOTALS, plain_dialect

_MEASURE = Entry("columns/convert.cu", "measure_strings", "PPPPP120s")
_CONVERT = Entry("columns/convert.cu", "convert_tiles", "PPPPPP120s")
_PLACE = Entry("columns/string_places.cu", "place_strings", "PIIP")
_COUNT = Entry("columns/string_places.cu", "count_values", "PQP")
_SMALL = {"HR_THREADS": 256}
_MOST_STRING_BYTES = 0x7FFFFFFF
_COUNT_BLOCKS = 32
_UPLOAD_BYTES = 64 << 20
_FORMS_BYTES = MOST_FORMS * TOTALS.itemsize
_SEEN_BYTES = 2 * SIGHTINGS * 8
_COUNTS = ("records", "rows", "rejected", "leading", "filled", "blank", "comment", "passes")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuShape:
    """Tiles of both passes: the search's shape, threads of the conversion, and fields that it looks at together."""

    find: FindShape = field(default_factory=FindShape)
    threads: int = 256
    window: int = 4096
    blocks: int = 4

    def convert(self, form: str) -> ConvertShape:
        """The conversion's, of a text that this form of the search reads."""
        forms = {"quotes": form != "bare", "steps": form == "steps"}
        return ConvertShape(threads=self.threads, tile=self.find.tile, window=self.window, blocks=self.blocks, **forms)


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
    if not reads(dialect):
        return "a dialect whose automaton has more than sixteen states"
    if plan.values.replace_invalid or plan.values.shrink or plan.row_index is not None:
        return "encoding_errors='replace', shrink and row_index_name"
    columns = plan.columns[:-1] if plan.rows.collect_long else plan.columns
    return "" if any(wanted for _, _, wanted in columns) else "no columns"


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
    return replace(loaded, device=str(device)), ""


def _uploaded(launcher: Launcher, source: OpenSource) -> Room:
    text = launcher.room(source.size)
    for begin in range(0, source.size, _UPLOAD_BYTES):
        piece = np.frombuffer(source.native.read(begin, _UPLOAD_BYTES), np.uint8)
        launcher.put(piece, Part(text, begin, piece.nbytes))
    return text


def load_on_gpu(place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded:
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
        The columns, and what was met.

    Raises
    ------
    ParseError
        As `headrace.columns.load.load`.
    MemoryLimitError
        The result does not fit.
    """
    return _Load(place, source, dialect, plan).run()


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> None:
        self._launcher, self._text, self._shape = place.launcher, place.text, place.shape
        self._dialect, self._plan = dialect, plan
        before = find_data(source, dialect, plan)
        self._counts = dict.fromkeys(_COUNTS, 0) | before.counts
        self._begin = before.begin
        self._size = min(plan.end, source.size) - self._begin
        self._inference = Inference(source, dialect, plan, self._begin)
        see = self._inference.see_field
        self._faults = FaultsOfLoad(place.launcher, place.text, source, dialect, plan, begin=self._begin, see=see)
        self._rows = 0
        self._form = ""  # of the search, once it is known
        self._collected: Taken | None = None

    def run(self) -> Loaded:
        taken = self._inference.first()
        if self._plan.rows.collect_long and taken[-1].position + 1 == len(self._plan.columns):
            self._collected = taken.pop()
        if self._size <= 0:
            return self._loaded({one.position: self._empty(one) for one in taken})
        self._prepare(len(strings_of(taken)))
        self._measure(taken, Part(self._totals, _FORMS_BYTES))
        self._learn(taken)
        columns: dict[int, Taken] = {}
        stands = self._convert(taken)
        while True:
            if stands:
                columns.update((one.position, one) for one in taken)
                taken = self._inference.changed(columns)
            if not taken:
                return self._loaded(columns)
            if strings_of(taken):
                totals = self._launcher.room(len(taken) * 8, fill=0)
                self._measure(taken, totals)
                self._learn_strings(taken, self._launcher.fetch(totals).view(np.uint64))
            stands = self._convert(taken)

    def _empty(self, one: Taken) -> Taken:
        if has_offsets(one.made):
            one.rooms["values"] = self._launcher.room(0)
        one.make_rooms(self._launcher, 0)
        return one

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

    def _measure(self, taken: Sequence[Taken], totals: Room) -> None:
        """How many bytes the strings of each tile have, and where they go."""
        launcher = self._launcher
        strings = strings_of(taken)
        self._sums = launcher.room(self._tiles * len(strings) * 8, fill=0)
        if not strings:
            return
        head = [self._at, self._entries, launcher.put(self._table(taken)), self._sums]
        for form, totals_before in self._measured_forms():
            args = [*head, totals_before, self._task(taken, form)]
            launcher.launch(_MEASURE, self._convert_shape(form, writes=False), args)
        args = [self._sums, self._tiles, len(strings), totals]
        launcher.launch(_PLACE, Shape(_SMALL, len(strings), _SMALL["HR_THREADS"]), args)

    def _measured_forms(self) -> list[tuple[str, Room | None]]:
        """The forms to measure strings by, and the totals that say which of two is the text's."""
        forms = self._found.forms
        if self._form or len(forms) == 1 or "steps" not in forms:
            return [(self._form or forms[-1], None)]
        size = TOTALS.itemsize
        before = Part(self._totals, (len(forms) - 2) * size, size)
        return [(forms[-2], before), ("steps", before)]

    def _convert_shape(self, form: str, *, writes: bool) -> Shape:
        shape = self._shape.convert(form)
        return Shape(shape.defines(writes=writes), self._tiles, shape.threads, shape.shared_bytes)

    def _learn(self, taken: Sequence[Taken]) -> None:
        """Wait for the counts, and make room for the strings."""
        fetched = self._launcher.fetch(self._totals)
        totals, self._form = self._found.answer(fetched[:_FORMS_BYTES].view(TOTALS))
        self._rows = int(totals["records"])
        self._counts["records"] = self._rows
        self._counts["blank"] += int(totals["blank_lines"])
        self._counts["comment"] += int(totals["comments"])
        self._learn_strings(taken, fetched[_FORMS_BYTES:].view(np.uint64))

    def _learn_strings(self, taken: Sequence[Taken], totals: NDArray[np.uint64]) -> None:
        for one, total in zip(strings_of(taken), totals.tolist(), strict=False):
            one.large = total > _MOST_STRING_BYTES and one.type.bits == 32
            one.rooms["values"] = self._launcher.room(total)

    def _convert(self, taken: Sequence[Taken]) -> bool:
        """Launch the conversion, and wait for what it met; false if that is to be done again."""
        launcher, rows, count = self._launcher, self._rows, len(taken)
        words = validity_words(rows)
        head = TOTALS_WORDS * 8
        counts = head + count * 8
        # Totals of faults, values of each column, sightings of each column.
        outcome = launcher.room(counts + count * _SEEN_BYTES, fill=0)
        launcher.fill(Part(outcome, counts), 0xFF)
        in_order = ordered(taken)
        for number, one in enumerate(in_order):
            one.make_rooms(launcher, rows)
            one.rooms["sightings"] = Part(outcome, counts + number * _SEEN_BYTES, _SEEN_BYTES)
        table = launcher.put(self._table(in_order))
        faults = self._faults.room()
        args = [self._at, self._entries, table, self._sums, faults, outcome, self._task(taken, self._form)]
        launcher.launch(_CONVERT, self._convert_shape(self._form, writes=True), args)
        shape = Shape(_SMALL, (_COUNT_BLOCKS, count, 1), _SMALL["HR_THREADS"])
        launcher.launch(_COUNT, shape, [table, words, Part(outcome, head, count * 8)])
        fetched = launcher.fetch(outcome).view(np.uint64)
        self._counts["passes"] += 1
        met = fetched[TOTALS_WORDS + count :].reshape(count, 2, SIGHTINGS)
        for number, one in enumerate(in_order):
            one.nulls = rows - int(fetched[TOTALS_WORDS + number])
        if not self._faults.take(Conversion(in_order, table, rows, faults, fetched[:TOTALS_WORDS], met[:, 1])):
            return False
        for number, one in enumerate(in_order):
            if one.guess is not None:
                self._inference.see(one.position, met[number])
        return True

    def _table(self, taken: Sequence[Taken]) -> NDArray[np.void]:
        return pack_columns(self._plan, [one.described() for one in taken], self._rules_room.address, self._rules)

    def _task(self, taken: Sequence[Taken], form: str) -> NDArray[np.void]:
        steps = self._found.steps
        if form == "steps" and steps is not None:
            dialect = pack_steps(self._dialect, steps)
        else:
            plain = plain_dialect(self._dialect, quoted=form == "quoted")
            assert plain is not None
            dialect = plain.tobytes(), b""
        rooms = [one.described() for one in taken]
        sizes = {"size": self._size, "tiles": self._tiles}
        return pack_task(self._plan, rooms, dialect, **sizes, listing=self._faults.listing)[0]

    def _loaded(self, columns: dict[int, Taken]) -> Loaded:
        count = len(self._plan.columns)
        if self._collected is not None:
            self._faults.collect(self._collected, self._counts["records"])
            columns[self._collected.position] = self._collected
        self._faults.finish(list(columns.values()), self._counts)
        rows = self._counts["rows"]
        made = [columns[position].column(self._launcher, rows) if position in columns else None for position in range(count)]
        return Loaded(
            columns=tuple(made),
            evidence=self._inference.evidence(),
            rejects=self._faults.rejects,
            counts=self._counts,
            row_index=None,
            replaced=(0,) * count,
        )
