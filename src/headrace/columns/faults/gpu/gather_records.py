"""Copies some records from a text on a GPU to the host (size_records.cu, gather_records.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import known_dfa_tables

_SIZE = Entry("columns/faults/gpu/size_records.cu", "size_records", "PQPPPQP")
_GATHER = Entry("columns/faults/gpu/gather_records.cu", "gather_records", "PPPQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_BLOCK_RECORDS = _THREADS // 32
MAX_RECORD_BYTES = 16 << 10
BATCH_BYTES = 64 << 20


class RecordTexts(NamedTuple):
    """Texts of records with their line ends, concatenated.

    Parameters
    ----------
    bytes
        The texts.
    ends
        End of each text as an unsigned 64-bit integer. Records that are very long, or have no line end, have an empty text.
    """

    bytes: NDArray[np.uint8]
    ends: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class LocatedRecords:
    """A text in which records are located by their first bytes.

    Parameters
    ----------
    text
        The text in device memory, from the begin of the data.
    dialect
        The dialect of the text.
    marks
        A bit for each byte, set for lenient quotes that open no field; None if no quote is malformed or quotes are strict.
    """

    text: DeviceBuffer
    dialect: Dialect
    marks: DeviceBuffer | None

    def texts(self, launcher: Launcher, begins: NDArray[np.uint64]) -> RecordTexts:
        """Return the texts of the records that begin at these bytes. The host waits once, and once more for each 64 MiB.

        Device memory: 16 bytes a record, and up to 64 MiB.
        """
        count = len(begins)
        tables = known_dfa_tables(self.dialect)
        table = launcher.put(np.frombuffer(tables.tobytes(), np.uint8))
        offsets, listed = launcher.allocate((count + 1) * 8), launcher.put(begins)
        shape = Shape(_size_defines(tables["steps"].shape[1], MAX_RECORD_BYTES), -(-count // _THREADS), _THREADS)
        args = [self.text, self.text.nbytes, table, self.marks, listed, count, offsets]
        launcher.launch(_SIZE, shape, args)
        scan_string_sizes(launcher, offsets, (count, 1), BufferSlice(offsets, 8 * count, 8))
        ends = launcher.fetch(offsets).view(np.uint64)
        parts = []
        first = 0
        while first < count:
            last = max(int(np.searchsorted(ends, ends[first] + np.uint64(BATCH_BYTES), "right")) - 1, first + 1)
            last = min(last, count)
            part = launcher.allocate(int(ends[last] - ends[first]))
            place = BufferSlice(listed, 8 * first, 8 * (last - first)), BufferSlice(offsets, 8 * first)
            if part.nbytes:
                shape = Shape(_DEFINES, -(-(last - first) // _BLOCK_RECORDS), _THREADS)
                launcher.launch(_GATHER, shape, [self.text, *place, last - first, part])
            parts.append(launcher.fetch(part))
            first = last
        return RecordTexts(parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.uint8), *parts]), ends[1:])


@cache
def _size_defines(states: int, max_bytes: int) -> dict[str, int]:
    return {**_DEFINES, "HR_STATES": states, "HR_MAX_BYTES": max_bytes}
