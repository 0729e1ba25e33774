"""Copies some records and their line numbers from a text on a GPU to the host (gather_records.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.columns.faults.gpu.count_lines import number_lines
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import known_dfa_tables

_SIZE = {states: Entry("columns/faults/gpu/gather_records.cu", f"size_records_{states}", "PQQPPPQP") for states in (8, 16, 64)}
"""Kernels by the greatest number of states of the dialect's automaton."""
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
    lines
        The line in which each record begins, from 1; of no meaning for a part of a text.
    """

    bytes: NDArray[np.uint8]
    ends: NDArray[np.uint64]
    lines: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class LocatedRecords:
    """A text in which records are located by their first bytes.

    Parameters
    ----------
    whole, begin
        The text in device memory, and the first byte of its data. For a part of a text, `whole` is None: lines are not counted.
    text
        The data.
    dialect
        The dialect of the text.
    marks
        A bit for each byte, set for lenient quotes that open no field; None if no quote is malformed or quotes are strict.
    """

    whole: DeviceBuffer | None
    begin: int
    text: DeviceBuffer
    dialect: Dialect
    marks: DeviceBuffer | None

    def texts(self, launcher: Launcher, begins: NDArray[np.uint64]) -> RecordTexts:
        """Return the texts of the records that begin at these bytes of the data.

        The host waits once, and once more for each 64 MiB. Device memory: 24 bytes a record, and up to 64 MiB.
        """
        count = len(begins)
        tables = known_dfa_tables(self.dialect)
        table = launcher.put(np.frombuffer(tables.tobytes(), np.uint8))
        results, listed = launcher.allocate((2 * count + 1) * 8), launcher.put(begins)
        offsets, lines = BufferSlice(results, 0, (count + 1) * 8), BufferSlice(results, (count + 1) * 8)
        shape = Shape(_DEFINES, -(-count // _THREADS), _THREADS)
        args = [self.text, self.text.nbytes, MAX_RECORD_BYTES, table, self.marks, listed, count, offsets]
        launcher.launch(_SIZE[tables["steps"].shape[1]], shape, args)
        scan_string_sizes(launcher, offsets, (count, 1), BufferSlice(offsets, 8 * count, 8))
        if self.whole is not None:
            number_lines(launcher, self.whole, listed, self.begin, lines)
        ends, line_numbers = np.split(launcher.fetch(results).view(np.uint64), [count + 1])
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
        texts = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return RecordTexts(texts, ends[1:], line_numbers)
