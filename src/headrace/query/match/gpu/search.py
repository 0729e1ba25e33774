"""Launches the kernels that find the matches of an automaton, in the order of one stream.

The host waits once, for the number of matches.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.query.find.gpu.marks import DeviceText, Hits, write_positions
from headrace.query.match.automaton.tables import MatchTables
from headrace.query.match.gpu.steps import steps_of
from headrace.query.match.gpu.tuning import TUNING, MatchTuning

_TASK, _TABLES, _READING, _MARKS = (layout(name) for name in ("MatchTask", "MatchTables", "MatchReading", "MatchMarks"))
_GIVEN = f"{_TASK.argument}{_TABLES.argument}{_READING.argument}"
_BACKWARD = Entry("query/match/gpu/match.cu", "read_backward", _GIVEN)
_FORWARD = Entry("query/match/gpu/match.cu", "read_forward", f"{_GIVEN}{_MARKS.argument}")


@lru_cache(maxsize=16)
def _defines(tuning: MatchTuning, joined: bool) -> dict[str, int]:
    return tuning.defines(joined)


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
        self._tiles = text.tiles(tuning.marks)
        self._steps = steps_of(tables)
        self._symbols = launcher.allocate(self._tiles * tuning.marks.tile_marks)
        self._buffers, addresses = self._put_tables()
        self._given = (
            _TASK.packer().pack(text.address, text.nbytes, self._tiles, self._symbols.address, len(tables.idle_after)),
            _TABLES.packer().pack(*addresses[:5], tables.states, tables.rights, tables.idles),
        )
        self._step_addresses = addresses[5:]

    def count(self) -> int:
        """Return the number of matches."""
        return self._mark((0, 0, 0, 0))

    def marks(self) -> tuple[Hits, Hits]:
        """Return the marks of the first and of the last bytes of matches."""
        launcher, tiles = self._launcher, self._tiles
        begins, ends = (launcher.allocate(tiles * self._tuning.marks.tile_marks // 8) for _ in range(2))
        counts = [launcher.allocate(4 * tiles) for _ in range(2)]
        total = self._mark((begins.address, ends.address, counts[0].address, counts[1].address))
        first = -self._shift
        return Hits(begins, counts[0], total, first), Hits(ends, counts[1], total, first + 1)

    def write(self, hits: Hits, target: DeviceBuffer) -> None:
        """Write the positions of marks, ascending, as 64-bit numbers."""
        write_positions(self._launcher, hits, target, self._tuning.marks)

    def _put_tables(self) -> tuple[DeviceBuffer, list[int]]:
        """Copy the tables to one buffer. Return it and the addresses of those of `MatchTables`, and of both steps."""
        tables, steps = self._tables, self._steps
        parts = [tables.class_of, tables.forward, tables.verdicts, b"", tables.idle_after]
        parts += [steps.backward.tobytes(), steps.forward.tobytes()]
        offsets, joined = [], bytearray()
        for part in parts:
            offsets.append(len(joined))
            joined += part + bytes(-len(part) % 16)
        buffer = self._launcher.put(bytes(joined))
        return buffer, [buffer.address + offset for offset in offsets]

    def _mark(self, marks: tuple[int, int, int, int]) -> int:
        """Mark the matches and return their number. `marks`: addresses of marks and of their counts, or zeros."""
        launcher, tables, steps, tiles = self._launcher, self._tables, self._steps, self._tiles
        stages = launcher.allocate(8 + 8 * (tiles + 1), fill=0)  # the number of matches, then both readings' stages
        maps = launcher.allocate(tiles * max(tables.states, tables.rights))
        backward, forward = self._step_addresses
        first, second = stages.address + 8, stages.address + 8 + 4 * (tiles + 1)
        reading = (backward, maps.address, first, steps.backward.size, tables.rights)
        self._launch(_BACKWARD, reading, 0, ())
        reading = (forward, maps.address, second, steps.forward.size, tables.states)
        self._launch(_FORWARD, reading, tables.idles - 1, (_MARKS.packer().pack(*marks, stages.address),))
        return int(launcher.fetch(BufferSlice(stages, 0, 8)).view(np.uint64)[0])

    def _launch(self, entry: Entry, reading: tuple[int, int, int, int, int], first: int, marks: tuple[bytes, ...]) -> None:
        """Launch one reading. `reading`: the first fields of `MatchReading`. `first`: state before the first tile."""
        tuning, joined = self._tuning, self._steps.joined
        *_, step_count, states = reading
        chunk_bits = tuning.chunk_bits(states)
        texts = 1 if joined or not marks else 2
        shared = tuning.shared_bytes(states, texts, step_count if joined else 0)
        shape = Shape(_defines(tuning, joined), self._tiles, tuning.threads, shared)
        self._launcher.launch(entry, shape, (*self._given, _READING.packer().pack(*reading, chunk_bits, first), *marks))
