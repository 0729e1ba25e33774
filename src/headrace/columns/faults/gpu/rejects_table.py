"""Builds the table of rejects: from faults on the host, or when it is first looked at, from faults on the GPU.

The report has all counts without the table. Until it is built, or released, faults on the GPU take 64 bytes each of device
memory, and the bytes of their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.source_positions import source_positions
from headrace.columns.column import Column
from headrace.columns.faults.gpu.faulty_records import FaultyRecords, GatheredRecords
from headrace.columns.faults.gpu.gather_records import RecordTexts
from headrace.columns.faults.gpu.sorted_faults import is_first
from headrace.columns.faults.rejects import no_rejects, rejects_of
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.lazy import LazyMapping, LazySequence
from headrace.core.process.process_lock import process_lock
from headrace.gpu.kernels.launcher import Launcher
from headrace.sources.open import OpenSource

_building = process_lock()


@dataclass(frozen=True, slots=True)
class RejectsTable:
    """A table of rejects."""

    rejects: Mapping[str, Column]
    faults: int  # number of faults, which may exceed its rows
    rejected_short: int  # number of rejected records that were counted as filled


@dataclass(frozen=True, slots=True)
class RejectsBuilder:
    """Builds tables of rejects of one text."""

    source: OpenSource
    dialect: _native.Dialect
    plan: LoadPlan
    begin: int  # byte of the source that the kernels count from

    def table(self, listed: NDArray[np.void], texts: RecordTexts, types: Sequence[DataType | None]) -> RejectsTable:
        """Return the table of listed faults. If some fault raises, the table has the first such fault alone.

        `listed`: the faults, sorted by record.
        """
        decoded = self.source.decoded
        with native_errors():
            if self.plan.part is not None:
                texts = texts._replace(lines=self._lines_of_part(listed))
            given = (self.source.native, self.dialect, self.plan, self.begin, list(types))
            columns, rows, faults, rejected_short = _native.rejects(*given, listed.view(np.uint8), texts)
        table = dict(rejects_of(dict(columns), rows))
        if decoded is not None:
            for name in ("line_byte", "byte"):
                table[name] = source_positions(table[name], decoded)
        return RejectsTable(table, faults, rejected_short)

    def table_later(
        self, launcher: Launcher, faults: FaultyRecords, ranks: Sequence[int], types: Sequence[DataType | None]
    ) -> RejectsTable:
        """Return the table of faults on the GPU, which is built when it is looked at; `ranks` as for `sort_faults`."""
        first_line = _native.line_numbers(self.source.native, [self.begin], 1)[0] if faults.are_lines else None
        gathered = faults.gather(launcher, first_line)
        parts = _LaterRejects(launcher.lasting(), gathered, self.dialect, self.plan, self.begin, types)
        return RejectsTable(parts.table(ranks), faults.summary.own + faults.summary.of_fields, 0)

    def _lines_of_part(self, listed: NDArray[np.void]) -> NDArray[np.uint64]:
        """Return the lines of the records of faults. For a part of a text the host counts them: it has the preceding bytes."""
        part, source, decoded = self.plan.part, self.source.native, self.source.decoded
        assert part is not None
        begins = listed["record_begin"]
        begins = begins[is_first(begins)] + np.uint64(self.begin)
        if decoded is not None:
            source, begins = decoded.source, decoded.origins(begins)
        numbers = _native.line_numbers(source, begins.tolist(), self.plan.threads, part.line_begin)
        return np.array(numbers, np.uint64) + np.uint64(part.lines)


@dataclass(frozen=True, slots=True)
class _LaterRejects:
    """The parts of a table of rejects. They do not refer to the text."""

    launcher: Launcher
    faults: GatheredRecords  # the faults on the GPU
    dialect: _native.Dialect
    plan: LoadPlan
    begin: int
    types: Sequence[DataType | None]  # types of the columns

    def table(self, ranks: Sequence[int]) -> LazyMapping[Column]:
        """Return the table; `ranks`: rank of each kind of fault in a record."""
        built = _OneTable(self, ranks)
        names = no_rejects().names
        return LazyMapping({name: number for number, name in enumerate(names)}, LazySequence(len(names), built.column))

    def build(self, ranks: Sequence[int]) -> Mapping[str, Column]:
        """Fetch the faults, and return the table's columns."""
        launcher = self.launcher
        with launcher.current(), native_errors():
            listed, texts = self.faults.fetch(launcher, ranks, self.plan.threads)
            given = (_native.Source.from_bytes(b""), self.dialect, self.plan, self.begin, list(self.types))
            columns, rows, _, _ = _native.rejects(*given, listed.view(np.uint8), texts)
        return rejects_of(dict(columns), rows)


class _OneTable:
    """Builds a table once, from any thread, and then releases its parts."""

    def __init__(self, parts: _LaterRejects, ranks: Sequence[int]) -> None:
        self._parts: _LaterRejects | None = parts
        self._ranks = ranks
        self._columns: Mapping[str, Column] = {}

    def column(self, number: int) -> Column:
        with _building:
            if self._parts is not None:
                self._columns = self._parts.build(self._ranks)
                self._parts = None
        return self._columns[no_rejects().names[number]]
