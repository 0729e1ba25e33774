"""Runs convert.cu under the fiber harness: converts a text to columns, from tile starts found by a serial automaton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.api.load.reading import load_plan, prepare
from headrace.api.options.csv_options import parse_options
from headrace.api.read.read_csv import read_csv
from headrace.columns.buffers.column_buffers_gpu import ColumnAddresses
from headrace.columns.convert.gpu.layouts import (
    FAULT,
    SIGHTINGS,
    TOTALS_WORDS,
    FaultListing,
    dfa_dialect,
    pack_columns,
    pack_dfa,
    pack_task,
)
from headrace.columns.convert.gpu.tuning import ConvertTuning
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType, has_offsets, parse_type
from headrace.sources.open import open_source
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TILE_START, known_dfa_tables, plain_dialect
from headrace.structure.gpu.launches import DfaOutput
from headrace.testing import fibers

_NONE = 2**64 - 1


class Guess(NamedTuple):
    """An inferred kind of text, and the name of the type that holds it."""

    kind: int
    type: str


class ThreadOrder(NamedTuple):
    """Order in which the harness runs threads, and its seed; see `headrace.testing.fibers.Program.launch`."""

    name: str
    seed: int


FORWARD = ThreadOrder("forward", 0)


@dataclass(frozen=True, slots=True)
class Converted:
    """Result of the kernels for a text."""

    columns: dict[int, dict[str, NDArray[Any]]]  # position to buffers: ``values``, ``validity``, and for strings ``offsets``
    types: dict[int, DataType]  # position to type
    rows: int  # records of the text
    faults: list[dict[str, int]]  # faults that the kernel listed, in the order of the text
    sightings: dict[int, dict[int, tuple[int, int]]]  # position to kinds seen: {kind: (position, record)}
    begin: int  # first byte of the data; positions count from there


def data_begin(data: bytes, dialect: Dialect, begin: int, least: int) -> int:
    """Return the first byte of the first record that begins at `least` or later; the text's end if there is none."""
    state = 0
    for at in range(begin, len(data)):
        state, emit = dialect.automaton.step(state, data[at])
        if emit & Emit.OPEN and at >= least:
            return at
    return len(data)


