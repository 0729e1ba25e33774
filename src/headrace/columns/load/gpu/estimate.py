"""What is expected of a text while the search for structure runs, by its first records: so there is memory for its columns before
they are counted, and the conversion is launched behind the search. Whether the memory does, the card decides
(columns/convert/gpu/size_estimate.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace import _native
from headrace.columns.convert.gpu.column_group import Group, MadeColumns
from headrace.core.errors import MemoryLimitError
from headrace.core.quick import quick
from headrace.gpu.kernels.launcher import Entry, Launcher, Room, Shape

_CHECK = Entry("columns/convert/gpu/string_offsets.cu", "check_room", "PIPPIP")
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
_SHORT_TEXT = 64 << 20
_LEAST_SAMPLE, _LEAST_LARGE_SAMPLE, _GROWTH = 1 << 10, 4 << 10, 2
"""Bytes that are looked at first, of a short text and of others, and how many times as many where those tell too little."""
_LEAST_RECORDS = 6
"""Deviations of fewer say little: three may be alike by chance."""
_REFUSED = 2**64 - 1


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

    def ranges(self, group: Group) -> list[int]:
        """What that room does for, as words: RoomRange of rows, and of each column of strings."""
        made = [_least_rows(self.rows), self.rows]
        for room, nbytes in zip(group.rooms, self.strings, strict=False):
            most = min(nbytes, _MOST_SHORT_BYTES) if room.type.bits == 32 else nbytes
            made += (max(nbytes - 2 * _SPARE_STRING_BYTES, 0) * 4 // 5, most)
        return made


_expected = quick(Expected)


def holds(expected: int, rows: int) -> bool:
    """Whether room for the rows expected does for those there are, and is not much more."""
    return _least_rows(expected) <= rows <= expected


def _least_rows(expected: int) -> int:
    return max(expected - 2 * _SPARE_ROWS, 0) * 4 // 5


def expect(dialect: _native.Dialect, beginning: bytes, size: int, strings: Sequence[int]) -> Expected | None:
    """What a text of so many bytes is taken to be, by its first ones, with strings at these places of its records; None if no
    record ends in them.

    What the mean of the first records asks for, three of its standard deviations more, and a little; strings have no more bytes
    than the text. A thread looks at 0.2 to 0.4 bytes in a nanosecond, and the card waits for it: so at no more of them than tell
    enough. They do where there are six records, and room for the deviations of rows and of each column of strings, which is an
    eighth and that little; a column that has room for all of the text has enough in any case. Of a text of 1 MB the little is
    more than what strings differ by.
    """
    sample = _LEAST_SAMPLE if size < _SHORT_TEXT else _LEAST_LARGE_SAMPLE
    rule = _LEAST_PART, _MOST_PART, _DEVIATIONS, _SPARE_ROWS, _SPARE_STRING_BYTES, sample, _GROWTH, _LEAST_RECORDS
    found = _native.expect(dialect, beginning, size, strings, rule)
    return None if found is None else _expected(*found)


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
