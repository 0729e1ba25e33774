"""Faults of fields that the conversion on a GPU met, listed there, and the table of rejects that they become.

A fault that leaves its record in the table is listed and told in full. Where there are others, or more than there is room
for, the text is the native loader's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.convert_gpu import FAULT
from headrace.columns.load import LoadPlan, column_of
from headrace.columns.types import DataType
from headrace.core.launcher import Launcher, Part, Room
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

_MOST_FAULTS = 4096
_OF_VALUES = {0, 1, 2}
"""Faults that concern a field alone: type, overflow, encoding."""


class FaultsOfLoad:
    """The faults of one load.

    Parameters
    ----------
    launcher
        Where kernels run.
    source, dialect, plan
        As in `headrace.columns.load_gpu.load_on_gpu`.
    begin
        Byte of the source that the kernels count from.
    none
        The table of rejects without a row.
    """

    def __init__(
        self, launcher: Launcher, source: OpenSource, dialect: Dialect, plan: LoadPlan, *, begin: int, none: dict[str, Column]
    ) -> None:
        self._launcher, self._source, self._dialect, self._plan = launcher, source, dialect, plan
        self._begin, self._none = begin, none
        self._faults: list[NDArray[np.void]] = []
        self.limit = _MOST_FAULTS if plan.values.on_error == "null" and not plan.zones else 0
        """So many are listed at a time."""

    def room(self) -> Room:
        """Where a conversion lists its faults."""
        return self._launcher.room(self.limit * FAULT.itemsize)

    def take(self, listed: Room, count: int, converted: set[int]) -> bool:
        """Keep the faults of the columns just converted, in place of those of an earlier time; whether that can be done."""
        if count > self.limit:
            return False
        self._faults = [fault for fault in self._faults if int(fault["column"]) not in converted]
        if count:
            faults = self._launcher.fetch(Part(listed, 0, count * FAULT.itemsize)).view(FAULT)
            if not set(faults["kind"].tolist()) <= _OF_VALUES:
                return False
            self._faults += list(faults)
        return True

    def rejects(self, types: Sequence[DataType | None]) -> dict[str, Column]:
        """A row for each fault, by record, then column; `types` are those of the columns, None where none is wanted."""
        if not self._faults:
            return self._none
        source, dialect = self._source.native, _native.Dialect.make(self._dialect)
        listed = []
        for fault in sorted(self._faults, key=lambda one: (one["record"], one["column"], one["at"])):
            begin, end, record, at = (self._begin + int(fault[name]) for name in ("begin", "end", "record_begin", "at"))
            text = _native.peek(source, dialect, "", record, 1)[0][3]
            place = (int(fault["record"]) + 1, record, at, int(fault["column"]), int(fault["kind"]))
            listed.append((*place, source.read(begin, end - begin), text))
        made = _native.rejects(source, self._plan, types, listed)
        return {name: column_of(parts, len(listed)) for name, parts in made}