def tile_entries(data: bytes, dialect: Dialect, tile: int, skew: int, *, dfa: bool) -> tuple[NDArray[np.void], int]:
    """Return the starts of all tiles and of the text's end, and the number of records; with `dfa`, automaton states."""
    automaton = dialect.automaton
    tiles = -(-(len(data) + skew) // tile) if data else 0
    begins = {max(number * tile - skew, 0): number for number in range(tiles)}
    entries: NDArray[Any] = np.zeros(tiles + 1, TILE_START)
    state = records = column = record_begin = field_begin = 0
    for at in range(len(data) + 1):
        idle = state in automaton.idle
        places = (at, at, 0) if idle else (record_begin, field_begin, column)
        entry = (records, *places, state if dfa else state in automaton.quoted, not idle, 0)
        if at in begins and at < len(data):
            entries[begins[at]] = entry
        if at == len(data):
            entries[tiles] = entry
            return entries, records + (not idle and state not in automaton.comment)
        state, emit = automaton.step(state, data[at])
        if not emit:  # most bytes; asking for a flag takes as long as all else here
            continue
        if emit & Emit.OPEN:
            record_begin = field_begin = at
            column = 0
        if emit & Emit.FIELD:
            column, field_begin = column + 1, at + 1
        if emit & Emit.RECORD:
            records += not emit & (Emit.BLANK | Emit.COMMENT)
    raise AssertionError


class _Roles:
    """Output of the search by the automaton: tables, and the roles of each 32 bytes (DfaRoles)."""

    def __init__(self, data: bytes, dialect: Dialect, words: int, skew: int) -> None:
        result = known_dfa_tables(dialect)
        self.tables: NDArray[Any] = np.frombuffer(result.tobytes(), np.uint64).copy()
        self.roles = word_roles(data, dialect, words, skew)

    def pack(self, dialect: Dialect) -> tuple[bytes, bytes]:
        return dfa_dialect(dialect), pack_dfa(dialect, DfaOutput(_At(self.tables), _At(self.roles)))


def word_roles(data: bytes, dialect: Dialect, words: int, skew: int) -> NDArray[np.uint64]:
    """Return DfaRoles of each 32 bytes of a text that is `skew` bytes after a boundary, two items for each."""
    bits: NDArray[Any] = np.zeros((words, 4, 32), np.bool_)
    for at, (emit, is_dropped) in enumerate(_byte_roles(data, dialect)):
        ends = bool(emit & Emit.FIELD) or is_dropped, _ends_record(emit) or is_dropped
        bits[(at + skew) // 32, :, (at + skew) % 32] = *ends, bool(emit & Emit.OPEN), bool(emit & Emit.STRAY)
    packed: NDArray[np.uint64] = np.packbits(bits, axis=-1, bitorder="little").reshape(-1).view(np.uint64)
    return packed


def _ends_record(emit: int) -> bool:
    return bool(emit & Emit.RECORD) and not emit & (Emit.BLANK | Emit.COMMENT)


def _byte_roles(data: bytes, dialect: Dialect) -> list[tuple[int, bool]]:
    """Return the `Emit` bits of each byte, and whether the byte is dropped from its field's text."""
    automaton = dialect.automaton
    state, closing = 0, 0
    roles: list[tuple[int, bool]] = []
    for byte in data:
        group = automaton.class_of[byte]
        emit, is_dropped = automaton.emit[group][state], bool(automaton.dropped[group][state])
        if dialect.keeps_strays and emit & Emit.STRAY and (is_dropped or bytes([byte]) != dialect.quote_char):
            roles[closing] = roles[closing][0], False  # the quote is text
        if is_dropped:
            closing = len(roles)
        roles.append((emit, is_dropped))
        state = automaton.next[group][state]
    is_end = dialect.strip and state not in automaton.quoted  # the byte at `at + 1` ends a field
    for at in range(len(data) - 1, -1, -1):
        emit, is_dropped = roles[at]
        is_end = is_end and data[at] == ord(" ")
        roles[at] = emit, is_dropped or is_end
        is_end = is_end or (dialect.strip and (bool(emit & Emit.FIELD) or _ends_record(emit)))
    return roles


class _At:
    """An array as a device buffer."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.address, self.nbytes = array.ctypes.data, array.nbytes


def text_at(data: bytes, skew: int) -> NDArray[np.uint8]:
    """Place the text in memory, `skew` bytes after a 16-byte boundary."""
    memory: NDArray[Any] = np.zeros(len(data) + 48, np.uint8)
    begin = -memory.ctypes.data % 16 + skew
    memory[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
    return memory[begin : begin + len(data)]


def convert(
    data: bytes,
    *,
    options: dict[str, Any],
    guesses: dict[int, Guess] | None = None,
    shape: ConvertTuning,
    skew: int = 0,
    order: ThreadOrder = FORWARD,
    fault_capacity: int = 1000,
) -> Converted:
    """Convert a text by the kernels.

    `guesses`: assumed kind of each column without a type, by position.
    `shape`, `skew`, `order`: tuning of the kernels; bytes from a 16-byte boundary to the text; order in which threads run.
    `fault_capacity`: faults that are listed at most.
    """
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    with open_source(data, parsed.source) as source:
        plan = load_plan(source, prepare(source, parsed), parsed)
    begin = data_begin(data, parsed.dialect, plan.begin, plan.data_begin)
    text = text_at(data[begin : plan.end], skew)
    entries, rows = tile_entries(text.tobytes(), parsed.dialect, shape.tile, skew, dfa=shape.dfa)
    tables = _Tables(plan, guesses or {}, rows)
    sizes = {"size": len(text), "tiles": len(entries) - 1}
    roles = _Roles(text.tobytes(), parsed.dialect, len(entries) * shape.tile // 32, skew) if shape.dfa else None
    plain = plain_dialect(parsed.dialect, quoted=parsed.dialect.quote_char is not None, declines=True)
    dialect = (b"" if plain is None else plain.tobytes(), b"") if roles is None else roles.pack(parsed.dialect)
    task = pack_task(plan, tables.addresses(), dialect, **sizes, listing=FaultListing(capacity=fault_capacity))[0]
    reachable = () if roles is None else (roles.tables, roles.roles)
    launches = _Launches(text, entries, shape, order, task, reachable)
    faults: NDArray[Any] = np.zeros(fault_capacity, FAULT)
    count = launches.run(tables, faults) if len(entries) > 1 else 0
    assert count <= fault_capacity
    names = FAULT.names or ()
    listed = sorted(tuple(int(row[name]) for name in names) for row in faults[:count])
    return Converted(
        tables.buffers, tables.types, rows, [dict(zip(names, row, strict=True)) for row in listed], tables.seen(), begin
    )


class _Tables:
    """Buffers for a plan's wanted columns, and the table that the kernels read."""

    def __init__(self, plan: LoadPlan, guesses: dict[int, Guess], rows: int) -> None:
        self.plan = plan
        self.types: dict[int, DataType] = {}
        self.guesses: dict[int, int] = {}
        self.buffers: dict[int, dict[str, NDArray[Any]]] = {}
        self.packed, pointers = _native.pack_rules(plan)
        self.rules: NDArray[Any] = np.zeros(-(-len(self.packed) // 8), np.uint64)
        self.rules.view(np.uint8)[: len(self.packed)] = np.frombuffer(self.packed, np.uint8)
        self.rules[np.array(pointers, np.intp) // 8] += np.uint64(self.rules.ctypes.data)
        for position, (_, given, wanted) in enumerate(plan.columns):
            if wanted:
                if given is None:
                    self.guesses[position] = guesses[position].kind
                self.types[position] = given or parse_type(guesses[position].type)
                self.buffers[position] = _buffer(self.types[position], rows)

    def addresses(self) -> list[ColumnAddresses]:
        collected = len(self.plan.columns) - 1 if self.plan.rows.collect_long else None
        return [
            ColumnAddresses(
                position=position,
                type=type_,
                guess=self.guesses.get(position),
                raw=position == collected,
                **{name: array.ctypes.data for name, array in self.buffers[position].items()},
            )
            for position, type_ in self.types.items()
        ]

    def table(self) -> NDArray[np.void]:
        return pack_columns(self.plan, self.addresses(), self.rules.ctypes.data, self.packed)

    def reachable(self, others: tuple[NDArray[Any], ...]) -> fibers.Checks:
        buffers = (array for result in self.buffers.values() for array in result.values() if array.size)
        return fibers.Checks(reachable=(self.rules, *others, *buffers))

    def seen(self) -> dict[int, dict[int, tuple[int, int]]]:
        sightings = {position: result["sightings"].tolist() for position, result in self.buffers.items()}
        return {
            position: {kind: (at[kind], at[SIGHTINGS + kind]) for kind in range(SIGHTINGS) if at[kind] != _NONE}
            for position, at in sightings.items()
        }


def _buffer(type_: DataType, rows: int) -> dict[str, NDArray[Any]]:
    result: dict[str, NDArray[Any]] = {"validity": np.full(rows // 32 + 1, 0xFFFFFFFF, np.uint32)}
    result["sightings"] = np.full(2 * SIGHTINGS, _NONE, np.uint64)
    if has_offsets(type_):
        result["offsets"] = np.full(rows + 1, -1, np.int64 if type_.bits == 64 else np.int32)
        result["offsets"][0] = 0  # as count_values leaves it
        result["values"] = np.zeros(0, np.uint8)
    elif type_.bits == 1:
        result["values"] = np.zeros(rows // 32 + 1, np.uint32)
    else:
        result["values"] = np.full(max(rows * type_.bits // 8, 1), 0xEE, np.uint8)
    return result


@dataclass(frozen=True)
class _Launches:
    text: NDArray[np.uint8]
    entries: NDArray[np.void]
    shape: ConvertTuning
    order: ThreadOrder
    task: np.void
    reachable: tuple[NDArray[Any], ...]

    def run(self, tables: _Tables, faults: NDArray[Any]) -> int:
        """Measure strings, allocate their buffers, and convert; return the number of faults."""
        columns, strings = tables.table(), int(self.task["strings"])
        sums: NDArray[Any] = np.zeros((len(self.entries) - 1, max(strings, 1)), np.uint64)
        if strings:
            self._launch("measure_strings", [columns, sums, None, None, 1], tables)
        for number, column in enumerate(columns[:strings]):
            tables.buffers[int(column["position"])]["values"] = np.full(int(sums[:, number].sum()), 0xEE, np.uint8)
        begins = np.cumsum(sums, axis=0) - sums
        ends = begins + sums
        totals: NDArray[Any] = np.zeros(TOTALS_WORDS, np.uint64)
        self._launch("convert_tiles", [tables.table(), begins, faults, totals, None, None, 1, 1], tables)
        assert not strings or np.array_equal(begins, ends), "measured and copied bytes differ"
        return int(totals[0])

    def _launch(self, entry: str, args: list[Any], tables: _Tables) -> None:
        program = fibers.program("columns/convert/gpu/general/convert.cu", self.shape.defines(writes=entry == "convert_tiles"))
        program.launch(
            entry,
            len(self.entries) - 1,
            self.shape.threads,
            [self.text, self.entries, *args, self.task],
            shared=self.shape.shared_bytes,
            order=self.order.name,
            seed=self.order.seed,
            checks=tables.reachable(self.reachable),
        )
