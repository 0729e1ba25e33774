"""Plans the read of several files: the columns of the table, and which of them each file has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headrace.api.load.column_order import ValueT, in_order, index_name
from headrace.api.load.prepared import Prepared
from headrace.api.load.reading import load_plan
from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import FilePart, SourceFile, file_of_row
from headrace.api.read.path_columns import column_of_texts, find_partitions, path_texts, without_own
from headrace.columns.buffers.load_result import Evidence
from headrace.columns.column import Column
from headrace.columns.finish.concat import SharedLoads
from headrace.columns.finish.header_faults import check_header
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.row_policy import COLLECTED
from headrace.columns.plan.value_forms import PlannedForms
from headrace.columns.records.data_range import decide_header, find_data_range
from headrace.columns.schema import PlannedColumns, explained_by
from headrace.columns.schema_files import absent_names, name_files, unite
from headrace.columns.types import DataType
from headrace.encode.texts import encoded
from headrace.sources.open import OpenSource


class PlannedFiles:
    """The plan for several files, after the first records of each were read.

    Raises OptionError if the columns of the files differ, or a column from the paths has the name of another column.
    """

    def __init__(self, files: Sequence[SourceFile], options: CsvOptions) -> None:
        self.files = files
        self.options = options
        self.names = [file.name for file in files]
        self._look_below_the_first()
        firsts = [file.beginning.first for file in files]
        found, schema, asked = find_partitions(self.names, firsts, options)
        by_name, adds_absent = options.files.union_by_name, options.files.include_missing_columns
        named = name_files(self.names, firsts, schema, united=by_name or adds_absent)
        collected = COLLECTED if options.rows.long_records == "collect" else None
        if adds_absent:
            elsewhere = {*found, collected}
            schema = replace(schema, absent=tuple(name for name in absent_names(named, schema) if name not in elsewhere))
        for file, its in zip(files, named, strict=True):
            file.beginning = replace(file.beginning, header=its.header, decision=its.decision)
            first = file.beginning.first
            if its.header is not None and first is not None and (first.malformed, first.undecodable) != (None, None):
                with file.opened() as opened, file.errors():
                    file.beginning = check_header(opened, file.beginning, schema, options.values)
        widths = [self._width(file) for file in files]
        self.decision = next((its.decision for its in named if its.decision is not None), None)
        with explained_by(self.decision):
            self.planned = unite(named, schema, by_name=by_name, widths=widths, collected=collected)
            self.partitions = without_own(found, self.planned.names, options)
            self.forms = options.values.forms.without_dates_of(self.partitions).plan(self.planned.names)
        self.shared = SharedLoads.of(len(self.planned.names), options.context)
        self.schema, self._asked = schema, asked
        self._columns: dict[tuple[tuple[int, ...], int], tuple[PlannedColumns, PlannedForms]] = {}
        self._values = replace(options.values, shrink=False)  # the values of all files decide
        self._extent = replace(options.extent, widest=False)

    def _look_below_the_first(self) -> None:
        """Read the records that the header is compared with, of the first file that has a record; it decides for all files."""
        leader = next((file for file in self.files if file.beginning.first is not None), None)
        if leader is not None:
            options = self.options
            with leader.opened() as opened:
                leader.beginning = decide_header(opened, options.dialect, leader.beginning, options.schema, options.context)

    def _width(self, file: SourceFile) -> int:
        """Return the number of fields of the longest record, or 0 if ``long_records`` is not ``"widen"``."""
        if not self.options.extent.widest:
            return 0
        with file.opened() as opened:
            extent = self.options.extent
            return find_data_range(opened, self.options.dialect, file.beginning, extent, self.options.context).max_fields

    def plan(self, number: int, opened: OpenSource, records: int, *, limited: bool = True) -> tuple[Prepared, LoadPlan]:
        """Return the plan for a file.

        `number`: index of the file.
        `records`: number of data records of the files before it.
        `limited`: whether `n_rows` limits the load; if not, the end of the wanted records is not searched.
        """
        options, file = self.options, self.files[number]
        extent = self._extent
        if extent.n_rows is not None:
            extent = replace(extent, n_rows=max(extent.n_rows - records, 0) if limited else None)
        columns, forms = self._columns_of(number)
        header = 0 if file.beginning.header is None else len(extent.header or (0,))
        found = find_data_range(opened, options.dialect, file.beginning, extent, options.context)
        prepared = Prepared(beginning=file.beginning, extent=found, columns=columns, header=header)
        plan = load_plan(opened, prepared, options, forms)
        threads = 1 if file.size <= plan.tile_bytes else plan.threads  # waking a thread takes longer than loading a small file
        index = None if plan.row_index is None else plan.row_index + records
        places = self.planned.files[number]
        own = replace(plan, values=self._values, threads=threads, row_index=index, file=number, share_columns=places)
        return prepared, own

    def _columns_of(self, number: int) -> tuple[PlannedColumns, PlannedForms]:
        """Return the columns of a file and their forms; the same objects for files with the same columns."""
        planned = self.planned
        places, base = planned.files[number], planned.bases[number]
        if (places, base) not in self._columns:
            wanted = set(planned.wanted)
            columns = PlannedColumns(
                tuple(planned.names[place] for place in places),
                tuple(planned.types[place] for place in places),
                base,
                tuple(position for position, place in enumerate(places) if place in wanted),
                {},
            )
            self._columns[places, base] = columns, self.forms.at(places)
        return self._columns[places, base]

    def of_paths(self, parts: Sequence[FilePart]) -> Iterator[tuple[str, Column, Evidence | None, bool]]:
        """Yield the columns from the paths, for the rows of `parts`: name, column, evidence, whether the type is given."""
        numbers = [part.plan.file for part in parts]
        for name, texts, wanted in path_texts(self.partitions, self.names, self.options):
            column, found = column_of_texts(name, texts, wanted, self.options)
            evidence = found and Evidence(0, 0, found.text, self.names[found.record - 1])
            pieces = [(column, number, part.rows) for number, part in zip(numbers, parts, strict=True)]
            shrink = self.options.values.shrink and wanted is None
            joined, deciding = self.shared.join(pieces, column.type, shrink=shrink)
            if deciding is not None:
                number = numbers[file_of_row(parts, deciding)]
                evidence = Evidence(0, 0, (texts[number] or "").encode(), self.names[number])
            yield name, self.encoded(joined, wanted), evidence, wanted is not None

    def selected(self, columns: Mapping[str, ValueT]) -> dict[str, ValueT]:
        """Return the table's columns in the order of ``columns=``, if it names some that are not of the text."""
        return in_order(self._asked, columns, self.planned, index_name(self.options))

    def encoded(self, column: Column, given: DataType | None) -> Column:
        """Return a string column in the form of its type."""
        return encoded(column, given, self.options.values.text_type, self.options.context.thread_count)
