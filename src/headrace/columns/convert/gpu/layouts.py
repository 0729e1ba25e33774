"""Packs the arguments of the general conversion (general/convert.cu) and names the constants of its results.

The structs are those of convert_task.hpp. The caller provides the tiles' entries (structure/gpu/tile_start.hpp), allocates the
columns, and launches the kernels. Nothing here waits for a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import ColumnAddresses
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.value_forms import ValueForms
from headrace.columns.traits import TRAITS, UNITS
from headrace.columns.types import has_offsets
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.trace_expressions import packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import Plain, dialect_flags
from headrace.structure.gpu.launches import DfaOutput

CONVERT_COLUMN = layout("ConvertColumn")
CONVERT_TASK = layout("ConvertTask")
COLUMN, FAULT, TASK = CONVERT_COLUMN.dtype, layout("FieldFault").dtype, CONVERT_TASK.dtype
LEFT_FIELD = layout("LeftField")
LISTED_BYTES = FAULT.itemsize + LEFT_FIELD.size
"""Bytes of a fault and of a field that the fast conversion leaves to the rules: both lists have the same capacity."""
TOTALS_WORDS = layout("ConvertTotals").size // 8
FAULT_DEFERRED = 255  # FAULT_DEFERRED of convert_task.hpp
FAULT_COLLECTED = 254  # FAULT_COLLECTED of convert_task.hpp
NO_FIELD = 0xFFFFFFFF  # NO_FIELD of convert_task.hpp
SIGHTINGS = 20
"""Kinds of text, then UNFIT (the column's type does not hold the value) and ROUNDED (an integer that a float rounds): SIGHTINGS
of columns/rules/kinds.hpp."""
EMPTY, NATURAL, NEGATIVE = 0, 2, 3
"""Kinds of fields: Kind of columns/rules/infer.hpp. An empty field does not determine a type; both integers are int64."""

_DFA_TASK = layout("DfaTask")
_DFA_HEAD, _DFA_TAIL = _DFA_TASK.packer(last="escape"), _DFA_TASK.packer(first="has_escape")
FIELD_RULES = layout("FieldRules").dtype
_ZONE_BYTES = layout("Zone").size
TYPE_IDS = {name: number for number, (name, *_) in enumerate(_native.type_list())}
HEX_KINDS = 15, 16
NULL_WORDS = 0xFFFFFFFF  # ROW_NULL_WORDS of fast/row_task.hpp
_EIGHT_DIGITS = 99_999_999


class ConvertFlag(IntFlag):
    """ConvertFlag of convert_task.hpp: properties of a column."""

    INFERRED = 1
    UTC = 2
    RAW = 4
    EMPTY_IS_NULL = 8
    NULL_WORDS = 16
    QUOTED_NULL = 32
    RESERVED = 64


class _RecordFlag(IntFlag):
    """RecordFlag of convert_task.hpp: treatment of short and long records."""

    FILL_SHORT = 1
    KEEP_LONG = 2
    COLLECT_LONG = 4
    KNOWN = 8


class ConvertFamily(IntEnum):
    """ConvertFamily of convert_task.hpp: columns of one family share their conversion code."""

    OTHERS = 0
    INTEGER = 1
    FLOAT32 = 2
    FLOAT64 = 3
    DATE = 4
    TIMESTAMP = 5
    DECIMAL = 6
    TEXT = 7
    BOOLEAN = 8
    TIME = 9


_FAMILIES = {
    ("integer", 0): ConvertFamily.INTEGER,
    ("float", 32): ConvertFamily.FLOAT32,
    ("float", 64): ConvertFamily.FLOAT64,
    ("date", 0): ConvertFamily.DATE,
    ("timestamp", 0): ConvertFamily.TIMESTAMP,
    ("decimal", 0): ConvertFamily.DECIMAL,
    ("bool", 0): ConvertFamily.BOOLEAN,
    ("time", 0): ConvertFamily.TIME,
    ("duration", 0): ConvertFamily.TIME,
    ("string", 0): ConvertFamily.TEXT,
    ("binary", 0): ConvertFamily.TEXT,
}  # families of columns/types.py with their own conversion code; floats also by their bits


def kernel_order(column: ColumnAddresses) -> tuple[bool, bool]:
    """Return the sort key of the kernels' order: strings first, and among them those without a type last."""
    return not has_offsets(column.type), column.guess == EMPTY


def pack_columns(plan: LoadPlan, columns: Sequence[ColumnAddresses], rules: int, packed: bytes) -> NDArray[np.void]:
    """Return the column table of the kernels, in the kernels' order.

    `packed`: the rules as ``pack_rules`` serialises them.
    """
    zones = {position: number for number, (_, positions) in enumerate(plan.zones) for position in positions}
    forms = 2 * len(plan.forms.several) + 1
    table: NDArray[np.void] = np.zeros(len(columns), COLUMN)
    for row, column in zip(table, sorted(columns, key=kernel_order), strict=True):
        is_text = has_offsets(column.type) and column.guess != EMPTY
        number = forms - 1 if column.raw else 2 * plan.forms.of_columns.get(column.position, 0) + is_text
        row["rules"] = rules + number * FIELD_RULES.itemsize
        if column.position in zones:
            row["zone"] = rules + forms * FIELD_RULES.itemsize + zones[column.position] * _ZONE_BYTES
        row["units_per_second"] = UNITS[column.type.unit] if column.type.unit else 0
        for name in ("values", "offsets", "validity", "sightings", "position"):
            row[name] = getattr(column, name)
        row["type"] = TYPE_IDS[column.type.name]
        row["guess"] = column.guess or 0
        flags = (
            ConvertFlag.INFERRED * (column.guess is not None)
            + ConvertFlag.UTC * (column.type.tz is not None)
            + ConvertFlag.RAW * column.raw
        )
        column_rules = np.frombuffer(packed, FIELD_RULES, 1, number * FIELD_RULES.itemsize)[0]
        row["flags"] = flags + _flags_of_rules(column, column_rules)
        row["width"] = column.type.bits // 8
        row["family"], row["is_signed"], row["largest"] = _family(column)
        if is_text and not column.raw:
            row["largest"] = _null_text(plan.forms.of(column.position))
        row["precision"], row["scale"] = column.type.precision or 0, column.type.scale or 0
    return table


def _null_text(forms: ValueForms) -> int:
    """Return the null text of strings as in RowColumn: an escape and up to three bytes as a word.

    `NULL_WORDS` if the null texts have no escape. 0 if there are none, or others.
    """
    texts = set(forms.null_texts) - {b""}
    if texts and not any(forms.escape and forms.escape in text for text in texts):
        return NULL_WORDS
    text = texts.pop() if len(texts) == 1 else b""
    is_short = bool(forms.escape) and text.startswith(forms.escape) and len(text) <= 4 and 0 not in text
    return int.from_bytes(text, "little") if is_short else 0


def _family(column: ColumnAddresses) -> tuple[int, bool, int]:
    """Return the family; for integers also whether they are signed, and the largest value of at most 8 digits."""
    type_ = column.type
    family = TRAITS[type_.name].family
    number = _FAMILIES.get((family, 0)) or _FAMILIES.get((family, type_.bits), ConvertFamily.OTHERS)
    if number != ConvertFamily.INTEGER:
        return number, False, 0
    signed = type_.name.startswith("int")
    return number, signed, min(2 ** (type_.bits - signed) - 1, _EIGHT_DIGITS)


def _flags_of_rules(column: ColumnAddresses, rules: np.void) -> int:
    """Return the flags of ConvertFlag that follow from the column's rules."""
    words = rules["nulls_look_like_values"] or (column.guess is not None and rules["words_look_like_values"])
    other_nulls = int(rules["nulls"]["count"]) + int(rules["written_nulls"]["count"]) > int(rules["empty_is_null"])
    flags = ConvertFlag.EMPTY_IS_NULL * int(rules["empty_is_null"]) + ConvertFlag.NULL_WORDS * other_nulls
    return flags + ConvertFlag.QUOTED_NULL * int(rules["quoted_may_be_null"]) + ConvertFlag.RESERVED * bool(words)


def pack_dfa(dialect: Dialect, dfa: DfaOutput) -> bytes:
    """Return DfaTask as bytes for a text that the DFA search read."""
    has_high = max(b"".join(dialect.delimiters.values())) >= 128
    addresses = dfa.tables.address, dfa.roles.address
    more = len(dialect.sep) - 1, len(dialect.lineterminator or b"\n") - 1
    escape = (dialect.escape_char or b"\0")[0]
    head: bytes = packed(_DFA_HEAD, *addresses, *more, escape)
    tail = _DFA_TAIL.pack(dialect.escape_char is not None, has_high, dialect_flags(dialect))
    return head + tail


def dfa_dialect(dialect: Dialect) -> bytes:
    """Return PlainDialect for the conversion of texts that the DFA search read, which needs no delimiters."""
    plain = Plain.DOUBLES * dialect.double_quote | Plain.QUOTES * (dialect.quote_char is not None)
    return bytes([0, 0, (dialect.quote_char or b"\0")[0], int(plain), 0, 0, 0, 0])


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultListing:
    """Options of the fault list that a conversion writes."""

    capacity: int  # Capacity of the list. Further faults are counted, not listed.
    rejected: int = 0
    rejected_count: int = 0  # Address and number of rejected records' indices, ascending. Their fields are not converted.
    last_record: int = 2**64 - 1  # index of the last record that is converted
    raise_mask: int = 0  # bit mask of the faults (Fault of columns/rules/fault.hpp) that are to be raised
    knows_records: bool = False  # True if an earlier pass has listed the faults of records. Then they are not listed again.

    @property
    def skips_records(self) -> bool:
        """True if the fields of some records are not converted."""
        return self.rejected_count != 0 or self.last_record != 2**64 - 1


def pack_task(
    plan: LoadPlan,
    columns: Sequence[ColumnAddresses],
    dialect: tuple[bytes, bytes],
    *,
    size: int,
    tiles: int,
    listing: FaultListing,
) -> NDArray[np.void]:
    """Return ConvertTask as an array of one element.

    `dialect`: PlainDialect (structure/gpu/tile_start.hpp) as bytes; then DfaTask as bytes, or nothing.
    """
    flags = _RecordFlag.FILL_SHORT * plan.rows.fill_short + _RecordFlag.KEEP_LONG * (plan.rows.on_long == "keep")
    flags += _RecordFlag.COLLECT_LONG * plan.rows.collect_long + _RecordFlag.KNOWN * listing.knows_records
    task: NDArray[np.void] = np.zeros(1, TASK)
    values = {
        "size": size,
        "fault_capacity": listing.capacity,
        "tiles": tiles,
        "base": plan.rows.base_columns,
        "width": len(plan.columns) - plan.rows.collect_long,
        "columns": len(columns),
        "strings": sum(has_offsets(column.type) for column in columns),
        "record_flags": flags,
        "rejected": listing.rejected,
        "rejected_count": listing.rejected_count,
        "last_record": listing.last_record,
        "raise_mask": listing.raise_mask,
    }
    for name, value in values.items():
        task[name] = value
    for name, part in zip(("dialect", "dfa"), dialect, strict=True):
        if part:
            task[name] = np.frombuffer(part, TASK[name])
    return task
