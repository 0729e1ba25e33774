"""Finds the records of listed faults on a GPU (faulty_records.cu), and gathers their texts there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.layouts import FAULT, NO_FIELD
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.columns.faults.gpu.gather_records import BATCH_BYTES, LocatedRecords, RecordPlaces, RecordTexts
from headrace.columns.faults.gpu.sorted_faults import is_first, sort_faults
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape

_SUMMARY = layout("FaultSummary")
_FILE = "columns/faults/gpu/faulty_records.cu"
_MARK, _COUNT = Entry(_FILE, "mark_records", "PQPPPP"), Entry(_FILE, "count_marks", "PQP")
_LIST = Entry(_FILE, "list_records", "PQPPPPPP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}


@dataclass(frozen=True, slots=True)
class FaultSummary:
    """Summary of listed faults; parameters as in FaultSummary of faulty_records.hpp, and the bytes of the records' texts."""

    bytes: int
    record_kinds: int
    field_kinds: int
    of_fields: int
    own: int
    records: int
    ungathered: int


class FaultyRecords:
    """The records of listed faults on a device, by record. Kernels find them before the host knows how many there are.

    Device memory: 32 bytes for each fault that the list has room for, and 4 bits a record of the text while they are found.

    `faults`: the list, in any order, with room for at least one FAULT.
    `counted`: a word with the number of faults, which may exceed the room.
    `records`: number of records of the text, or an upper bound.
    """

    summary: FaultSummary  # after `wait`
    _copied: DeviceBuffer

    def __init__(
        self, launcher: Launcher, located: LocatedRecords, faults: DeviceBuffer, counted: DeviceBuffer, records: int
    ) -> None:
        count, words = faults.nbytes // FAULT.itemsize, records // 32 + 1
        self.faults, self._located = faults, located
        self._places = places = RecordPlaces(launcher, count, _SUMMARY.size)
        summary, head = places.tail, [faults, count, counted]
        marks, record_marks = launcher.allocate_group([4 * words, 4 * words])
        ranks, self._begins, self.numbers = launcher.allocate_group([], [8 * words, 8 * count, 8 * count])
        shape = Shape(_DEFINES, -(-count // _THREADS), _THREADS)
        launcher.launch(_MARK, shape, [*head, marks, record_marks, summary])
        launcher.launch(_COUNT, Shape(_DEFINES, -(-words // _THREADS), _THREADS), [marks, words, ranks])
        scan_string_sizes(launcher, ranks, (words, 1), BufferSlice(summary, _SUMMARY.offset("records"), 8))
        launcher.launch(_LIST, shape, [*head, marks, ranks, summary, self._begins, self.numbers])
        located.place(launcher, self._begins, places, BufferSlice(summary, _SUMMARY.offset("ungathered"), 8))

    def wait(self, launcher: Launcher, located: LocatedRecords, count: int, records: int) -> None:
        """Fetch the summary. The host waits.

        `located`: the records of the text, of which it is known whether they are lines.
        `count`, `records`: numbers of faults, which fit the list, and of records of the text.
        """
        self.faults, self._located = BufferSlice(self.faults, 0, count * FAULT.itemsize), located
        self._records, places = records, self._places
        if not located.are_lines:
            located.number(launcher, self._begins, places)
        totals = launcher.fetch(places.totals)
        self.summary = FaultSummary(int(totals[:8].view(np.uint64)[0]), *totals[8:].view(_SUMMARY.dtype)[0].tolist())

    @property
    def are_gathered(self) -> bool:
        """True if `gather` can copy the texts of all records, and they have at most `BATCH_BYTES`."""
        return not self.summary.ungathered and self.summary.bytes <= BATCH_BYTES and self._located.whole is not None

    @property
    def are_lines(self) -> bool:
        """True if each record is known to be a line of the text, so that its number gives its line."""
        return self._located.are_lines

    def copy(self, launcher: Launcher) -> None:
        """Launch the kernel that copies the texts of the records; `are_gathered` must be true."""
        count, places = self.summary.records, self._places
        begins, offsets = BufferSlice(self._begins, 0, 8 * count), BufferSlice(places.offsets, 0, 8 * count + 8)
        self._copied = self._located.gather(launcher, begins, offsets, self.summary.bytes)

    def gather(self, launcher: Launcher, first_line: int | None) -> GatheredRecords:
        """Return the records, independent of the text, after `copy`. The host waits.

        `first_line`: line of the data's first record; None unless `are_lines`.
        """
        launcher.fetch(self._places.size)
        return GatheredRecords(self.faults, self._places, self._copied, self.summary.records, self._records, first_line)


@dataclass(frozen=True, slots=True)
class GatheredRecords:
    """Listed faults, and the texts and lines of their records, on a device."""

    faults: DeviceBuffer  # the list, in any order
    places: RecordPlaces
    texts: DeviceBuffer  # lines and offsets, and the texts
    count: int
    all_records: int  # numbers of these records, and of all records of the text
    first_line: int | None  # line of the text's first record if each record is a line; None if `places` has their lines

    def fetch(self, launcher: Launcher, ranks: Sequence[int], threads: int) -> tuple[NDArray[np.void], RecordTexts]:
        """Return the faults by record, and the texts and lines of these. The first of a record's own faults counts.

        `ranks`, `threads`: as for `sort_faults`.
        """
        lines, offsets = self.places.fetch(launcher)
        texts = RecordTexts(launcher.fetch(self.texts), offsets[1 : self.count + 1], lines[: self.count])
        found = sort_faults(launcher.fetch(self.faults), ranks, self.all_records, threads)
        faults = found.faults
        if self.first_line is not None:
            texts = texts._replace(lines=faults["record"][is_first(faults["record"])] + np.uint64(self.first_line))
        if found.has_repeats:
            faults = faults[is_first(faults["record"]) | (faults["column"] != NO_FIELD)]
        return faults, texts
