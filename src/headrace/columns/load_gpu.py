"""Text on a GPU to typed columns there: the search for structure (structure/find_plain.cu) and the conversion
(columns/convert.cu), with one wait between them, in which the host learns how much there is.

What is found is what the native loader finds, to the bit. Where the kernels meet what they leave to that loader (a fault of a
record or a field), they say so, and the caller takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace.columns.before_gpu import find_data, no_rejects
from headrace.columns.column import Column
from headrace.columns.columns_gpu import Group, MadeColumns, plan_on_gpu, validity_words
from headrace.columns.convert_gpu import COLUMN, SIGHTINGS, ConvertShape
from headrace.columns.faults_gpu import FaultsOfLoad
from headrace.columns.infer_gpu import Inference
from headrace.columns.load import Loaded, LoadPlan, native_dialect
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.gpu import gpu
from headrace.core.launcher import Entry, GpuLauncher, Launcher, Part, Room, Shape
from headrace.core.quick import quick
from headrace.core.recent import Recent
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import FORMS_BYTES, FindShape, find_tiles
from headrace.structure.gpu_tables import Found, plain_dialect

_MEASURE = Entry("columns/convert.cu", "measure_strings", "PPPP48s")
_CONVERT = Entry("columns/convert.cu", "convert_tiles", "PPPPPP48s")
_PLACE = Entry("columns/string_places.cu", "place_strings", "PIIP")
_COUNT = Entry("columns/string_places.cu", "count_values", "PQP")
_SMALL = {"HR_THREADS": 256}
_MOST_STRING_BYTES = 0x7FFFFFFF
_COUNT_BLOCKS = 32
_UPLOAD_BYTES = 64 << 20
_SEEN_BYTES = 2 * SIGHTINGS * 8
_LEFT = int(Found.STRAY | Found.UNCLOSED | Found.UNFINISHED | Found.COMMENT)
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


@cache
def _convert_program(shape: GpuShape, quotes: bool, writes: bool) -> tuple[dict[str, int], int, int]:
    """Macros, threads, and shared memory."""
    found = shape.convert(quotes=quotes)
    return found.defines(writes=writes), found.threads, found.shared_bytes


_SHAPE = GpuShape()


@dataclass(frozen=True, slots=True)
class Place:
    """Where kernels run, the text there, and the shape of their tiles."""

    launcher: Launcher
    text: Room
    shape: GpuShape = _SHAPE


def why_not(source: OpenSource, dialect: Dialect, plan: LoadPlan) -> str:
    """Why the kernels cannot load such a text; empty if they can."""
    if source.codec != "utf-8":
        return f"text in {source.codec}"
    if dialect.lenient:
        return "lenient quotes"
    if not _masks_read(dialect):
        return "a dialect that masks cannot read"
    if plan.values.replace_invalid or plan.values.shrink or plan.row_index is not None:
        return "encoding_errors='replace', shrink and row_index_name"
    return "" if any(wanted for _, _, wanted in plan.columns) else "no columns"


_readable: Recent[bool] = Recent()


def _masks_read(dialect: Dialect) -> bool:
    return _readable.of(lambda: plain_dialect(dialect, quoted=dialect.quote is not None) is not None, dialect)


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


_loaded = quick(Loaded)


class _Load:
    """One load. Positions are bytes of the source; the kernels' begin where the data does."""

    def __init__(self, place: Place, source: OpenSource, dialect: Dialect, plan: LoadPlan) -> None:
        self._launcher, self._shape = place.launcher, place.shape
        self._dialect, self._plan = dialect, plan
        self._known = plan_on_gpu(plan)
        native = native_dialect(dialect)
        begin, self._counts = find_data(source, native, plan)
        self._size = min(plan.end, source.size) - begin
        self._text = Part(place.text, begin, self._size)
        self._inference = Inference(source, native, plan, self._known, begin)
        self._faults = FaultsOfLoad(place.launcher, source, dialect, plan, begin=begin, none=no_rejects())
        self._rows = 0
        self._quotes = dialect.quote is not None

    def run(self) -> Loaded | None:
        if self._size <= 0:
            return None
        known = self._known
        # Counts of each form of the search, then of strings, which each column may be of; a guess is made while it runs.
        found = find_tiles(self._launcher, self._text, self._dialect, self._shape.find, len(known.wanted) * 8)
        assert found is not None  # why_not has asked
        self._found, self._entries, self._tiles = found, found.entries, found.tiles
        group = known.group(known.wanted, self._inference.first())
        self._measure(group, Part(found.totals, FORMS_BYTES, group.strings * 8))
        fetched = self._launcher.fetch(Part(found.totals, 0, FORMS_BYTES + group.strings * 8))
        if not self._learn(fetched):
            return None
        strings = fetched[FORMS_BYTES:].view(np.uint64).tolist()
        taken: dict[int, int] = {}
        columns: dict[int, Column] = {}
        while True:
            group = self._with_large_offsets(group, strings)
            converted = self._convert(group, strings)
            if converted is None:
                return None
            columns.update(converted.columns(self._launcher))
            taken.update(zip(group.positions, group.kinds, strict=True))
            again = self._inference.changed(taken)
            if not again:
                return self._loaded(columns)
            group = known.group(tuple(again), bytes(again.values()))
            strings = self._measure_again(group)

    def _measure(self, group: Group, totals: Room) -> None:
        """How many bytes the strings of each tile have, and where they go; `totals` is zero."""
        self._sums: Room | None = None
        if not group.strings:
            return
        launcher = self._launcher
        tables = self._known.rules_bytes + len(group.rooms) * COLUMN.itemsize
        self._sums, room = launcher.rooms([self._tiles * group.strings * 8], [tables])
        table = self._put_table(room, group.table(room.address))
        args = [self._text, self._entries, table, self._sums, self._task(group)]
        launcher.launch(_MEASURE, self._convert_shape(writes=False), args)
        args = [self._sums, self._tiles, group.strings, totals]
        launcher.launch(_PLACE, Shape(_SMALL, group.strings, _SMALL["HR_THREADS"]), args)

    def _measure_again(self, group: Group) -> list[int]:
        """The same, once the text's structure is known; wait for it."""
        totals = self._launcher.room(group.strings * 8, fill=0)
        self._measure(group, totals)
        strings: list[int] = self._launcher.fetch(totals).view(np.uint64).tolist() if group.strings else []
        return strings

    def _put_table(self, room: Room, table: NDArray[np.uint64]) -> Room:
        """The table of columns in memory, behind the rules that it points to; one upload for both."""
        rules = self._known.rules(room.address)
        self._launcher.put(np.concatenate((rules, table.reshape(-1))), room)
        return Part(room, rules.nbytes, table.nbytes)

    def _convert_shape(self, *, writes: bool) -> Shape:
        defines, threads, shared = _convert_program(self._shape, self._quotes, writes)
        return Shape(defines, self._tiles, threads, shared)

    def _learn(self, found: NDArray[np.uint8]) -> bool:
        """Take the counts; whether the kernels can go on."""
        totals, form = self._found.answer(found)
        if form == "steps" or totals["flags"] & _LEFT:
            return False
        self._quotes = form == "quoted"
        self._rows = self._counts["records"] = self._counts["rows"] = totals["records"]
        self._counts["blank"] += totals["blank_lines"]
        self._counts["comment"] += totals["comments"]
        return True

    def _with_large_offsets(self, group: Group, strings: list[int]) -> Group:
        """The group, with offsets of 64 bits where there are more bytes than those of 32 reach."""
        many = [number for number, size in enumerate(strings) if size > _MOST_STRING_BYTES and group.types[number].bits == 32]
        if not many:
            return group
        return self._known.group(group.positions, group.kinds, frozenset(group.rooms[number].position for number in many))

    def _convert(self, group: Group, strings: list[int]) -> MadeColumns | None:
        """Launch the conversion, and wait for what it met; None if there was a fault that is left to the native loader."""
        launcher, rows, count = self._launcher, self._rows, len(group.rooms)
        counts = 8 + count * 8
        # Faults, values of each column, sightings of each column.
        tables = self._known.rules_bytes + count * COLUMN.itemsize
        own = counts + (count * _SEEN_BYTES if group.infers else 0), tables
        outcome, room, made = group.make_room(launcher, rows, strings, own)
        if group.infers:
            launcher.fill(Part(outcome, counts), 0xFF)
        sightings = outcome.address + counts if group.infers else None
        table = self._put_table(room, made.table(room.address, sightings, _SEEN_BYTES))
        faults = self._faults.room()
        args = [self._text, self._entries, table, self._sums, faults, outcome, self._task(group)]
        launcher.launch(_CONVERT, self._convert_shape(writes=True), args)
        shape = Shape(_SMALL, (_COUNT_BLOCKS, count, 1), _SMALL["HR_THREADS"])
        launcher.launch(_COUNT, shape, [table, validity_words(rows), Part(outcome, 8, count * 8)])
        fetched = launcher.fetch(outcome)
        self._counts["passes"] += 1
        found, *values = fetched[:counts].view(np.uint64).tolist()
        if not self._faults.take(faults, found, set(group.positions)):
            return None
        made.nulls = [rows - there for there in values]
        self._see(group, fetched[counts:])
        return made

    def _see(self, group: Group, met: NDArray[np.uint8]) -> None:
        if group.infers:
            seen = met.reshape(len(group.rooms), _SEEN_BYTES)[[number for number, _ in group.inferred]]
            self._inference.see([position for _, position in group.inferred], seen.tobytes())

    def _task(self, group: Group) -> bytes:
        return self._known.task(group, self._dialect, self._quotes, (self._size, self._faults.limit, self._tiles))

    def _loaded(self, columns: dict[int, Column]) -> Loaded:
        count = len(self._plan.columns)
        made = tuple([columns.get(position) for position in range(count)])
        return _loaded(
            columns=made,
            evidence=self._inference.evidence(),
            rejects=self._faults.rejects([None if column is None else column.type for column in made]),
            counts=self._counts,
            row_index=None,
            replaced=(0,) * count,
        )
