"""Estimates the rows and string bytes of a text from its first records.

Column buffers are allocated with the estimated sizes while the structure search runs, and the conversion is enqueued after
it. A kernel checks on the device whether the buffers are large enough (columns/convert/gpu/size_estimate.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headrace import _native
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.core.errors import MemoryLimitError
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_CHECK = Entry("columns/convert/gpu/string_offsets.cu", "validate_estimate", "PIPPIP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
MAX_TIMES_TEXT = 9
"""Upper limit of the buffers without string bytes, as a multiple of the text: an empty field has a byte, and its value eight.
`SMALL_BYTES` more are always allowed."""
SMALL_BYTES = 1 << 20
SPARE_ROWS = 512  # added to each estimate, or fewer if these have more than `SMALL_BYTES`
SPARE_STRING_BYTES = 256 << 10  # Added to each estimate. Twice as much may remain unused, as of the spare rows.
_MIN_SPARE_PART, _MAX_SPARE_PART = 1 / 64, 1 / 8
"""Added to each estimate as a part of it: the minimum if all records have equal sizes, at most the maximum for deviations."""
_DEVIATIONS = 3  # standard deviations that are added to the mean
_MAX_SMALL_OFFSET = 0x7FFFFFFF
_SHORT_TEXT_BYTES = 64 << 20
_MIN_SAMPLE_BYTES, _MIN_LARGE_SAMPLE_BYTES, _SAMPLE_GROWTH = 1 << 10, 4 << 10, 2
"""Bytes of the first sample of a short text and of a longer one, and the factor if the sample is too small."""
_MIN_RECORDS = 6  # Minimum number of records in a sample. The deviations of fewer are unreliable: three may be alike by chance.
_MISPREDICTED = _NO_LIMIT = 2**64 - 1


@dataclass(frozen=True, slots=True)
class SizeEstimate:
    """Estimated sizes of a text."""

    rows: int  # number of rows if all records were as long as the first ones, and the spare rows
    strings: list[int]  # bytes of each column of strings, with the spare bytes

    def allocate(
        self, group: ColumnGroup, launcher: Launcher, size: int, *, strings: bool, cleared: bool
    ) -> ColumnGroupBuffers | None:
        """Allocate column buffers for the estimated rows.

        `strings`: whether to allocate the bytes of strings too.
        `cleared`: whether all values begin as 0.
        Return None if the buffers would be large in comparison with the text, or exceed the memory limit.
        """
        if not self.fits(group, size):
            return None
        try:
            return group.allocate(launcher, self.rows, self.strings if strings else [], cleared=cleared)
        except MemoryLimitError:
            return None

    def fits(self, group: ColumnGroup, size: int) -> bool:
        """Return whether the buffers of a group are not large in comparison with the text, which has `size` bytes."""
        return group.buffer_bytes(self.rows) <= MAX_TIMES_TEXT * size + SMALL_BYTES

    def ranges(self, group: ColumnGroup) -> list[int]:
        """Return the sizes that the buffers cover as words: a RoomRange for the rows, and one for each column of strings."""
        words = [_min_rows(self.rows), self.rows]
        for column, nbytes in zip(group.columns, self.strings, strict=False):
            max_bytes = min(nbytes, _MAX_SMALL_OFFSET) if column.type.bits == 32 else nbytes
            words += (_min_bytes(nbytes), max_bytes)
        return words


_size_estimate = fast_constructor(SizeEstimate)


def covers(estimated: int, rows: int) -> bool:
    """Return whether buffers for the estimated rows are large enough for the actual rows, but not much larger."""
    return _min_rows(estimated) <= rows <= estimated


def _min_rows(estimated: int) -> int:
    return max(estimated - 2 * SPARE_ROWS, 0) * 4 // 5


def _min_bytes(estimated: int) -> int:
    return max(estimated - 2 * SPARE_STRING_BYTES, 0) * 4 // 5


def estimate_sizes(
    dialect: _native.Dialect, prefix: bytes, size: int, strings: Sequence[int], row_bytes: int = 0
) -> SizeEstimate | None:
    """Estimate the sizes of a text from its first records; None if no record ends in the prefix.

    The estimate is the mean of the first records, three of its standard deviations, and the spare. Strings have at most as
    many bytes as the text.

    The sample is as small as possible, because one thread reads 0.2 to 0.4 bytes in a nanosecond while the GPU waits. It is large
    enough if it has six records, and if the deviations of rows and of each column of strings fit the spare. The spare is an
    eighth and `SPARE_STRING_BYTES`. A column whose estimate is the whole text needs no more. For a text of 1 MB the spare bytes
    exceed the deviations of strings.

    `prefix`: the first bytes of the text.
    `strings`: positions of the columns of strings in a record.
    `row_bytes`: approximate bytes of a row in the buffers.
    """
    spare_rows = min(SPARE_ROWS, SMALL_BYTES // max(row_bytes, 1))
    sample = _MIN_SAMPLE_BYTES if size < _SHORT_TEXT_BYTES else _MIN_LARGE_SAMPLE_BYTES
    spare = _MIN_SPARE_PART, _MAX_SPARE_PART, _DEVIATIONS, spare_rows, SPARE_STRING_BYTES
    estimate = _native.estimate_sizes(dialect, prefix, size, strings, (*spare, sample, _SAMPLE_GROWTH, _MIN_RECORDS))
    return None if estimate is None else _size_estimate(*estimate)


class TextSizes(NamedTuple):
    """The sizes of a text."""

    nbytes: int  # bytes of the text
    rows: int
    strings: Sequence[int]  # rows, and bytes of each column of strings
    is_steady: bool  # True if the sizes of the text before it predicted them


class SizeHistory:
    """Sizes of the texts of a plan, by which those of the next one are predicted before a byte of it is known.

    `row_bytes`: approximate bytes of a row in the buffers.
    """

    __slots__ = ("_last", "_spare_rows")

    def __init__(self, row_bytes: int) -> None:
        self._spare_rows = min(SPARE_ROWS, SMALL_BYTES // max(row_bytes, 1))
        self._last: TextSizes | None = None

    def see(self, size: int, rows: int, strings: Sequence[int], *, was_predicted: bool = False) -> None:
        """Record the sizes of a text: its bytes, its rows, and the bytes of each column of strings.

        `was_predicted`: the prediction for this text is known to have been right.
        """
        self._last = TextSizes(size, rows, strings, was_predicted or self._would_predict(size, rows, strings))

    def _would_predict(self, size: int, rows: int, strings: Sequence[int]) -> bool:
        """Return whether the sizes of the last text predict these."""
        if self._last is None:
            return False
        found = self._scaled(self._last, size)
        return covers(found.rows, rows) and all(
            _min_bytes(most) <= nbytes <= most for most, nbytes in zip(found.strings, strings, strict=False)
        )

    def predict(self, size: int) -> SizeEstimate | None:
        """Return the sizes of a text of `size` bytes; None if the sizes of the last text would have been predicted wrongly."""
        last = self._last
        return None if last is None or not last.is_steady else self._scaled(last, size)

    def _scaled(self, last: TextSizes, size: int) -> SizeEstimate:
        """Return sizes in proportion to those of the last text, with the spare of records of equal sizes."""
        times = size / last.nbytes * (1 + _MIN_SPARE_PART)
        (rows,) = _native.scale_sizes((last.rows,), times, self._spare_rows, _NO_LIMIT)
        return _size_estimate(rows, _native.scale_sizes(last.strings, times, SPARE_STRING_BYTES, size))


def validate_estimate(
    launcher: Launcher, totals: DeviceBuffer, ranges: DeviceBuffer, string_bytes: DeviceBuffer, rows: DeviceBuffer
) -> None:
    """Launch the kernel that checks whether the buffers are large enough.

    `totals`: Totals of the first search variant. If another one reads the text, the estimate counts as wrong.
    `ranges`: `SizeEstimate.ranges`, on the device.
    `string_bytes`: bytes of each column of strings, one word each.
    `rows`: A word that receives the number of rows, or a mark that the estimate was wrong. Kernels that read the mark write
    nothing.
    """
    args = [totals, 1, ranges, string_bytes, string_bytes.nbytes // 8, rows]
    launcher.launch(_CHECK, Shape(_DEFINES, 1, _THREADS), args)


def is_mispredicted(rows: int) -> bool:
    """Return whether the word of `validate_estimate` says that the estimate was wrong."""
    return rows == _MISPREDICTED
