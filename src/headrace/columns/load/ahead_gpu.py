"""What is expected of a text while the search for structure runs, by its first records: so there is memory for its columns before
they are counted, and the conversion is launched behind the search. Whether the memory does, the card decides
(columns/convert/ahead.hpp).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.load.plan_gpu import Group, MadeColumns
from headrace.core.errors import MemoryLimitError
from headrace.core.gpu.launcher import Entry, Launcher, Room, Shape

_CHECK = Entry("columns/convert/string_places.cu", "check_room", "PIPPIP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_MOST_TIMES_TEXT = 4
"""What may be taken, but for strings and what is little anyway."""
_LITTLE = 1 << 20
_SPARE_ROWS = 512
_SPARE_STRING_BYTES = 256 << 10
"""More than the first records let one expect is made ready, and twice as much may be left."""
_LEAST_PART, _MOST_PART = 1 / 64, 1 / 8
"""And such a part of it: least where records are alike."""
_DEVIATIONS = 3
_MOST_SHORT_BYTES = 0x7FFFFFFF
_TEXT_PER_SAMPLE, _LEAST_SAMPLE = 8192, 4 << 10
_REFUSED = 2**64 - 1


def sample_bytes(size: int) -> int:
    """Of a text of so many bytes, how many tell what to expect, if there are so many. A thread looks at 0.4 of them in a
    nanosecond, in which the card searches 2,900.
    """
    return max(size // _TEXT_PER_SAMPLE, _LEAST_SAMPLE)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a text is taken to be before it is read.

    Parameters
    ----------
    rows
        As many as if all records were as long as the first ones, and some more.
    strings
        The bytes of each column of strings, and some more.
    """

    rows: int
    strings: list[int]

    def room(self, group: Group, launcher: Launcher, size: int, *, strings: bool) -> MadeColumns | None:
        """Room for the rows of a text of so many bytes, without or with their strings; None where it would be much for such a
        text, or does not fit.
        """
        rows = self.rows
        if group.room_bytes(rows) > _MOST_TIMES_TEXT * size + _LITTLE:
            return None
        try:
            return group.make_room(launcher, rows, self.strings if strings else [])
        except MemoryLimitError:
            return None

    def ranges(self, group: Group) -> NDArray[np.uint64]:
        """What that room does for: RoomRange of rows, and of each column of strings."""
        made: NDArray[np.uint64] = np.empty((1 + group.strings, 2), np.uint64)
        made[0] = _least_rows(self.rows), self.rows
        for row, room, nbytes in zip(made[1:], group.rooms, self.strings, strict=False):
            most = min(nbytes, _MOST_SHORT_BYTES) if room.type.bits == 32 else nbytes
            row[:] = max(nbytes - 2 * _SPARE_STRING_BYTES, 0) * 4 // 5, most
        return made


def holds(expected: int, rows: int) -> bool:
    """Whether room for the rows expected does for those there are, and is not much more."""
    return _least_rows(expected) <= rows <= expected


def _least_rows(expected: int) -> int:
    return max(expected - 2 * _SPARE_ROWS, 0) * 4 // 5


def expect(dialect: _native.Dialect, beginning: bytes, size: int, strings: Sequence[int]) -> Expected | None:
    """What a text of so many bytes is taken to be, by its first ones, with strings at these places of its records; None if no
    record ends in them.

    What the mean of the first records asks for, three of its standard deviations more, and a little; strings have no more bytes
    than the text.
    """
    records, nbytes, lengths, fields = _native.look_at_beginning(dialect, beginning, max(strings, default=-1) + 1)
    if not records:
        return None
    times, spread = size / nbytes, _variation(lengths, records)
    rows = int(times * records * _more(spread)) + _SPARE_ROWS
    expected = [_expected_bytes(fields[place], times, records, spread) for place in strings]
    return Expected(rows, [min(nbytes, size) for nbytes in expected])


def _expected_bytes(sizes: tuple[int, int], times: float, records: int, spread: float) -> int:
    return int(times * sizes[0] * _more(spread + _variation(sizes, records))) + _SPARE_STRING_BYTES


def _variation(sizes: tuple[int, int], count: int) -> float:
    """The variance of a mean of so many sizes, told by their sum and that of their squares, in parts of its square."""
    total, squares = sizes
    return max(squares / total**2 - 1 / count, 0.0) if total else 0.0


def _more(variation: float) -> float:
    return 1 + _LEAST_PART + min(_DEVIATIONS * math.sqrt(variation), _MOST_PART)


def check_room(launcher: Launcher, found: tuple[Room, int], ranges: Room, string_bytes: Room, rows: Room) -> None:
    """Start to tell whether room does.

    Parameters
    ----------
    launcher
        Where kernels run.
    found
        Totals of the search's forms, and how many of these are expected to read the text.
    ranges
        `Expected.ranges`.
    string_bytes
        Of each column of strings, a word.
    rows
        A word that becomes the number of rows, or says that room does not do: then kernels that are told of it do nothing.
    """
    totals, forms = found
    args = [totals, forms, ranges, string_bytes, string_bytes.nbytes // 8, rows]
    launcher.launch(_CHECK, Shape(_DEFINES, 1, _THREADS), args)


def is_refused(rows: int) -> bool:
    """Whether `check_room` left a word that says so."""
    return rows == _REFUSED
