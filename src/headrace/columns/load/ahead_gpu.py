"""Memory for columns taken while the search for structure runs: for the rows that the first bytes let one expect."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.columns.load.plan_gpu import Group, MadeColumns
from headrace.core.errors import MemoryLimitError
from headrace.core.gpu.launcher import Launcher

_MOST_TIMES_TEXT = 4
"""What may be taken."""
_MOST_SPARE_ROWS = 1024


@dataclass(frozen=True, slots=True)
class RowsAhead:
    """What is known of the rows of a text before it is read.

    Parameters
    ----------
    beginning
        Its first bytes.
    line_end
        What ends its records.
    size
        How many bytes it has.
    """

    beginning: bytes
    line_end: bytes
    size: int

    @property
    def rows(self) -> int:
        """As many as if all records were as long as the first ones, and a few more; 0 if none of those ends.

        Examples
        --------
        >>> RowsAhead(b"1,2\\n3,4\\n5,", b"\\n", 4000).rows
        1033
        """
        lines = self.beginning.count(self.line_end)
        if not lines:
            return 0
        rows = self.size * lines // (self.beginning.rindex(self.line_end) + len(self.line_end))
        return rows + rows // 32 + lines

    def room(self, group: Group, launcher: Launcher) -> MadeColumns | None:
        """Room for them, but for the bytes of strings; None where it would be much for such a text, or does not fit."""
        rows = self.rows
        if not rows or group.room_bytes(rows) > _MOST_TIMES_TEXT * self.size:
            return None
        try:
            return group.make_room(launcher, rows)
        except MemoryLimitError:
            return None


def is_enough(expected: int, rows: int) -> bool:
    """Whether room for the rows that were expected does for those there are, and is not much more."""
    return rows <= expected <= rows + rows // 8 + _MOST_SPARE_ROWS
