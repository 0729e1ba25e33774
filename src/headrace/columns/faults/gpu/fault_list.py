"""Collects the faults that the conversion kernels list, and applies the outcomes of the plan to records.

The result equals the native loader's. A kernel lists as many faults as the list has room for, and counts all of them. The
rejected records are known when the list is complete. Faults of fields in rejected records are ignored.

Usually the list and the texts of its records have all that the table of rejects shows. Then both stay on the GPU, and the table
is built when it is looked at (later_rejects.py). Other lists are sorted by record on all cores (sort_faults.cpp). Kernels
gather the texts of faulty records and number their lines. The native code reads these records again, many at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.buffers.source_positions import source_positions
from headrace.columns.column import Column
from headrace.columns.convert.gpu.column_group import ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import FAULT, FAULT_COLLECTED, FAULT_DEFERRED, FaultListing
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import LocatedRecords, RecordTexts
from headrace.columns.faults.gpu.later_rejects import LaterRejects
from headrace.columns.faults.gpu.remove_rows import remove_rows
from headrace.columns.faults.gpu.resolve import NO_TEXTS, FieldsOnHost, See
from headrace.columns.faults.gpu.sorted_faults import NO_FAULTS, SortedFaults, is_first, kind_bit, merged, sort_faults
from headrace.columns.faults.rejects import FAULT_KINDS, no_rejects, parse_error, rejects_of
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.plan.row_policy import RowRules, fault_outcomes
from headrace.columns.types import DataType
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

MAX_FAULTS = 4096
"""Capacity of a short text's first list."""
_LONGER_TEXTS = ((48 << 20, 64), (8 << 20, 8))
"""Bytes of a text, and the factor for the first list of such a text or a longer one."""
_RAISES_DEFERRED = 1 << 31
_ENCODING, _QUOTE = FAULT_KINDS.index("encoding"), FAULT_KINDS.index("quote")
_NEVER = 2**64 - 1
_ALL_KINDS = (1 << len(FAULT_KINDS)) - 1


@dataclass(frozen=True, slots=True)
class _Policies:
    """Outcomes by kind of fault.

    Parameters
    ----------
    raises
        Whether the load raises an error.
    keeps
        Whether the record remains a row.
    order
        Rank of each kind among several faults of one record: the lowest counts.
    raised_mask, retained_mask
        The same as bits of kinds.
    listed_masks
        Kinds of faults of records, and of fields, of which the list and the records' texts have all that the table shows.
    listing
        The listing of a first conversion.
    """

    raises: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    order: list[int]
    raised_mask: int
    retained_mask: int
    listed_masks: tuple[int, int]
    listing: FaultListing


@cache
def _policies(rows: RowRules, on_error: str, lenient: bool, capacity: int, replaces: bool) -> _Policies:
    outcomes = fault_outcomes(rows, on_error, lenient=lenient)
    raises = np.array([outcome == "raise" for outcome in outcomes])
    bits = sum(1 << kind for kind in range(len(FAULT_KINDS)) if raises[kind]) | (_RAISES_DEFERRED if raises[0] else 0)
    if replaces:  # most of the listed fields will be mended
        bits &= ~(_RAISES_DEFERRED | 1 << _ENCODING)
    keeps = np.array([outcome == "keep" for outcome in outcomes])
    # Malformed quotes rank before wrong numbers of fields. Lenient quotes leave the record as it is, so they rank last.
    order = [9, 9, 9, 3 if lenient else 1, 0, 2, 2]
    masks = [sum(1 << kind for kind in np.flatnonzero(flags).tolist()) for flags in (raises, keeps)]
    retained = masks[1] | kind_bit(FAULT_COLLECTED) | kind_bit(FAULT_DEFERRED)
    # As is_listed of columns/faults/resolve.cpp.
    counts_fields = rows.fill_short and on_error == "reject"
    of_fields = (1 << _QUOTE) - 1 & ~(replaces << _ENCODING) & ~masks[0]
    listed = (0, 0) if counts_fields or rows.collect_long else (lenient << _QUOTE & ~masks[0], of_fields)
    return _Policies(raises, keeps, order, masks[0], retained, listed, FaultListing(capacity=capacity, raise_mask=bits))


@dataclass(frozen=True, slots=True)
class _RejectsTable:
    """A table of rejects.

    Parameters
    ----------
    rejects
        Its columns.
    faults
        Number of faults, which may exceed its rows.
    rejected_short
        Number of rejected records that were counted as filled.
    """

    rejects: Mapping[str, Column]
    faults: int
    rejected_short: int


