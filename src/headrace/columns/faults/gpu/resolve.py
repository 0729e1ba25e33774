"""Resolves fields that the conversion kernels leave to the host, by the native rules.

These are texts in several pieces that exceed a thread's buffer, strings with invalid UTF-8, and the text after the last
column of long records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.convert.gpu.column_group import ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import EMPTY, FAULT, FAULT_DEFERRED
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import RecordTexts
from headrace.columns.faults.gpu.patch_strings import patch_strings
from headrace.columns.faults.gpu.remove_rows import STORED_VALUE, remove_texts, store_values
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType, has_offsets
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher

_NULL, _VALUE, _FAULT = 0, 1, 2  # ResolvedField::Resolution of columns/faults/resolve.hpp
_MAX_STRING_BYTES = 0x7FFFFFFF

NO_TEXTS = RecordTexts(np.zeros(0, np.uint8), np.zeros(0, np.uint64), np.zeros(0, np.uint64))

Texts = Callable[[NDArray[np.void]], RecordTexts]  # returns the texts of the records of faults, which are sorted by record
See = Callable[[int, int, int, int], None]
"""Receives a field of a kind that its column's guess does not cover: column, kind, record from 0, byte of the source."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The results of a conversion."""

    columns: ColumnGroupBuffers
    table: DeviceBuffer  # the kernels' table of these columns
    faults: DeviceBuffer  # the list of faults
    totals: NDArray[np.uint64]  # TOTALS_WORDS words
    seen: NDArray[np.uint64]  # indices of the records in which kinds were first seen
    counted: DeviceBuffer  # a word with the number of faults
    found: FaultyRecords | None  # the records of the list, if the kernels that find them were launched with the conversion

    def listed(self, count: int) -> DeviceBuffer:
        """Return the first `count` faults of the list."""
        return BufferSlice(self.faults, 0, count * FAULT.itemsize)

    @property
    def separate(self) -> list[ColumnBuffers]:
        """The columns one by one."""
        return self.columns.split()


class FieldsOnHost:
    """Resolves fields of one load on the host.

    `source`, `dialect`, `plan`: the parameters of the load, as the native code reads them.
    `begin`: byte of the source that positions in faults count from.
    `see`: receives kinds of fields.
    `texts`: returns the texts of records.
    """

    def __init__(
        self, source: _native.Source, dialect: _native.Dialect, plan: LoadPlan, *, begin: int, see: See, texts: Texts
    ) -> None:
        self._source, self._dialect, self._plan = source, dialect, plan
        self._begin, self._see, self._texts = begin, see, texts

    def resolve(self, launcher: Launcher, conversion: Conversion, deferred: NDArray[np.void]) -> NDArray[np.void]:
        """Store the values of deferred fields, and return those fields that are faults.

        `deferred`: the fields, as the kernels listed them, sorted by record and column.
        """
        columns, rows = conversion.separate, conversion.columns.rows
        numbers = {column.position: number for number, column in enumerate(columns)}
        values: list[tuple[int, ...]] = []
        faults = []
        mended: dict[int, list[tuple[int, bytes]]] = {}
        records, positions = deferred["record"], deferred["column"]
        deferred = deferred[np.append(True, (records[1:] != records[:-1]) | (positions[1:] != positions[:-1]))]
        for fault, (outcome, kind, at, low, high, text, is_mended) in zip(deferred, self._native(columns, deferred), strict=True):
            record, position = int(fault["record"]), int(fault["column"])
            number = numbers[position]
            column = columns[number]
            # The kernels store a text before it is validated, unless it is short. They store no other deferred value.
            is_text = has_offsets(column.stored_type) and column.guess != EMPTY
            is_stored = is_text and int(fault["kind"]) == FAULT_DEFERRED
            column.replaced += is_mended
            if outcome == _FAULT:
                faults.append(self._as_fault(fault, kind, at))
            elif outcome not in (_NULL, _VALUE):
                self._see(position, kind, record, at)
            if is_text and outcome == _VALUE:
                if is_mended:
                    mended.setdefault(number, []).append((record, text))
                    column.nulls -= not is_stored
            elif is_stored != (outcome == _VALUE):
                values.append((record, low, high, number, is_stored))
                column.nulls += 1 if is_stored else -1
        if values:
            stored = np.array(values, STORED_VALUE)
            store_values(launcher, conversion.table, stored)
            for number in np.unique(stored["column"][stored["is_null"] != 0]).tolist():
                is_null = (stored["column"] == number) & (stored["is_null"] != 0)
                remove_texts(launcher, columns[number], rows, stored["row"][is_null])
        for number, texts in mended.items():
            records = np.array([record for record, _ in texts], np.uint64)
            patch_strings(launcher, columns[number], rows, records, [text for _, text in texts])
        return np.array(faults, FAULT)

    def collect(self, launcher: Launcher, column: ColumnBuffers, rows: int, collected: NDArray[np.void]) -> NDArray[np.void]:
        """Make the column of the text after the last column of long records, and return faults.

        Host memory: 8 bytes a row.

        `collected`: the long records, as the kernels listed them, sorted by record.
        """
        collected = collected.copy()
        collected["column"] = column.position
        sizes: NDArray[np.int64] = np.zeros(rows + 1, np.int64)
        valid: NDArray[np.bool_] = np.zeros(rows, np.bool_)
        texts, faults = [], []
        for fault, (outcome, kind, at, _, _, text, is_mended) in zip(collected, self._native([column], collected), strict=True):
            column.replaced += is_mended
            if outcome == _VALUE:
                record = int(fault["record"])
                sizes[record + 1], valid[record] = len(text), True
                texts.append(text)
            elif outcome == _FAULT:
                faults.append(self._as_fault(fault, kind, at))
        offsets = np.cumsum(sizes, out=sizes)
        column.large = int(offsets[-1]) > _MAX_STRING_BYTES
        column.nulls = rows - len(texts)
        column.buffers["values"] = launcher.put(np.frombuffer(b"".join(texts), np.uint8))
        column.allocate(launcher, rows)
        launcher.put(offsets if column.large else offsets.astype(np.int32), column.buffers["offsets"])
        bits = np.packbits(valid, bitorder="little")
        if len(bits):
            launcher.put(bits, BufferSlice(column.buffers["validity"], 0, len(bits)))
        return np.array(faults, FAULT)

    def _as_fault(self, fault: np.void, kind: int, at: int) -> np.void:
        fault["kind"], fault["at"] = kind, at - self._begin
        return fault

    def _native(
        self, columns: Sequence[ColumnBuffers], fields: NDArray[np.void]
    ) -> list[tuple[int, int, int, int, int, bytes, bool]]:
        """Return of each field its outcome, kind, byte, the two words of its value, its text, and whether that was mended."""
        if not len(fields):
            return []
        count = len(self._plan.columns)
        types: list[DataType | None] = [None] * count
        guesses: list[int | None] = [None] * count
        for column in columns:
            types[column.position], guesses[column.position] = column.stored_type, column.guess
        with native_errors():
            load = (self._source, self._dialect, self._plan, self._begin, types, guesses)
            return _native.resolve_fields(*load, np.ascontiguousarray(fields).view(np.uint8), self._texts(fields))
