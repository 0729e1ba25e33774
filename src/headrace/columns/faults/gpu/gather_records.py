"""Copies some records and their line numbers from a text on a GPU to the host (gather_records.cu, count_lines.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Launcher, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import known_dfa_tables

_SIZED = "PQQPPQPP"
_SIZE = {states: Entry("columns/faults/gpu/gather_records.cu", f"size_records_{states}", _SIZED) for states in (8, 16, 64)}
"""Kernels by the greatest number of states of the dialect's automaton."""
_SIZE_BY_ROLES = Entry("columns/faults/gpu/gather_records.cu", "size_records_by_roles", _SIZED)
_GATHER = Entry("columns/faults/gpu/gather_records.cu", "gather_records", "PPPQP")
_COUNT_LINES = Entry("columns/faults/gpu/count_lines.cu", "count_lines", "PQP")
_NUMBER_LINES = Entry("columns/faults/gpu/count_lines.cu", "number_lines", "PQPPQQP")
_THREADS = 256
_DEFINES = {"HR_THREADS": _THREADS}
_LINES_BYTES = _THREADS * 64
_BLOCK_RECORDS = _THREADS // 8  # records that a block of gather_records copies: eight threads copy one
MAX_RECORD_BYTES = 16 << 10
BATCH_BYTES = 64 << 20


class RecordTexts(NamedTuple):
    """Texts of records with their line ends, concatenated."""

    bytes: NDArray[np.uint8]  # the texts
    ends: NDArray[np.uint64]
    """End of each text as an unsigned 64-bit integer. Records that are very long, or have no line end, have an empty text."""
    lines: NDArray[np.uint64]  # the line in which each record begins, from 1; of no meaning for a part of a text


class RecordPlaces:
    """The places of records on a device: a word for the line, and one for the offset of the text, of each record.

    A word for the bytes of all texts follows, and a zeroed tail of the caller.
    """

    def __init__(self, launcher: Launcher, count: int, tail_bytes: int) -> None:
        nbytes = (2 * count + 1) * 8
        buffer = launcher.allocate(nbytes + tail_bytes)
        self.lines, self.offsets = BufferSlice(buffer, 0, 8 * count), BufferSlice(buffer, 8 * count, 8 * (count + 1))
        self.size, self.tail = BufferSlice(buffer, nbytes - 8, 8), BufferSlice(buffer, nbytes, tail_bytes)
        self.totals, self._all = BufferSlice(buffer, nbytes - 8, 8 + tail_bytes), BufferSlice(buffer, 0, nbytes)
        launcher.fill(self.tail, 0)

    def fetch(self, launcher: Launcher) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the lines, and the offsets with the bytes of all texts. The host waits."""
        lines, offsets = np.split(launcher.fetch(self._all).view(np.uint64), [self.lines.nbytes // 8])
        return lines, offsets


@dataclass(frozen=True, slots=True)
class LocatedRecords:
    """A text in which records are located by their first bytes."""

    whole: DeviceBuffer | None
    begin: int
    """The text in device memory, and the first byte of its data. For a part of a text, `whole` is None: lines are not counted."""
    text: DeviceBuffer  # the data
    dialect: Dialect  # the dialect of the text
    roles: DeviceBuffer | None  # the roles of its bytes if the automaton has read the text, else None
    are_lines: bool = False  # True if each record is known to be a line of the text

    def place(self, launcher: Launcher, begins: DeviceBuffer, places: RecordPlaces, ungathered: DeviceBuffer) -> None:
        """Launch the kernels that find the offsets of records' texts.

        `begins`: the first bytes of the records in the data, ascending, as unsigned 64-bit integers. There is at least one.
        `places`: receives the offsets.
        `ungathered`: a zeroed word, which receives the number of records whose texts are empty.
        """
        count = begins.nbytes // 8
        entry, read_by = _SIZE_BY_ROLES, self.roles
        if read_by is None:
            tables = known_dfa_tables(self.dialect)
            entry, read_by = _SIZE[tables["steps"].shape[1]], launcher.put(np.frombuffer(tables.tobytes(), np.uint8))
        shape = Shape(_DEFINES, -(-count // _THREADS), _THREADS)
        args = [self.text, self.text.nbytes, MAX_RECORD_BYTES, read_by, begins, count, places.offsets, ungathered]
        launcher.launch(entry, shape, args)
        scan_string_sizes(launcher, places.offsets, (count, 1), places.size)

    def number(self, launcher: Launcher, begins: DeviceBuffer, places: RecordPlaces) -> None:
        """Launch the kernels that write the lines of such records to `places`, unless the text is a part of another."""
        if self.whole is not None:
            number_lines(launcher, self.whole, begins, self.begin, places.lines)

    def gather(self, launcher: Launcher, begins: DeviceBuffer, offsets: DeviceBuffer, nbytes: int) -> DeviceBuffer:
        """Launch the kernel that copies the texts of records, which have `nbytes` bytes, and return the copy.

        `offsets`: of their texts, and of the end.
        """
        result = launcher.allocate(nbytes)
        if nbytes:
            count = begins.nbytes // 8
            shape = Shape(_DEFINES, -(-count // _BLOCK_RECORDS), _THREADS)
            launcher.launch(_GATHER, shape, [self.text, begins, offsets, count, result])
        return result

    def texts(self, launcher: Launcher, begins: NDArray[np.uint64]) -> RecordTexts:
        """Return the texts of the records that begin at these bytes of the data.

        The host waits once, and once more for each 64 MiB. Device memory: 24 bytes a record, and up to 64 MiB.
        """
        count, listed = len(begins), launcher.put(begins)
        places = RecordPlaces(launcher, count, 8)
        self.place(launcher, listed, places, places.tail)
        self.number(launcher, listed, places)
        lines, ends = places.fetch(launcher)
        parts = []
        first = 0
        while first < count:
            last = max(int(np.searchsorted(ends, ends[first] + np.uint64(BATCH_BYTES), "right")) - 1, first + 1)
            last = min(last, count)
            part = BufferSlice(listed, 8 * first, 8 * (last - first))
            offsets = BufferSlice(places.offsets, 8 * first)
            parts.append(launcher.fetch(self.gather(launcher, part, offsets, int(ends[last] - ends[first]))))
            first = last
        texts = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return RecordTexts(texts, ends[1:], lines)


def number_lines(launcher: Launcher, text: DeviceBuffer, positions: DeviceBuffer, origin: int, lines: DeviceBuffer) -> None:
    """Launch the kernels that write the line number, from 1, of each of ascending positions.

    Lines end with LF, CR LF or CR, quoted or not. Memory: 8 bytes for each 16 KiB of text.

    `positions`, `lines`: unsigned 64-bit integers: the positions, of which there is at least one, and their lines.
    `origin`: byte of the text from which positions count.
    """
    parts = -(-(text.nbytes + text.address % 16) // _LINES_BYTES)
    sums, count = launcher.allocate(parts * 8), positions.nbytes // 8
    shape = Shape(_DEFINES, parts, _THREADS)
    launcher.launch(_COUNT_LINES, shape, [text, text.nbytes, sums])
    scan_string_sizes(launcher, sums, (parts, 1), launcher.allocate(8))
    launcher.launch(_NUMBER_LINES, shape, [text, text.nbytes, sums, positions, count, origin, lines])
