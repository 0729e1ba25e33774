"""Builds the table of rejects from faults on a GPU when the table is first looked at.

The report has all counts without the table. Until it is built, or released, its faults take 64 bytes each of device memory, and
the bytes of their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.faults.gpu.faulty_records import GatheredRecords
from headrace.columns.faults.rejects import no_rejects, rejects_of
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.lazy import LazyMapping, LazySequence
from headrace.core.process_lock import process_lock
from headrace.gpu.kernels.launcher import Launcher

_building = process_lock()


@dataclass(frozen=True, slots=True)
class LaterRejects:
    """The parts of a table of rejects. They do not refer to the text.

    Parameters
    ----------
    launcher, faults
        Execution context of the kernels, and the faults on the GPU.
    dialect, plan, begin
        As for `headrace.columns.faults.gpu.fault_list.FaultList`.
    types
        Types of the columns.
    """

    launcher: Launcher
    faults: GatheredRecords
    dialect: _native.Dialect
    plan: LoadPlan
    begin: int
    types: Sequence[DataType | None]

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

    def __init__(self, parts: LaterRejects, ranks: Sequence[int]) -> None:
        self._parts: LaterRejects | None = parts
        self._ranks = ranks
        self._columns: Mapping[str, Column] = {}

    def column(self, number: int) -> Column:
        """Return a column of the table."""
        with _building:
            if self._parts is not None:
                self._columns = self._parts.build(self._ranks)
                self._parts = None
        return self._columns[no_rejects().names[number]]
