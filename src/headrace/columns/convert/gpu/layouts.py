"""Text in device memory to typed columns: what columns/convert/gpu/general/convert.cu is told and what it leaves.

Types here are those of columns/convert/gpu/convert_task.hpp, byte for byte. The caller has the text's entries by tile
(structure/gpu/tile_start.hpp), makes room for the columns, and launches; nothing here waits for a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.types import UNITS, DataType
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import Plain
from headrace.structure.gpu.launches import Steps

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
        ("largest", "u4"),
        ("type", "u1"),
        ("guess", "u1"),
        ("flags", "u1"),
        ("precision", "u1"),
        ("scale", "u1"),
        ("family", "u1"),
        ("width", "u1"),
        ("signed", "u1"),
    ]
)


def column_word(name: str) -> int:
    """Which word of COLUMN holds an address."""
    fields = COLUMN.fields
    assert fields is not None
    return int(fields[name][1]) // 8


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
        ("steps", "V40"),
        ("gone", "u8"),
        ("gone_count", "u8"),
        ("last_record", "u8"),
        ("raises", "u4"),
        ("reserved", "u4"),
    ]
)
STEPS = np.dtype(
    [
        ("tables", "u8"),
        ("states", "u8"),
        ("marks", "u8"),
        ("chunk", "u2"),
        ("stride", "u2"),
        ("count", "u1"),
        ("separator_more", "u1"),
        ("line_end_more", "u1"),
        ("flags", "u1"),
        ("escape", "u1"),
        ("", "u1", 7),
    ]
)
TOTALS_WORDS = 3
"""ConvertTotals: faults, records filled with nulls, and the complement of the first record to be raised."""
RULES = np.dtype(
    [
        ("nulls", "u8"),
        ("null_count", "u8"),
        ("words", "u8", 4),
        ("empty_is_null", "?"),
        ("quoted_may_be_null", "?"),
        ("nulls_look_like_values", "?"),
        ("words_look_like_values", "?"),
        ("decimal", "u1"),
        ("", "u1"),
        ("thousands", "i2"),
        ("formats", "u8"),
        ("format_count", "u8"),
        ("iso_first", "?"),
        ("before_numbers", "?"),
        ("", "u1", 6),
        ("usual_forms", "?"),
        ("replace_invalid", "?"),
        ("", "u1", 6),
    ]
)
"""FieldRules of columns/convert/cpu/convert.hpp."""
FAULT_DEFERRED = 255
FAULT_COLLECTED = 254
NO_FIELD = 0xFFFFFFFF
SIGHTINGS = 20
"""Kinds of text, one for values that their column's type does not hold (UNFIT), one for rounded integers (ROUNDED)."""

_TYPE_IDS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "date32",
    "timestamp",
    "time32",
    "time64",
    "duration",
    "decimal128",
    "string",
    "large_string",
    "binary",
    "large_binary",
    "null",
]
_ZONE_BYTES = 40
_HEAD_BYTES = 64
_HEX_KINDS = (15, 16)
_EIGHT_DIGITS = 99_999_999
_LONG_PIECE, _SIZED_STRINGS = 96, 64


EMPTY = 0
"""The kind of text (columns/rules/infer.hpp) that does not settle a column's type."""


class Flag(IntFlag):
    """What is to be known of a column: ConvertFlag."""

    INFERRED = 1
    UTC = 2
    RAW = 4
    EMPTY_IS_NULL = 8
    NULL_WORDS = 16
    FAST = 32
    QUOTED_NULL = 64


class Family(IntEnum):
    """What is converted alike: ConvertFamily."""

    OTHERS = 0
    INTEGER = 1
    FLOAT32 = 2
    FLOAT64 = 3
    DATE = 4
    TIMESTAMP = 5
    DECIMAL = 6
    TEXT = 7


