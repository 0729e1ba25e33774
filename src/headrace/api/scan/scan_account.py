"""Builds the reports of a scan: one for each batch, and one for the whole."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

from headrace.api.load.prepared import Prepared
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import ColumnReport, Evidence, FileReport, Position, Report, Skipped
from headrace.api.scan.scan_parts import ScanParts
from headrace.api.scan.scan_types import ScanTypes
from headrace.api.sniffed import Sniffed
from headrace.columns.column import Column
from headrace.core.fast_constructor import fast_constructor

_COUNTS = ("records", "rows", "rejected", "leading", "blank", "comment", "filled")
_SKIPPED = tuple(one.name for one in fields(Skipped))


_made_skipped, _made_report, _made_column = fast_constructor(Skipped), fast_constructor(Report), fast_constructor(ColumnReport)


@dataclass(slots=True)
class _FileCounts:
    """Counts of the batches of a file that were reported."""

    prepared: Prepared
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    bytes: int = 0
    left_out: int = 0
    resumed: bool = False
    is_done: bool = False

    @property
    def skipped(self) -> Skipped:
        """Skipped records. Leading records precede the data: those before the header, the header, those after it."""
        beginning, header, leading = self.prepared.beginning, self.prepared.header, self.counts["leading"]
        before = beginning.leading + 1 - header if header else 0
        lines = 0 if self.resumed else beginning.lines
        return _made_skipped(
            header=min(max(leading - before, 0), header),
            blank=self.counts["blank"],
            comment=self.counts["comment"],
            preamble=lines + min(leading, before),
            rows=max(leading - before - header, 0),
            footer=self.prepared.extent.footer if self.is_done else 0,
            where=self.left_out,
        )


class Accounted(Protocol):
    """A scan that an account describes."""

    plans: PlannedFiles
    options: CsvOptions
    sniffed: Sniffed | None
    device: str
    parts: ScanParts


class Account:
    """Counts the results of parts, and reports them batch by batch; `start`: the position at which the scan began."""

    def __init__(self, state: Accounted, start: Position) -> None:
        self._plans, self._options, self._sniffed, self._device = state.plans, state.options, state.sniffed, state.device
        self._parts, self._start = state.parts, start
        self._files: dict[int, _FileCounts] = {}
        self._reported = Skipped()
        self._reported_records = dict.fromkeys(_COUNTS, 0)
        self._reported_bytes = 0
        self._columns: dict[str, ColumnReport] = {}  # those of the last batch
        self._nulls: dict[str, int] = {}  # in all batches
        self._seconds: dict[str, float] = {}
        self._begun = self._batch_begun = time.perf_counter()
        self.faults = self.replaced = 0

    def add(self, part: FilePart) -> bool:
        """Count a part that was loaded; return whether it is the first of its file."""
        number = part.plan.file
        begins = number not in self._files and not self._is_resumed(number)
        known = self._of_file(number, part.prepared)
        known.prepared = part.prepared
        for name in _COUNTS:
            known.counts[name] += part.counts[name]
        known.counts["records"] -= part.left_out
        known.left_out += part.left_out
        if part.reached is not None:
            known.bytes = part.reached.byte - (self._start.byte if known.resumed else 0)
        for earlier, file in self._files.items():
            file.is_done |= earlier < number
        return begins

    def _is_resumed(self, number: int) -> bool:
        return number == self._start.file and self._start.byte > 0

    def _of_file(self, number: int, prepared: Prepared) -> _FileCounts:
        return self._files.setdefault(number, _FileCounts(prepared, resumed=self._is_resumed(number)))

    def leave_out(self, number: int, rows: int) -> None:
        """Count rows of a file that the scan's condition leaves out as skipped records."""
        file = self._files[number]
        file.left_out += rows
        for name in ("records", "rows"):
            file.counts[name] -= rows

    @property
    def has_batches(self) -> bool:
        """True if a batch was reported."""
        return bool(self._columns)

    def finish(self) -> None:
        """Mark all files as read to their end. Those without a part have skipped records alone."""
        for number, prepared in self._parts.prepared.items():
            if number >= self._start.file:  # a pass that infers types opens earlier files
                self._of_file(number, prepared)
        for file in self._files.values():
            file.is_done = True

    def batch(
        self, part: FilePart, columns: dict[str, Column], scan_types: ScanTypes, of_paths: dict[str, Evidence | None]
    ) -> Report:
        """Return the report of everything since the last batch.

        `part`, `columns`, `scan_types`: the last part of the batch, its columns, and the types of all columns.
        `of_paths`: columns from the paths of files, with the evidence for inferred types.
        """
        skipped, counts, nbytes = self._skipped(), self._counts(), sum(file.bytes for file in self._files.values())
        new = {name: counts[name] - self._reported_records[name] for name in _COUNTS}
        both = {name: getattr(skipped, name) - getattr(self._reported, name) for name in _SKIPPED}
        reports = self.describe(columns, of_paths)
        now = time.perf_counter()
        report = self._report(
            new,
            _made_skipped(**both),
            reports,
            scan_types,
            bytes=nbytes - self._reported_bytes,
            faults=part.counts["faults"],
            replaced=part.replaced,
            passes=part.passes,
            seconds={"total": now - self._batch_begun},
            end=part.reached,
        )
        self._reported, self._reported_records, self._reported_bytes, self._batch_begun = skipped, counts, nbytes, now
        self.faults += report.faults
        self.replaced += report.replaced
        return report

    def whole(self, scan_types: ScanTypes, end: Position | None) -> Report:
        """Return the report of the whole scan."""
        several = len(self._plans.files) > 1
        files = tuple(
            FileReport(
                self._plans.names[number],
                file.bytes,
                file.counts["records"] + file.skipped.total,
                file.counts["rows"],
                file.counts["rejected"],
                file.skipped,
            )
            for number, file in sorted(self._files.items())
        )
        columns = tuple([replace(report, nulls=self._nulls[name]) for name, report in self._columns.items()])
        return self._report(
            self._counts(),
            self._skipped(),
            columns,
            scan_types,
            bytes=sum(file.bytes for file in files),
            faults=self.faults,
            replaced=self.replaced,
            passes=scan_types.passes + 1,
            seconds={"total": time.perf_counter() - self._begun},
            end=end,
            files=files if several else (),
            sniffed=self._sniffed,
        )

    def _report(
        self, counts: dict[str, int], skipped: Skipped, columns: tuple[ColumnReport, ...], scan_types: ScanTypes, **more: Any
    ) -> Report:
        """Return a report; `more`: the fields in which a batch and the whole differ."""
        context = self._options.context
        return _made_report(
            records=counts["records"] + skipped.total,
            rows=counts["rows"],
            rejected=counts["rejected"],
            skipped=skipped,
            filled=counts["filled"],
            header=self._plans.decision,
            columns=columns,
            renamed=self._plans.planned.renamed,
            device=self._device,
            copied_by=self._parts.copied_by,
            threads=context.thread_count,
            isa=context.isa_name,
            crossings=context.crossings,
            notes=self._options.notes,
            inferred_from="first" if scan_types.from_first else "all",
            **more,
        )

    def _counts(self) -> dict[str, int]:
        return {name: sum(file.counts[name] for file in self._files.values()) for name in _COUNTS}

    def _skipped(self) -> Skipped:
        parts = [file.skipped for file in self._files.values()]
        return parts[0] if len(parts) == 1 else Skipped(**{name: sum(getattr(part, name) for part in parts) for name in _SKIPPED})

    def describe(self, columns: dict[str, Column], of_paths: dict[str, Evidence | None]) -> tuple[ColumnReport, ...]:
        """Return the reports of the columns of a batch."""
        planned = self._plans.planned
        inferred = {planned.names[place] for place in planned.wanted if planned.types[place] is None}
        inferred |= {name for name, found in of_paths.items() if found is not None}
        evidence = self._evidence() | of_paths if inferred else {}
        index = self._options.row_index and self._options.row_index.name
        reports, nulls = self._columns, self._nulls
        for name, column in columns.items():
            if name == index:
                continue
            is_inferred, of_batch = name in inferred, column.null_count
            reports[name] = _made_column(name, column.type, is_inferred, evidence.get(name) if is_inferred else None, of_batch)
            nulls[name] = nulls.get(name, 0) + of_batch
        return tuple(reports.values())

    def _evidence(self) -> dict[str, Evidence | None]:
        """Return the evidence for the types of the text's columns, by name."""
        files = self._plans.names if len(self._plans.files) > 1 else None
        return dict(zip(self._plans.planned.names, self._plans.shared.evidence(files), strict=True))
