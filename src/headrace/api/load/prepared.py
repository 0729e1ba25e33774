"""Holds the decisions made before a source is read, and caches them for texts that begin alike.

The first of several such texts is examined; the others take its header, names and types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace import _native
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.records.data_range import DataRange, DataRangeOptions, DataStart
from headrace.columns.schema import PlannedColumns, SchemaOptions
from headrace.core.context import Context
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

_MAX_CACHED = 4
_MAX_HEAD_BYTES, _WIDTH_BYTES = 64 << 10, 1 << 10
"""Greatest length of a first line that is a key, and bytes that are read to count the fields of the first record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The decisions made before a source is read."""

    beginning: DataStart  # the first records, and which of them is the header
    extent: DataRange  # the byte range of the data
    columns: PlannedColumns  # names of the columns, the types that are known, and the columns to read
    header: int  # number of records that hold the names
    before: tuple[int, int, int, int] | None = None
    """Counts of what precedes the data, as in `headrace.columns.plan.load_plan.LoadPlan`; None if they are unknown."""


new_prepared = fast_constructor(Prepared)
_extent = fast_constructor(DataRange)


class Beginnings:
    """Cached decisions for texts that were read with the same options; `beginnings_of` returns those of options.

    If the first record alone shows that it is the header, the key is the text up to the end of that line. A later text with the
    same first bytes has the same first records, whatever follows. Line terminators are LF or CR LF, and a byte after an LF does
    not change them. Later bytes may change the meaning of lenient quotes, so with these the line has no quotes. If the options
    say that there is no header, and quotes are not lenient, the key is the number of fields of the first record.
    """

    def __init__(self, dialect: Dialect, schema: SchemaOptions, extent: DataRangeOptions) -> None:
        self._dialect, self._native = dialect, native_dialect(dialect)
        self._may_keep = extent == DataRangeOptions() and dialect.lineterminator in (None, b"\n")
        self._has_no_header = self._may_keep and schema.header is False and not dialect.looks_ahead
        self._heads: tuple[tuple[bytes, Prepared], ...] = ()
        self._widths: dict[int, Prepared] = {}

    def find(self, source: OpenSource) -> Prepared | None:
        """Return the decisions for a text that begins like this one; None if there was no such text."""
        native = source.native
        if self._widths and not source.begin:
            known = self.find_of_width(native.read(0, _WIDTH_BYTES))
            return None if known is None else of_size(known, native.size)
        for head, known in self._heads:
            if native.read(0, len(head)) == head:
                return of_size(known, native.size)
        return None

    def find_of_width(self, start: bytes) -> Prepared | None:
        """Return the decisions for texts without a header whose first record, in `start`, has as many fields."""
        return self._widths.get(_native.first_width(self._native, start[:_WIDTH_BYTES]))

    def find_in(self, start: bytes) -> Prepared | None:
        """Return the decisions for a text with these first bytes and no byte-order mark, without its size; None if unknown."""
        if self._widths:
            return self.find_of_width(start)
        for head, known in self._heads:
            if start.startswith(head):
                return known
        return None

    def keep(self, source: OpenSource, prepared: Prepared, context: Context) -> Prepared:
        """Cache the decisions if the first record determines them. Return them, with the counts of records before the data."""
        beginning = prepared.beginning
        first = beginning.first
        if not self._may_keep or first is None or first.malformed is not None or first.undecodable is not None:
            return prepared
        if self._has_no_header and not beginning.begin:
            self._widths = {**dict(list(self._widths.items())[1 - _MAX_CACHED :]), len(first.fields): prepared}
        if beginning.header is None or first.below is not None:
            return prepared
        extent = prepared.extent
        with native_errors():
            before = _native.find_data(source.native, self._native, context.isa, extent.begin, extent.data_begin, extent.end)
        prepared = replace(prepared, before=before)
        head = source.native.read(0, before[0]) if before[0] < min(extent.end, _MAX_HEAD_BYTES) else b""
        is_certain = not self._dialect.looks_ahead or (self._dialect.quote_char or b"") not in head
        if head.endswith(b"\n") and is_certain:
            self._heads = ((head, prepared), *self._heads[: _MAX_CACHED - 1])
        return prepared


def of_size(known: Prepared, size: int) -> Prepared:
    """Return the decisions for a text of `size` bytes."""
    extent = known.extent
    own = _extent(begin=extent.begin, data_begin=extent.data_begin, end=size)
    return new_prepared(beginning=known.beginning, extent=own, columns=known.columns, header=known.header, before=known.before)


def beginnings_of(dialect: Dialect, schema: SchemaOptions, extent: DataRangeOptions, collected: str | None) -> Beginnings:
    """Return the cached decisions of these options, which are immutable."""
    return known_beginnings.get_or_create(lambda: Beginnings(dialect, schema, extent), dialect, schema, extent, key=collected)


known_beginnings: IdentityCache[Beginnings] = IdentityCache()
