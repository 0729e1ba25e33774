"""Selects the rows of columns on a GPU: finds the row numbers by a condition, then gathers the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.arrange.filter.column_layout import pack_column
from headrace.arrange.filter.program import CompiledFilter
from headrace.arrange.filter.tuning import DEPTHS, FILTER_THREADS
from headrace.arrange.gather.take_gpu import Taker, columns_launcher, row_width
from headrace.columns.column import Column
from headrace.core.context import Context
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_PROGRAM = layout("FilterProgram")
_PACKED_PROGRAM = _PROGRAM.packer()
_STEP_BYTES = layout("FilterStep").size
_MARK = Entry("arrange/filter/filter.cu", "mark_rows", f"{_PROGRAM.argument}QPP")
_NUMBER = Entry("arrange/filter/filter.cu", "number_selected_rows", "PQPP")
_TURNS = 8
"""Rows per thread (filter.cu)."""


def filter_on_gpu(columns: Mapping[str, Column], program: CompiledFilter, context: Context) -> dict[str, Column]:
    """Filter columns on a GPU, as `headrace.arrange.filter.filter.filter_columns`."""
    with columns_launcher(columns, context) as (launcher, _):
        return filter_with(launcher, columns, program)


def filter_with(
    launcher: Launcher, columns: Mapping[str, Column], program: CompiledFilter, *, threads: int = FILTER_THREADS
) -> dict[str, Column]:
    """Return the rows for which a program is true. The host waits for their number, and for the bytes of texts.

    Parameters
    ----------
    launcher, columns, program
        Launcher of the device, columns there, and the program.
    threads
        Threads per block; tests use fewer.
    """
    rows = len(next(iter(columns.values())))
    if not rows:
        return dict(columns)
    steps, described, constants = launcher.put(program.steps), *_described(launcher, columns, program)
    count = len(program.steps) // _STEP_BYTES
    given = _PACKED_PROGRAM.pack(steps.address, described[0].address, constants.address, count, program.depth)
    width = row_width(rows)
    depth = next(depth for depth in DEPTHS if program.depth <= depth)
    blocks = -(-rows // (threads * _TURNS))
    defines: dict[str, Any] = {"HR_DEPTH": depth, "HR_ROW": f"u{8 * width}", "HR_THREADS": threads}
    shape = Shape(defines, blocks, threads)
    bits, counts = launcher.allocate(-(-rows // 32) * 4), launcher.allocate(8 * blocks)
    launcher.launch(_MARK, shape, (given, rows, bits, counts))
    begins: NDArray[np.uint64] = np.zeros(blocks + 1, np.uint64)
    np.cumsum(launcher.fetch(counts).view(np.uint64), out=begins[1:])
    selected = int(begins[-1])
    if selected == rows:
        return dict(columns)
    numbers = launcher.allocate(selected * width)
    if selected:
        launcher.launch(_NUMBER, shape, (bits, rows, launcher.put(begins[:-1]), numbers))
    return Taker(launcher, numbers, selected, width).columns(columns)


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
