"""Reads several delimited texts into one table.

The files are loaded one after another, each on all threads. The loads share the column types of all earlier files, so a file
starts with the types that the earlier files need. If the types of a file differ in the end from those of all files together, the
file is loaded again. Then the columns are concatenated one by one, and the parts of a column are freed after it. The memory
needed is that of the result and one column.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import accumulate
from typing import Any

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_loads import loads_for
from headrace.api.read.file_parts import FilePart, SourceFile, report_of
from headrace.api.read.path_columns import column_of_texts
from headrace.api.read.planned_files import PlannedFiles
from headrace.api.report import ColumnReport, Evidence
from headrace.api.sniffed import Sniffed
from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.finish.concat import locate
from headrace.columns.plan.load_run import PROGRESS_SECONDS, LoadRun, Progress
from headrace.columns.types import DataType, parse_type
from headrace.core.errors import OptionError
from headrace.sources.open import OpenSource, SourceLike
from headrace.sources.reopen import KEPT_BYTES, SharedResources

FindDialect = Callable[..., tuple[Sniffed | None, CsvOptions]]
"""Takes ``(files, options=options)``; returns a proposal of how the files are written, and the options with it."""


def read_files(sources: Sequence[SourceLike], options: CsvOptions, find_dialect: FindDialect | None = None) -> Table:
    """Read all sources, in order, into one table; `find_dialect` finds how they are written, for ``dialect="auto"``.

    Raise OptionError if the columns of the files differ, or a column from the paths has the name of another column.
    """
    begun = time.perf_counter()
    limit = options.context.memory_limit
    with ExitStack() as closing:
        keeping = SharedResources(closing, spare_bytes=min(KEPT_BYTES, limit // 4) if limit else KEPT_BYTES)
        files = [SourceFile(number, source, options.source, keeping) for number, source in enumerate(sources, 1)]
        sniffed = None
        if find_dialect is not None:
            sniffed, options = find_dialect(files, options=options)
        for file in files:
            file.look(options)
        reading = _Reading(files, options, begun, sniffed)
        return reading.table().to(reading.loads.device, context=options.context)


class _Reading:
    """A call of `read_files`."""

    def __init__(self, files: list[SourceFile], options: CsvOptions, begun: float, sniffed: Sniffed | None) -> None:
        self.files = files
        self.options = options
        self.begun = begun
        self.sniffed = sniffed
        self.plans = PlannedFiles(files, options)
        self.names, self.planned, self.shared = self.plans.names, self.plans.planned, self.plans.shared
        self.loads = loads_for(self.plans)
        self.seconds = {"find": 0.0, "convert": 0.0, "finish": 0.0}
        self.begins = list(accumulate((file.size for file in files), initial=0))
        self.prepared = self.reported = time.perf_counter()

    def table(self) -> Table:
        parts: list[FilePart] = []
        records = 0
        for number, file in enumerate(self.files):
            parts.append(self._part(number, file, records))
            records += parts[-1].counts["records"]
        self._load_stale(parts)
        self.shared.include_unfit()
        self._load_stale(parts)
        types = self._types()
        joined = time.perf_counter()
        index = self._row_index(parts)
        columns, evidence = self._join(parts, types)
        wanted = self.planned.wanted
        given = [self.planned.types[place] is not None for place in wanted]
        names = [self.planned.names[place] for place in wanted]
        for name, column, found, is_given in self.plans.of_paths(parts):
            names.append(name)
            columns.append(column)
            evidence.append(found)
            given.append(is_given)
        if twice := [name for name in index if name in names]:
            raise OptionError(f"row_index_name={twice[0]!r} is the name of a column; choose another")
        rejects = self._rejects(parts)
        done = time.perf_counter()
        seconds = {"prepare": self.prepared - self.begun, **self.seconds, "join": done - joined, "total": done - self.begun}
        reports = {
            name: ColumnReport(name, column.type, not is_given, None if is_given else found, column.null_count)
            for name, column, found, is_given in zip(names, columns, evidence, given, strict=True)
        }
        table = self.plans.selected(index | dict(zip(names, columns, strict=True)))
        described = tuple(reports[name] for name in table if name in reports)
        return Table(
            table,
            rejects=Table(rejects),
            report=report_of(parts, self.options, self._whole(described, sum(part.counts["faults"] for part in parts), seconds)),
        )

    def _part(self, number: int, file: SourceFile, records: int) -> FilePart:
        """Load a file; `records` is the number of data records of the files before it."""
        with file.opened() as opened:
            prepared, plan = self.plans.plan(number, opened, records)
            part = FilePart(file, self.planned.files[number], prepared, plan)
            self._load(part, opened)
        return part

    def _load(self, part: FilePart, opened: OpenSource) -> None:
        part.columns = []  # of an earlier load: frees their memory for this one
        run = LoadRun(self._progress(part.plan.file), self.shared.native)
        with part.file.errors():
            part.take(loaded := self.loads.load(opened, part.plan, run))
        part.add_header_faults(self.options.context)
        for stage, seconds in loaded.seconds.items():
            self.seconds[stage] += seconds
        report = run.progress
        is_due = time.perf_counter() - self.reported > PROGRESS_SECONDS
        if report is not None and is_due:  # loads of small files do not report progress
            report(part.file.size, part.file.size)

    def _progress(self, number: int) -> Progress | None:
        """Return a function that reports a file's progress as that of all files; a second load starts at the file's beginning."""
        report = self.options.progress
        if report is None:
            return None

        def report_of_all(done: int, _: int) -> None:
            self.reported = time.perf_counter()
            report(self.begins[number] + done, self.begins[-1])

        return report_of_all

    def _load_stale(self, parts: list[FilePart]) -> None:
        """Load files again until each has the types of all files, or has values that these types do not hold."""
        types = self._types()
        while stale := [part for part in parts if part.loaded_as != types and part.is_stale(types)]:
            for part in stale:
                part.loaded_as = types
                with part.file.opened() as opened:
                    self._load(part, opened)
            types = self._types()

    def _types(self) -> list[DataType]:
        return [given.loaded_as if given else found for given, found in zip(self.planned.types, self.shared.types(), strict=True)]

    def _join(self, parts: list[FilePart], types: list[DataType]) -> tuple[list[Column], list[Evidence | None]]:
        columns: list[Column] = []
        rows: dict[int, int] = {}
        at = [{place: position for position, place in enumerate(part.places)} for part in parts]
        for place in self.planned.wanted:
            kind = types[place]
            pieces = [part.give(positions.get(place), kind) for part, positions in zip(parts, at, strict=True)]
            shrink = self.options.values.shrink and self.planned.types[place] is None
            column, deciding = self.loads.join(pieces, kind, shrink=shrink)
            columns.append(self.loads.encoded(column, self.planned.types[place]))
            if deciding is not None:
                rows[place] = deciding
        evidence = self.shared.evidence(self.names)
        for place, found in self._located(parts, rows).items():
            before = evidence[place]
            evidence[place] = replace(found, rounded=before and before.rounded)
        return columns, [evidence[place] for place in self.planned.wanted]

    def _row_index(self, parts: list[FilePart]) -> dict[str, Column]:
        wanted = self.options.row_index
        if wanted is None:
            return {}
        pieces = [part.row_index for part in parts if part.row_index is not None]
        return {wanted.name: self.loads.join(pieces, parse_type("int64"))[0]}

    def _located(self, parts: list[FilePart], deciding: Mapping[int, int]) -> dict[int, Evidence]:
        """Return the fields that determined shrunk types, by column; `deciding` has their rows of the table."""
        found: dict[int, Evidence] = {}
        begin = 0
        for part in parts:
            rows = [
                row - begin if (row := deciding.get(place)) is not None and begin <= row < begin + part.rows else None
                for place in part.places
            ]
            begin += part.rows
            if all(row is None for row in rows):
                continue
            with part.file.opened() as opened:
                fields = locate(opened, self.options.dialect, part.plan, rows, part.rejected_records())
            for place, field_found in zip(part.places, fields, strict=True):
                if field_found is not None:
                    found[place] = replace(field_found, file=part.file.name)
        return found

    def _rejects(self, parts: list[FilePart]) -> dict[str, Column]:
        faulty = [(number, part) for number, part in enumerate(parts) if len(part.rejects["record"])]
        names, _ = column_of_texts("file", self.names, parse_type("large_string"), self.options)
        pieces = [(names, number, len(part.rejects["record"])) for number, part in faulty]
        joined = {"file": self.shared.join(pieces, names.type)[0]}
        for name, column in parts[0].rejects.items():
            joined[name] = self.shared.join([part.rejects[name] for _, part in faulty], column.type)[0]
        return joined

    def _whole(self, columns: tuple[ColumnReport, ...], faults: int, seconds: dict[str, float]) -> dict[str, Any]:
        """Return the fields of the report that concern the table as a whole."""
        return {
            "columns": columns,
            "faults": faults,
            "renamed": self.planned.renamed,
            "seconds": seconds,
            "sniffed": self.sniffed,
            "header": self.plans.decision,
            "device": str(self.loads.device),
        }
