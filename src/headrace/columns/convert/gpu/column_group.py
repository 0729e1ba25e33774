"""Prepares a load plan for a GPU: serialised rules, groups of columns that are converted together, and their column tables.

A table may have thousands of columns while its text is small. So everything that depends on the plan alone (`GpuPlan`,
`ColumnGroup`) is built once and cached, and a load does little work per column.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import ColumnAddresses, ColumnBuffers, validity_words
from headrace.columns.column import Column
from headrace.columns.convert.gpu.layouts import (
    CONVERT_COLUMN,
    CONVERT_TASK,
    EMPTY,
    FaultListing,
    dfa_dialect,
    kernel_order,
    pack_columns,
    pack_task,
)
from headrace.columns.convert.gpu.row_columns import NO_DFA, RowColumns, RowForm, row_columns, row_forms
from headrace.columns.convert.gpu.tuning import INFERS_BIT, LANE_COLUMNS, LANES_BIT, MAX_STRINGS
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import DataType, has_offsets
from headrace.core.errors import OptionError
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.launcher import BufferGroup, GroupSizes, Launcher
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import plain_dialect

GIVEN, AS_TEXT = 254, 255
"""Used instead of a kind of text: the column's type is given; the column is text, whatever its fields hold."""
_MAX_GROUPS = 16
_TEXT_FIELDS = CONVERT_TASK.packer(last="tiles")
"""The first fields of ConvertTask: size, capacity of the fault list, tiles. The others follow."""
_DFA_BEGIN = CONVERT_TASK.offset("dfa")

