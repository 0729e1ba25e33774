"""What is left to do on a GPU with columns that are converted, as finish.cpp: types as small as they may be, and which
record each row is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import Taken
from headrace.columns.buffers.load_result import Evidence
from headrace.columns.finish.concat import locate
from headrace.columns.native_columns import type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import ENTRY

_WORDS = ("from", "to", "validity", "misfits")
SHRUNK_COLUMN = np.dtype([*((name, "u8") for name in _WORDS), ("is_real", "u4"), ("width_to", "u4")])
"""The struct of columns/finish/gpu/finish_task.hpp, byte for byte."""

_MISFITS = Entry("columns/finish/gpu/finish.cu", "find_misfits", "PQ")
_NARROW = Entry("columns/finish/gpu/finish.cu", "narrow_values", "PQ")
_NUMBER = Entry("columns/finish/gpu/finish.cu", "number_rows", "PQq")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MOST_BLOCKS = 1024
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
_NEVER = 2**64 - 1
_LOCATED_TILE = 64 << 10


def _shape(rows: int, columns: int) -> Shape:
    return Shape(_DEFINES, (columns, min(-(-rows // _THREADS), _MOST_BLOCKS), 1), _THREADS)


def number_rows(launcher: Launcher, plan: LoadPlan, records: int) -> list[Taken]:
    """The row index of so many records, if the plan asks for it."""
    if plan.row_index is None:
        return []
    column = Taken(len(plan.columns), type_named("int64"), None)
    column.make_rooms(launcher, records)
    launcher.fill(column.rooms["validity"], 0xFF)
    if records:
        launcher.launch(_NUMBER, _shape(records, 1), [column.rooms["values"], records, plan.row_index])
    return [column]


def shrink(launcher: Launcher, columns: Sequence[Taken], rows: int) -> dict[int, int]:
    """Give inferred int64 and float64 the smallest type that holds their values.

    Memory: a second copy of these columns, of their new types. The host waits once.

    Returns
    -------
    dict of int to int
        By position, the row that settled the type: the rows up to it need it. Where the first value of all did, none.
    """
    wide = [one for one in columns if one.guess is not None and one.type.name in ("int64", "float64")]
    if not wide or not rows:
        return {}
    count = len(_INTEGERS)
    misfits = launcher.room(len(wide) * count * 8, fill=0xFF)
    table: NDArray[np.void] = np.zeros(len(wide), SHRUNK_COLUMN)
    for number, (row, one) in enumerate(zip(table, wide, strict=True)):
        row["from"], row["validity"] = one.rooms["values"].address, one.rooms["validity"].address
        row["misfits"] = misfits.address + number * count * 8
        row["is_real"] = one.type.name == "float64"
    launcher.launch(_MISFITS, _shape(rows, len(wide)), [launcher.put(table), rows])
    held = [one.rooms["values"] for one in wide]  # until what reads them is launched
    settled: dict[int, int] = {}
    narrowed: NDArray[np.bool_] = np.zeros(len(wide), np.bool_)
    for number, found in enumerate(launcher.fetch(misfits).view(np.uint64).reshape(-1, count).tolist()):
        one = wide[number]
        name, row_of_type = _narrowest(one.type.name, found)
        if row_of_type is not None:
            settled[one.position] = row_of_type
        if name != one.type.name:
            one.type, narrowed[number] = type_named(name), True
            one.rooms["values"] = launcher.room(rows * one.type.bits // 8)
            table[number]["to"], table[number]["width_to"] = one.rooms["values"].address, one.type.bits // 8
    if narrowed.any():
        launcher.launch(_NARROW, _shape(rows, int(narrowed.sum())), [launcher.put(table[narrowed]), rows])
    del held
    return settled


def _narrowest(wide: str, misfits: Sequence[int]) -> tuple[str, int | None]:
    """The type, and the row that settled it: `misfits` are the first rows that narrower types do not hold."""
    if wide == "float64":
        return ("float32", None) if misfits[0] == _NEVER else (wide, misfits[0])
    for number, (name, misfit) in enumerate(zip(_INTEGERS, misfits, strict=True)):
        if misfit == _NEVER:
            return name, max(misfits[:number], default=None)
    return wide, max(misfits)


def locate_on_gpu(
    launcher: Launcher,
    text: tuple[OpenSource, Dialect, LoadPlan, int],
    entries: Room,
    settled: Mapping[int, int],
    gone: NDArray[np.uint64],
) -> dict[int, Evidence]:
    """The fields that settled columns' types, from the records in which their tiles begin.

    Parameters
    ----------
    launcher
        Where the text's tiles were found.
    text
        Source, dialect and plan of the load, and the byte of the source that the kernels count from.
    entries
        Of the tiles.
    settled
        Rows, by position.
    gone
        Records that are no rows, ascending, from 0.
    """
    source, dialect, plan, begin = text
    found: dict[int, Evidence] = {}
    if not settled:
        return found
    table = launcher.fetch(entries).view(ENTRY)[:-1]
    table = table[(table["open"] != 0) | (np.arange(len(table)) == 0)]
    # Of each record that goes the row that it would be, had it stayed.
    behind = gone - np.arange(len(gone), dtype=np.uint64)
    for position, row in settled.items():
        record = row + int(np.searchsorted(behind, np.uint64(row), "right"))
        tile = table[np.searchsorted(table["record"], np.uint64(record), "right") - 1]
        first = int(tile["record"])
        at = begin + int(tile["record_begin"])
        own = replace(plan, begin=at, data_begin=at, tile_bytes=min(plan.tile_bytes, _LOCATED_TILE), row_index=None)
        wanted: list[int | None] = [None] * len(plan.columns)
        wanted[position] = record - first
        field = locate(source, dialect, own, wanted, ())[position]
        if field is not None:
            found[position] = replace(field, record=field.record + first)
    return found
