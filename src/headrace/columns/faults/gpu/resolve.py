"""Fields that the kernels leave to the host, settled there by the native rules: texts in pieces that are too long for a thread,
and the text behind a record's last column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import Taken
from headrace.columns.convert.gpu.layouts import EMPTY, FAULT, FAULT_DEFERRED, has_offsets
from headrace.columns.faults.gpu.patch_strings import splice_texts
from headrace.columns.faults.gpu.remove_rows import PUT_VALUE, drop_texts, put_values
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.gpu.kernels.launcher import Launcher, Part, Room

_NULL, _VALUE, _FAULT = 0, 1, 2
"""SettledField::What."""
_MOST_STRING_BYTES = 0x7FFFFFFF
NO_FAULTS: NDArray[np.void] = np.zeros(0, FAULT)

Pieces = Callable[[NDArray[np.void]], tuple[bytes, int]]
"""The first bytes of the records of faults, which are sorted by record; see `record_pieces`."""
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
    pieces
        Gives the first bytes of records.
    """

    def __init__(
        self, source: _native.Source, dialect: _native.Dialect, plan: LoadPlan, *, begin: int, see: See, pieces: Pieces
    ) -> None:
        self._source, self._dialect, self._plan = source, dialect, plan
        self._begin, self._see, self._pieces = begin, see, pieces

    def settle(
        self, launcher: Launcher, taken: Sequence[Taken], table: Room, rows: int, deferred: NDArray[np.void]
    ) -> NDArray[np.void]:
        """Put the values of deferred fields into their columns, which `table` describes in this order; left are faults."""
        places = {one.position: number for number, one in enumerate(taken)}
        values: list[tuple[int, ...]] = []
        found = []
        mended: dict[int, list[tuple[int, bytes]]] = {}
        deferred = deferred[np.unique(deferred[["record", "column"]], return_index=True)[1]]
        for fault, (what, kind, at, low, high, text, is_mended) in zip(deferred, self._native(taken, deferred), strict=True):
            record, position = int(fault["record"]), int(fault["column"])
            one = taken[places[position]]
            # The kernels make a text before it is known to be one, unless it is short; and no other value.
            is_text = has_offsets(one.made) and one.guess != EMPTY
            made = is_text and int(fault["kind"]) == FAULT_DEFERRED
            one.replaced += is_mended
            if what == _FAULT:
                found.append(self._told(fault, kind, at))
            elif what not in (_NULL, _VALUE):
                self._see(position, kind, record, at)
            if is_text and what == _VALUE:
                if is_mended:
                    mended.setdefault(places[position], []).append((record, text))
                    one.nulls -= not made
            elif made != (what == _VALUE):
                values.append((record, low, high, places[position], made))
                one.nulls += 1 if made else -1
        if values:
            put = np.array(values, PUT_VALUE)
            put_values(launcher, table, put)
            for place in np.unique(put["column"][put["is_null"] != 0]).tolist():
                drop_texts(launcher, taken[place], rows, put["row"][(put["column"] == place) & (put["is_null"] != 0)])
        for place, texts in mended.items():
            listed = np.array([record for record, _ in texts], np.uint64)
            splice_texts(launcher, taken[place], rows, listed, [text for _, text in texts])
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
        for fault, (what, kind, at, _, _, text, is_mended) in zip(collected, self._native([one], collected), strict=True):
            one.replaced += is_mended
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

    def _native(self, taken: Sequence[Taken], fields: NDArray[np.void]) -> list[tuple[int, int, int, int, int, bytes, bool]]:
        if not len(fields):
            return []
        count = len(self._plan.columns)
        types: list[DataType | None] = [None] * count
        guesses: list[int | None] = [None] * count
        for one in taken:
            types[one.position], guesses[one.position] = one.made, one.guess
        with native_errors():
            given = (self._source, self._dialect, self._plan, self._begin, types, guesses)
            return _native.settle_fields(*given, fields.tobytes(), self._pieces(fields))
