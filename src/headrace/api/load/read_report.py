"""Makes the report of the read of one source. It is imported when a report is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.api.load.prepared import Prepared
from headrace.api.options.csv_options import CsvOptions
from headrace.api.report import ColumnReport, Report, Skipped
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.schema import PlannedColumns
from headrace.columns.types import DataType
from headrace.core.fast_constructor import fast_constructor
from headrace.core.lazy import LazySequence


def read_report(size: int, prepared: Prepared, loaded: Loaded, options: CsvOptions, seconds: Mapping[str, float]) -> Report:
    """Return the report of the read of one source of `size` bytes."""
    counts, context = loaded.counts, options.context
    skipped = skipped_records(prepared, counts)
    return _report(
        bytes=size,
        unread_bytes=prepared.extent.unread,
        records=counts["records"] + skipped.total,
        rows=counts["rows"],
        rejected=counts["rejected"],
        skipped=skipped,
        filled=counts["filled"],
        faults=counts["faults"],
        columns=_column_reports(prepared.columns, loaded),
        renamed=prepared.columns.renamed,
        seconds=seconds,
        replaced=sum(loaded.replaced),
        passes=counts["passes"],
        header=prepared.beginning.decision,
        device=loaded.device,
        threads=context.thread_count,
        isa=context.isa_name,
        crossings=context.crossings,
        notes=options.notes,
    )


_report, _skipped = fast_constructor(Report), fast_constructor(Skipped)
_column_report = fast_constructor(ColumnReport)


def skipped_records(prepared: Prepared, counts: Mapping[str, int]) -> Skipped:
    """Split the native count of records before the data by the reason why they are left out."""
    beginning = prepared.beginning
    before_names = beginning.leading + 1 - prepared.header if prepared.header else 0
    return _skipped(
        header=prepared.header,
        blank=counts["blank"],
        comment=counts["comment"],
        preamble=beginning.lines + before_names,
        rows=counts["leading"] - before_names - prepared.header,
        footer=prepared.extent.footer,
    )


def _column_reports(planned: PlannedColumns, loaded: Loaded) -> Sequence[ColumnReport]:
    described, evidence = loaded.described, loaded.evidence

    def report(position: int, type_: DataType, nulls: int) -> ColumnReport:
        return _column_report(planned.names[position], type_, planned.types[position] is None, evidence[position], nulls)

    def report_later(number: int) -> ColumnReport:
        position = planned.wanted[number]
        assert described is not None
        description = described[position]
        assert description is not None  # columns to read have one
        return report(position, *description)

    if described is not None:
        return LazySequence(len(planned.wanted), report_later)
    columns = [(position, loaded.columns[position]) for position in planned.wanted]
    return tuple([report(position, column.type, column.null_count) for position, column in columns if column is not None])
