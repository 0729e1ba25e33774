"""Launches the kernels that find the matches of an automaton, in the order of one stream.

The host waits once, for the number of matches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText, Hits, write_positions
from headrace.query.match.automaton.tables import MatchTables
from headrace.query.match.gpu.tuning import TUNING, MatchTuning

_TASK, _TABLES, _MARKS = layout("MatchTask"), layout("MatchTables"), layout("MatchMarks")
_FILE = "query/match/gpu/match.cu"
_GIVEN = f"{_TASK.argument}{_TABLES.argument}"
_MAP_BACKWARD = Entry(_FILE, "map_backward", f"{_GIVEN}P")
_MAP_FORWARD = Entry(_FILE, "map_forward", f"{_GIVEN}PP")
_JOIN = Entry(_FILE, "join_maps", "PQIIP")
_ENTER = Entry(_FILE, "enter_maps", "PQIIPP")
_WRITE_RIGHTS = Entry(_FILE, "write_rights", f"{_GIVEN}PP")
_MARK = Entry(_FILE, "mark_matches", f"{_GIVEN}PP{_MARKS.argument}")


@dataclass(frozen=True, slots=True)
class _Maps:
    """State maps of adjacent ranges, a byte a state."""

    buffer: DeviceBuffer
    count: int


class DeviceMatch:
    """Finds the matches of an automaton in one text of 1 byte or more.

    Parameters
    ----------
    launcher
        Launcher of the device.
    text
        The text.
    tables
        Tables of the automaton.
    tuning
        Sizes of the kernels; tests use smaller ones.
    """

    def __init__(self, launcher: Launcher, text: DeviceText, tables: MatchTables, *, tuning: MatchTuning = TUNING) -> None:
        self._launcher = launcher
        self._tables = tables
        self._tuning = tuning
        self._shift = text.shift
        chunk = tuning.chunk_for(max(tables.states, tables.rights))
        self._chunk, self._chunks = chunk, -(-(text.nbytes + self._shift) // chunk)
        parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
        self._parts = [launcher.put(part) for part in parts]
        addresses = [part.address for part in self._parts]
        self._given = (
            _TASK.packer().pack(text.address, text.nbytes, chunk, self._chunks),
            _TABLES.packer().pack(*addresses, tables.states, tables.rights, tables.idles),
        )

    def count(self) -> int:
        """Return the number of matches."""
        return self._mark((0, 0, 0, 0))

    def marks(self) -> tuple[Hits, Hits]:
        """Return the marks of the first and of the last bytes of matches."""
        launcher, tile = self._launcher, self._tuning.marks.tile_marks
        tiles = -(-self._chunks * self._chunk // tile)
        begins, ends = (launcher.allocate(tiles * tile // 8, fill=0) for _ in range(2))
        counts = [launcher.allocate(4 * tiles, fill=0) for _ in range(2)]
        total = self._mark((begins.address, ends.address, counts[0].address, counts[1].address))
        first = -self._shift
        return Hits(begins, counts[0], total, first), Hits(ends, counts[1], total, first + 1)

    def write(self, hits: Hits, target: DeviceBuffer) -> None:
        """Write the positions of marks, ascending, as 64-bit numbers."""
        write_positions(self._launcher, hits, target, self._tuning.marks)

    def _mark(self, marks: tuple[int, int, int, int]) -> int:
        """Mark the matches and return their number. `marks`: addresses of marks and of their counts, or zeros."""
        launcher, tables = self._launcher, self._tables
        total = launcher.allocate(8, fill=0)
        rights = self._rights()
        maps = launcher.allocate(self._chunks * tables.states)
        self._launch(_MAP_FORWARD, self._chunks * tables.states, (*self._given, rights, maps))
        before = self._states_before(_Maps(maps, self._chunks), tables.states, tables.idles - 1)
        packed = _MARKS.packer().pack(*marks, self._tuning.marks.tile_marks, total.address)
        self._launch(_MARK, self._chunks, (*self._given, rights, before, packed))
        return int(launcher.fetch(total).view(np.uint64)[0])

    def _rights(self) -> DeviceBuffer:
        """Return the right state after each byte."""
        launcher, states = self._launcher, self._tables.rights
        maps, rights = launcher.allocate(self._chunks * states), launcher.allocate(self._chunks * self._chunk)
        self._launch(_MAP_BACKWARD, self._chunks * states, (*self._given, maps))
        before = self._states_before(_Maps(maps, self._chunks), states, 0)
        self._launch(_WRITE_RIGHTS, self._chunks, (*self._given, before, rights))
        return rights

    def _states_before(self, maps: _Maps, states: int, first: int) -> DeviceBuffer:
        """Return the state before each map, a byte each. `first`: state before the first one."""
        launcher, group = self._launcher, self._tuning.group
        levels = [maps]
        while levels[-1].count > 1:
            inner = levels[-1]
            groups = -(-inner.count // group)
            joined = launcher.allocate(groups * states)
            self._launch(_JOIN, groups * states, (inner.buffer, inner.count, states, group, joined))
            levels.append(_Maps(joined, groups))
        before = launcher.put(bytes([first]))
        for level in reversed(levels[:-1]):
            inside = launcher.allocate(level.count)
            groups = -(-level.count // group)
            self._launch(_ENTER, groups, (level.buffer, level.count, states, group, before, inside))
            before = inside
        return before

    def _launch(self, entry: Entry, items: int, args: tuple[object, ...]) -> None:
        threads = self._tuning.threads
        self._launcher.launch(entry, Shape(self._tuning.defines(), -(-items // threads), threads), args)