_COLUMN_WORDS = CONVERT_COLUMN.size // 8
_WORD = {name: CONVERT_COLUMN.offset(name) // 8 for name in ("rules", "zone", "values", "offsets", "validity", "sightings")}
"""Index of each address among the 64-bit words of ConvertColumn."""


class GroupKey(NamedTuple):
    """The columns of a group."""

    positions: tuple[int, ...]  # indices among the plan's columns, ascending
    kinds: bytes  # for each column the kind of text that it is converted as, or `GIVEN` or `AS_TEXT`
    large: frozenset[int]  # positions of the columns whose strings are too long for 32-bit offsets


class TaskText(NamedTuple):
    """The fields of ConvertTask that depend on the text."""

    size: int
    tiles: int  # bytes of the text, and number of tiles
    dfa: bytes  # DfaTask as bytes: zeros if byte masks read the text


class GpuPlan:
    """The parts of a plan's preparation that depend on neither the text nor its address. `gpu_plan_of` returns a cached one."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.wanted = tuple(position for position, column in enumerate(plan.columns) if column[2])
        self.inferred = tuple(position for position in self.wanted if plan.columns[position][1] is None)
        self.inferred_set, self.inferred_words = frozenset(self.inferred), np.array(self.inferred, np.uint32).tobytes()
        collected = len(plan.columns) - 1 if plan.rows.collect_long else None
        types = [plan.columns[position][1] for position in self.wanted if position != collected]
        self.typed_strings = sum(type_ is not None and has_offsets(type_) for type_ in types)
        """Number of columns of strings whose type is given."""
        _require_short_nulls(plan, self.wanted)
        self.expected_faults = 0  # faults of the last text of this plan, listed or not
        self.packed, pointers = _native.pack_rules(plan)
        self._words, self._pointers = _words(self.packed), np.array(pointers, np.intp) // 8
        self._groups: IdentityCache[ColumnGroup] = IdentityCache(_MAX_GROUPS)
        self._tasks: IdentityCache[tuple[bytes, bytes]] = IdentityCache(_MAX_GROUPS)

    def task(self, group: ColumnGroup, dialect: Dialect, variant: str, listing: FaultListing, text: TaskText) -> bytes:
        """Return ConvertTask as bytes; `variant`: the search variant that read the text."""
        before, after = self._tasks.get_or_create(
            lambda: self._new_task(group, dialect, variant, listing), group, dialect, listing, key=variant
        )
        task: bytes = packed(_TEXT_FIELDS, text.size, listing.capacity, text.tiles) + before + text.dfa + after
        return task

    def _new_task(self, group: ColumnGroup, dialect: Dialect, variant: str, listing: FaultListing) -> tuple[bytes, bytes]:
        """Return the fields that do not depend on the text: those before DfaTask, and those after it."""
        if variant == "dfa":
            described = dfa_dialect(dialect)
        else:
            plain = plain_dialect(dialect, quoted=variant == "quoted")
            assert plain is not None  # byte masks can read the dialect
            described = plain.tobytes()
        task = pack_task(self._plan, group.columns, (described, b""), size=0, tiles=0, listing=listing).tobytes()
        return task[_TEXT_FIELDS.size : _DFA_BEGIN], task[_DFA_BEGIN + len(NO_DFA) :]

    @cached_property
    def native(self) -> _native.NativePlan:
        """The plan for native code, for texts of any range that are no part of another text."""
        return _native.NativePlan(self._plan if self._plan.part is None else replace(self._plan, part=None))

    @property
    def rules_bytes(self) -> int:
        """Size of the columns' rules."""
        return int(self._words.nbytes)

    @property
    def rules(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """The columns' rules as 64-bit words, relative to address 0, and the indices of the words that are addresses."""
        return self._words, self._pointers

    def group(self, positions: tuple[int, ...], kinds: bytes, large: frozenset[int] = frozenset()) -> ColumnGroup:
        """Return the group of the columns at these positions; the parameters are those of `GroupKey`."""
        key = GroupKey(positions, kinds, large)
        return self._groups.get_or_create(lambda: self._new_group(key), key=key)

    def _new_group(self, key: GroupKey) -> ColumnGroup:
        positions, kinds, large = key
        types = []
        for position, kind in zip(positions, kinds, strict=True):
            plan_type = self._plan.columns[position][1]
            type_ = plan_type if kind == GIVEN and plan_type is not None else kind_type(kind)
            types.append(type_named(f"large_{type_}") if position in large else type_)
        columns = [
            ColumnAddresses(position=position, type=type_, guess=kind if kind < GIVEN else None)
            for position, type_, kind in zip(positions, types, kinds, strict=True)
        ]
        columns.sort(key=kernel_order)
        width = len(self._plan.columns) - self._plan.rows.collect_long
        table = pack_columns(self._plan, columns, 0, self.packed)
        fills = self._plan.rows.fill_short and self._plan.rows.base_columns == width
        return ColumnGroup(key, columns, table, width, row_forms(table, self.packed) | RowForm.SHORT * fills)


def _require_short_nulls(plan: LoadPlan, wanted: tuple[int, ...]) -> None:
    """Raise OptionError if a column that may have strings has a null that is longer than the bytes staged before a tile.

    Among strings, what lies further before the end of a field may be copied before the field is known to be null. In the text, a
    null may have quotes around it and an escape before each byte.
    """
    types = ((position, plan.columns[position][1]) for position in wanted)
    forms = {plan.forms.of(position) for position, type_ in types if type_ is None or has_offsets(type_)}
    longest = max((len(text) for one in forms for text in (*one.null_texts, *one.null_words)), default=0)
    if longest > _MAX_NULL_BYTES:
        raise OptionError(
            f"null_values: a text of {longest} bytes is too long to be found among strings on a GPU, where it may have "
            f"{_MAX_NULL_BYTES}; read the text with Context(device='cpu')"
        )


def _words(packed: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(packed.ljust(-(-len(packed) // 8) * 8, b"\0"), np.uint64)


_MAX_NULL_BYTES = 31
"""A null with quotes and escapes has at most 64 bytes in the text, as many as general/tile_text.cuh stages before a tile."""
_plans: IdentityCache[GpuPlan] = IdentityCache()


def gpu_plan_of(plan: LoadPlan) -> GpuPlan:
    """Return the plan's preparation, cached by the identity of its parts."""
    return _plans.get_or_create(lambda: GpuPlan(plan), plan.columns, plan.rows, plan.values, plan.forms, plan.zones)


@cache
def _kind_types() -> list[DataType]:
    return [type_named(name) for name in _native.kind_types()]


def kind_type(kind: int) -> DataType:
    """Return the column type that a kind of text implies."""
    return type_named("string") if kind == AS_TEXT else _kind_types()[kind]


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Return the values, each with the number of times that it is repeated in a row."""
    return [(value, len(list(run))) for value, run in groupby(values)]


class ColumnGroup:
    """Columns that are converted together.

    `key`: the columns and their kinds.
    `columns`: the columns in the kernels' order: strings first.
    `table`: their ConvertColumn table, with rules relative to address 0 and without buffers.
    `width`: fields of a record.
    `forms`: unusual forms that the columns may have.
    """

    def __init__(
        self, key: GroupKey, columns: list[ColumnAddresses], table: NDArray[np.void], width: int, forms: RowForm
    ) -> None:
        self.positions, self.kinds, self.large = key
        self.columns = columns
        words = table.view(np.uint64)
        self._table, self.width, self._forms = table, width, forms
        self._rows: dict[tuple[bool, bool], RowColumns | None] = {}
        self.numbers = {column.position: number for number, column in enumerate(columns)}
        self.types = [column.type for column in columns]
        self.strings = sum(map(has_offsets, self.types))
        self.string_positions = [column.position for column in columns[: self.strings]]
        self.has_text = any(type_.is_string for type_ in self.types)
        self.infers = any(column.guess is not None for column in columns)
        self.is_listable = MAX_STRINGS < self.strings == len(columns) and EMPTY not in [column.guess for column in columns]
        """True if the columns can be converted by a list of their fields: all are strings."""
        self.families = sum(1 << family for family in set(table["family"].tolist())) | self.infers << INFERS_BIT
        self.families |= (len(columns) >= LANE_COLUMNS) << LANES_BIT
        """Bit mask of the columns' ConvertFamily, with `INFERS_BIT` and `LANES_BIT`."""
        self.inferred_kinds = bytes(kind for kind in self.kinds if kind != GIVEN)
        """Kinds that inferred columns are converted as, in the order of `positions`."""
        bits = [type_.bits for type_ in self.types]
        self._offset_bytes = [width // 8 for width in bits[: self.strings]]
        self._fixed_bits = _runs([width for width in bits[self.strings :] if width != 1])
        self._booleans = bits[self.strings :].count(1)
        self._row_bits = len(bits) + sum(bits)  # validity, and the value or an offset
        self.row_bytes = self._row_bits // 8  # approximate bytes of a row, without the bytes of strings
        # Indices of buffers, in the order of `ColumnGroupBuffers.buffers`.
        self.offsets_at = len(bits) + self._booleans
        self.values_at = np.array(self._places_of_values(bits), np.intp)
        count: NDArray[np.intp] = np.arange(len(columns)) * _COLUMN_WORDS
        self.first_seen_at: NDArray[np.intp] = count + _WORD["sightings"]
        pointers = np.concatenate((count + _WORD["rules"], count[table["zone"] != 0] + _WORD["zone"]))
        self.table = words, pointers, self._places(count)
        """The column table as 64-bit words, without addresses. The indices of words that are addresses of rules. Two rows:
        indices of words that are addresses of buffers, and indices of those buffers.
        """
        self.argument_templates: dict[tuple[Hashable, ...], Any] = {}
        """Cached kernel arguments (headrace.columns.load.gpu.arguments)."""

    def _places(self, count: NDArray[np.intp]) -> NDArray[np.intp]:
        numbers, strings = np.arange(len(count)), np.arange(self.strings)
        words = count + _WORD["values"], count + _WORD["validity"], count[: self.strings] + _WORD["offsets"]
        return np.array((np.concatenate(words), np.concatenate((self.values_at, numbers, self.offsets_at + strings))))

    def _places_of_values(self, bits: list[int]) -> list[int]:
        boolean = len(bits)
        fixed = boolean + self._booleans + self.strings
        last = fixed + sum(count for _, count in self._fixed_bits)
        places = list(range(last, last + self.strings))
        for width in bits[self.strings :]:
            places.append(boolean if width == 1 else fixed)
            boolean, fixed = boolean + (width == 1), fixed + (width != 1)
        return places

    def is_cleared(self, *, is_sparse: bool) -> bool:
        """Return whether all values begin as 0: numbers of a text most of whose fields are empty."""
        return is_sparse and not self.strings

    def fast_columns(self, *, quotes: bool, measures: bool) -> RowColumns | None:
        """Return the columns for the fast conversion, or None if it cannot read them; see `row_columns`."""
        key = quotes, measures
        if key not in self._rows:
            self._rows[key] = row_columns(self._table, self.width, self._forms, quotes=quotes, measures=measures)
        return self._rows[key]

    def allocate(
        self, launcher: Launcher, rows: int, string_bytes: Sequence[int] = (), *, cleared: bool = False
    ) -> ColumnGroupBuffers:
        """Allocate the columns' buffers for `rows` rows; those of string bytes only if their sizes are given.

        `cleared`: whether all values begin as 0.
        """
        zeroed, others, ones = self.group_sizes(rows, string_bytes, cleared=cleared)
        buffers = launcher.allocate_group(zeroed, others, ones=ones)
        return ColumnGroupBuffers(self, rows, buffers, [0] * len(self.columns))

    def group_sizes(self, rows: int, string_bytes: Sequence[int], *, cleared: bool = False) -> GroupSizes:
        """Return the sizes of the buffers that `allocate` allocates."""
        filled, others = self._sizes(rows)
        if cleared:
            return GroupSizes(filled + others, string_bytes, len(self.columns))
        return GroupSizes(filled, [*others, *string_bytes], len(self.columns))

    def no_rows(self, launcher: Launcher) -> ColumnGroupBuffers:
        """Return the columns of an empty text. No kernel runs; the one offset of each string column is 0 already."""
        buffers = launcher.allocate_group([*self.sizes(0), *[0] * self.strings], ones=len(self.columns))
        return ColumnGroupBuffers(self, 0, buffers, [0] * len(self.columns))

    def buffer_bytes(self, rows: int) -> int:
        """Return the approximate size of the buffers for `rows` rows, without the bytes of strings."""
        return rows * self._row_bits // 8

    def _sizes(self, rows: int) -> tuple[list[int], list[int]]:
        """Return the sizes of the buffers that must be initialised, and of the others.

        Tiles share words of bits, and a kernel only clears validity bits and sets bools: so validity begins as ones and bools
        as zeros. Every offset and value is written (ConvertColumn of columns/convert/gpu/convert_task.hpp).
        """
        words = validity_words(rows) * 4
        offsets = [(rows + 1) * width for width in self._offset_bytes]
        for bits, count in self._fixed_bits:
            offsets += [rows * bits // 8] * count
        return [words] * (len(self.columns) + self._booleans), offsets

    def sizes(self, rows: int) -> list[int]:
        """Return the sizes of all buffers for `rows` rows, except the bytes of strings."""
        filled, others = self._sizes(rows)
        return filled + others


@dataclass(slots=True, eq=False)
class ColumnGroupBuffers:
    """Buffers of a group's columns, in the kernels' order."""

    group: ColumnGroup
    rows: int  # the group, and the number of rows
    buffers: BufferGroup
    """Buffers of all columns, in this order: validity; values of bools; offsets of strings; other values of fixed width; bytes of
    strings.
    """
    nulls: Sequence[int]  # null rows of each column
    _columns: list[ColumnBuffers] | None = None

    def trim(self, rows: int, string_bytes: Sequence[int]) -> None:
        """Shrink the buffers to the actual number of rows and string bytes, which are no more than was allocated."""
        self.buffers.trim([*self.group.sizes(rows), *string_bytes])
        self.rows = rows

    def resize(self, launcher: Launcher, rows: int, string_bytes: Sequence[int]) -> None:
        """Shrink the buffers to the actual number of rows, and allocate buffers for the bytes of strings."""
        if rows != self.rows:
            self.buffers.trim(self.group.sizes(rows))
            self.rows = rows
        if string_bytes:
            self.buffers.join(launcher.allocate_group([], string_bytes))

    def close(self) -> None:
        """Free the validity of columns without nulls. Call this when all kernels have run and nulls are counted."""
        numbers = range(len(self.nulls))
        self.buffers.drop([number for number in numbers if not self.nulls[number]] if any(self.nulls) else numbers)

    def column(self, launcher: Launcher, number: int) -> Column:
        """Return a finished column, which keeps only its own buffers alive."""
        result: Any = launcher.result
        group, buffers, nulls = self.group, self.buffers, self.nulls[number]
        type_, values = group.types[number], result(buffers[group.values_at[number]])
        validity = result(buffers[number]) if nulls and type_.name != "null" else None
        offsets = result(buffers[group.offsets_at + number]) if number < group.strings else None
        return _column(type_, self.rows, nulls, values, validity, offsets)

    def split(self) -> list[ColumnBuffers]:
        """Split the group into columns that can be changed one by one. They own the buffers from then on."""
        if self._columns is None:
            group, buffers = self.group, self.buffers
            self._columns = []
            for number, (column, values, nulls) in enumerate(zip(group.columns, group.values_at, self.nulls, strict=True)):
                buffers_by_name = {"values": buffers[values], "validity": buffers[number]}
                if number < group.strings:
                    buffers_by_name["offsets"] = buffers[group.offsets_at + number]
                large = column.position in group.large
                type_ = type_named(str(column.type).removeprefix("large_")) if large else column.type
                self._columns.append(ColumnBuffers(column.position, type_, column.guess, large, buffers_by_name, nulls))
            del self.buffers
        return self._columns


_column = fast_constructor(Column)
