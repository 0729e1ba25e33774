"""Loads text that is already in GPU memory into typed columns.

A load has six steps:

1. *Prepare*: the first bytes of the text give its form (text_form.py), which chooses the kernels.
2. *Search*: the structure search (structure/gpu) is enqueued.
3. *Estimate*: the first records give the numbers of rows and string bytes (estimate.py).
4. *Launch*: the conversion (columns/convert/gpu) is enqueued after the search, into buffers of the estimated sizes.
5. *Wait*: the host reads the counts and the summary of faults, once.
6. *Collect*: the columns are complete, unless the estimate or a type was wrong. Then the conversion runs again.

The unquoted and quoted search variants misread quotes inside unquoted fields. If the text has any, the whole load runs again
with the dialect's DFA.

The result equals the native loader's to the bit, faults included (columns/faults/gpu/fault_list.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headrace.columns.buffers.load_result import CutRecordError, Loaded
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers, gpu_plan_of
from headrace.columns.convert.gpu.fast.launches import MeasuredStrings, strings_of_search
from headrace.columns.convert.gpu.general.listed_strings import UNLISTED_BYTES
from headrace.columns.convert.gpu.target import GpuTarget, GpuTuning, with_dfa
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.columns.load.gpu.arguments import argument_bytes, argument_template
from headrace.columns.load.gpu.data_start import data_prefix, find_data
from headrace.columns.load.gpu.estimate import SizeEstimate, covers, is_mispredicted
from headrace.columns.load.gpu.launches import ConversionLaunches, ConversionOutput, conversion_programs
from headrace.columns.load.gpu.repeated_load import RepeatedLoad, chain_of, load_repeated
from headrace.columns.load.gpu.result import LaunchedConversion, LoadRequest, LoadResultBuilder
from headrace.columns.load.gpu.result_layout import COUNTS_BEGIN, FIRST_SEEN_BYTES, counts_bytes, has_declined, results_bytes
from headrace.columns.load.gpu.setup_cache import load_setup
from headrace.columns.load.gpu.speculative import ConversionPath, SearchedText, SpeculativeConversion
from headrace.columns.load.gpu.text_form import TextForm, text_form
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES, LoadRun
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import FindFlag
from headrace.structure.gpu.find import find_tiles, first_variant, recorded_search, search_plan, tile_count
from headrace.structure.gpu.launches import VARIANTS_BYTES, FusedSummary

__all__ = ["GpuTarget", "GpuTuning", "load_on_gpu"]

MAX_STRING_BYTES = 0x7FFFFFFF
_UNENDED = int(FindFlag.OPEN | FindFlag.UNCLOSED)
_MAX_SAMPLED_FIRST = 32
"""Columns up to which inferred types may be sampled before the search. The sample of more columns takes longer."""
_LETTERS_BYTES = 1024
"""Bytes at the begin of the data that decide, for the first text of a plan, whether columns of strings are expected."""


def load_on_gpu(target: GpuTarget, source: OpenSource, dialect: Dialect, plan: LoadPlan, run: LoadRun = NO_HANDLES) -> Loaded:
    """Load all records of a text in device memory into columns there.

    Memory: the result, and up to a quarter more; 32 bytes for each tile of text, 72 more during the search, and 8 for each tile
    and column of strings. If all columns are strings, and more than 16, two bytes for each field instead of the last. If only the
    automaton reads the dialect, also half as many bytes as the text.

    `target`: the execution target, and the whole source in device memory.
    `source`: The source on the host, or a view of it. Only its first bytes and the text of evidence are read.
    Raise ParseError for the first fault, by record, then column, with ``on_error="raise"``.
    Raise MemoryLimitError if the result does not fit.
    Raise CutRecordError if a part ends inside a record, and more text follows.
    """
    try:
        return _load(target, source, dialect, plan, run)
    except _MisreadError:
        pass  # the buffers of this attempt are released before the next one
    retried = _target(target.launcher, target.text, with_dfa(target.tuning), target.device)
    return replace(_load(retried, source, dialect, plan, run), used_dfa=True)


def _load(target: GpuTarget, source: OpenSource, dialect: Dialect, plan: LoadPlan, run: LoadRun) -> Loaded:
    gpu_plan = gpu_plan_of(plan)
    setup = load_setup(gpu_plan, dialect, plan, target.tuning, target.text.nbytes)
    begin, counts = find_data(source, setup.native, plan)
    request = _request(target, source, dialect, plan, gpu_plan, setup, begin, run)
    loaded = load_repeated(request, counts) if setup.repeated else None
    return _Load(request, LoadResultBuilder(request, counts)).run() if loaded is None else loaded


class _MisreadError(Exception):
    """The search has misread quotes of the text."""


_request, _searched, _target, _launched = (
    fast_constructor(LoadRequest),
    fast_constructor(SearchedText),
    fast_constructor(GpuTarget),
    fast_constructor(LaunchedConversion),
)


class _Load:
    """One load. Positions are bytes of the source; those of kernels count from the begin of the data."""

    def __init__(self, request: LoadRequest, result: LoadResultBuilder) -> None:
        target, plan, source, begin = request.target, request.plan, request.source, request.begin
        self._launcher, self._tuning = target.launcher, target.tuning
        self._dialect, self._plan, self._source = request.dialect, plan, source
        self._gpu_plan, self._setup, self._result = request.gpu_plan, request.setup, result
        self._begin, self._size = begin, min(plan.end, source.size) - begin
        self._whole = target.text if plan.part is None else None
        self._text = BufferSlice(target.text, begin, self._size)
        self._target = _target(target.launcher, self._text, target.tuning)
        self._rows = 0
        self._variant = ""  # the search variant that read the text; known after the wait
        self._allocated: ColumnGroupBuffers | None = None  # for the estimated rows, without strings
        self._replayed: MeasuredStrings | None = None  # measured by the replay of a recorded conversion
        self._conversion: SpeculativeConversion | None = None  # one that was launched with a good estimate

    def run(self) -> Loaded:
        """Load the text, and repeat conversions until the type of every column is known."""
        gpu_plan, result = self._gpu_plan, self._result
        if self._size <= 0:
            group = self._first_group
            result.converted.add(group.no_rows(self._launcher))
            return result.build()
        form = self._prepare()
        self._search(form)
        group = self._first_group  # the host samples the kinds of text while the search runs
        self._setup.expects_strings = group.strings > 0
        converted = self._convert_first(group)
        self._setup.is_prepared = True
        while True:
            if converted is not None:
                result.converted.add(converted)
                changed = result.changed()
                if not changed:
                    self._keep_launches(group)
                    return result.build()
                group = gpu_plan.group(tuple(changed), bytes(changed.values()))
            converted = self._convert(group, self._measured(group))

    def _keep_launches(self, group: ColumnGroup) -> None:
        """Keep the launches of this load for later texts that have quotes too, or have none too."""
        found, quoted = self._repeated(group), self._searched.form.quoted
        if found is None:
            self._setup.repeated.pop(quoted, None)
        else:
            self._setup.repeated[quoted] = found

    def _repeated(self, group: ColumnGroup) -> RepeatedLoad | None:
        """Return the launches of this load for a later text, if it took one pass."""
        conversion, structure = self._conversion, self._structure
        if conversion is None or conversion.recording is None or not self._result.is_repeatable:
            return None
        if self._variant != structure.variants[0] or self._setup.expects_declined != (conversion.path is ConversionPath.BOTH):
            return None
        tuning, measuring, searched = self._find_tuning, self._measuring, self._searched
        plan = search_plan(self._dialect, tuning, measuring, has_quotes=searched.form.quoted)
        first = first_variant(plan, conversion.arguments.dfa_begin)
        recorded = recorded_search(first, (2, 3 + (measuring is not None)))
        if recorded is None:
            return None
        chain, expected = chain_of(*recorded, conversion), (measuring, searched.form, searched.has_sums)
        return RepeatedLoad(group, chain, recorded[1], conversion, *expected, self._dialect, self._setup.history(group))

    @cached_property
    def _first_group(self) -> ColumnGroup:
        """Return all columns, with their given types or the types that a sample suggests."""
        setup = self._setup
        return setup.typed_group or self._gpu_plan.group(setup.positions, self._result.inference.first()[: len(setup.positions)])

    def _prepare(self) -> TextForm:
        """Look at the first bytes of the text, and load the programs that its first conversion needs."""
        setup, tuning = self._setup, self._tuning
        if self._gpu_plan.inferred:
            self._result.inference.fetch_sample()
        self._prefix = data_prefix(self._source, self._begin, self._size)
        sizes = {"columns": len(setup.positions), "tiles": tile_count(self._text, tuning.find)}
        form = text_form(tuning, self._dialect, self._prefix, expects_dfa=setup.expects_dfa, **sizes)
        # The search that also measures strings cannot read lines that end with CR, so the prefix must have none.
        self._measuring = None if form.by_dfa or b"\r" in self._prefix else self._measuring_search(quoted=form.quoted)
        if not setup.is_prepared:
            group = self._first_group
            flags = {"measures": self._measuring is None, "lists": form.variant == "unquoted" and self._lists(group)}
            self._launcher.prepare(conversion_programs(tuning, self._dialect, group, form, **flags))
        return form

    def _search(self, form: TextForm) -> None:
        """Launch the structure search, with buffers that the first conversion needs beside its columns."""
        setup, measuring = self._setup, self._measuring
        self._find_tuning = tuning = (with_dfa(self._tuning) if form.by_dfa else self._tuning).find
        tiles = tile_count(self._text, tuning)
        sizes = setup.buffer_sizes(tiles, measuring, 0 if measuring is None else self._first_group.strings)
        structure = find_tiles(self._launcher, self._text, self._dialect, tuning, sizes, has_quotes=form.quoted, fused=measuring)
        self._structure, self._result.entries = structure, structure.entries
        marks, sums, arguments, faults, *string_sizes = structure.extra
        strings = strings_of_search(structure, sums, string_sizes[0] if string_sizes else None, marks)
        has_sums = measuring is not None or setup.has_sums(tiles)
        self._searched = _searched(structure, strings, marks, arguments, faults, setup.layout, form, has_sums)
        self._first_buffers: tuple[DeviceBuffer, DeviceBuffer] | None = arguments, faults

    def _lists(self, group: ColumnGroup) -> bool:
        """Return whether the fields of a text without quotes are listed. The list may not fit a memory limit."""
        is_limited = self._plan.memory_limit or self._result.faults.listing.skips_records
        return group.is_listable and self._setup.lists_fields and not is_limited

    def _measuring_search(self, *, quoted: bool) -> FusedSummary | None:
        """Return the search that also measures strings, or None. It needs the types, so inferred ones are sampled before it."""
        setup = self._setup
        if setup.typed_group is None:
            if self._size < self._tuning.min_sampled_first or len(setup.positions) > _MAX_SAMPLED_FIRST:
                return None
            if not (_has_letters(self._prefix) if setup.expects_strings is None else setup.expects_strings):
                return None
        return setup.measuring_search(self._first_group, quoted=quoted)

    @cached_property
    def _launches(self) -> ConversionLaunches:
        """Created only if something is launched directly instead of replayed."""
        launches = self._new_launches()
        if self._replayed is not None:
            launches.continue_after_replay(self._replayed)
        return launches

    def _new_launches(self) -> ConversionLaunches:
        return ConversionLaunches(self._target, self._dialect, self._plan, self._searched, self._result.faults)

    def _convert_first(self, group: ColumnGroup) -> ColumnGroupBuffers | None:
        """Convert the columns of a text before its records are counted, if buffers of the estimated sizes can be allocated.

        The host waits once. If the estimate was wrong, the columns are converted again with the actual sizes.

        Return None if the same columns must be converted again.
        """
        estimate = self._setup.estimate(group, self._prefix, self._size)
        self._setup.was_mispredicted |= estimate is None
        launched = None if estimate is None or not self._tuning.speculative else self._launch(group, estimate)
        if launched is None:
            return self._convert_unlaunched(group, estimate)
        results = self._searched.layout.results
        fetched = self._wait(results + results_bytes(len(group.columns), group.infers))
        string_bytes = self._take_counts(group, fetched)
        if is_mispredicted(_word(fetched, self._searched.layout.word)):
            del launched  # releases its buffers before others are allocated
            return self._convert_mispredicted(group, string_bytes)
        launched.columns.trim(self._rows, string_bytes)
        return self._collect(group, launched, fetched[results:])

    def _wait(self, nbytes: int) -> NDArray[np.uint8]:
        """Return the first bytes of the results, when the kernels that write them have run."""
        return self._launcher.fetch(BufferSlice(self._structure.totals, 0, nbytes))

    def _convert_unlaunched(self, group: ColumnGroup, estimate: SizeEstimate | None) -> ColumnGroupBuffers | None:
        """Convert columns without a good estimate, or whose buffers do not fit; None as for `_convert`."""
        self._measure(group, "", self._searched.string_bytes(group))
        if estimate is not None:
            self._allocated = estimate.allocate(group, self._launcher, self._size, strings=False, cleared=self._is_cleared(group))
        return self._convert_counted(group, self._take_counts(group, self._wait(VARIANTS_BYTES + group.strings * 8)))

    def _convert_mispredicted(self, group: ColumnGroup, string_bytes: list[int]) -> ColumnGroupBuffers | None:
        """Convert columns again whose estimate was wrong; None as for `_convert`."""
        conversion, self._conversion = self._conversion, None  # a later text may be estimated as badly
        if conversion is not None and conversion.path is ConversionPath.LISTED:  # the sums are those of groups of records
            self._setup.lists_fields = self._variant != "unquoted" or string_bytes[0] < UNLISTED_BYTES
            return self._convert(group, self._measured(group))
        self._setup.was_mispredicted |= self._variant == self._structure.variants[0]
        return self._convert_counted(group, string_bytes)

    def _convert_counted(self, group: ColumnGroup, string_bytes: list[int]) -> ColumnGroupBuffers | None:
        """Convert columns whose strings were measured before the records were counted; None as for `_convert`."""
        is_measured = self._variant == self._structure.variants[0]  # strings are measured by the first variant
        return self._convert(group, string_bytes if is_measured else self._measured(group))

    def _launch(self, group: ColumnGroup, estimate: SizeEstimate) -> LaunchedConversion | None:
        """Launch the conversion with estimated sizes, for the first search variant; None if its buffers do not fit."""
        result = estimate.allocate(group, self._launcher, self._size, strings=True, cleared=self._is_cleared(group))
        if result is None:
            return None
        searched, structure = self._searched, self._structure
        lists = self._lists(group) and structure.variants[0] == "unquoted"
        chosen = {"lists": lists, "expects_declined": self._setup.expects_declined}
        key = structure.variants, structure.measured_strings, searched.form, searched.has_sums, *chosen.values()
        conversion = self._setup.conversions.get_or_create(
            lambda: self._new_launches().speculative(group, **chosen), group, key=key
        )
        self._conversion = conversion
        arguments, first_seen = conversion.arguments, self._first_seen(group, searched.results(group))
        ranges = estimate.ranges(group)
        arguments.upload(self._launcher, searched.arguments, result.buffers.addresses, first_seen=first_seen, ranges=ranges)
        # A recording leaves the automaton out, which reads this text if byte masks cannot.
        if conversion.recording is None or "dfa" in structure.variants[1:]:
            self._launches.launch_speculative(group, conversion, estimate.rows)
        else:
            self._replayed = conversion.replay(self._target, searched, estimate.rows)
        table, results = arguments.table(searched.arguments), searched.results(group)
        return _launched(result, table, searched.faults, results, conversion.declined(searched))

    def _take_counts(self, group: ColumnGroup, fetched: NDArray[np.uint8]) -> list[int]:
        """Take the counts of the search, and return the bytes of each column of strings."""
        counts, self._variant = self._structure.answer(fetched)
        if self._structure.misread(counts, self._variant):
            raise _MisreadError
        self._setup.expects_dfa = self._variant == "dfa" and bool(counts["flags"] & FindFlag.STRAY)
        if self._plan.part is not None and self._plan.part.is_more and counts["flags"] & _UNENDED:
            raise CutRecordError
        dfa = self._structure.dfa
        roles = dfa.roles if dfa is not None and self._variant == "dfa" else None
        located = LocatedRecords(self._whole, self._begin, self._text, self._dialect, roles)
        self._result.take_search(located, counts)
        self._rows = counts["records"]
        string_bytes = _numbers(fetched[VARIANTS_BYTES : VARIANTS_BYTES + 8 * group.strings])
        is_measured = self._variant == self._structure.variants[0] and max(string_bytes, default=0) <= self._size
        if is_measured:
            self._setup.history(group).see(self._size, self._rows, string_bytes)
        return string_bytes

    def _measure(self, group: ColumnGroup, variant: str, totals: DeviceBuffer) -> None:
        """Launch the kernels that count the bytes of each column of strings in `totals`."""
        if group.strings:
            _, buffer, _ = self._buffers(group)
            columns = self._launches.fast_columns(group, writes=False)
            template = argument_template(self._gpu_plan, group, (columns,))
            template.upload(self._launcher, buffer)
            arguments = template.buffers(buffer)
            self._launches.measure(group, arguments, variant, totals)

    def _measured(self, group: ColumnGroup) -> list[int]:
        """Return the bytes of each column of strings of a text whose records are counted. The host waits."""
        if not group.strings:
            return []
        totals = self._launcher.allocate(group.strings * 8, fill=0)
        self._measure(group, self._variant, totals)
        return _numbers(self._launcher.fetch(totals))

    def _column_buffers(self, group: ColumnGroup, strings: list[int]) -> ColumnGroupBuffers:
        """Return buffers for all rows: those allocated for the estimate if it was good, otherwise new ones."""
        rows, result = self._rows, self._allocated
        self._allocated = None
        if result is None or result.group is not group or not covers(result.rows, rows):
            del result  # releases its buffers before others are allocated
            return group.allocate(self._launcher, rows, strings, cleared=self._is_cleared(group))
        result.resize(self._launcher, rows, strings)
        return result

    def _is_cleared(self, group: ColumnGroup) -> bool:
        return group.is_cleared(is_sparse=self._searched.form.is_sparse)

    def _buffers(self, group: ColumnGroup) -> tuple[DeviceBuffer, DeviceBuffer, DeviceBuffer]:
        """Return the buffers of a conversion for results, arguments and faults; the first ones were allocated with the search."""
        nbytes = results_bytes(len(group.columns), group.infers)
        if self._first_buffers is not None:
            return self._searched.results(group), *self._first_buffers
        others = [argument_bytes(self._gpu_plan, len(group.columns)), self._result.faults.buffer_bytes]
        results, arguments, faults = self._launcher.allocate_group([nbytes], others)
        return results, arguments, faults

    def _first_seen(self, group: ColumnGroup, results: DeviceBuffer) -> tuple[int, int]:
        """Return the address of first occurrences, and their bytes for each column; zeros if no type is inferred."""
        return (results.address + counts_bytes(len(group.columns)), FIRST_SEEN_BYTES) if group.infers else (0, 0)

    def _with_large_offsets(self, group: ColumnGroup, strings: list[int]) -> ColumnGroup:
        """Return the group with 64-bit offsets for columns whose bytes exceed the range of 32-bit offsets."""
        exceeding = [number for number, size in enumerate(strings) if size > MAX_STRING_BYTES]
        large = [number for number in exceeding if group.types[number].bits == 32]
        if not large:
            return group
        return self._gpu_plan.group(group.positions, group.kinds, frozenset(group.columns[number].position for number in large))

    def _convert(self, group: ColumnGroup, strings: list[int]) -> ColumnGroupBuffers | None:
        """Convert columns of known sizes. The host waits for the results; None if the same columns must be converted again."""
        group = self._with_large_offsets(group, strings)
        results, buffer, faults = self._buffers(group)
        result = self._column_buffers(group, strings)
        columns = self._launches.fast_columns(group, writes=True)
        template, first_seen = argument_template(self._gpu_plan, group, (columns,)), self._first_seen(group, results)
        template.upload(self._launcher, buffer, result.buffers.addresses, first_seen=first_seen)
        arguments = template.buffers(buffer)
        output = ConversionOutput(results, faults, self._rows)
        declined = self._launches.convert_fast(group, arguments, output)
        if is_launched := declined is None or self._setup.expects_declined:
            self._launches.convert_declined(group, arguments.table, self._variant, output, declined)
        self._launches.count_values(group, arguments.table, output)
        launched = _launched(result, arguments.table, faults, results, None if is_launched else declined)
        return self._collect(group, launched, self._launcher.fetch(results))

    def _convert_declined(self, group: ColumnGroup, launched: LaunchedConversion) -> NDArray[np.uint8]:
        """Convert the tiles that the fast conversion has declined, and return the new results. The host waits."""
        results = launched.results
        output = ConversionOutput(results, launched.faults, self._rows)
        self._launches.convert_declined(group, launched.table, self._variant, output, launched.declined)
        self._launcher.fill(BufferSlice(results, COUNTS_BEGIN, counts_bytes(len(group.columns)) - COUNTS_BEGIN), 0)
        self._launches.count_values(group, launched.table, output)
        return self._launcher.fetch(results)

    def _collect(self, group: ColumnGroup, launched: LaunchedConversion, fetched: NDArray[np.uint8]) -> ColumnGroupBuffers | None:
        """Collect the fetched results of a conversion, and return its columns; None if they must be converted again."""
        self._setup.expects_declined = has_declined(fetched)
        if launched.declined is not None and self._setup.expects_declined:
            fetched = self._convert_declined(group, launched)
        self._first_buffers = None
        return launched.columns if self._result.add_pass(group, launched, fetched) else None


def _has_letters(prefix: bytes) -> bool:
    """Return whether the first bytes have letters besides those of numbers and timestamps: some column may be text."""
    return any(byte > 64 for byte in set(prefix[:_LETTERS_BYTES]) - set(b"TZeE_^|~"))


def _word(fetched: NDArray[np.uint8], at: int) -> int:
    return int.from_bytes(fetched[at : at + 8].data, "little")


def _numbers(fetched: NDArray[np.uint8]) -> list[int]:
    numbers: list[int] = fetched.view(np.uint64).tolist()
    return numbers
