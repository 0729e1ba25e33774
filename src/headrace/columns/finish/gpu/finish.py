"""Finishes converted columns on a GPU, as finish.cpp on the host: shrinks inferred types and numbers rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.buffers.load_result import Evidence
from headrace.columns.finish.concat import locate
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TILE_START

_SHRUNK_COLUMN = layout("ShrunkColumn").dtype
_MISFITS = Entry("columns/finish/gpu/finish.cu", "find_misfits", "PQ")
_NARROW = Entry("columns/finish/gpu/finish.cu", "narrow_values", "PQ")
_NUMBER = Entry("columns/finish/gpu/finish.cu", "number_rows", "PQq")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MAX_BLOCKS = 1024
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
_NEVER = 2**64 - 1
_LOCATED_TILE = 64 << 10


def _shape(rows: int, columns: int) -> Shape:
    return Shape(_DEFINES, (columns, min(-(-rows // _THREADS), _MAX_BLOCKS), 1), _THREADS)


def number_rows(launcher: Launcher, plan: LoadPlan, records: int) -> list[ColumnBuffers]:
    """Return the row index of a number of records as a list of one column; empty if the plan has none."""
    if plan.row_index is None:
        return []
    column = ColumnBuffers(len(plan.columns), type_named("int64"), None)
    column.allocate(launcher, records)
    launcher.fill(column.buffers["validity"], 0xFF)
    if records:
        launcher.launch(_NUMBER, _shape(records, 1), [column.buffers["values"], records, plan.row_index])
    return [column]


def shrink(launcher: Launcher, columns: Sequence[ColumnBuffers], rows: int) -> dict[int, int]:
    """Shrink inferred int64 and float64 to the smallest type that represents their values.

    Memory: a second copy of these columns, of their new types. The host waits once.

    Result: by position, the row that decided the type: the rows up to it need the type. None if the smallest type was chosen.
    """
    wide = [column for column in columns if column.guess is not None and column.type.name in ("int64", "float64")]
    if not wide or not rows:
        return {}
    count = len(_INTEGERS)
    misfits = launcher.allocate(len(wide) * count * 8, fill=0xFF)
    table: NDArray[np.void] = np.zeros(len(wide), _SHRUNK_COLUMN)
    for number, (row, column) in enumerate(zip(table, wide, strict=True)):
        row["from"], row["validity"] = column.buffers["values"].address, column.buffers["validity"].address
        row["misfits"] = misfits.address + number * count * 8
        row["is_real"] = column.type.name == "float64"
    launcher.launch(_MISFITS, _shape(rows, len(wide)), [launcher.put(table), rows])
    wide_values = [column.buffers["values"] for column in wide]  # must live until the kernel that reads them is launched
    deciding_rows: dict[int, int] = {}
    narrowed: NDArray[np.bool_] = np.zeros(len(wide), np.bool_)
    for number, first_misfits in enumerate(launcher.fetch(misfits).view(np.uint64).reshape(-1, count).tolist()):
        column = wide[number]
        name, row_of_type = _narrowest(column.type.name, first_misfits)
        if row_of_type is not None:
            deciding_rows[column.position] = row_of_type
        if name != column.type.name:
            column.type, narrowed[number] = type_named(name), True
            column.buffers["values"] = launcher.allocate(rows * column.type.bits // 8)
            table[number]["to"], table[number]["width_to"] = column.buffers["values"].address, column.type.bits // 8
    if narrowed.any():
        launcher.launch(_NARROW, _shape(rows, int(narrowed.sum())), [launcher.put(table[narrowed]), rows])
    del wide_values
    return deciding_rows


def _narrowest(wide: str, misfits: Sequence[int]) -> tuple[str, int | None]:
    """Return the type and the row that decided it; `misfits`: the first row that each narrower type cannot represent."""
    if wide == "float64":
        return ("float32", None) if misfits[0] == _NEVER else (wide, misfits[0])
    for number, (name, misfit) in enumerate(zip(_INTEGERS, misfits, strict=True)):
        if misfit == _NEVER:
            return name, max(misfits[:number], default=None)
    return wide, max(misfits)


@dataclass(frozen=True, slots=True)
class LocatedText:
    """The text of a load, and the byte of the source that the kernels count from (`begin`)."""

    source: OpenSource
    dialect: Dialect
    plan: LoadPlan
    begin: int


def locate_on_gpu(
    launcher: Launcher, text: LocatedText, entries: DeviceBuffer, deciding_rows: Mapping[int, int], rejected: NDArray[np.uint64]
) -> dict[int, Evidence]:
    """Return the fields that decided the types of columns, by position.

    `entries`: start states of the tiles: reading begins with the tile that contains the record.
    `deciding_rows`: rows by position.
    `rejected`: indices of rejected records, ascending.
    """
    plan = text.plan
    evidence: dict[int, Evidence] = {}
    if not deciding_rows:
        return evidence
    table = launcher.fetch(entries).view(TILE_START)[:-1]
    table = table[(table["open"] != 0) | (np.arange(len(table)) == 0)]
    # For each rejected record, the row that follows it.
    next_rows = rejected - np.arange(len(rejected), dtype=np.uint64)
    for position, row in deciding_rows.items():
        record = row + int(np.searchsorted(next_rows, np.uint64(row), "right"))
        tile = table[np.searchsorted(table["record"], np.uint64(record), "right") - 1]
        first = int(tile["record"])
        at = text.begin + int(tile["record_begin"])
        tile_plan = replace(plan, begin=at, data_begin=at, tile_bytes=min(plan.tile_bytes, _LOCATED_TILE), row_index=None)
        wanted: list[int | None] = [None] * len(plan.columns)
        wanted[position] = record - first
        field = locate(text.source, text.dialect, tile_plan, wanted, ())[position]
        if field is not None:
            evidence[position] = replace(field, record=field.record + first)
    return evidence
