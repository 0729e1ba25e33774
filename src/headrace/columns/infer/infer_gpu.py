"""Infers types in a load on a GPU: a first guess from a sample, updates from conversions, and the columns to convert again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from headrace import _native
from headrace.columns.buffers.load_result import Evidence, evidence_of
from headrace.columns.convert.gpu.column_group import AS_TEXT, GIVEN, GpuPlan, kind_type
from headrace.columns.convert.gpu.layouts import EMPTY, NATURAL, NEGATIVE, SIGHTINGS
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.core.lazy import LazySequence
from headrace.sources.open import OpenSource
from headrace.structure.automaton import Emit
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES

_SHOWN = 100
_MAX_DELIMITER_BYTES = 8  # maximum bytes of a delimiter
_NEVER = 2**64 - 1
_FILE_PER_SAMPLE = 16
_SHORT_TEXT, SHORT_SAMPLE, _SAMPLE, _MAX_SAMPLE = 16 << 20, 4 << 10, 8 << 10, 48 << 10
"""Bytes of the first sample. A host thread classifies 0.1 to 0.4 GB a second while the GPU waits. The GPU converts a wrong guess
again at 300 GB a second plus 0.1 ms. So a sample costs about as much as a wrong guess. Usually the host has these bytes
anyway. The sample's size does not affect the result."""
_LARGER_SAMPLE = 128 << 10
"""End of the second sample of a long text, in the source. It is for columns that have no value in the first one."""
_BYTES_PER_COLUMN = 128
"""Bytes of a sample for each inferred column. A table of 300 columns that are 97 % empty has a value in most columns of 38 KB,
and in half of the columns of 8 KB. Columns without a value in the samples are converted twice."""