_NO_RECORDS: NDArray[np.uint64] = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Conversion:
    """The results of a conversion.

    Parameters
    ----------
    columns
        The buffers of its columns.
    table
        The kernels' table of these columns.
    faults
        The list of faults.
    totals
        TOTALS_WORDS words.
    seen
        Indices of the records in which kinds were first seen.
    """

    columns: ColumnGroupBuffers
    table: DeviceBuffer
    faults: DeviceBuffer
    totals: NDArray[np.uint64]
    seen: NDArray[np.uint64]

    def listed(self, count: int) -> DeviceBuffer:
        """Return the first `count` faults of the list."""
        return BufferSlice(self.faults, 0, count * FAULT.itemsize)

    @property
    def separate(self) -> list[ColumnBuffers]:
        """The columns one by one."""
        return self.columns.split()


class FaultList:
    """The faults of one load.

    If the list of a conversion is too small, the columns are converted again. If some listed fault seems to raise, the second
    list needs only the faults up to its record (`_last_record`). Otherwise it gets room for all faults. If the resolved faults
    up to that record turn out not to raise, the columns are converted a third time without that bound.

    Parameters
    ----------
    launcher
        Execution context of the kernels.
    text
        The whole source in device memory.
    source, dialect, plan
        As for `headrace.columns.load.gpu.load.load_on_gpu`.
    begin
        Byte of the source that the kernels count from.
    see
        Receives kinds of fields that the kernels left to the host.
    capacity
        Faults that the first list holds.
    """

    located: LocatedRecords
    """The records of the text, set before the first fault is taken."""

    def __init__(
        self,
        launcher: Launcher,
        text: DeviceBuffer,
        source: OpenSource,
        dialect: Dialect,
        plan: LoadPlan,
        *,
        begin: int,
        see: See,
        capacity: int,
    ) -> None:
        self._launcher, self._text, self._plan, self._begin = launcher, text, plan, begin
        self._source, self._dialect = source.native, native_dialect(dialect)
        self._see = see
        self._decoded = source.decoded
        values = plan.values
        self._policies = _policies(plan.rows, values.on_error, dialect.lenient_quotes, capacity, values.replace_invalid)
        self._raises, self._keeps, self._order = self._policies.raises, self._policies.keeps, self._policies.order
        self._capacity, self._count = capacity, 0
        self._last_record = _NEVER  # faults of later records are not listed
        self._knows_records = self._is_unbounded = False
        self._of_records = self._collected = NO_FAULTS
        self._of_fields = NO_FAULTS  # each list is sorted by record
        self._later: FaultyRecords | None = None  # all faults, if they stay on the GPU
        self._kinds = 0  # a bit for each kind of the listed faults
        self._has_listed = False
        self._rejected = _NO_RECORDS
        self._rejected_buffer: DeviceBuffer | None = None
        self._removed: DeviceBuffer | None = None
        self._filled = 0
        self.rejects: Mapping[str, Column] = no_rejects()

    @property
    def listing(self) -> FaultListing:
        """The listing of faults by the next conversion."""
        if self.is_clean and not self._knows_records:
            return self._policies.listing
        return FaultListing(
            capacity=self._capacity,
            rejected=0 if self._rejected_buffer is None else self._rejected_buffer.address,
            rejected_count=0 if self._rejected_buffer is None else len(self._rejected),
            last_record=self._last_record,
            raise_mask=self._policies.listing.raise_mask,
            knows_records=self._knows_records,
        )

    @property
    def is_clean(self) -> bool:
        """True if neither a fault nor a field that may become one was found."""
        return not self._has_listed and self._last_record == _NEVER and self._capacity == self._policies.listing.capacity

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the next conversion's list."""
        return int(self._capacity * FAULT.itemsize)

    def take_clean(self, filled: int) -> None:
        """Record that all conversions up to here found no fault; `filled`: short records that the first one filled with nulls."""
        self._filled, self._knows_records = filled, True

    def take(self, conversion: Conversion) -> bool:
        """Take the faults of converted columns. They replace those of earlier conversions of the same columns.

        Returns
        -------
        bool
            False if the same columns must be converted again: the list was too small, or a kind was first seen in a rejected
            record.
        """
        count, filled, raised, _ = conversion.totals.tolist()
        if count > self._capacity:
            self._extend(count, raised)
            return False
        is_new, self._has_listed = not self._has_listed, self._has_listed or count != 0
        if count and is_new and self._take_later(conversion.listed(count), conversion.columns.rows):
            self._filled, self._knows_records = self._filled if self._knows_records else filled, True
            return True
        self._take_earlier(conversion.columns.rows)
        listed = self._sorted(conversion.listed(count), conversion.columns.rows)
        if not self._knows_records:
            self._take_records(listed, filled)
        if self._rejected_buffer is None and len(self._rejected) and np.isin(conversion.seen, self._rejected).any():
            self._rejected_buffer = self._launcher.put(self._rejected)
            return False
        of_fields = self._resolved(listed, conversion)
        replaced = [column.position for column in conversion.separate]
        others = self._of_fields[~np.isin(self._of_fields["column"], replaced)]
        self._of_fields = merged(others, of_fields)
        if self._last_record == _NEVER or self._first_raised(self._listed()) is not None:
            return True
        # The fault that seemed to raise does not: list all faults.
        self._last_record, self._capacity, self._is_unbounded = _NEVER, self._count, True
        self._knows_records, self._rejected_buffer = False, None
        return False

    def _take_later(self, faults: DeviceBuffer, records: int) -> bool:
        """Leave the first listed faults on the GPU; return False if the host has to read them now."""
        plan = self._plan
        if plan.memory_limit or plan.part is not None or self._decoded is not None or self._last_record != _NEVER:
            return False
        found = FaultyRecords(self._launcher, self.located, faults, records)
        of_records, of_fields = self._policies.listed_masks
        summary = found.summary
        if summary.record_kinds & ~of_records or summary.field_kinds & ~of_fields or not found.are_gathered:
            return False
        if summary.record_kinds and summary.field_kinds & ~self._policies.retained_mask:
            return False  # not all faulty records are rejected
        self._kinds = summary.record_kinds | summary.field_kinds
        self._later = found
        return True

    def _take_earlier(self, records: int) -> None:
        """Fetch the faults that stayed on the GPU, since there are others."""
        later, self._later = self._later, None
        if later is not None:
            listed = self._sorted(later.faults, records)
            self._take_records(listed, self._filled)
            self._of_fields = listed.of_fields

    @property
    def _fields(self) -> FieldsOnHost:
        """Created for each use: a stored object would refer to this one, and the cycle would keep the text alive."""
        return FieldsOnHost(self._source, self._dialect, self._plan, begin=self._begin, see=self._see, texts=self._texts)

    def _extend(self, count: int, raised: int) -> None:
        """Prepare the next list after one that was too small; `raised`: complement of the first raising record, or 0."""
        if raised and self._last_record == _NEVER and not self._is_unbounded:
            self._last_record, self._count = _NEVER - raised, count
        else:
            self._capacity = count

    def _take_records(self, listed: SortedFaults, filled: int) -> None:
        """Take the faults of whole records: one for each record."""
        faults, kinds = listed.of_records, listed.record_kinds
        self._collected, self._rejected = NO_FAULTS, _NO_RECORDS
        if kinds & kind_bit(FAULT_COLLECTED):
            is_collected = faults["kind"] == FAULT_COLLECTED
            self._collected, faults = faults[is_collected], faults[~is_collected]
        self._of_records = faults[is_first(faults["record"])] if listed.has_repeats else faults
        if kinds & ~self._policies.retained_mask:
            self._rejected = np.ascontiguousarray(self._of_records["record"][~self._keeps[self._of_records["kind"]]])
            self._collected = self._collected[~np.isin(self._collected["record"], self._rejected)]
        self._filled, self._knows_records = filled, True

    def _sorted(self, listed: DeviceBuffer, records: int) -> SortedFaults:
        """Return the faults of a list by record."""
        result = sort_faults(self._launcher.fetch(listed), self._order, records, self._plan.threads)
        self._kinds |= result.record_kinds | result.field_kinds
        return result

    def _resolved(self, listed: SortedFaults, conversion: Conversion) -> NDArray[np.void]:
        """Return the faults of fields, with the fields resolved that the kernels left to the host."""
        faults = listed.of_fields
        if len(faults) and len(self._rejected):
            faults = faults[~np.isin(faults["record"], self._rejected)]
        mends = self._plan.values.replace_invalid  # then invalid UTF-8 is not a fault, but a text to mend
        if not listed.field_kinds & (kind_bit(FAULT_DEFERRED) | kind_bit(_ENCODING) * mends):
            return faults
        is_deferred = faults["kind"] == FAULT_DEFERRED
        if mends:
            is_deferred |= faults["kind"] == _ENCODING
        if not is_deferred.any():
            return faults
        resolved = self._fields.resolve(
            self._launcher, conversion.separate, conversion.table, conversion.columns.rows, faults[is_deferred]
        )
        self._kinds |= _ALL_KINDS
        return merged(faults[~is_deferred], resolved)

    def _listed(self) -> NDArray[np.void]:
        """Return all faults, by record."""
        return merged(self._of_records, self._of_fields)

    def _first_raised(self, listed: NDArray[np.void]) -> int | None:
        if not self._kinds & self._policies.raised_mask:
            return None
        is_raised = self._raises[listed["kind"]]
        return int(listed["record"][np.argmax(is_raised)]) if is_raised.any() else None

    def collect(self, column: ColumnBuffers, records: int) -> None:
        """Make the column of the text after the last column of long records, after all conversions."""
        faults = self._fields.collect(self._launcher, column, records, self._collected)
        self._of_fields, self._kinds = merged(self._of_fields, faults), self._kinds | _ALL_KINDS

    def finish(self, columns: Sequence[ColumnBuffers], counts: dict[str, int], others: Sequence[ColumnBuffers] = ()) -> None:
        """Raise an error, or remove the rejected rows and count.

        Parameters
        ----------
        columns
            The converted columns.
        counts
            The counts of the load; rows, rejected and filled are set.
        others
            Columns that are not fields, from which rows are removed too.

        Raises
        ------
        ParseError
            The outcome of a fault is ``"raise"``.
        """
        later, listed, first = self._later, NO_FAULTS, None
        if later is None:
            listed = self._listed()
            first = self._first_raised(listed)
        self._types: list[DataType | None] = [None] * len(self._plan.columns)
        for column in columns:
            self._types[column.position] = column.stored_type
        if first is not None:
            raise parse_error(self._table(listed[listed["record"] == first]).rejects)
        rejected = self._rejected_rows(listed)
        if rejected is not None:
            remove_rows(self._launcher, [*columns, *others], counts["records"], rejected)
        self._removed = rejected
        counts["rejected"] = 0 if rejected is None else rejected.nbytes // 8
        counts["rows"] = counts["records"] - counts["rejected"]
        for column in columns:
            self._types[column.position] = column.stored_type
        table = self._table(listed) if later is None else self._table_later(later)
        self.rejects = table.rejects
        counts["faults"] = table.faults
        counts["filled"] = self._filled - table.rejected_short

    def _rejected_rows(self, listed: NDArray[np.void]) -> DeviceBuffer | None:
        """Return the indices of the rejected records, ascending; None if there are none."""
        if not self._kinds & ~self._policies.retained_mask:
            return None
        if self._later is not None:
            return BufferSlice(self._later.numbers, 0, 8 * self._later.summary.records)
        rejected = listed["record"][~self._keeps[listed["kind"]]]
        rejected = rejected[is_first(rejected)]
        return self._launcher.put(rejected) if len(rejected) else None

    @property
    def rejected_records(self) -> NDArray[np.uint64]:
        """Indices of the rejected records, ascending; after `finish`."""
        return _NO_RECORDS if self._removed is None else self._launcher.fetch(self._removed).view(np.uint64)

    def _texts(self, listed: NDArray[np.void]) -> RecordTexts:
        """Return the texts of the records of faults, which are sorted by record."""
        if not len(listed):
            return NO_TEXTS
        begins = np.ascontiguousarray(listed["record_begin"])
        return self.located.texts(self._launcher, begins[is_first(begins)])

    def _lines_of_part(self, listed: NDArray[np.void]) -> NDArray[np.uint64]:
        """Return the lines of the records of faults. For a part of a text the host counts them: it has the preceding bytes."""
        part, source = self._plan.part, self._source
        assert part is not None
        begins = listed["record_begin"]
        begins = begins[is_first(begins)] + np.uint64(self._begin)
        if self._decoded is not None:
            source, begins = self._decoded.source, self._decoded.origins(begins)
        numbers = _native.line_numbers(source, begins.tolist(), self._plan.threads, part.line_begin)
        return np.array(numbers, np.uint64) + np.uint64(part.lines)

    def _table(self, listed: NDArray[np.void]) -> _RejectsTable:
        """Return the table of rejects of listed faults. If some fault raises, the table has the first such fault alone."""
        given = (self._source, self._dialect, self._plan, self._begin, self._types)
        with native_errors():
            texts = self._texts(listed)
            if self._plan.part is not None:
                texts = texts._replace(lines=self._lines_of_part(listed))
            columns, rows, faults, rejected_short = _native.rejects(*given, listed.view(np.uint8), texts)
        table = dict(rejects_of(dict(columns), rows))
        if self._decoded is not None:
            for name in ("line_byte", "byte"):
                table[name] = source_positions(table[name], self._decoded)
        return _RejectsTable(table, faults, rejected_short)

    def _table_later(self, later: FaultyRecords) -> _RejectsTable:
        """Return the table of rejects of faults on the GPU, which is built when it is looked at."""
        launcher, summary = self._launcher, later.summary
        given = LaterRejects(launcher.lasting(), later.gather(launcher), self._dialect, self._plan, self._begin, self._types)
        return _RejectsTable(given.table(self._order), summary.own + summary.of_fields, 0)


def first_capacity(nbytes: int, expected: int) -> int:
    """Return the number of faults that the first list of a text holds. There are few such numbers.

    `expected`: faults of the last text of the same plan.
    """
    usual = MAX_FAULTS * next((factor for size, factor in _LONGER_TEXTS if nbytes >= size), 1)
    return usual if expected <= usual else int(1 << (expected - 1).bit_length())
