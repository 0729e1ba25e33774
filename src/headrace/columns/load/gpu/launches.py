"""Launches the kernels that follow the structure search: measure strings, scan their sizes, convert columns.

Nothing here waits for the device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.columns.convert.gpu.column_group import ColumnGroup, TaskText, gpu_plan_of
from headrace.columns.convert.gpu.fast.launches import (
    CONVERT_ROWS,
    FAULT_OUTPUT,
    MEASURE_ROWS,
    MeasuredStrings,
    RowLaunches,
    kinds_of,
    strings_of_search,
    suits_dfa_rows,
)
from headrace.columns.convert.gpu.general.listed_strings import CONVERT_LISTED, LIST_FIELDS, ListedStrings
from headrace.columns.convert.gpu.layouts import CONVERT_TASK, FAULT, LEFT_FIELD, pack_dfa
from headrace.columns.convert.gpu.row_columns import NO_DFA, RowColumns
from headrace.columns.convert.gpu.string_offsets import scan_string_sizes
from headrace.columns.convert.gpu.target import GpuTarget, GpuTuning, TileWork, convert_program
from headrace.columns.convert.gpu.tuning import LISTED_DEFINES, measure_program, row_program
from headrace.columns.faults.gpu.fault_list import FaultList
from headrace.columns.load.gpu.arguments import ArgumentBuffers, argument_template
from headrace.columns.load.gpu.estimate import validate_estimate
from headrace.columns.load.gpu.result_layout import COUNTS_BEGIN, counts_bytes
from headrace.columns.load.gpu.speculative import ConversionPath, SearchedText, SpeculativeConversion
from headrace.columns.load.gpu.text_form import TextForm
from headrace.columns.plan.load_plan import LoadPlan
from headrace.gpu.kernels.kernel import NeededProgram
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Entry, Shape
from headrace.gpu.kernels.trace import Recorder
from headrace.gpu.kernels.trace_expressions import least, packed
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TOTALS, known_dfa_tables
from headrace.structure.gpu.launches import DfaOutput

_MEASURE = Entry("columns/convert/gpu/general/convert.cu", "measure_strings", f"PPPPPPI{CONVERT_TASK.argument}")
_CONVERT = Entry("columns/convert/gpu/general/convert.cu", "convert_tiles", f"PPPPPPPPII{CONVERT_TASK.argument}")
_COUNT = Entry("columns/convert/gpu/string_offsets.cu", "count_values", "PQPP")
_THREADS = 256
_SMALL = {"HR_THREADS": _THREADS}
_COUNT_BLOCKS = 528
MARKED_BLOCKS = 2048


@dataclass(frozen=True, slots=True)
class ConversionOutput:
    """The output of a conversion beside its columns."""

    results: DeviceBuffer  # Buffer of `results_bytes`. The counts must be zero, and the first occurrences all ones.
    faults: DeviceBuffer  # the list of faults
    rows: int  # the number of rows, or an upper bound
    validated: DeviceBuffer | None = None
    """The word of `headrace.columns.load.gpu.estimate.validate_estimate`; None if the host knows the number of rows."""


def conversion_programs(
    tuning: GpuTuning, dialect: Dialect, group: ColumnGroup, form: TextForm, *, measures: bool, lists: bool
) -> list[NeededProgram]:
    """Return the programs that a group's first conversion needs, unless the text differs from the expectation.

    The one that the compiler takes longest for is the first.

    `measures`: whether strings are measured after the search.
    """
    variant, is_wide = form.variant, form.is_wide
    count, found = NeededProgram(_COUNT.file, _SMALL), []
    if lists:
        program = convert_program(tuning, variant, TileWork.LIST, group.families, is_wide=is_wide)
        return [NeededProgram(LIST_FIELDS.file, program[0]), NeededProgram(CONVERT_LISTED.file, LISTED_DEFINES), count]
    is_read = variant != "dfa" or suits_dfa_rows(dialect)
    columns = group.fast_columns(quotes=variant != "unquoted", measures=False) if is_read else None
    if columns is None or is_wide:
        program = convert_program(tuning, variant, TileWork.CONVERT, group.families, is_wide=is_wide)
        found.append(NeededProgram(_CONVERT.file, program[0]))
    else:
        rows = tuning.of_rows(variant, strings=columns.strings > 0, width=columns.width)
        found.append(NeededProgram(CONVERT_ROWS.file, row_program(rows, columns.strings > 0, kinds_of(columns, dialect))[0]))
    if group.strings:
        measured = group.fast_columns(quotes=variant != "unquoted", measures=True) if is_read else None
        is_general = is_wide and measures and measured is None and variant == "unquoted"
        program = convert_program(tuning, variant, TileWork.MEASURE, group.families, is_wide=is_general)
        found.append(NeededProgram(_MEASURE.file, program[0]))
    if group.strings and measures and is_read:
        rows, has_null_words = tuning.of_rows(variant, strings=True), measured is not None and measured.has_null_words
        found.append(NeededProgram(MEASURE_ROWS.file, measure_program(rows, tuning.find.threads, has_null_words)[0]))
    return [*found, count]


class ConversionLaunches:
    """Launches the conversions of one load."""

    def __init__(self, target: GpuTarget, dialect: Dialect, plan: LoadPlan, searched: SearchedText, faults: FaultList) -> None:
        self._target, self._launcher, self._text = target, target.launcher, target.text
        self._dialect, self._plan, self._gpu_plan = dialect, plan, gpu_plan_of(plan)
        self._searched, self._structure, self._faults = searched, searched.structure, faults
        self._strings = searched.strings
        self._scan_memory: DeviceBuffer | None = BufferSlice(searched.structure.totals, searched.layout.end)
        self._fast = RowLaunches(target, dialect, searched.structure, searched.marks, searched.form.quoted)

    def speculative(self, group: ColumnGroup, *, lists: bool, expects_declined: bool) -> SpeculativeConversion:
        """Return the conversion of a group with estimated sizes, for texts that the first search variant reads.

        The launches are recorded for texts that byte masks read, or that only the DFA reads.
        """
        measured = None if self._structure.measured_strings else self.fast_columns(group, writes=False)
        converted = self.fast_columns(group, writes=True)
        by_dfa = self._fast.by_dfa
        tables = known_dfa_tables(self._dialect).tobytes() if by_dfa and suits_dfa_rows(self._dialect) else b""
        arguments = argument_template(self._gpu_plan, group, (measured, converted), tables)
        path = ConversionPath.of(converted, lists=lists, expects_declined=expects_declined)
        conversion = SpeculativeConversion(arguments, path)
        return conversion if by_dfa and not tables else self._recorded(group, conversion)

    def _recorded(self, group: ColumnGroup, conversion: SpeculativeConversion) -> SpeculativeConversion:
        """Return a conversion with its launches, recorded for the symbols that `SpeculativeConversion.replay` gives values."""
        by_dfa, recorder = self._fast.by_dfa, Recorder(3, 9)
        nbytes, tiles, rows = recorder.numbers
        text, totals, entries, sums, sizes, marks, argument_buffer, faults, roles = recorder.given
        variants = tuple([variant for variant in self._structure.variants if by_dfa or variant != "dfa"])
        dfa = DfaOutput(BufferSlice(argument_buffer, conversion.arguments.dfa_begin), roles) if by_dfa else None
        tile_buffers: Any = {"totals": totals, "entries": entries, "tiles": tiles, "extra": (), "variants": variants, "dfa": dfa}
        structure = replace(self._structure, **tile_buffers)
        strings: Any = strings_of_search(structure, sums, sizes, marks)
        buffers: Any = {"strings": strings, "marks": marks, "arguments": argument_buffer, "faults": faults}
        symbols: Any = {"launcher": recorder, "text": text.of_size(nbytes)}
        searched = replace(self._searched, structure=structure, **buffers)
        symbolic = ConversionLaunches(replace(self._target, **symbols), self._dialect, self._plan, searched, self._faults)
        symbolic.launch_speculative(group, conversion, rows)
        recording, strings = recorder.done(), symbolic._strings
        numbers = {"sums": recorder.number_made(strings.sums), "sizes": recorder.number_made(strings.sizes)}
        fields: dict[str, Any] = {"recording": recording, "measures_fast": strings.left is not None, **numbers}
        return replace(conversion, **fields)

    def continue_after_replay(self, strings: MeasuredStrings) -> None:
        """Continue after a replay, which has used the zeros and marks allocated with the search and measured `strings`."""
        self._strings, self._scan_memory = strings, None
        self._fast.go_on()

    def launch_speculative(self, group: ColumnGroup, conversion: SpeculativeConversion, rows: Any) -> None:
        """Measure strings, validate the estimate, and convert columns into buffers for the estimated rows."""
        searched, structure = self._searched, self._structure
        arguments = conversion.arguments.buffers(searched.arguments, 2 * (group.strings + 1))
        totals, word = searched.string_bytes(group), BufferSlice(structure.totals, searched.layout.word, 8)
        output = ConversionOutput(searched.results(group), searched.faults, rows, word)
        with self._launcher.together():
            if conversion.path is ConversionPath.LISTED:
                self._convert_listed(group, arguments, totals, output)
                return
            self.measure(group, arguments, "", totals)
            validate_estimate(self._launcher, structure.totals, arguments.ranges, totals, word)
            declined = self.convert_fast(group, arguments, output)
            if conversion.path is not ConversionPath.FAST:
                self.convert_declined(group, arguments.table, structure.variants[0], output, declined)
            self.count_values(group, arguments.table, output)

    def _convert_listed(
        self, group: ColumnGroup, arguments: ArgumentBuffers, totals: DeviceBuffer, output: ConversionOutput
    ) -> None:
        """Convert strings by a list of their fields, if the estimate is right; parameters as for `measure`."""
        assert output.validated is not None
        structure, variant = self._structure, self._structure.variants[0]
        listed = ListedStrings(self._launcher, self._text, group, arguments.table, output.rows)
        listed.find(structure, self._shape(variant, None, TileWork.LIST, group.families)[0], self._task(group, variant), totals)
        validate_estimate(self._launcher, structure.totals, arguments.ranges, totals, output.validated)
        self._clear_first_seen(group, output.results)
        listed.convert(output.validated)
        self.count_values(group, arguments.table, output)

    def fast_columns(self, group: ColumnGroup, *, writes: bool) -> RowColumns | None:
        """Return the columns as a fast kernel reads them, or None if it cannot; `writes`: for converting, not measuring."""
        if self._searched.form.is_wide if writes else not group.strings:
            return None
        return None if self._faults.listing.skips_records else self._fast.columns(group, writes=writes)

    def measure(self, group: ColumnGroup, arguments: ArgumentBuffers, variant: str, totals: DeviceBuffer) -> None:
        """Count the string bytes of each column and tile, and scan them to offsets.

        `variant`: the search variant that read the text; empty if it is not known yet. Then the first one measures. If another
        one reads the text, the host measures again.
        `totals`: one word for each column of strings, zero before the launch; receives its bytes.
        """
        launcher, strings = self._launcher, group.strings
        if not strings:
            return
        if not variant and self._structure.measured_strings:
            self._measure_declined(group, arguments, totals)
            return
        columns, table = arguments.fast[0]
        if columns is not None and not columns.strings:  # columns without a type have no bytes
            self._strings = MeasuredStrings(launcher.allocate(self._structure.tiles * strings * 8, fill=0))
            return
        sums = self._strings.sums
        if variant or not self._searched.has_sums:
            sums = launcher.allocate(self._structure.tiles * strings * 8)
        if columns is None:
            self._strings = MeasuredStrings(sums)
        else:
            self._strings = self._fast.measure(columns, table, arguments.table, sums, utf8=group.has_text)
        read_by = variant or self._structure.variants[0]
        first = None if variant or read_by == "dfa" else BufferSlice(self._structure.totals, 0, TOTALS.itemsize)
        self._measure_general(group, arguments, read_by, first)
        self._scan_sizes(strings, totals, self._span(read_by))

    def _measure_declined(self, group: ColumnGroup, arguments: ArgumentBuffers, totals: DeviceBuffer) -> None:
        """Measure the tiles that the first search variant has declined to measure; parameters as for `measure`."""
        self._fast.add_far_fields(group, self._strings)
        self._measure_general(
            group, arguments, self._structure.variants[0], BufferSlice(self._structure.totals, 0, TOTALS.itemsize)
        )
        self._scan_sizes(group.strings, totals, 1)

    def _measure_general(self, group: ColumnGroup, arguments: ArgumentBuffers, variant: str, totals: DeviceBuffer | None) -> None:
        """Measure tiles that the fast kernel did not, unless the variant's totals say that another one reads the text."""
        declined = self._strings.left
        shape, block_tiles = self._shape(variant, declined, TileWork.MEASURE, group.families)
        head = [self._text, self._structure.entries, arguments.table, self._strings.sums, totals, declined]
        self._launcher.launch(_MEASURE, shape, [*head, block_tiles, self._task(group, variant)])

    def _scan_sizes(self, strings: int, totals: DeviceBuffer, span: int) -> None:
        """Scan the sums of strings; `span`: tiles of the search that a row of them has."""
        # The scan needs zeroed memory. The first scan uses the memory allocated with the search.
        memory, self._scan_memory = self._scan_memory, None
        scan_string_sizes(self._launcher, self._strings.sums, (-(-self._structure.tiles // span), strings), totals, memory)

    def convert_fast(self, group: ColumnGroup, arguments: ArgumentBuffers, output: ConversionOutput) -> DeviceBuffer | None:
        """Convert tiles, whose strings are measured, by the fast kernel; return marks of those that it declines.

        The result is None if the kernel cannot read the columns: the general conversion must convert all tiles.
        """
        columns, table = arguments.fast[-1]
        results = output.results
        self._clear_first_seen(group, results)
        if columns is None:
            return None
        capacity = self._faults.listing.capacity
        return self._fast.convert(
            columns,
            table,
            arguments.table,
            self._strings,
            counts=BufferSlice(results, 0, COUNTS_BEGIN),
            left_fields=BufferSlice(output.faults, capacity * FAULT.itemsize, capacity * LEFT_FIELD.size),
            capacity=capacity,
            faults=self._fault_output(output) if self._fast.by_dfa else b"",
            cleared=group.is_cleared(is_sparse=self._searched.form.is_sparse),
            validated_rows=output.validated,
        )

    def _clear_first_seen(self, group: ColumnGroup, results: DeviceBuffer) -> None:
        if group.infers:
            self._launcher.fill(BufferSlice(results, counts_bytes(len(group.columns))), 0xFF)

    def _fault_output(self, output: ConversionOutput) -> bytes:
        listing = self._faults.listing
        limits = listing.capacity, listing.last_record, listing.raise_mask, listing.knows_records
        task: bytes = packed(FAULT_OUTPUT.packer(), output.faults.address, output.results.address, *limits)
        return task

    def convert_declined(
        self, group: ColumnGroup, table: DeviceBuffer, variant: str, output: ConversionOutput, declined: DeviceBuffer | None
    ) -> None:
        """Convert declined tiles by the general kernel, or all tiles if `declined` is None.

        `table`: the columns for the general kernels. The other parameters are those of `measure`.
        """
        results, sums = output.results, self._strings.sums
        shape, block_tiles = self._shape(variant, declined, TileWork.CONVERT, group.families)
        head = [self._text, self._structure.entries, table, sums, output.faults, results, output.validated, declined]
        span = shape.defines["HR_SPAN"] // self._span(variant)
        self._launcher.launch(_CONVERT, shape, [*head, block_tiles, span, self._task(group, variant)])

    def count_values(self, group: ColumnGroup, table: DeviceBuffer, output: ConversionOutput) -> None:
        """Count the values of each column. The counts must be zero."""
        if count := len(group.columns):
            blocks = least(_COUNT_BLOCKS // count, output.rows // 32 // _THREADS) + 1
            args = [table, output.rows, output.validated, BufferSlice(output.results, COUNTS_BEGIN, count * 8)]
            self._launcher.launch(_COUNT, Shape(_SMALL, (count, blocks, 1), _THREADS), args)

    def _measures_wide(self, variant: str) -> bool:
        """Return whether wide tiles are measured: those of texts without quotes. `variant`: the one that reads the text."""
        return self._searched.form.is_wide and self._strings.left is None and variant == "unquoted"

    def _span(self, variant: str) -> int:
        """Return the tiles of the search that a row of the sums has."""
        return self._target.tuning.convert(variant, is_wide=self._measures_wide(variant)).span

    def _shape(self, variant: str, declined: DeviceBuffer | None, work: TileWork, families: int) -> tuple[Shape, int]:
        """Return the launch configuration and the tiles of a block: several if only declined tiles are converted.

        `families`: those of the columns.
        """
        tiles, tuning = self._structure.tiles, self._target.tuning
        is_wide = self._searched.form.is_wide and declined is None
        if is_wide if work is TileWork.CONVERT else self._measures_wide(variant):
            defines, threads, shared = convert_program(tuning, variant, work, families, is_wide=True)
            return Shape(defines, -(-tiles // tuning.convert(variant, is_wide=True).span), threads, shared), 1
        defines, threads, shared = convert_program(tuning, variant, work, families)
        block_tiles = 1 if declined is None else least(tiles // MARKED_BLOCKS + 1, 32)
        return Shape(defines, -(-tiles // block_tiles), threads, shared), block_tiles

    def _task(self, group: ColumnGroup, variant: str) -> bytes:
        structure = self._structure
        dfa = NO_DFA if variant != "dfa" or structure.dfa is None else pack_dfa(self._dialect, structure.dfa)
        text = TaskText(self._text.nbytes, structure.tiles, dfa)
        return self._gpu_plan.task(group, self._dialect, variant, self._faults.listing, text)
