"""Selects rows on a GPU: a kernel marks them (selected_rows.cuh), and selected_rows.cu writes their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace.arrange.gather.take_gpu import Taker, row_width
from headrace.arrange.gather.tuning import SELECTED_THREADS
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_NUMBER = Entry("arrange/gather/selected_rows.cu", "number_selected_rows", "PQPP")
_TURNS = 8  # rows per thread: `turns` of selected_rows.cuh


@dataclass(frozen=True, slots=True)
class RowMarks:
    """A bit for each row, and the marked rows of each block of rows. A kernel writes them."""

    launcher: Launcher  # launcher of the device
    rows: int  # number of rows, at least 1
    bits: DeviceBuffer
    counts: DeviceBuffer  # the bits, and 8 bytes for each block
    threads: int  # threads per block

    @classmethod
    def of(cls, launcher: Launcher, rows: int, threads: int = SELECTED_THREADS) -> RowMarks:
        """Return memory for the marks of some rows."""
        blocks = -(-rows // (threads * _TURNS))
        return cls(launcher, rows, launcher.allocate(-(-rows // 32) * 4), launcher.allocate(8 * blocks), threads)

    def shape(self, **defines: Any) -> Shape:
        """Return the shape of the launch that marks rows."""
        return Shape({**defines, "HR_THREADS": self.threads}, self.counts.nbytes // 8, self.threads)

    def taker(self, width: int | None = None) -> Taker | None:
        """Return a taker of the marked rows, or None if all rows are marked. The host waits for their number.

        `width`: bytes of a row number; None for those that the rows need.
        """
        begins: NDArray[np.uint64] = np.zeros(self.counts.nbytes // 8 + 1, np.uint64)
        np.cumsum(self.launcher.fetch(self.counts).view(np.uint64), out=begins[1:])
        count, width = int(begins[-1]), width or row_width(self.rows)
        if count == self.rows:
            return None
        numbers = self.launcher.allocate(count * width)
        if count:
            args = (self.bits, self.rows, self.launcher.put(begins[:-1]), numbers)
            self.launcher.launch(_NUMBER, self.shape(HR_ROW=f"u{8 * width}"), args)
        return Taker(self.launcher, numbers, count, width)
