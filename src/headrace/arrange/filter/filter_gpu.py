"""Selects the rows of columns on a GPU: finds the row numbers by a condition, then gathers the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.filter.column_layout import pack_column
from headrace.arrange.filter.program import CompiledFilter
from headrace.arrange.filter.tuning import DEPTHS
from headrace.arrange.gather.selected_rows import RowMarks
from headrace.arrange.gather.take_gpu import columns_launcher
from headrace.arrange.gather.tuning import SELECTED_THREADS
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher

_PROGRAM = layout("FilterProgram")
_PACKED_PROGRAM = _PROGRAM.packer()
_MARK = Entry("arrange/filter/filter.cu", "mark_rows", f"{_PROGRAM.argument}QPP")


def filter_on_gpu(columns: Mapping[str, Column], program: CompiledFilter, context: Context) -> dict[str, Column]:
    """Filter columns on a GPU, as `headrace.arrange.filter.filter.filter_columns`."""
    with columns_launcher(columns, context) as (launcher, _):
        return filter_with(launcher, columns, program)


def filter_with(
    launcher: Launcher, columns: Mapping[str, Column], program: CompiledFilter, *, threads: int = SELECTED_THREADS
) -> dict[str, Column]:
    """Return the rows for which a program is true. The host waits for their number, and for the bytes of texts."""
    rows = len(next(iter(columns.values())))
    if not rows:
        return dict(columns)
    steps, described, constants = launcher.put(program.steps), *_described(launcher, columns, program)
    given = _PACKED_PROGRAM.pack(steps.address, described[0].address, constants.address, program.step_count, program.depth)
    depth = next(depth for depth in DEPTHS if program.depth <= depth)
    marks = RowMarks.of(launcher, rows, threads)
    launcher.launch(_MARK, marks.shape(HR_DEPTH=depth), (given, rows, marks.bits, marks.counts))
    taker = marks.taker()
    return dict(columns) if taker is None else taker.columns(columns)


def _described(
    launcher: Launcher, columns: Mapping[str, Column], program: CompiledFilter
) -> tuple[list[DeviceBuffer], DeviceBuffer]:
    """Return the columns of the program in device memory, with the buffers that they refer to, and its constants."""
    held: list[DeviceBuffer] = []
    found = b""
    for name in program.columns:
        column = columns[name]
        texts = column if column.dictionary is None else column.dictionary
        data = None
        if texts.data:
            data = launcher.put(np.array([buffer.address for buffer in texts.data], np.uint64))
            held.append(data)
        parts: list[Any] = [texts.values, texts.offsets, column.validity, data, None if texts is column else column.values]
        found += pack_column(column, tuple(0 if part is None else part.address for part in parts))
    return [launcher.put(found), *held], launcher.put(program.constants or bytes(8))
