"""Inference of types on a GPU: what the first records suggest, what the conversion saw, and which columns it is to make again."""

from __future__ import annotations

from collections.abc import Mapping

from headrace import _native
from headrace.columns.columns_gpu import GIVEN, SETTLED, PlanOnGpu, kind_type
from headrace.columns.load import Evidence, LoadPlan, native_errors
from headrace.sources.open import OpenSource

_EMPTY, _BIG_INT = 0, 5
_TEXT_PER_SAMPLE, _LEAST_SAMPLE, _MOST_SAMPLE = 64, 8 << 10, 256 << 10
"""Bytes of the first sample. A thread of the host looks at 0.2 GB a second, and the card converts a wrong guess again at
hundreds, so the sample of a small text is small. What is found does not depend on it."""


class Inference:
    """The types of one load, as far as they are not given.

    Parameters
    ----------
    source, dialect, plan
        As in `headrace.columns.load_gpu.load_on_gpu`.
    known
        The plan on a GPU.
    begin
        Byte of the source that the kernels count from.
    """

    def __init__(self, source: OpenSource, dialect: _native.Dialect, plan: LoadPlan, known: PlanOnGpu, begin: int) -> None:
        self._source, self._dialect, self._plan, self._known, self._begin = source.native, dialect, plan, known, begin
        self._ledger = _native.KindLedger(len(plan.columns) if known.inferred else 0)

    def first(self) -> bytes:
        """What each wanted column is taken for at first: its kind, or `GIVEN`."""
        known = self._known
        if not known.inferred:
            return bytes([GIVEN]) * len(known.wanted)
        with native_errors():
            size = self._plan.end - self._begin
            least = max(_LEAST_SAMPLE, self._plan.tile_bytes // 16)  # a tile has 256 records, if they are long
            sample = min(max(size // _TEXT_PER_SAMPLE, least), _MOST_SAMPLE)
            self._ledger.sample(self._source, self._dialect, self._plan, sample)
        kinds = dict(zip(known.inferred, self._ledger.kinds(known.inferred), strict=True))
        return bytes(kinds.get(position, GIVEN) for position in known.wanted)

    def see(self, positions: list[int], met: bytes) -> None:
        """Take what a conversion saw in columns: of each kind the first field, and its record."""
        self._ledger.see(self._source, self._dialect, self._begin, positions, met)

    def changed(self, taken: Mapping[int, int]) -> dict[int, int]:
        """Columns that are to be converted again, because their guess did not hold; native: follow_ledger.

        By position the kinds that they were taken for, and are to be taken for.
        """
        again: dict[int, int] = {}
        if not self._known.inferred:
            return again
        for position, now in zip(self._known.inferred, self._ledger.kinds(self._known.inferred), strict=True):
            before = taken[position]
            if before == SETTLED:
                continue
            if now == _BIG_INT and before == _BIG_INT:
                again[position] = SETTLED  # no float among the long integers: they are text
            elif now == _BIG_INT or (before == _EMPTY and now != _EMPTY) or kind_type(now) != kind_type(before):
                again[position] = now
        return again

    def evidence(self) -> tuple[Evidence | None, ...]:
        """For the type of each column."""
        found: list[Evidence | None] = [None] * len(self._plan.columns)
        for position in self._known.inferred:
            seen = self._ledger.evidence(position)
            if seen is not None:
                found[position] = Evidence(*seen[:3])
        return tuple(found)
