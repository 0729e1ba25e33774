"""columns/convert.cu under the fiber harness: a text to columns, with entries of tiles that the automaton gives byte by byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.api.csv_options import parse_options
from headrace.api.read_csv import read_csv
from headrace.api.reading import load_plan, prepare
from headrace.columns.convert_gpu import (
    FAULT,
    SIGHTINGS,
    ColumnRoom,
    ConvertShape,
    has_offsets,
    pack_columns,
    pack_task,
)
from headrace.columns.types import DataType, parse_type
from headrace.sources.open import open_source
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect
from headrace.testing import fibers

ENTRY = np.dtype(
    [
        ("record", "u8"),
        ("record_begin", "u8"),
        ("field_begin", "u8"),
        ("column", "u4"),
        ("state", "u1"),
        ("open", "u1"),
        ("", "V2"),
    ]
)


@dataclass(frozen=True, slots=True)
class Converted:
    """What the kernels made of a text.

    Parameters
    ----------
    columns
        Position to buffers: ``values``, ``validity``, and of strings ``offsets``.
    types
        Position to type.
    rows
        Records of the text.
    faults
        As the kernel listed them, in the order of the text.
    sightings
        Position to kinds seen: {kind: (position, record)}.
    begin
        Of the data in the text; positions count from there.
    """

    columns: dict[int, dict[str, NDArray[Any]]]
    types: dict[int, DataType]
    rows: int
    faults: list[dict[str, int]]
    sightings: dict[int, dict[int, tuple[int, int]]]
    begin: int


def data_begin(data: bytes, dialect: Dialect, begin: int, least: int) -> int:
    """The first byte of the first record that begins at `least` or behind; the text's end if there is none."""
    state = 0
    for at in range(begin, len(data)):
        state, emit = dialect.automaton.step(state, data[at])
        if emit & Emit.OPEN and at >= least:
            return at
    return len(data)


