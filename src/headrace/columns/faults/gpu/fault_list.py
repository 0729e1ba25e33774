"""Collects the faults that the conversion kernels list, and applies the outcomes of the plan to records.

The result equals the native loader's. A kernel lists as many faults as the list has room for, and counts all of them. The
rejected records are known when the list is complete. Faults of fields in rejected records are ignored.

Usually the list and the texts of its records have all that the table of rejects shows. Then both stay on the GPU, and the table
is built when it is looked at (rejects_table.py). Other lists are sorted by record on all cores (sort_faults.cpp). Kernels
gather the texts of faulty records and number their lines. The native code reads these records again, many at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.column_buffers_gpu import ColumnBuffers
from headrace.columns.column import Column
from headrace.columns.convert.gpu.layouts import FAULT_DEFERRED, LISTED_BYTES, FaultListing
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import LocatedRecords, RecordTexts
from headrace.columns.faults.gpu.policies import ALL_KINDS, ENCODING_FAULT, fault_policies, kind_bit
from headrace.columns.faults.gpu.rejects_table import RejectsBuilder, RejectsTable
from headrace.columns.faults.gpu.remove_rows import remove_rows
from headrace.columns.faults.gpu.resolve import NO_TEXTS, Conversion, FieldsOnHost, See
from headrace.columns.faults.gpu.sorted_faults import NO_FAULTS, NO_RECORDS, HostFaults, SortedFaults, is_first, merged
from headrace.columns.faults.rejects import no_rejects, parse_error
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

MAX_FAULTS = 4096  # capacity of a short text's first list
_LONGER_TEXTS = ((48 << 20, 64), (8 << 20, 8))
"""Bytes of a text, and the factor for the first list of such a text or a longer one."""
_NEVER = 2**64 - 1


class FaultList:
    """The faults of one load.

    If the list of a conversion is too small, the columns are converted again. If some listed fault seems to raise, the second
    list needs only the faults up to its record (`_last_record`). Otherwise it gets room for all faults. If the resolved faults
    up to that record turn out not to raise, the columns are converted a third time without that bound.

    `source`, `dialect`, `plan`: as for `headrace.columns.load.gpu.load.load_on_gpu`.
    `begin`: byte of the source that the kernels count from.
    `see`: receives kinds of fields that the kernels left to the host.
    `capacity`: faults that the first list holds.
    """

    located: LocatedRecords  # the records of the text, set before the first fault is taken

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
        self._source, self._dialect = source, native_dialect(dialect)
        self._see = see
        values = plan.values
        self._policies = fault_policies(plan.rows, values.on_error, dialect.keeps_strays, capacity, values.replace_invalid)
        self._capacity, self._count = capacity, 0
        self._last_record = _NEVER  # faults of later records are not listed
        self._knows_records = self._is_unbounded = False
        self._faults = HostFaults(self._policies)
        self._later: FaultyRecords | None = None  # all faults, if they stay on the GPU
        self._has_listed = False
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
            rejected_count=0 if self._rejected_buffer is None else len(self._faults.rejected),
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
        """Bytes of the next conversion's list, and of the list of fields that the fast conversion leaves to the rules."""
        return int(self._capacity * LISTED_BYTES)

    def take_clean(self, filled: int) -> None:
        """Record that all conversions up to here found no fault; `filled`: short records that the first one filled with nulls."""
        self._filled, self._knows_records = filled, True

    def take(self, conversion: Conversion) -> bool:
        """Take the faults of converted columns. They replace those of earlier conversions of the same columns.

        Result: False if the same columns must be converted again: the list was too small, or a kind was first seen in a
        rejected record.
        """
        count, filled, raised, _ = conversion.totals.tolist()
        if count > self._capacity:
            self._extend(count, raised)
            return False
        is_new, self._has_listed = not self._has_listed, self._has_listed or count != 0
        if count and is_new and self._take_later(conversion, count):
            self._filled, self._knows_records = self._filled if self._knows_records else filled, True
            return True
        self._take_earlier(conversion.columns.rows)
        listed = self._sorted(conversion.listed(count), conversion.columns.rows)
        found = self._faults
        if not self._knows_records:
            self._take_records(listed, filled)
        if self._rejected_buffer is None and len(found.rejected) and np.isin(conversion.seen, found.rejected).any():
            self._rejected_buffer = self._launcher.put(found.rejected)
            return False
        found.take_fields(self._resolved(listed, conversion), [column.position for column in conversion.separate])
        if self._last_record == _NEVER or found.first_raised(found.listed()) is not None:
            return True
        # The fault that seemed to raise does not: list all faults.
        self._last_record, self._capacity, self._is_unbounded = _NEVER, self._count, True
        self._knows_records, self._rejected_buffer = False, None
        return False

    def _take_later(self, conversion: Conversion, count: int) -> bool:
        """Leave the first listed faults on the GPU; return False if the host has to read them now."""
        plan = self._plan
        if plan.memory_limit or plan.part is not None or self._source.decoded is not None or self._last_record != _NEVER:
            return False
        found, records = conversion.found, conversion.columns.rows
        if found is None:
            found = FaultyRecords(self._launcher, self.located, conversion.listed(count), conversion.counted, records)
        found.wait(self._launcher, self.located, count, records)
        of_records, of_fields = self._policies.listed_masks
        summary = found.summary
        if summary.record_kinds & ~of_records or summary.field_kinds & ~of_fields or not found.are_gathered:
            return False
        if summary.record_kinds and summary.field_kinds & ~self._policies.retained_mask:
            return False  # not all faulty records are rejected
        found.copy(self._launcher)  # so that the device works while the host collects the rest
        self._faults.kinds = summary.record_kinds | summary.field_kinds
        self._later = found
        return True

    def _take_earlier(self, records: int) -> None:
        """Fetch the faults that stayed on the GPU, since there are others."""
        later, self._later = self._later, None
        if later is not None:
            listed = self._sorted(later.faults, records)
            self._take_records(listed, self._filled)
            self._faults.take_fields(listed.of_fields)

    @property
    def _fields(self) -> FieldsOnHost:
        """Created for each use: a stored object would refer to this one, and the cycle would keep the text alive."""
        return FieldsOnHost(self._source.native, self._dialect, self._plan, begin=self._begin, see=self._see, texts=self._texts)

    def _extend(self, count: int, raised: int) -> None:
        """Prepare the next list after one that was too small; `raised`: complement of the first raising record, or 0."""
        if raised and self._last_record == _NEVER and not self._is_unbounded:
            self._last_record, self._count = _NEVER - raised, count
        else:
            self._capacity = count

    def _take_records(self, listed: SortedFaults, filled: int) -> None:
        self._faults.take_records(listed)
        self._filled, self._knows_records = filled, True

    def _sorted(self, listed: DeviceBuffer, records: int) -> SortedFaults:
        return self._faults.sort(self._launcher.fetch(listed), records, self._plan.threads)

    def _resolved(self, listed: SortedFaults, conversion: Conversion) -> NDArray[np.void]:
        """Return the faults of fields, with the fields resolved that the kernels left to the host."""
        faults = self._faults.retained(listed.of_fields)
        mends = self._plan.values.replace_invalid  # then invalid UTF-8 is not a fault, but a text to mend
        if not listed.field_kinds & (kind_bit(FAULT_DEFERRED) | kind_bit(ENCODING_FAULT) * mends):
            return faults
        is_deferred = faults["kind"] == FAULT_DEFERRED
        if mends:
            is_deferred |= faults["kind"] == ENCODING_FAULT
        if not is_deferred.any():
            return faults
        resolved = self._fields.resolve(self._launcher, conversion, faults[is_deferred])
        self._faults.kinds |= ALL_KINDS
        return merged(faults[~is_deferred], resolved)

    def collect(self, column: ColumnBuffers, records: int) -> None:
        """Make the column of the text after the last column of long records, after all conversions."""
        faults = self._fields.collect(self._launcher, column, records, self._faults.collected)
        self._faults.take_fields(faults)
        self._faults.kinds |= ALL_KINDS

    def finish(self, columns: Sequence[ColumnBuffers], counts: dict[str, int], others: Sequence[ColumnBuffers] = ()) -> None:
        """Raise an error, or remove the rejected rows and count.

        Raise ParseError if the outcome of a fault is ``"raise"``.

        `counts`: the counts of the load; rows, rejected and filled are set.
        `others`: columns that are not fields, from which rows are removed too.
        """
        later, listed, first = self._later, NO_FAULTS, None
        if later is None:
            listed = self._faults.listed()
            first = self._faults.first_raised(listed)
        types = self._types(columns)
        if first is not None:
            raise parse_error(self._table(listed[listed["record"] == first], types).rejects)
        rejected = self._rejected_rows(listed)
        if rejected is not None:
            remove_rows(self._launcher, [*columns, *others], counts["records"], rejected)
        self._removed = rejected
        counts["rejected"] = 0 if rejected is None else rejected.nbytes // 8
        counts["rows"] = counts["records"] - counts["rejected"]
        types = self._types(columns)
        if later is None:
            table = self._table(listed, types)
        else:
            table = self._builder.table_later(self._launcher, later, self._policies.order, types)
        self.rejects = table.rejects
        counts["faults"] = table.faults
        counts["filled"] = self._filled - table.rejected_short

    def _types(self, columns: Sequence[ColumnBuffers]) -> list[DataType | None]:
        """Return the types of all columns of the plan; None for those without buffers."""
        types: list[DataType | None] = [None] * len(self._plan.columns)
        for column in columns:
            types[column.position] = column.stored_type
        return types

    def _rejected_rows(self, listed: NDArray[np.void]) -> DeviceBuffer | None:
        """Return the indices of the rejected records, ascending; None if there are none."""
        if not self._faults.may_reject:
            return None
        if self._later is not None:
            return BufferSlice(self._later.numbers, 0, 8 * self._later.summary.records)
        rejected = self._faults.rejected_in(listed)
        return self._launcher.put(rejected) if len(rejected) else None

    @property
    def rejected_records(self) -> NDArray[np.uint64]:
        """Indices of the rejected records, ascending; after `finish`."""
        return NO_RECORDS if self._removed is None else self._launcher.fetch(self._removed).view(np.uint64)

    def _texts(self, listed: NDArray[np.void]) -> RecordTexts:
        """Return the texts of the records of faults, which are sorted by record."""
        if not len(listed):
            return NO_TEXTS
        begins = np.ascontiguousarray(listed["record_begin"])
        return self.located.texts(self._launcher, begins[is_first(begins)])

    @property
    def _builder(self) -> RejectsBuilder:
        return RejectsBuilder(self._source, self._dialect, self._plan, self._begin)

    def _table(self, listed: NDArray[np.void], types: Sequence[DataType | None]) -> RejectsTable:
        with native_errors():
            texts = self._texts(listed)
        return self._builder.table(listed, texts, types)


def first_capacity(nbytes: int, expected: int) -> int:
    """Return the number of faults that the first list of a text holds. There are few such numbers.

    `expected`: faults of the last text of the same plan.
    """
    usual = MAX_FAULTS * next((factor for size, factor in _LONGER_TEXTS if nbytes >= size), 1)
    return usual if expected <= usual else int(1 << (expected - 1).bit_length())
