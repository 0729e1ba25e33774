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
    forward: NDArray[np.uint16]
    """Empty if steps are not joined."""

    @property
    def joined(self) -> bool:
        """Whether the backward reading keeps rows of `forward`, and both tables fit shared memory."""
        return len(self.forward) != 0


@lru_cache(maxsize=256)
def steps_of(tables: MatchTables) -> MatchSteps:
    """Return the steps of an automaton."""
    backward = np.frombuffer(tables.backward, np.uint8).astype(np.uint16)
    kept, forward = _joined_rows(tables)
    if max(backward.nbytes, forward.nbytes) > _SHARED_BYTES or len(forward) > 256:
        kept, forward = np.arange(len(backward)) % tables.rights, forward[:0]
    return MatchSteps(backward | kept.astype(np.uint16) << 8, forward.reshape(-1))


def _joined_rows(tables: MatchTables) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Return the distinct rows of the forward reading, and the number of the row of each class and right state."""
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    rows = np.frombuffer(_native.MatchAutomaton(parts, tables.idles).steps, np.uint16).reshape(-1, tables.states)
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    return number.reshape(-1), distinct
