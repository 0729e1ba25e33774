"""Builds the tables that the kernels read, with one table of steps for each reading of a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace import _native
from headrace.query.match.automaton.tables import MatchTables

_SHARED_BYTES = 16 << 10
"""Maximum size of a table in shared memory."""


@dataclass(frozen=True, slots=True)
class DeviceTables:
    """Tables in the layout of device memory.

    Parameters
    ----------
    data
        All tables: those of ``MatchTables`` (match_rules.hpp), then the steps of both readings (match_task.hpp).
    offsets
        Offset of each table.
    backward_steps, forward_steps
        Number of steps of each reading; 0 for the forward one if steps are not joined. Joined steps have one row more, for bytes
        outside the text.
    """

    data: bytes
    offsets: tuple[int, ...]
    backward_steps: int
    forward_steps: int

    @property
    def joined(self) -> bool:
        """True if symbols are rows of the forward steps, and both tables of steps fit shared memory."""
        return self.forward_steps != 0


@lru_cache(maxsize=256)
def device_tables(tables: MatchTables) -> DeviceTables:
    """Return the tables of an automaton."""
    backward, forward = _steps(tables)
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    data, offsets = bytearray(), []
    for part in (*parts, backward.tobytes(), forward.tobytes()):
        offsets.append(len(data))
        data += part + bytes(-len(part) % 16)
    return DeviceTables(bytes(data), tuple(offsets), backward.size, forward.size)


def _steps(tables: MatchTables) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return the steps of both readings."""
    rights = np.arange(tables.rights)
    backward = np.vstack([np.frombuffer(tables.backward, np.uint8).reshape(-1, tables.rights), rights]).astype(np.uint16)
    symbols, forward = _joined_rows(tables)
    is_large = max(backward.nbytes, forward.nbytes) > _SHARED_BYTES or max(len(backward), len(forward) + 1) > 256
    if is_large or len(forward) == 0:
        return backward | rights.astype(np.uint16) << 8, forward[:0]
    symbols = np.append(symbols, np.full(tables.rights, len(forward))).reshape(backward.shape)
    return backward | symbols.astype(np.uint16) << 8, np.vstack([forward, np.arange(tables.states)]).astype(np.uint16)


def _joined_rows(tables: MatchTables) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Return the number of the row of each class and right state, and the distinct rows: none if they would be too many."""
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    rows = np.frombuffer(_native.MatchAutomaton(parts, tables.idles).steps, np.uint16).reshape(-1, tables.states)
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    return number.reshape(-1), distinct
