"""Faults that the conversion on a GPU met, listed there, and what becomes of their records: by the policies of the plan, as the
native loader has it.

A kernel lists at most as many as there is room for, and counts all. Which records go is known when a list is complete; what it
says of fields of records that go is nothing. Texts and lines are asked for in the end, of what is shown alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.buffers.column_buffers_gpu import Taken
from headrace.columns.buffers.source_positions import source_positions
from headrace.columns.column import Column
from headrace.columns.convert.gpu.column_group import MadeColumns
from headrace.columns.convert.gpu.layouts import FAULT, FAULT_COLLECTED, FAULT_DEFERRED, NO_FIELD, FaultListing
from headrace.columns.faults.gpu.count_lines import lines_on_gpu
from headrace.columns.faults.gpu.gather_records import NO_PIECES, record_pieces
from headrace.columns.faults.gpu.remove_rows import drop_rows
from headrace.columns.faults.gpu.resolve import NO_FAULTS, FieldsOnHost, See
from headrace.columns.faults.rejects import FAULT_KINDS, no_rejects, parse_error, rejects_of
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.plan.row_policy import RowRules, fault_outcomes
from headrace.columns.types import DataType
from headrace.gpu.kernels.launcher import Launcher, Part, Room
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

_MOST_FAULTS = 4096
_RAISES_DEFERRED = 1 << 31
_ENCODING = FAULT_KINDS.index("encoding")
_NEVER = 2**64 - 1


@dataclass(frozen=True, slots=True)
class _Policies:
    """By kinds of faults: whether they are raised, whether they leave their record in the table, and which counts of several."""

    raises: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    order: NDArray[np.int64]
    listing: FaultListing
    """What a first conversion is told."""


@cache
def _policies(rows: RowRules, on_error: str, lenient: bool, room: int, replaces: bool) -> _Policies:
    outcomes = fault_outcomes(rows, on_error, lenient=lenient)
    raises = np.array([outcome == "raise" for outcome in outcomes])
    bits = sum(1 << kind for kind in range(len(FAULT_KINDS)) if raises[kind]) | (_RAISES_DEFERRED if raises[0] else 0)
    if replaces:  # what is listed is mended, mostly
        bits &= ~(_RAISES_DEFERRED | 1 << _ENCODING)
    keeps = np.array([outcome == "keep" for outcome in outcomes])
    # Malformed quotes count before numbers of fields; but lenient ones leave a record as it is, so they count last.
    order = np.array([9, 9, 9, 3 if lenient else 1, 0, 2, 2])
    return _Policies(raises, keeps, order, FaultListing(room=room, raises=bits))


_NO_RECORDS: NDArray[np.uint64] = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a conversion left.

    Parameters
    ----------
    made
        Its columns, in the order of `table`, the kernels' table of them.
    faults
        Where they are listed.
    totals
        TOTALS_WORDS words.
    seen
        Numbers of the records in which kinds were first seen.
    """

    made: MadeColumns
    table: Room
    faults: Room
    totals: NDArray[np.uint64]
    seen: NDArray[np.uint64]

    @property
    def taken(self) -> list[Taken]:
        """The columns one by one."""
        return self.made.taken()