class Inference:
    """Inferred types of one load.

    `source`, `dialect`, `plan`: as in `headrace.columns.load.gpu.load.load_on_gpu`.
    `begin`: byte of the source at which the kernels' positions begin.
    `share`: state in common with the loads of other files.
    Positions refer to the source, also if it was decoded to the text that the kernels read.
    """

    def __init__(
        self,
        source: OpenSource,
        dialect: Dialect,
        plan: LoadPlan,
        gpu_plan: GpuPlan,
        begin: int,
        *,
        share: _native.LoadShare | None = None,
    ) -> None:
        self._source, self._dialect, self._plan, self._gpu_plan, self._begin = source.native, dialect, plan, gpu_plan, begin
        self._native = native_dialect(dialect)
        size = plan.end - begin
        of_columns = min(max(_SAMPLE, _BYTES_PER_COLUMN * len(gpu_plan.inferred)), _MAX_SAMPLE)
        self._sample = of_columns if size >= _SHORT_TEXT else SHORT_SAMPLE
        if plan.tile_bytes > DEFAULT_TILE_BYTES:  # then it has 256 records, which are long
            self._sample = min(max(self._sample, plan.tile_bytes // 32), _MAX_SAMPLE)
        self._larger = max(self._sample, _LARGER_SAMPLE - begin) if size >= _SHORT_TEXT else 0
        self.sample_end = 0  # end of what the first guess has read, in the source
        self._decoded = source.decoded
        self._records = 0 if plan.part is None else plan.part.records
        self._ledger = _native.KindLedger(len(plan.columns) if gpu_plan.inferred or share else 0, plan.file)
        self._share = share
        if share is not None:
            share.show(self._ledger, plan.share_columns)

    def share(self) -> None:
        """Share the kinds seen with the loads of other files, if there are any."""
        if self._share is not None:
            self._share.take(self._ledger, self._plan.share_columns)

    def fetch_sample(self) -> None:
        """Fetch the sample to the host, before work is launched that the copy would wait for."""
        is_wide = self._sample > _SAMPLE and self._larger  # some columns may have no value in the first sample
        size = min(self._larger if is_wide else self._sample, self._plan.end - self._begin)
        if self._gpu_plan.inferred and size > 0 and self._decoded is None:
            self._source.read(self._begin + size - 1, 1)

    def first(self, expected: bytes = b"") -> bytes:
        """Return the first guess for each wanted column: its kind, or `GIVEN`.

        `expected`: kinds of the inferred columns in an earlier text. If half of the sample has them, the rest is not read.
        """
        gpu_plan = self._gpu_plan
        if not gpu_plan.inferred:
            return bytes([GIVEN]) * len(gpu_plan.wanted)
        # Kinds from other files are enough for a small file, and kinds from preceding parts for any part.
        small = self._share is not None and self._plan.end - self._begin < _FILE_PER_SAMPLE * self._sample
        if not self._records and (not small or EMPTY in self._ledger.kinds(gpu_plan.inferred_words)):
            with native_errors():
                source, plan = (self._source, self._plan) if self._decoded is None else self._original()
                native_plan = gpu_plan.native if plan.part is None else _native.NativePlan(plan)
                place = plan.begin, plan.end, plan.data_begin, plan.tile_bytes
                for sample in (self._sample // 2, self._sample)[not expected :]:
                    self.sample_end = self._begin + sample
                    self._ledger.sample(source, self._native, native_plan, place, sample)
                    if self._kinds() == expected:
                        break
                if self._larger and self._kinds() != expected and EMPTY in self._ledger.kinds(gpu_plan.inferred_words):
                    self.sample_end = self._begin + self._larger
                    self._ledger.sample(source, self._native, native_plan, place, self._larger, only_empty=True)
        found = self._ledger.kinds(gpu_plan.inferred_words, first_guess=True)
        if len(found) == len(gpu_plan.wanted):
            return found
        kinds = dict(zip(gpu_plan.inferred, found, strict=True))
        return bytes(kinds.get(position, GIVEN) for position in gpu_plan.wanted)

    def see(self, positions: list[int], first_seen: bytes) -> None:
        """Record the kinds that a conversion saw: for each column the first field of each kind, then the records of these."""
        if not self._dialect.looks_ahead and self._decoded is None and not self._records:
            self._ledger.see_all(self._source, self._native, self._begin, positions, first_seen)
            return
        seen = np.frombuffer(first_seen, np.uint64).reshape(len(positions), 2, SIGHTINGS)
        for position, (begins, records) in zip(positions, seen.tolist(), strict=True):
            for kind, begin in enumerate(begins):
                if begin != _NEVER:
                    self.see_field(position, kind, records[kind], self._begin + begin)

    def see_field(self, position: int, kind: int, record: int, at: int) -> None:
        """Record one field of a kind; `record` counts from 0, `at` is its byte in the source."""
        place = at if self._decoded is None else int(self._decoded.origins(np.array([at], np.uint64))[0])
        self._ledger.see(position, kind, self._records + record + 1, place, self._field_text(at))

    def _original(self) -> tuple[_native.Source, LoadPlan]:
        """Return source and plan as they were before the source was decoded."""
        assert self._decoded is not None
        begin, end, data_begin = self._decoded.origins(
            np.array([self._plan.begin, self._plan.end, self._plan.data_begin], np.uint64)
        ).tolist()
        return self._decoded.source, replace(self._plan, begin=begin, end=end, data_begin=data_begin)

    def is_right(self, guesses: bytes) -> bool:
        """Return whether all inferred columns have values of the kinds that were guessed for them in order, or none as guessed.

        Signs of integers do not matter: beside uint64 they are text, which is another kind. A column that has null words alone is
        text with these words as values, so its guess was wrong.
        """
        found = self._kinds()
        if found != _without_signs(guesses):
            return False
        forms, inferred = self._plan.forms, self._gpu_plan.inferred
        return not any(forms.of(inferred[at]).null_words for at, kind in enumerate(found) if kind == EMPTY)

    def _kinds(self) -> bytes:
        """Return the kinds of the inferred columns. Negative numbers are natural ones, as in the first guess."""
        return _without_signs(self._ledger.kinds(self._gpu_plan.inferred_words))

    def changed(self, converted: Mapping[int, int]) -> dict[int, int]:
        """Return the columns to convert again because their guess was wrong (natively: follow_ledger).

        `converted` and the result map positions to kinds: those converted, and those to convert.
        """
        again: dict[int, int] = {}
        for position, now in zip(self._gpu_plan.inferred, self._ledger.kinds(self._gpu_plan.inferred_words), strict=True):
            before = converted[position]
            if before == AS_TEXT:
                continue
            if now == before == EMPTY and self._plan.forms.of(position).null_words:
                again[position] = AS_TEXT  # the column has no value: it is text, and its null words are values
            elif now != before and (before == EMPTY or kind_type(now) != kind_type(before)):
                again[position] = now
        return again

    def evidence(self) -> Sequence[Evidence | None]:
        """Return the evidence for each column's type, built lazily. No more kinds are recorded afterwards."""
        return LazySequence(len(self._plan.columns), partial(_evidence_at, self._ledger, self._gpu_plan.inferred_set))

    def _field_text(self, at: int) -> bytes:
        """Return the first bytes of the raw text of the field that begins there."""
        source, dialect = self._source, self._dialect
        text = source.read(at, _SHOWN + _MAX_DELIMITER_BYTES)
        whole = _field_in(text, dialect, opens=True)
        quote = dialect.quote_char or b""
        if not dialect.looks_ahead or not text[: len(whole)].lstrip(b" ").startswith(quote):
            return whole[:_SHOWN]
        # Whether a lenient quote opens the field may depend on all following bytes; without its quotes the text differs.
        plain = _field_in(text, dialect, opens=False)
        parsed: bytes = _native.peek(source, self._native, "", at, 1)[0][1][0]
        return (plain if parsed[:_SHOWN] == dialect.trimmed(plain)[:_SHOWN] else whole)[:_SHOWN]


def _without_signs(kinds: bytes) -> bytes:
    return kinds.replace(bytes([NEGATIVE]), bytes([NATURAL]))


def _evidence_at(ledger: _native.KindLedger, inferred: frozenset[int], position: int) -> Evidence | None:
    return evidence_of(ledger.evidence(position)) if position in inferred else None


def _field_in(text: bytes, dialect: Dialect, *, opens: bool) -> bytes:
    """Return the part of the first field that is in `text`; `opens`: whether a quote at its begin opens it."""
    automaton = dialect.automaton
    begun = dialect.quote_char is None
    state = automaton.run(0, b"x" + dialect.sep)
    for length, byte in enumerate(text):
        group = automaton.class_of[byte]
        if not begun and byte == (dialect.quote_char or b"\0")[0] and not opens and automaton.unreal_group is not None:
            group = automaton.unreal_group
        begun = begun or byte != ord(" ")
        emit, state = automaton.emit[group][state], automaton.next[group][state]
        if emit & (Emit.FIELD | Emit.RECORD):
            return text[: length + 1 - (automaton.sep_length if emit & Emit.FIELD else automaton.line_end_length)]
    return text
