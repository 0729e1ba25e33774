"""Inference of types on a GPU: what the first records suggest, what the conversion saw, and which columns it is to make again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.columns_gpu import Taken
from headrace.columns.convert_gpu import BIG_INT, EMPTY
from headrace.columns.load import Evidence, LoadPlan, native_errors, type_named
from headrace.sources.open import OpenSource
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect

_SHOWN = 100
_NEVER = 2**64 - 1


class Inference:
    """The types of one load, as far as they are not given.

    Parameters
    ----------
    source, dialect, plan
        As in `headrace.columns.load_gpu.load_on_gpu`.
    begin
        Byte of the source that the kernels count from.
    """

    def __init__(self, source: OpenSource, dialect: Dialect, plan: LoadPlan, begin: int) -> None:
        self._source, self._dialect, self._plan, self._begin = source, dialect, plan, begin
        self._ledger = _native.KindLedger(len(plan.columns))

    def first(self) -> list[Taken]:
        """What each column is taken for at first."""
        plan = self._plan
        if any(wanted and type_ is None for _, type_, wanted in plan.columns):
            with native_errors():
                self._ledger.sample(self._source.native, _native.Dialect.make(self._dialect), plan)
        return [
            self._taken(position) if type_ is None else Taken(position, type_, None)
            for position, (_, type_, wanted) in enumerate(plan.columns)
            if wanted
        ]

    def see(self, position: int, met: NDArray[np.uint64]) -> None:
        """Take what a conversion saw in a column: of each kind the first field, and its record."""
        for kind in np.flatnonzero(met[0] != _NEVER).tolist():
            at = self._begin + int(met[0, kind])
            self._ledger.see(position, kind, int(met[1, kind]) + 1, at, self._field_text(at))

    def changed(self, columns: dict[int, Taken]) -> list[Taken]:
        """Columns that are to be converted again, because their guess did not hold; native: follow_ledger."""
        again = []
        for position, one in columns.items():
            if one.guess is None:
                continue
            now = self._taken(position)
            if now.guess == BIG_INT and one.guess == BIG_INT:
                again.append(Taken(position, one.type, None))  # no float among the long integers: they are text
            elif now.guess == BIG_INT or (one.guess == EMPTY and now.guess != EMPTY) or now.type != one.type:
                again.append(now)
        return again

    def evidence(self) -> tuple[Evidence | None, ...]:
        """For the type of each column."""
        found: list[Evidence | None] = [None] * len(self._plan.columns)
        for position, (_, type_, wanted) in enumerate(self._plan.columns):
            seen = self._ledger.evidence(position) if wanted and type_ is None else None
            if seen is not None:
                found[position] = Evidence(*seen[:3])
        return tuple(found)

    def _taken(self, position: int) -> Taken:
        return Taken(position, type_named(self._ledger.type(position)), self._ledger.kind(position))

    def _field_text(self, at: int) -> bytes:
        """The raw text of the field that begins there, its first bytes."""
        text, state = self._source.native.read(at, _SHOWN), 0
        for length, byte in enumerate(text):
            state, emit = self._dialect.automaton.step(state, byte)
            if emit & (Emit.FLD | Emit.REC):
                return text[:length]
        return text