def tile_entries(data: bytes, dialect: Dialect, tile: int, skew: int) -> tuple[NDArray[np.void], int]:
    """The entries of a text's tiles and the one behind, and the number of its records."""
    automaton = dialect.automaton
    tiles = -(-(len(data) + skew) // tile) if data else 0
    begins = {max(number * tile - skew, 0): number for number in range(tiles)}
    entries = np.zeros(tiles + 1, ENTRY)
    state = records = column = record_begin = field_begin = 0
    for at in range(len(data) + 1):
        idle = state in automaton.idle
        places = (at, at, 0) if idle else (record_begin, field_begin, column)
        entry = (records, *places, state in automaton.quoted, not idle, b"")
        if at in begins and at < len(data):
            entries[begins[at]] = entry
        if at == len(data):
            entries[tiles] = entry
            return entries, records + (not idle)
        state, emit = automaton.step(state, data[at])
        if emit & Emit.OPEN:
            record_begin = field_begin = at
            column = 0
        if emit & Emit.FLD:
            column, field_begin = column + 1, at + 1
        if emit & Emit.REC:
            records += not emit & (Emit.BLANK | Emit.COMMENT)
    raise AssertionError


def pack_dialect(dialect: Dialect) -> bytes:
    """As PlainDialect of structure/tile_entry.hpp."""
    flags = (dialect.line_end is None) + 2 * dialect.skip_blank_lines + 4 * dialect.double_quote + 8 * (dialect.quote is not None)
    return bytes([dialect.sep[0], (dialect.line_end or b"\n")[0], (dialect.quote or dialect.sep)[0], flags, 0, 0, 0, 0])


def text_at(data: bytes, skew: int) -> NDArray[np.uint8]:
    """The text in memory, `skew` bytes behind a boundary of 16."""
    memory = np.zeros(len(data) + 48, np.uint8)
    begin = -memory.ctypes.data % 16 + skew
    memory[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
    return memory[begin : begin + len(data)]


def convert(
    data: bytes,
    *,
    options: dict[str, Any],
    guesses: dict[int, tuple[int, str]] | None = None,
    shape: ConvertShape,
    skew: int = 0,
    how: tuple[str, int] = ("forward", 0),
    fault_room: int = 1000,
) -> Converted:
    """Convert a text by the kernels.

    Parameters
    ----------
    data
        The text.
    options
        Of `read_csv`.
    guesses
        Position of a column without a type to the kind it is taken for and the type that makes it.
    """
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    with open_source(data, parsed.source) as source:
        plan = load_plan(source, prepare(source, parsed), parsed)
    begin = data_begin(data, parsed.dialect, plan.begin, plan.data_begin)
    text_bytes = data[begin : plan.end]
    entries, rows = tile_entries(text_bytes, parsed.dialect, shape.tile, skew)
    text, tiles = text_at(text_bytes, skew), len(entries) - 1
    rules = np.frombuffer(_native.pack_rules(plan, 0), np.uint8)
    rules = np.zeros(-(-len(rules) // 8), np.uint64)
    packed = _native.pack_rules(plan, rules.ctypes.data)
    rules.view(np.uint8)[: len(packed)] = np.frombuffer(packed, np.uint8)

    types, buffers, rooms, reachable = {}, {}, [], [rules]
    for position, (_, type_, wanted) in enumerate(plan.columns):
        if not wanted:
            continue
        guess = None
        if type_ is None:
            guess, name = (guesses or {})[position]
            type_ = parse_type(name)
        types[position] = type_
        made = {"validity": np.zeros(rows // 32 + 1, np.uint32), "sightings": np.full(2 * SIGHTINGS, 2**64 - 1, np.uint64)}
        if has_offsets(type_):
            made["offsets"] = np.zeros(rows + 1, np.int64 if type_.bits == 64 else np.int32)
            made["values"] = np.zeros(0, np.uint8)
        elif type_.bits == 1:
            made["values"] = np.zeros(rows // 32 + 1, np.uint32)
        else:
            made["values"] = np.full(max(rows * type_.bits // 8, 1), 0xEE, np.uint8)
        buffers[position] = made
        rooms.append((position, type_, guess))

    collects = plan.rows.collect_long

    def table() -> NDArray[np.void]:
        listed = [
            ColumnRoom(
                position=position,
                type=type_,
                guess=guess,
                raw=collects and position + 1 == len(plan.columns),
                **{name: array.ctypes.data for name, array in buffers[position].items()},
            )
            for position, type_, guess in rooms
        ]
        return pack_columns(plan, listed, rules.ctypes.data, packed)

    task = pack_task(
        plan,
        [ColumnRoom(position=position, type=type_) for position, type_, _ in rooms],
        pack_dialect(parsed.dialect),
        size=len(text_bytes),
        tiles=tiles,
        fault_room=fault_room,
    )
    strings = int(task[0]["strings"])
    totals, faults = np.zeros(1, np.uint64), np.zeros(fault_room, FAULT)
    sums = np.zeros((max(tiles, 1), max(strings, 1)), np.uint64)
    if tiles:
        run = {"shared": shape.shared_bytes, "order": how[0], "seed": how[1]}
        columns = table()
        checks = fibers.Checks(reachable=tuple([*reachable, *(a for made in buffers.values() for a in made.values() if a.size)]))
        if strings:
            measure = fibers.program("columns/convert.cu", shape.defines(writes=False))
            measure.launch("measure_strings", tiles, shape.threads, [text, entries, columns, sums, task[0]], checks=checks, **run)
        for number, column in enumerate(columns[:strings]):
            buffers[int(column["position"])]["values"] = np.full(int(sums[:, number].sum()), 0xEE, np.uint8)
        begins = np.cumsum(sums, axis=0) - sums
        ends = begins + sums
        columns = table()
        checks = fibers.Checks(reachable=tuple([*reachable, *(a for made in buffers.values() for a in made.values() if a.size)]))
        args = [text, entries, columns, begins, faults, totals, task[0]]
        program = fibers.program("columns/convert.cu", shape.defines(writes=True))
        program.launch("convert_tiles", tiles, shape.threads, args, checks=checks, **run)
        assert not strings or np.array_equal(begins, ends), "measured and copied bytes differ"
    count = int(totals[0])
    names = FAULT.names or ()
    listed = sorted(tuple(int(row[name]) for name in names) for row in faults[: min(count, fault_room)])
    seen = {
        position: {
            kind: (int(made["sightings"][kind]), int(made["sightings"][SIGHTINGS + kind]))
            for kind in range(SIGHTINGS)
            if made["sightings"][kind] != 2**64 - 1
        }
        for position, made in buffers.items()
    }
    assert count <= fault_room
    return Converted(buffers, types, rows, [dict(zip(names, row, strict=True)) for row in listed], seen, begin)
