"""What is settled before a source is read, and kept for texts that begin alike: of one kind, the first one settles it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace import _native
from headrace.columns.plan.load_plan import native_dialect, native_errors
from headrace.columns.records.data_range import Beginning, Extent, ExtentOptions
from headrace.columns.schema import PlannedColumns, SchemaOptions
from headrace.core.context import Context
from headrace.core.identity_cache import Recent
from headrace.core.quick import quick
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

_MOST_KEPT = 4
_MOST_BYTES, _WIDTH_BYTES = 8 << 10, 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is settled before a source is read.

    Parameters
    ----------
    beginning, extent
        Where the text begins, and which part of it is data.
    columns
        Names, types as far as they are known, and which are wanted.
    header
        Records that hold the names.
    before
        What is in front of the data, if that is known: as `headrace.columns.plan.load_plan.LoadPlan` has it.
    """

    beginning: Beginning
    extent: Extent
    columns: PlannedColumns
    header: int
    before: tuple[int, int, int, int] | None = None


new_prepared = quick(Prepared)
_extent = quick(Extent)


class Beginnings:
    """How texts begin that were read with the same options; `beginnings_of` gives those of options.

    Of a text with a header that its first record alone shows, its first bytes are kept, up to the line end behind that.
    Whatever follows, the records up to there are those that they were: line ends are LF or CR LF, which nothing behind an LF
    changes; and quotes are strict, so that no byte behind them tells what they mean. Of texts that have none, for options that
    say so, what matters is how many fields a record has.
    """

    def __init__(self, dialect: Dialect, schema: SchemaOptions, extent: ExtentOptions) -> None:
        self._dialect, self._native = dialect, native_dialect(dialect)
        self._may_keep = extent == ExtentOptions() and dialect.lineterminator in (None, b"\n") and not dialect.lenient_quotes
        self._has_no_header = self._may_keep and schema.header is False
        self._heads: tuple[tuple[bytes, Prepared], ...] = ()
        self._widths: dict[int, Prepared] = {}

    def find(self, source: OpenSource) -> Prepared | None:
        """What was settled for a text that begins as this one; None if none did."""
        native = source.native
        if self._widths and not source.begin:
            known = self._widths.get(_native.first_width(self._native, native.read(0, _WIDTH_BYTES)))
            return None if known is None else _of_size(known, native.size)
        for head, known in self._heads:
            if native.read(0, len(head)) == head:
                return _of_size(known, native.size)
        return None

    def keep(self, source: OpenSource, prepared: Prepared, context: Context) -> Prepared:
        """Keep what was settled, if the text's first record settled it; the same, with what was found in front of the data."""
        beginning = prepared.beginning
        first = beginning.first
        if not self._may_keep or first is None or first.malformed is not None or first.undecodable is not None:
            return prepared
        if self._has_no_header and not beginning.begin:
            self._widths = {**dict(list(self._widths.items())[1 - _MOST_KEPT :]), len(first.fields): prepared}
        if beginning.header is None or first.below is not None:
            return prepared
        extent = prepared.extent
        with native_errors():
            before = _native.find_data(source.native, self._native, context.isa, extent.begin, extent.data_begin, extent.end)
        prepared = replace(prepared, before=before)
        head = source.native.read(0, before[0]) if before[0] < min(extent.end, _MOST_BYTES) else b""
        if head.endswith(b"\n"):
            self._heads = ((head, prepared), *self._heads[: _MOST_KEPT - 1])
        return prepared


def _of_size(known: Prepared, size: int) -> Prepared:
    """The same for a text of so many bytes."""
    extent = known.extent
    own = _extent(begin=extent.begin, data_begin=extent.data_begin, end=size)
    return new_prepared(beginning=known.beginning, extent=own, columns=known.columns, header=known.header, before=known.before)


def beginnings_of(dialect: Dialect, schema: SchemaOptions, extent: ExtentOptions, collected: str | None) -> Beginnings:
    """Those of options that nobody changes."""
    return _beginnings.of(lambda: Beginnings(dialect, schema, extent), dialect, schema, extent, key=collected)


_beginnings: Recent[Beginnings] = Recent()
