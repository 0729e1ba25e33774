"""Builds the tables that the kernels read, with one table of steps for each reading of a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np  # a dependency of cuda-core
from numpy.typing import NDArray

from headrace import _native
from headrace.query.match.automaton.tables import MatchTables

_SHARED_BYTES = 16 << 10  # maximum size of a table in shared memory


class SymbolForm(IntEnum):
    """Symbols of the forward reading: SymbolForm of match.cu."""

    RIGHTS = 0
    ROWS = 1
    PAIRS = 2


@dataclass(frozen=True, slots=True)
class DeviceTables:
    """Tables in the layout of device memory."""

    form: SymbolForm  # symbols of the forward reading
    data: bytes
    """All tables: those of ``MatchTables`` (match_rules.hpp), the steps of both readings, and the symbols of pairs of classes
    (match_task.hpp).
    """
    offsets: tuple[int, ...]  # offset of each table
    backward_steps: int
    forward_steps: int
    pairs: int  # sizes of the last three tables
    has: bytes  # a byte for each byte value, 1 if runs of these values are the matches; empty for other automata


@dataclass(frozen=True, slots=True)
class _Steps:
    """Steps of both readings by row and state, and symbols by the classes of a byte and of the next one.

    Steps that are joined have one row more, for bytes outside the text.
    """

    form: SymbolForm
    backward: NDArray[np.uint16]
    forward: NDArray[np.uint16]
    pairs: NDArray[np.uint8]


@lru_cache(maxsize=256)
def device_tables(tables: MatchTables) -> DeviceTables:
    """Return the tables of an automaton."""
    steps = _steps(tables)
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    data, offsets = bytearray(), []
    for part in (*parts, *(each.tobytes() for each in (steps.backward, steps.forward, steps.pairs))):
        offsets.append(len(data))
        data += part + bytes(-len(part) % 16)
    run_class = _searcher(tables).run_class
    has = b"" if run_class is None else bytes(each == run_class for each in tables.class_of)
    sizes = steps.backward.size, steps.forward.size, steps.pairs.size
    return DeviceTables(steps.form, bytes(data), tuple(offsets), *sizes, has)


def _steps(tables: MatchTables) -> _Steps:
    rights, none = np.arange(tables.rights), np.zeros(0, np.uint8)
    before = np.vstack([np.frombuffer(tables.backward, np.uint8).reshape(-1, tables.rights), rights]).astype(np.uint16)
    symbols, forward = _joined_rows(tables)
    is_large = max(before.nbytes, forward.nbytes) > _SHARED_BYTES or max(len(before), len(forward) + 1) > 256
    if is_large or len(forward) == 0:
        return _Steps(SymbolForm.RIGHTS, before | rights.astype(np.uint16) << 8, forward[:0], none)
    symbols = np.append(symbols, np.full(tables.rights, len(forward))).reshape(before.shape)
    forward = np.vstack([forward, np.arange(tables.states)]).astype(np.uint16)
    if before.shape[0] ** 2 <= _SHARED_BYTES and (before[:-1] == before[:-1, :1]).all():
        after = np.append(before[:-1, 0], 0)  # right state 0 is that of the end of the text
        return _Steps(SymbolForm.PAIRS, before, forward, symbols[:, after].astype(np.uint8))
    return _Steps(SymbolForm.ROWS, before | symbols.astype(np.uint16) << 8, forward, none)


def _searcher(tables: MatchTables) -> _native.MatchSearcher:
    parts = (tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after)
    return _native.MatchSearcher(parts, tables.idles, None, None)


def _joined_rows(tables: MatchTables) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    """Return the number of the row of each class and right state, and the distinct rows: none if they would be too many."""
    rows = np.frombuffer(_searcher(tables).steps, np.uint16).reshape(-1, tables.states)
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    return number.reshape(-1), distinct
