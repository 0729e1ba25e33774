"""Launches the kernels that find a pattern in the rows of a column in GPU memory.

The bytes of all rows are one text, which is searched at once. The marks of hits that lie in two rows, or in a null row, are then
cleared, before hits that overlap others are left out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.take_gpu import Texts, columns_launcher
from headrace.arrange.sort.gpu.column_sort import as_array
from headrace.arrays.device_array import DeviceArray
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.context import Context
from headrace.core.errors import UnsupportedDeviceError
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.column.programs import THREADS
from headrace.query.find.gpu.marks import DeviceText
from headrace.query.find.gpu.search import DeviceSearch
from headrace.query.find.gpu.tuning import TUNING, FindTuning
from headrace.query.find.pattern.pattern import Pattern

_FILE = "query/find/column/text_rows.cu"
_ROWS, _CODES = layout("TextRows"), layout("RowCodes")
_BOUNDS = Entry(_FILE, "bound_rows", f"{_ROWS.argument}P")
KEEP_WHOLE = Entry(_FILE, "keep_whole_hits", f"{_ROWS.argument}PQIPPP")
_CHECK = Entry(_FILE, "check_hits", f"{_ROWS.argument}PQQP")
_LOCATE = Entry(_FILE, "locate_hits", f"{_ROWS.argument}PQPP")
_SUMMARISE = Entry(_FILE, "summarise_rows", f"{_ROWS.argument}{_CODES.argument}PQIPPP")


class RowAnswer(IntEnum):
    """Values of `summarise_rows` in text_rows.cu: the number of hits in a row, the first one, or whether it has one."""

    COUNT = 0
    FIRST = 1
    CONTAINS = 2


class RowTexts:
    """The bytes of all rows of a column of texts with offsets, or of its dictionary, as one text; None if there are none."""

    def __init__(self, launcher: Launcher, column: Column) -> None:
        self._launcher = launcher
        self._texts = _texts_of(column)
        texts = Texts(self._texts.offsets, self._texts.values, self._texts.offset, self._texts.type.bits // 8)
        self._rows = _ROWS.packer().pack(texts.packed, _address(self._texts.validity), self._texts.length)
        begin, end = self._bounds()
        self.text = DeviceText(self._texts.values.address + begin, end - begin) if end > begin else None

    def rows_of(self, positions: DeviceBuffer, count: int) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Return the row of each position in the text and its offset in the row, 8 bytes each."""
        rows, offsets = self._launcher.allocate(8 * count), self._launcher.allocate(8 * count)
        self._launch(_LOCATE, count, (self._rows, positions, count, rows, offsets))
        return rows, offsets

    def _bounds(self) -> tuple[int, int]:
        """Return where the bytes of the first row begin, and where those of the last one end. The host waits once."""
        if self._texts.length == 0:
            return 0, 0
        begin, end = self._launcher.answer(_BOUNDS, Shape({"HR_THREADS": THREADS}, 1, 1), (self._rows,), 2)
        return begin, end

    def _launch(self, entry: Entry, count: int, args: tuple[Any, ...]) -> None:
        if count:
            self._launcher.launch(entry, Shape({"HR_THREADS": THREADS}, -(-count // THREADS), THREADS), args)


class RowSearch(RowTexts):
    """Finds a pattern in the rows of a column of texts with offsets, or of a dictionary of such texts.

    `column`: the column. Hits in a dictionary are those of its texts.
    `pattern`, `overlapping`: the pattern, and whether hits in a row may overlap.
    """

    def __init__(
        self, launcher: Launcher, column: Column, pattern: Pattern, overlapping: bool, *, tuning: FindTuning = TUNING
    ) -> None:
        super().__init__(launcher, column)
        self._column = column
        self.count = 0  # number of hits
        self._positions = launcher.allocate(0)
        if self.text is not None and self.text.nbytes >= len(pattern):
            self._find(DeviceSearch(launcher, self.text, pattern, tuning=tuning), pattern, overlapping)

    def located(self) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Return the row of each hit and its offset in the row, 8 bytes each. The column has no dictionary."""
        return self.rows_of(self._positions, self.count)

    def column_of(self, answer: RowAnswer) -> Column:
        """Return an answer for each row, null in null rows. The host waits once, for the number of nulls."""
        launcher, length = self._launcher, self._column.length
        words = 4 * -(-length // 32)
        values = launcher.allocate(words if answer is RowAnswer.CONTAINS else 8 * length)
        validity, valid_count = launcher.allocate(words), launcher.allocate(8, fill=0)
        codes = 0 if self._column.dictionary is None else self._column.values.address
        rows = _CODES.packer().pack(codes, _address(self._column.validity), self._column.offset, length)
        of_hits = (self._positions, self.count, answer.value)
        self._launch(_SUMMARISE, length, (self._rows, rows, *of_hits, values, validity, valid_count))
        nulls = length - int(launcher.fetch(valid_count).view(np.uint64)[0])
        type_ = DataType("bool" if answer is RowAnswer.CONTAINS else "int64")
        return Column(type_, length, nulls, launcher.result(values), launcher.result(validity) if nulls else None)

    def _find(self, search: DeviceSearch, pattern: Pattern, overlapping: bool) -> None:
        hits = search.marked(may_list=False)
        if hits.total:
            found, is_whole = search.positions(hits), self._launcher.allocate(4 * hits.total)
            self._launch(_CHECK, hits.total, (self._rows, found, hits.total, len(pattern), is_whole))
            hits = search.filtered(hits, found, is_whole)
        if not overlapping and pattern.is_bordered and hits.total > 1:
            hits = search.without_overlaps(hits)
        self.count, self._positions = hits.total, search.positions(hits)


def hits_on_gpu(column: Column, pattern: Pattern, overlapping: bool, context: Context) -> tuple[DeviceArray, DeviceArray]:
    """Return rows and offsets of all hits in a column in GPU memory, in arrays on its GPU.

    Raise MemoryLimitError if the marks of the text and the positions do not fit. Raise UnsupportedDeviceError if the column
    has a dictionary, or string views.
    """
    check_listed(column)
    with columns_launcher({"": column}, context) as (launcher, _):
        search = RowSearch(launcher, column, pattern, overlapping)
        rows, offsets = (as_array(part, "<u8") for part in search.located())
        return rows, offsets


def answer_on_gpu(answer: RowAnswer, column: Column, pattern: Pattern, overlapping: bool, context: Context) -> Column:
    """Return an answer for each row of a column in GPU memory, as a column on its GPU.

    Raise MemoryLimitError if the marks of the text and the positions do not fit. Raise UnsupportedDeviceError if the column
    has string views.
    """
    _check(_texts_of(column))
    with columns_launcher({"": column}, context) as (launcher, _):
        return RowSearch(launcher, column, pattern, overlapping).column_of(answer)


def _texts_of(column: Column) -> Any:
    """Return the column with the texts, for access to its buffers, which are device buffers."""
    return column if column.dictionary is None else column.dictionary


def check_listed(column: Column) -> None:
    """Raise UnsupportedDeviceError if the column has a dictionary, or string views: its hits are not listed."""
    if column.dictionary is not None:
        raise UnsupportedDeviceError(_refusal(column, "hits are not listed in columns with a dictionary"))
    _check(column)


def _check(texts: Column) -> None:
    if not has_offsets(texts.type):
        raise UnsupportedDeviceError(_refusal(texts, f"columns of {texts.type} are not searched"))


def _refusal(column: Column, reason: str) -> str:
    return f"{reason} on {column.device}; pass column.to('cpu')"


def _address(buffer: Any) -> int:
    return 0 if buffer is None else buffer.address
