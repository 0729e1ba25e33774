"""What a plan comes to on a GPU: rules, groups of columns that are converted together, and what the kernels are told of them.

A table may have thousands of columns and a text few bytes, so what depends on the plan alone (`PlanOnGpu`, `Group`) is made once
for all loads that are planned alike, and what a load does for each column is little.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import Taken, validity_words
from headrace.columns.column import Column
from headrace.columns.convert.gpu.fast.arguments import RowColumns, row_columns
from headrace.columns.convert.gpu.layouts import (
    COLUMN,
    TASK,
    ColumnRoom,
    FaultListing,
    column_word,
    has_offsets,
    pack_columns,
    pack_task,
)
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType
from headrace.core.identity_cache import Recent
from headrace.core.quick import quick
from headrace.gpu.kernels.launcher import Launcher, Rooms
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import plain_dialect

GIVEN, SETTLED = 254, 255
"""In place of a kind: the column's type is given; it is text, whatever is in it."""
_MOST_GROUPS = 16
_OWN = Struct("=QQI")
"""How a task begins: size, room for faults, tiles."""


_COLUMN_WORDS = COLUMN.itemsize // 8
_WORD = {name: column_word(name) for name in ("rules", "zone", "values", "offsets", "validity", "sightings")}


class PlanOnGpu:
    """What a plan comes to on a GPU, wherever the text lies and however long it is. `plan_on_gpu` gives the one of a plan."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.wanted = tuple(position for position, column in enumerate(plan.columns) if column[2])
        self.inferred = tuple(position for position in self.wanted if plan.columns[position][1] is None)
        collected = len(plan.columns) - 1 if plan.rows.collect_long else None
        types = [plan.columns[position][1] for position in self.wanted if position != collected]
        self.given_strings = sum(type_ is not None and has_offsets(type_) for type_ in types)
        """Columns of strings among those whose types are given."""
        self.packed, pointers = _native.pack_rules(plan)
        self._words, self._pointers = _words(self.packed), np.array(pointers, np.intp) // 8
        self._groups: Recent[Group] = Recent(_MOST_GROUPS)
        self._tasks: Recent[bytes] = Recent(_MOST_GROUPS)

    def task(self, group: Group, dialect: Dialect, quoted: bool, listing: FaultListing, sizes: tuple[int, int]) -> bytes:
        """What all tiles share, as bytes, where masks read the text; `sizes`: of it, and tiles."""
        shared = self._tasks.of(lambda: self._new_task(group, dialect, quoted, listing), group, dialect, listing, key=quoted)
        told: bytes = packed(_OWN, sizes[0], listing.room, sizes[1]) + shared
        return told

    def _new_task(self, group: Group, dialect: Dialect, quoted: bool, listing: FaultListing) -> bytes:
        described = plain_dialect(dialect, quoted=quoted)
        assert described is not None  # masks read it
        task = pack_task(self._plan, group.rooms, (described.tobytes(), b""), size=0, tiles=0, listing=listing)
        assert (TASK.names or ())[:3] == ("size", "fault_room", "tiles")
        return bytes(task.tobytes()[_OWN.size :])

    @property
    def rules_bytes(self) -> int:
        """Of the columns' rules."""
        return int(self._words.nbytes)

    @property
    def rules(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """The columns' rules as words, if they lay at address 0; and which of them are addresses."""
        return self._words, self._pointers

    def group(self, positions: tuple[int, ...], kinds: bytes, large: frozenset[int] = frozenset()) -> Group:
        """The columns at these positions.

        Parameters
        ----------
        positions
            Ascending.
        kinds
            Of each, the kind of text that it is taken for, or `GIVEN` or `SETTLED`.
        large
            Positions of those whose offsets have 64 bits, because those of 32 do not reach.
        """
        return self._groups.of(lambda: self._new_group(positions, kinds, large), key=(positions, kinds, large))

    def _new_group(self, positions: tuple[int, ...], kinds: bytes, large: frozenset[int]) -> Group:
        types = []
        for position, kind in zip(positions, kinds, strict=True):
            given = self._plan.columns[position][1]
            type_ = given if kind == GIVEN and given is not None else kind_type(kind)
            types.append(type_named(f"large_{type_}") if position in large else type_)
        rooms = [
            ColumnRoom(position=position, type=type_, guess=kind if kind < GIVEN else None)
            for position, type_, kind in zip(positions, types, kinds, strict=True)
        ]
        rooms.sort(key=lambda room: not has_offsets(room.type))
        width = len(self._plan.columns) - self._plan.rows.collect_long
        return Group((positions, kinds, large), rooms, pack_columns(self._plan, rooms, 0, self.packed), width)


def _words(packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(packed.ljust(-(-len(packed) // 8) * 8, b"\0"), np.uint64)


_plans: Recent[PlanOnGpu] = Recent()


def plan_on_gpu(plan: LoadPlan) -> PlanOnGpu:
    """What the plan comes to on a GPU."""
    return _plans.of(lambda: PlanOnGpu(plan), plan.columns, plan.rows, plan.values, plan.forms, plan.zones)


@cache
def _kind_types() -> list[DataType]:
    return [type_named(name) for name in _native.kind_types()]


def kind_type(kind: int) -> DataType:
    """The type that a kind of text makes of a column."""
    return type_named("string") if kind == SETTLED else _kind_types()[kind]


class Group:
    """Columns that are converted together.

    Parameters
    ----------
    named
        Positions, kinds and those of large offsets, as `PlanOnGpu.group` has them.
    rooms
        The columns in the kernels' order: those of strings first.
    table
        What the kernels are told of them, as if rules lay at address 0, and without room.
    width
        Fields of a record.
    """

    def __init__(
        self, named: tuple[tuple[int, ...], bytes, frozenset[int]], rooms: list[ColumnRoom], table: NDArray[np.void], width: int
    ) -> None:
        self.positions, self.kinds, self.large = named
        self.rooms = rooms
        words = table.view(np.uint64)
        self._table, self._width = table, width
        self._rows: dict[tuple[bool, bool], RowColumns | None] = {}
        self.numbers = {room.position: number for number, room in enumerate(rooms)}
        self.types = [room.type for room in rooms]
        self.strings = sum(map(has_offsets, self.types))
        self.string_positions = [room.position for room in rooms[: self.strings]]
        self.has_text = any(type_.is_string for type_ in self.types)
        self.infers = any(room.guess is not None for room in rooms)
        self.inferred = [(number, room.position) for number, room in enumerate(rooms) if room.guess is not None]
        bits = [type_.bits for type_ in self.types]
        self._offset_bytes = [width // 8 for width in bits[: self.strings]]
        self._bits = [width for width in bits[self.strings :] if width != 1]
        self._booleans = bits[self.strings :].count(1)
        self._row_bits = len(bits) + sum(bits)  # a bit of validity, and the value or an offset
        # Numbers of rooms, as `MadeColumns` has them.
        self.offsets_at = len(bits) + self._booleans
        self.values_at = np.array(self._places_of_values(bits), np.intp)
        count: NDArray[np.intp] = np.arange(len(rooms)) * _COLUMN_WORDS
        self.sightings_at: NDArray[np.intp] = count + _WORD["sightings"]
        pointers = np.concatenate((count + _WORD["rules"], count[table["zone"] != 0] + _WORD["zone"]))
        self.table = words, pointers, self._places(count)
        """Of columns, as words, if rules lay at address 0 and without rooms; which words are addresses of rules; and which are
        those of rooms, of which, a row each."""
        self.tellings: dict[tuple[Hashable, ...], Any] = {}
        """What kernels are told of them (headrace.columns.load.gpu.arguments)."""

    def _places(self, count: NDArray[np.intp]) -> NDArray[np.intp]:
        numbers, strings = np.arange(len(count)), np.arange(self.strings)
        where = count + _WORD["values"], count + _WORD["validity"], count[: self.strings] + _WORD["offsets"]
        return np.array((np.concatenate(where), np.concatenate((self.values_at, numbers, self.offsets_at + strings))))

    def _places_of_values(self, bits: list[int]) -> list[int]:
        boolean = len(bits)
        fixed = boolean + self._booleans + self.strings
        places = list(range(fixed + len(self._bits), fixed + len(self._bits) + self.strings))
        for width in bits[self.strings :]:
            places.append(boolean if width == 1 else fixed)
            boolean, fixed = boolean + (width == 1), fixed + (width != 1)
        return places

    def by_rows(self, *, quotes: bool, measures: bool) -> RowColumns | None:
        """The columns as rows are read, as `row_columns` has them."""
        key = quotes, measures
        if key not in self._rows:
            self._rows[key] = row_columns(self._table, self._width, quotes=quotes, measures=measures)
        return self._rows[key]

    def make_room(self, launcher: Launcher, rows: int, string_bytes: Sequence[int] = ()) -> MadeColumns:
        """Room for so many rows, and so many bytes of each column of strings; for all but these if none are given."""
        filled, others = self._sizes(rows)
        rooms = launcher.rooms(filled, [*others, *string_bytes], ones=len(self.rooms))
        return MadeColumns(self, rows, rooms, [0] * len(self.rooms))

    def no_rows(self, launcher: Launcher) -> MadeColumns:
        """The columns of a text of no bytes, which no kernel makes: the one offset of strings is 0 already."""
        rooms = launcher.rooms([*self.sizes(0), *[0] * self.strings], ones=len(self.rooms))
        return MadeColumns(self, 0, rooms, [0] * len(self.rooms))

    def room_bytes(self, rows: int) -> int:
        """About what that takes."""
        return rows * self._row_bits // 8

    def _sizes(self, rows: int) -> tuple[list[int], list[int]]:
        """Of rooms that are filled, and of the others.

        Tiles share words of bits, and a kernel says only where there is no value: validity is ones before, and bools are zeros.
        Each offset and value is written, whatever is in a record (ConvertColumn of columns/convert/gpu/convert_task.hpp).
        """
        words = validity_words(rows) * 4
        offsets = [(rows + 1) * width for width in self._offset_bytes]
        return [words] * (len(self.rooms) + self._booleans), offsets + [rows * bits // 8 for bits in self._bits]

    def sizes(self, rows: int) -> list[int]:
        """Of all rooms for so many rows, but for the bytes of strings."""
        filled, others = self._sizes(rows)
        return filled + others


@dataclass(slots=True, eq=False)
class MadeColumns:
    """The columns of a group in memory, in the kernels' order.

    Parameters
    ----------
    group, rows
        What they are, and how long.
    rooms
        Of validity, of bools; of offsets of strings, of values, of bytes of strings.
    nulls
        Rows of each that are null.
    """

    group: Group
    rows: int
    rooms: Rooms
    nulls: Sequence[int]
    _taken: list[Taken] | None = None

    def trim(self, rows: int, string_bytes: Sequence[int]) -> None:
        """So many rows and bytes of strings there are, no more than there is room for."""
        self.rooms.trim([*self.group.sizes(rows), *string_bytes])
        self.rows = rows

    def settle(self, launcher: Launcher, rows: int, string_bytes: Sequence[int]) -> None:
        """So many rows there are, no more than there is room for, and so many bytes of columns of strings, which have no room."""
        if rows != self.rows:
            self.rooms.trim(self.group.sizes(rows))
            self.rows = rows
        if string_bytes:
            self.rooms.join(launcher.rooms([], string_bytes))

    def close(self) -> None:
        """No more is made in these rooms, and nulls are counted: memory that no column needs is given back."""
        self.rooms.drop([number for number, nulls in enumerate(self.nulls) if not nulls])

    def column(self, launcher: Launcher, number: int) -> Column:
        """A column made, which keeps its rooms alone."""
        result: Any = launcher.result
        group, rooms, nulls = self.group, self.rooms, self.nulls[number]
        type_, values = group.types[number], result(rooms[group.values_at[number]])
        validity = result(rooms[number]) if nulls and type_.name != "null" else None
        offsets = result(rooms[group.offsets_at + number]) if number < group.strings else None
        return _column(type_, self.rows, nulls, values, validity, offsets)

    def taken(self) -> list[Taken]:
        """The columns one by one, for whoever changes them; then they are theirs, and what they give back nobody holds."""
        if self._taken is None:
            group, rooms = self.group, self.rooms
            self._taken = []
            for number, (room, place, nulls) in enumerate(zip(group.rooms, group.values_at, self.nulls, strict=True)):
                own = {"values": rooms[place], "validity": rooms[number]}
                if number < group.strings:
                    own["offsets"] = rooms[group.offsets_at + number]
                large = room.position in group.large
                type_ = type_named(str(room.type).removeprefix("large_")) if large else room.type
                self._taken.append(Taken(room.position, type_, room.guess, large, own, nulls))
            del self.rooms
        return self._taken


_column = quick(Column)