class FaultsOfLoad:
    """The faults of one load.

    Parameters
    ----------
    launcher
        Where kernels run.
    text
        The whole source, there.
    source, dialect, plan
        As in `headrace.columns.load.gpu.load.load_on_gpu`.
    begin
        Byte of the source that the kernels count from.
    see
        Takes kinds of fields that the kernels left to the host.
    """

    def __init__(
        self, launcher: Launcher, text: Room, source: OpenSource, dialect: Dialect, plan: LoadPlan, *, begin: int, see: See
    ) -> None:
        self._launcher, self._text, self._plan, self._begin = launcher, text, plan, begin
        self._source, self._dialect = source.native, native_dialect(dialect)
        self._see = see
        self._far, self._decoded = source.is_far, source.decoded
        values = plan.values
        self._policies = _policies(plan.rows, values.on_error, dialect.lenient_quotes, _MOST_FAULTS, values.replace_invalid)
        self._raises, self._keeps, self._order = self._policies.raises, self._policies.keeps, self._policies.order
        self._limit, self._all = _MOST_FAULTS, 0
        self._last = _NEVER
        self._known = self._lifted = False
        self._of_records = self._collected = NO_FAULTS
        self._of_columns: dict[int, NDArray[np.void]] = {}
        self._gone = _NO_RECORDS
        self._gone_room: Room | None = None
        self._filled = 0
        self.rejects: Mapping[str, Column] = no_rejects()
        self.gone = _NO_RECORDS
        """Records that went, ascending, from 0; known in the end."""

    @property
    def listing(self) -> FaultListing:
        """What the next conversion is told."""
        if self.is_clean and not self._known:
            return self._policies.listing
        return FaultListing(
            room=self._limit,
            gone=0 if self._gone_room is None else self._gone_room.address,
            gone_count=0 if self._gone_room is None else len(self._gone),
            last=self._last,
            raises=self._policies.listing.raises,
            known=self._known,
        )

    @property
    def is_clean(self) -> bool:
        """Whether there was no fault so far, and nothing that may become one."""
        has_any = bool(self._of_columns) or self._of_records is not NO_FAULTS or self._collected is not NO_FAULTS
        return not has_any and self._last == _NEVER and self._limit == self._policies.listing.room

    @property
    def room_bytes(self) -> int:
        """Of the room where the next conversion lists its faults."""
        return int(self._limit * FAULT.itemsize)

    def take_clean(self, filled: int) -> None:
        """Know that what was converted so far had no fault, and how many short records the first conversion filled with nulls."""
        self._filled, self._known = filled, True

    def take(self, made: Conversion) -> bool:
        """Keep the faults of the columns just converted, in place of those of an earlier time. There are some, or were.

        Returns
        -------
        bool
            False if the same columns are to be converted again: the list was too small, or something was seen in records that go.
        """
        count, filled, raised = made.totals.tolist()
        self._length = self._text.nbytes // max(made.made.rows, 1)
        if count > self._limit:
            self._make_room(count, raised)
            return False
        faults = self._launcher.fetch(Part(made.faults, 0, count * FAULT.itemsize)).view(FAULT) if count else NO_FAULTS
        if not self._known:
            self._learn_records(faults[faults["column"] == NO_FIELD], filled)
        if self._gone_room is None and len(self._gone) and np.isin(made.seen, self._gone).any():
            self._gone_room = self._launcher.put(self._gone)
            return False
        of_fields = faults[faults["column"] != NO_FIELD]
        of_fields = self._settled(of_fields[~np.isin(of_fields["record"], self._gone)], made)
        for one in made.taken:
            self._of_columns[one.position] = of_fields[of_fields["column"] == one.position]
        if self._last == _NEVER or self._first_raised() is not None:
            return True
        # What seemed to be raised is not: there is no end to what is asked for.
        self._last, self._limit, self._lifted, self._known, self._gone_room = _NEVER, self._all, True, False, None
        return False

    @property
    def _fields(self) -> FieldsOnHost:
        """Made when it is asked for, and not kept: it knows this, and so the text would be held until cycles are looked for."""
        return FieldsOnHost(self._source, self._dialect, self._plan, begin=self._begin, see=self._see, pieces=self._pieces)

    def _make_room(self, count: int, raised: int) -> None:
        if raised and self._last == _NEVER and not self._lifted:
            self._last, self._all = _NEVER - raised, count
        else:
            self._limit = count

    def _learn_records(self, faults: NDArray[np.void], filled: int) -> None:
        """Of each record its one fault."""
        is_collected = faults["kind"] == FAULT_COLLECTED
        collected, faults = faults[is_collected], faults[~is_collected]
        order = self._order[faults["kind"]]
        faults = faults[np.lexsort((faults["at"], order, faults["record"]))]
        self._of_records = faults[np.unique(faults["record"], return_index=True)[1]]
        self._gone = np.ascontiguousarray(self._of_records["record"][~self._keeps[self._of_records["kind"]]])
        self._collected = collected[~np.isin(collected["record"], self._gone)]
        self._filled, self._known = filled, True

    def _settled(self, faults: NDArray[np.void], made: Conversion) -> NDArray[np.void]:
        """The faults, those among them settled that the kernels left to the host."""
        is_deferred = faults["kind"] == FAULT_DEFERRED
        if self._plan.values.replace_invalid:
            is_deferred |= faults["kind"] == _ENCODING  # which is none, but a text to be mended
        if not is_deferred.any():
            return faults
        found = self._fields.settle(self._launcher, made.taken, made.table, made.made.rows, faults[is_deferred])
        return np.concatenate([faults[~is_deferred], found])

    def _listed(self) -> NDArray[np.void]:
        """All faults, by record."""
        listed = np.concatenate([self._of_records, *self._of_columns.values()])
        return listed[np.argsort(listed["record"], kind="stable")]

    def _first_raised(self) -> int | None:
        listed = self._listed()
        records = listed["record"][self._raises[listed["kind"]]]
        return int(records[0]) if len(records) else None

    def collect(self, one: Taken, records: int) -> None:
        """Make the column of what is behind the last column of long records, once all conversions are done."""
        self._of_columns[one.position] = self._fields.collect(self._launcher, one, records, self._collected)

    def finish(self, columns: Sequence[Taken], counts: dict[str, int], others: Sequence[Taken] = ()) -> None:
        """Raise, or take the rows that go out of the columns, and of others that are no fields, and count.

        Raises
        ------
        ParseError
            There is a fault to be raised.
        """
        first = self._first_raised()
        listed = self._listed()
        self._types: list[DataType | None] = [None] * len(self._plan.columns)
        for one in columns:
            self._types[one.position] = one.made
        if first is not None:
            raise parse_error(self._table(listed[listed["record"] == first], raises=True)[0])
        gone = np.unique(listed["record"][~self._keeps[listed["kind"]]])
        if len(gone):
            drop_rows(self._launcher, [*columns, *others], counts["records"], gone)
        self.gone = gone
        counts["rejected"] = len(gone)
        counts["rows"] = counts["records"] - len(gone)
        for one in columns:
            self._types[one.position] = one.made
        self.rejects, short_gone = self._table(listed, raises=False)
        counts["filled"] = self._filled - short_gone

    def _pieces(self, listed: NDArray[np.void]) -> tuple[bytes, int]:
        if not self._far or not len(listed):
            return NO_PIECES
        begins = np.unique(listed["record_begin"]) + np.uint64(self._begin)
        return record_pieces(self._launcher, self._text, begins, self._length)

    def _lines(self, begins: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The lines of ascending positions. Of a part of a text the host counts them, which has what is in front."""
        part = self._plan.part
        if part is None:
            return lines_on_gpu(self._launcher, self._text, begins)
        source = self._source
        if self._decoded is not None:
            source, begins = self._decoded.source, self._decoded.origins(begins)
        with native_errors():
            found = _native.line_numbers(source, begins.tolist(), self._plan.threads, part.line_begin)
        return np.array(found, np.uint64) + np.uint64(part.lines)

    def _table(self, listed: NDArray[np.void], *, raises: bool) -> tuple[dict[str, Column], int]:
        """The table of rejects, or of the one to be raised; and how many of the records that go were counted as filled."""
        begins = listed["record_begin"] + np.uint64(self._begin)
        lines = self._lines(begins[:1] if raises else begins)
        given = (self._source, self._dialect, self._plan, self._begin, self._types)
        with native_errors():
            made, count, short_gone = _native.rejects(*given, listed.tobytes(), self._pieces(listed), lines.tobytes(), raises)
        table = dict(rejects_of(made, count))
        if self._decoded is not None:
            for name in ("line_byte", "byte"):
                table[name] = source_positions(table[name], self._decoded)
        return table, short_gone


def first_faults_bytes() -> int:
    """Of the room where a first conversion lists its faults."""
    return int(_MOST_FAULTS * FAULT.itemsize)
