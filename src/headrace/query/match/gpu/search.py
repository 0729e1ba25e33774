"""Launches the kernels that find the matches of an automaton, in the order of one stream.

The host waits once, for the number of matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText, Hits, mark_bytes, write_positions
from headrace.query.match.automaton.tables import MatchTables
from headrace.query.match.gpu.steps import SymbolForm, device_tables
from headrace.query.match.gpu.tuning import TUNING, MatchTuning

_TASK, _TABLES, _READING, _MARKS = (layout(name) for name in ("MatchTask", "MatchTables", "MatchReading", "MatchMarks"))
_PACKERS = [each.packer() for each in (_TASK, _TABLES, _READING, _MARKS)]
_GIVEN = f"{_TASK.argument}{_TABLES.argument}{_READING.argument}"
_BACKWARD = Entry("query/match/gpu/match.cu", "read_backward", _GIVEN)
_RUNS = Entry("query/match/gpu/runs.cu", "mark_runs", f"{_TASK.argument}P{_MARKS.argument}")
_FORWARD = Entry("query/match/gpu/match.cu", "read_forward", f"{_GIVEN}{_MARKS.argument}")


@lru_cache(maxsize=16)
def _defines(tuning: MatchTuning, form: SymbolForm) -> dict[str, int]:
    return tuning.defines(form)


class DeviceMatch:
    """Finds the matches of an automaton in one text of 1 byte or more. Tests pass smaller sizes of kernels."""

    def __init__(self, launcher: Launcher, text: DeviceText, tables: MatchTables, *, tuning: MatchTuning = TUNING) -> None:
        self._launcher = launcher
        self._text = text
        self._tables = tables
        self._device_tables = device_tables(tables)
        self._tuning = tuning
        self._tiles = text.tiles(tuning.marks)

    def count(self) -> int:
        """Return the number of matches."""
        return self._mark((0, 0, 0, 0))

    def marks(self) -> tuple[Hits, Hits]:
        """Return the marks of the first and of the last bytes of matches."""
        group = self._launcher.allocate_group([], 2 * mark_bytes(self._tiles, self._tuning.marks))
        begins, begin_counts, begin_sums, ends, end_counts, end_sums = group
        total = self._mark(tuple(group.addresses[i] for i in (0, 3, 1, 4)))
        first = -self._text.shift
        return Hits(begins, begin_counts, begin_sums, total, first), Hits(ends, end_counts, end_sums, total, first + 1)

    def write(self, found: Sequence[Hits], targets: Sequence[DeviceBuffer]) -> None:
        """Write the positions of marks, ascending, as 64-bit numbers."""
        write_positions(self._launcher, found, targets, self._tuning.marks)

    def _mark(self, marks: tuple[int, ...]) -> int:
        """Mark the matches and return their number. `marks`: addresses of marks and of their counts, or zeros."""
        return self._mark_runs(marks) if self._device_tables.has else self._mark_by_states(marks)

    def _mark_runs(self, marks: tuple[int, ...]) -> int:
        launcher, tuning = self._launcher, self._tuning
        total, has = launcher.allocate(8, fill=0), launcher.put(self._device_tables.has)
        shape = Shape(tuning.run_defines(), self._tiles, tuning.marks.threads)
        task = _PACKERS[0].pack(self._text.address, self._text.nbytes, self._tiles, 0, 0, 0)
        launcher.launch(_RUNS, shape, (task, has, _PACKERS[3].pack(*marks, total.address)))
        return int(launcher.fetch(total).view(np.uint64)[0])

    def _mark_by_states(self, marks: tuple[int, ...]) -> int:
        launcher, tables, given, tiles = self._launcher, self._tables, self._device_tables, self._tiles
        is_read_twice = given.form is not SymbolForm.PAIRS
        stages_bytes, maps_bytes = 4 * (tiles + 1), tiles * max(tables.states, tables.rights)
        others = (tiles * self._tuning.marks.tile_marks * is_read_twice, maps_bytes, len(given.data))
        group = launcher.allocate_group([8 + 2 * stages_bytes], others)  # zeroed: the number of matches, and stages
        found, symbols, maps, data = group.addresses
        launcher.put(given.data, group[3])
        *parts, backward, forward, pairs = (data + offset for offset in given.offsets)
        task = _PACKERS[0].pack(self._text.address, self._text.nbytes, tiles, symbols, pairs, len(tables.idle_after))
        common = (task, _PACKERS[1].pack(*parts, tables.states, tables.rights, tables.idles))
        stages = found + 8, found + 8 + stages_bytes
        if is_read_twice:
            self._launch(_BACKWARD, common, (backward, maps, stages[0], given.backward_steps, tables.rights), 0)
        reading = (forward, maps, stages[1], given.forward_steps, tables.states)
        self._launch(_FORWARD, (*common, _PACKERS[3].pack(*marks, found)), reading, tables.idles - 1)
        return int(launcher.fetch(BufferSlice(group[0], 0, 8)).view(np.uint64)[0])

    def _launch(self, entry: Entry, args: tuple[bytes, ...], reading: tuple[int, int, int, int, int], first: int) -> None:
        """Launch one reading. `reading`: the first fields of `MatchReading`. `first`: state before the first tile."""
        tuning, form = self._tuning, self._device_tables.form
        *_, steps, states = reading
        packed = _PACKERS[2].pack(*reading, tuning.chunk_bits(states), first)
        is_joined = form is not SymbolForm.RIGHTS
        sizes = (2 * steps * is_joined, self._device_tables.pairs)
        shared = tuning.shared_bytes(states, 1 if is_joined or entry is _BACKWARD else 2, sizes)
        shape = Shape(_defines(tuning, form), self._tiles, tuning.threads, shared)
        self._launcher.launch(entry, shape, (*args[:2], packed, *args[2:]))