_FAMILIES = {
    "float32": Family.FLOAT32,
    "float64": Family.FLOAT64,
    "date32": Family.DATE,
    "timestamp": Family.TIMESTAMP,
    "decimal128": Family.DECIMAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertShape:
    """Macros of convert.cu: threads of a block, bytes of a tile, fields indexed at a time, whether quotes mean something,
    whether the automaton is to tell what bytes are, and blocks that a multiprocessor holds.
    """

    threads: int = 256
    tile: int = 16384
    window: int = 4096
    quotes: bool = True
    steps: bool = False
    blocks: int = 4

    def defines(self, *, writes: bool) -> dict[str, int]:
        """As `kernel` takes them: of ``convert_tiles``, which writes, or of ``measure_strings``."""
        names = ("HR_THREADS", "HR_TILE", "HR_WINDOW", "HR_QUOTES", "HR_BLOCKS", "HR_WRITES")
        form = 2 if self.steps else int(self.quotes)
        return dict(zip(names, (self.threads, self.tile, self.window, form, self.blocks, int(writes)), strict=True))

    @property
    def shared_bytes(self) -> int:
        """Of a block: TileMemory."""
        words = (self.tile + _HEAD_BYTES) // 32
        size = self.tile + _HEAD_BYTES + 16 + 2 * 4 * words
        size += 16 * 281 + 4 * words if self.steps else 16 + 4
        size += 6 * (words + 1) if self.quotes or self.steps else 8
        size = _aligned(size + 2 * (self.window + 2), 4) + 4 * (self.window // 32) + 2 * (self.window // 32 + 1)
        pieces = 16 * ((self.tile + _HEAD_BYTES) // _LONG_PIECE + 1) + 2 * self.window + 4 * _SIZED_STRINGS + 8 * self.threads
        return _aligned(_aligned(size, 8) + 8 * (self.threads // 32) + pieces, 16) + 192


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
        Addresses. Bits of bool are zero before a launch, validity and sightings all ones.
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


def pack_columns(plan: LoadPlan, rooms: Sequence[ColumnRoom], rules: int, packed: bytes) -> NDArray[np.void]:
    """The table of columns, those of strings first; `rules` is where the bytes `packed`, of ``pack_rules``, lie."""
    zones = {position: number for number, (_, positions) in enumerate(plan.zones) for position in positions}
    forms = 2 * len(plan.forms.several) + 1
    table: NDArray[np.void] = np.zeros(len(rooms), COLUMN)
    for row, room in zip(table, sorted(rooms, key=lambda room: not has_offsets(room.type)), strict=True):
        is_text = has_offsets(room.type) and room.guess != EMPTY
        own = forms - 1 if room.raw else 2 * plan.forms.of_columns.get(room.position, 0) + is_text
        row["rules"] = rules + own * RULES.itemsize
        if room.position in zones:
            row["zone"] = rules + forms * RULES.itemsize + zones[room.position] * _ZONE_BYTES
        row["units_per_second"] = UNITS[room.type.unit] if room.type.unit else 0
        for name in ("values", "offsets", "validity", "sightings", "position"):
            row[name] = getattr(room, name)
        row["type"] = _TYPE_IDS.index(room.type.name)
        row["guess"] = room.guess or 0
        flags = Flag.INFERRED * (room.guess is not None) + Flag.UTC * (room.type.tz is not None) + Flag.RAW * room.raw
        row["flags"] = flags + _flags_of_rules(room, np.frombuffer(packed, RULES, 1, own * RULES.itemsize)[0], row["zone"] != 0)
        row["width"] = room.type.bits // 8
        row["family"], row["signed"], row["largest"] = _family(room.type)
        row["precision"], row["scale"] = room.type.precision or 0, room.type.scale or 0
    return table


def _family(type_: DataType) -> tuple[int, bool, int]:
    """ConvertFamily; of integers also whether they have signs, and the largest of 8 digits."""
    if type_.name.startswith(("int", "uint")):
        signed = type_.name.startswith("int")
        return Family.INTEGER, signed, min(2 ** (type_.bits - signed) - 1, _EIGHT_DIGITS)
    return Family.TEXT if has_offsets(type_) else _FAMILIES.get(type_.name, Family.OTHERS), False, 0


def _flags_of_rules(room: ColumnRoom, rules: np.void, zoned: bool) -> int:
    """ConvertFlag: what the rules mean for the many fields."""
    number = room.type.name.startswith(("int", "uint", "float", "decimal"))
    usual = rules["decimal"] == ord(".") and rules["thousands"] == -1
    if room.type.name in ("date32", "timestamp"):
        usual = bool(rules["iso_first"] and rules["format_count"] == 0 and not zoned)
    elif not number:
        usual = True
    hexadecimal = room.guess in _HEX_KINDS
    words = rules["nulls_look_like_values"] or (room.guess is not None and rules["words_look_like_values"])
    other_nulls = int(rules["null_count"]) > int(rules["empty_is_null"])
    flags = Flag.EMPTY_IS_NULL * int(rules["empty_is_null"]) + Flag.NULL_WORDS * other_nulls
    return flags + Flag.FAST * (usual and not words and not hexadecimal) + Flag.QUOTED_NULL * int(rules["quoted_may_be_null"])


def has_offsets(type_: DataType) -> bool:
    """Whether a column of this type is of strings or bytes."""
    return type_.is_string or type_.is_binary


def pack_steps(dialect: Dialect, steps: Steps) -> tuple[bytes, bytes]:
    """The dialect and the search's steps as a task has them."""
    made: NDArray[np.void] = np.zeros(1, STEPS)
    marks = 0 if steps.marks is None else steps.marks.address
    flags = (dialect.escape_char is not None) + 2 * dialect.skip_initial_space + 4 * dialect.lenient_quotes
    lengths = (len(dialect.sep) - 1, len(dialect.lineterminator or b"\n") - 1)
    head = (steps.tables.address, steps.states.address, marks, steps.chunk, steps.stride, steps.count)
    made[0] = (*head, *lengths, flags, (dialect.escape_char or b"\0")[0], 0)
    plain = Plain.DOUBLES * dialect.double_quote | Plain.QUOTES * (dialect.quote_char is not None)
    return bytes([0, 0, (dialect.quote_char or b"\0")[0], int(plain), 0, 0, 0, 0]), made.tobytes()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultListing:
    """How a conversion lists faults.

    Parameters
    ----------
    room
        So many at most; all are counted.
    gone, gone_count
        Address and number of records whose fields nobody asks for, ascending.
    last
        The same of records behind this one.
    raises
        A bit for each Fault that is to be raised.
    known
        Whether faults of records are known, and not told again.
    """

    room: int
    gone: int = 0
    gone_count: int = 0
    last: int = 2**64 - 1
    raises: int = 0
    known: bool = False

    @property
    def leaves_out(self) -> bool:
        """Whether nobody asks for the fields of some records."""
        return self.gone_count != 0 or self.last != 2**64 - 1


def pack_task(
    plan: LoadPlan, rooms: Sequence[ColumnRoom], dialect: tuple[bytes, bytes], *, size: int, tiles: int, listing: FaultListing
) -> NDArray[np.void]:
    """What all tiles share; `dialect`: the PlainDialect of structure/gpu/tile_start.hpp, and a StepsTask or nothing."""
    task: NDArray[np.void] = np.zeros(1, TASK)
    flags = plan.rows.fill_short + 2 * (plan.rows.on_long == "keep") + 4 * plan.rows.collect_long + 8 * listing.known
    strings = sum(has_offsets(room.type) for room in rooms)
    width = len(plan.columns) - plan.rows.collect_long
    columns = plan.rows.base_columns, width, len(rooms), strings
    left_out = listing.gone, listing.gone_count, listing.last
    task[0] = (size, listing.room, tiles, *columns, flags, *dialect, *left_out, listing.raises, 0)
    return task


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to
