"""Fields that the kernels leave to the host, settled there by the native rules: texts in pieces that are too long for a thread,
and the text behind a record's last column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.columns_gpu import Taken
from headrace.columns.convert_gpu import FAULT
from headrace.columns.drop_gpu import PUT_VALUE, put_values
from headrace.columns.load import LoadPlan, native_errors
from headrace.columns.types import DataType
from headrace.core.launcher import Launcher, Part, Room

_NULL, _VALUE, _FAULT = 0, 1, 2
"""SettledField::What."""
_MOST_STRING_BYTES = 0x7FFFFFFF
NO_FAULTS: NDArray[np.void] = np.zeros(0, FAULT)

See = Callable[[int, int, int, int], None]
"""Takes a field of a kind that its column's guess does not hold: the column, kind, record from 0, byte of the source."""


class FieldsOnHost:
    """The fields of one load that are settled on the host.

    Parameters
    ----------
    source, dialect, plan
        As the native loader takes them.
    begin
        Byte of the source that faults count from.
    see
        Takes kinds of fields.
    """

    def __init__(self, source: _native.Source, dialect: _native.Dialect, plan: LoadPlan, *, begin: int, see: See) -> None:
        self._source, self._dialect, self._plan = source, dialect, plan
        self._begin, self._see = begin, see

    def settle(self, launcher: Launcher, taken: Sequence[Taken], table: Room, deferred: NDArray[np.void]) -> NDArray[np.void]:
        """Put the values of deferred fields into their columns, which `table` describes in this order; left are faults."""
        places = {one.position: number for number, one in enumerate(taken)}
        values: list[tuple[int, ...]] = []
        found = []
        deferred = np.sort(deferred, order="record")
        for fault, (what, kind, at, low, high, _) in zip(deferred, self._native(taken, deferred), strict=True):
            record, position = int(fault["record"]), int(fault["column"])
            if what == _VALUE:
                values.append((record, low, high, places[position], 0))
                taken[places[position]].nulls -= 1
            elif what == _FAULT:
                found.append(self._told(fault, kind, at))
            elif what != _NULL:
                self._see(position, kind, record, at)
        if values:
            put_values(launcher, table, np.array(values, PUT_VALUE))
        return np.array(found, FAULT)

    def collect(self, launcher: Launcher, one: Taken, rows: int, collected: NDArray[np.void]) -> NDArray[np.void]:
        """Make the column of what is behind the last column of these records; what is left are faults.

        Memory of the host: 8 bytes a row.
        """
        collected = np.sort(collected, order="record")
        collected["column"] = one.position
        sizes: NDArray[np.int64] = np.zeros(rows + 1, np.int64)
        valid: NDArray[np.bool_] = np.zeros(rows, np.bool_)
        texts, found = [], []
        for fault, (what, kind, at, _, _, text) in zip(collected, self._native([one], collected), strict=True):
            if what == _VALUE:
                record = int(fault["record"])
                sizes[record + 1], valid[record] = len(text), True
                texts.append(text)
            elif what == _FAULT:
                found.append(self._told(fault, kind, at))
        offsets = np.cumsum(sizes, out=sizes)
        one.large = int(offsets[-1]) > _MOST_STRING_BYTES
        one.nulls = rows - len(texts)
        one.rooms["values"] = launcher.put(np.frombuffer(b"".join(texts), np.uint8))
        one.make_rooms(launcher, rows)
        launcher.put(offsets if one.large else offsets.astype(np.int32), one.rooms["offsets"])
        bits = np.packbits(valid, bitorder="little")
        if len(bits):
            launcher.put(bits, Part(one.rooms["validity"], 0, len(bits)))
        return np.array(found, FAULT)

    def _told(self, fault: np.void, kind: int, at: int) -> np.void:
        fault["kind"], fault["at"] = kind, at - self._begin
        return fault

    def _native(self, taken: Sequence[Taken], fields: NDArray[np.void]) -> list[tuple[int, int, int, int, int, bytes]]:
        if not len(fields):
            return []
        count = len(self._plan.columns)
        types: list[DataType | None] = [None] * count
        guesses: list[int | None] = [None] * count
        for one in taken:
            types[one.position], guesses[one.position] = one.made, one.guess
        with native_errors():
            return _native.settle_fields(self._source, self._dialect, self._plan, self._begin, types, guesses, fields.tobytes())
