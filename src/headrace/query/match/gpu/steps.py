"""Builds the steps that the kernels read: one table for each reading of a text."""

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
class MatchSteps:
    """Steps of both readings, as 16-bit numbers by row and state before (match_task.hpp)."""

    backward: NDArray[np.uint16]
    """A row for each class, and one for bytes outside the text."""
    forward: NDArray[np.uint16]
    """The distinct rows of classes and right states, and one for bytes outside the text. Empty if steps are not joined."""

    @property
    def joined(self) -> bool:
        """True if symbols are rows of `forward`, and both tables fit shared memory."""
        return len(self.forward) != 0


@lru_cache(maxsize=256)
def steps_of(tables: MatchTables) -> MatchSteps:
    """Return the steps of an automaton."""
    rights = np.arange(tables.rights)
    backward = np.vstack([np.frombuffer(tables.backward, np.uint8).reshape(-1, tables.rights), rights]).astype(np.uint16)
    symbols, forward = _joined_rows(tables)
    if max(len(backward), len(forward) + 1) > 256 or max(backward.nbytes, forward.nbytes) > _SHARED_BYTES or len(forward) == 0:
        return MatchSteps(backward | rights.astype(np.uint16) << 8, forward[:0])
    symbols = np.append(symbols, np.full(tables.rights, len(forward))).reshape(backward.shape)
    return MatchSteps(backward | symbols.astype(np.uint16) << 8, np.vstack([forward, np.arange(tables.states)]).astype(np.uint16))


def _joined_rows(tables: MatchTables) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Return the number of the row of each class and right state, and the distinct rows: none if they would be too many."""
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    rows = np.frombuffer(_native.MatchAutomaton(parts, tables.idles).steps, np.uint16).reshape(-1, tables.states)
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    return number.reshape(-1), distinct
