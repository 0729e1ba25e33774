"""Text in device memory to typed columns: what columns/convert.cu is told and what it leaves.

Types here are those of columns/convert_task.hpp, byte for byte. The caller has the text's entries by tile
(structure/tile_entry.hpp), makes room for the columns, and launches; nothing here waits for a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.columns.load import LoadPlan
from headrace.columns.types import UNITS, DataType

COLUMN = np.dtype(
    [
        ("rules", "u8"),
        ("zone", "u8"),
        ("units_per_second", "i8"),
        ("values", "u8"),
        ("offsets", "u8"),
        ("validity", "u8"),
        ("sightings", "u8"),
        ("position", "u4"),
        ("type", "u1"),
        ("guess", "u1"),
        ("flags", "u1"),
        ("precision", "u1"),
        ("scale", "u1"),
        ("reserved", "u1", 7),
    ]
)
FAULT = np.dtype(
    [
        ("record", "u8"),
        ("record_begin", "u8"),
        ("begin", "u8"),
        ("end", "u8"),
        ("at", "u8"),
        ("column", "u4"),
        ("kind", "u4"),
    ]
)
TASK = np.dtype(
    [
        ("size", "u8"),
        ("fault_room", "u8"),
        ("tiles", "u4"),
        ("base", "u4"),
        ("width", "u4"),
        ("columns", "u4"),
        ("strings", "u4"),
        ("rows", "u4"),
        ("dialect", "V8"),
    ]
)
FAULT_KINDS = ("type", "overflow", "encoding", "quote", "unclosed_quote", "too_few_fields", "too_many_fields")
FAULT_DEFERRED = 255
NO_FIELD = 0xFFFFFFFF
SIGHTINGS = 20
"""Kinds of text, and one for values that their column's type does not hold (UNFIT)."""

_TYPE_IDS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 date32 timestamp time32 time64 duration decimal128 "
    "string large_string binary large_binary null"
).split()
_RULES_BYTES, _ZONE_BYTES = 88, 40
_HEAD_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertShape:
    """Macros of columns/convert.cu: threads of a block, bytes of a tile, fields indexed at a time, and whether quotes mean
    something.
    """

    threads: int = 256
    tile: int = 16384
    window: int = 4096
    quotes: bool = True

    @property
    def defines(self) -> dict[str, int]:
        """As `kernel` takes them."""
        return {"HR_THREADS": self.threads, "HR_TILE": self.tile, "HR_WINDOW": self.window, "HR_QUOTES": int(self.quotes)}

    @property
    def shared_bytes(self) -> int:
        """Of a block: TileMemory."""
        words = (self.tile + _HEAD_BYTES) // 32
        size = self.tile + _HEAD_BYTES + 16 + 2 * 4 * words
        size += 4 * (words + 1) if self.quotes else 4
        size += 2 * (words + 1) if self.quotes else 4
        size = _aligned(size + 2 * (self.window + 2), 4) + 4 * (self.window // 32) + 2 * (self.window // 32 + 1)
        return _aligned(_aligned(size, 8) + 8 * (self.threads // 32) + 4, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRoom:
    """A wanted column and where its parts are; 0 for those that it has not.

    Parameters
    ----------
    position
        Among the fields of a record.
    type
        Of its values; what is not settled yet is string.
    guess
        The kind (columns/rules/infer.hpp) that it is taken for, None where the type is given.
    values, offsets, validity, sightings
        Addresses. Validity, bits of bool and sums of strings are zero before a launch, sightings all ones.
    raw
        Strings: the bytes as they stand.
    """

    position: int
    type: DataType
    guess: int | None = None
    values: int = 0
    offsets: int = 0
    validity: int = 0
    sightings: int = 0
    raw: bool = False


def pack_columns(plan: LoadPlan, rooms: Sequence[ColumnRoom], rules: int) -> NDArray[np.void]:
    """The table of columns, those of strings first; `rules` is where the bytes of ``pack_rules`` lie."""
    zones = {position: number for number, (_, positions) in enumerate(plan.zones) for position in positions}
    forms = len(plan.forms.several) + 1
    table = np.zeros(len(rooms), COLUMN)
    for row, room in zip(table, sorted(rooms, key=lambda room: not has_offsets(room.type)), strict=True):
        own = forms - 1 if room.raw else plan.forms.of_columns.get(room.position, 0)
        row["rules"] = rules + own * _RULES_BYTES
        if room.position in zones:
            row["zone"] = rules + forms * _RULES_BYTES + zones[room.position] * _ZONE_BYTES
        row["units_per_second"] = UNITS[room.type.unit] if room.type.unit else 0
        for name in ("values", "offsets", "validity", "sightings", "position"):
            row[name] = getattr(room, name)
        row["type"] = _TYPE_IDS.index(room.type.name)
        row["guess"] = room.guess or 0
        row["flags"] = (room.guess is not None) + 2 * (room.type.tz is not None) + 4 * room.raw
        row["precision"], row["scale"] = room.type.precision or 0, room.type.scale or 0
    return table


def has_offsets(type_: DataType) -> bool:
    """Whether a column of this type is of strings or bytes."""
    return type_.is_string or type_.is_binary


def pack_task(
    plan: LoadPlan, rooms: Sequence[ColumnRoom], dialect: bytes, *, size: int, tiles: int, fault_room: int
) -> NDArray[np.void]:
    """What all tiles share; `dialect` is the PlainDialect of structure/tile_entry.hpp."""
    task = np.zeros(1, TASK)
    flags = plan.rows.fill_short + 2 * (plan.rows.on_long == "keep") + 4 * plan.rows.collect_long
    strings = sum(has_offsets(room.type) for room in rooms)
    width = len(plan.columns) - plan.rows.collect_long
    task[0] = (size, fault_room, tiles, plan.rows.base_columns, width, len(rooms), strings, flags, dialect)
    return task


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to
