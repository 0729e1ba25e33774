"""Inference of types on a GPU: what the first records suggest, what the conversion saw, and which columns it is to make again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.columns_gpu import Taken
from headrace.columns.load import Evidence, LoadPlan, native_errors, type_named
from headrace.sources.open import OpenSource
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect

_SHOWN = 100
_LONGEST = 8
"""Bytes of a delimiter."""
_EMPTY, _BIG_INT = 0, 5
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
            self.see_field(position, kind, int(met[1, kind]), self._begin + int(met[0, kind]))

    def see_field(self, position: int, kind: int, record: int, at: int) -> None:
        """Take one field of a kind; `record` counts from 0, `at` is its byte in the source."""
        self._ledger.see(position, kind, record + 1, at, self._field_text(at))

    def changed(self, columns: dict[int, Taken]) -> list[Taken]:
        """Columns that are to be converted again, because their guess did not hold; native: follow_ledger."""
        again = []
        for position, one in columns.items():
            if one.guess is None:
                continue
            now = self._taken(position)
            if now.guess == _BIG_INT and one.guess == _BIG_INT:
                again.append(Taken(position, one.type, None))  # no float among the long integers: they are text
            elif now.guess == _BIG_INT or (one.guess == _EMPTY and now.guess != _EMPTY) or now.type != one.type:
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
        source, dialect = self._source.native, self._dialect
        text = source.read(at, _SHOWN + _LONGEST)
        whole = _field_in(text, dialect, opens=True)
        quote = dialect.quote or b""
        if not dialect.lenient or not text[: len(whole)].lstrip(b" ").startswith(quote):
            return whole[:_SHOWN]
        # Whether a lenient quote opens the field may hang on all that follows; without its quotes the text is another.
        plain = _field_in(text, dialect, opens=False)
        found: bytes = _native.peek(source, _native.Dialect.make(dialect), "", at, 1)[0][1][0]
        own = plain.lstrip(b" ") if dialect.skip_initial_space else plain
        return (plain if found[:_SHOWN] == own[:_SHOWN] else whole)[:_SHOWN]


def _field_in(text: bytes, dialect: Dialect, *, opens: bool) -> bytes:
    """The field that `text` begins with, as far as it is there; `opens`: what a quote at its start does."""
    automaton = dialect.automaton
    begun = dialect.quote is None
    state = automaton.run(0, b"x" + dialect.sep)
    for length, byte in enumerate(text):
        group = automaton.class_of[byte]
        if not begun and byte == (dialect.quote or b"\0")[0] and not opens and automaton.unreal_group is not None:
            group = automaton.unreal_group
        begun = begun or byte != ord(" ")
        emit, state = automaton.emit[group][state], automaton.next[group][state]
        if emit & (Emit.FLD | Emit.REC):
            return text[: length + 1 - (automaton.sep_length if emit & Emit.FLD else automaton.line_end_length)]
    return text
