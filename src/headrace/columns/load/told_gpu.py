"""What kernels are told of a group's columns, in memory: rules, the table of columns that points to them, the same as rows are
read, and what is expected of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.convert_gpu import COLUMN
from headrace.columns.convert.rows_gpu import RowColumns, most_row_bytes
from headrace.columns.load.plan_gpu import PlanOnGpu
from headrace.core.gpu.launcher import Launcher, Part, Room


@dataclass(slots=True, eq=False)
class Told:
    """Where it lies.

    Parameters
    ----------
    table
        Of the columns.
    rows
        Tables of the columns as rows are read.
    ranges
        What is expected.
    """

    table: Room
    rows: list[Room]
    ranges: Room


def told_bytes(known: PlanOnGpu, columns: int) -> int:
    """Of what can be told of so many columns, all of which may be strings."""
    ranges = 16 * (columns + 1)
    return int(-(-known.rules_bytes // 16) * 16 + columns * COLUMN.itemsize + 16 + 2 * most_row_bytes(columns) + ranges)


def put_told(launcher: Launcher, room: Room, words: Sequence[NDArray[np.uint64]], rows: Sequence[RowColumns | None]) -> Told:
    """Put it there, by one upload.

    Parameters
    ----------
    launcher
        Where kernels run.
    room
        Of `told_bytes`.
    words
        Rules and the table of columns, for this room, and what is expected.
    rows
        The columns as rows are read.
    """
    rules, table, ranges = words
    begin = rules.nbytes + table.nbytes
    # Rows of the other tables are read sixteen bytes at a time.
    parts = [rules, table.reshape(-1), np.zeros(begin % 16 // 8, np.uint64)]
    begin += begin % 16
    of_rows: list[Room] = []
    for one in rows:
        made = np.zeros(0, np.uint64) if one is None else one.table(table).reshape(-1)
        of_rows.append(Part(room, begin, made.nbytes))
        parts.append(made)
        begin += made.nbytes
    parts.append(ranges.reshape(-1))
    joined = np.concatenate(parts)
    launcher.put(joined, Part(room, 0, joined.nbytes))
    return Told(Part(room, rules.nbytes, table.nbytes), of_rows, Part(room, begin, ranges.nbytes))
