"""Loads a text on a GPU by the launches of an earlier text with the same plan, all in one native call.

A load of 1 MB takes the host longer than the GPU. The host chooses launches, allocates and describes buffers, and collects
results. Most texts of a plan need the same launches. So a text that was loaded in one pass leaves its recorded launches for the
next one. If it had faults, the records of the next one's faults are found before the host waits.

The kernels check what is expected: the search variant, the estimated sizes, the types. If any of it is wrong, nothing of the
attempt is retained, and the text is loaded step by step (docs/decisions/0051-a-repeated-load.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from struct import Struct
from typing import NamedTuple

import numpy as np

from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import FAULT, TOTALS_WORDS
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.faults.gpu.faulty_records import FaultyRecords
from headrace.columns.faults.gpu.gather_records import LocatedRecords
from headrace.columns.load.gpu.data_start import data_prefix, has_quotes
from headrace.columns.load.gpu.estimate import SizeEstimate, SizeHistory, is_mispredicted
from headrace.columns.load.gpu.lazy_columns import ConvertedGroups
from headrace.columns.load.gpu.result import LaunchedConversion, LoadRequest, LoadResultBuilder, plain_result, see_kinds
from headrace.columns.load.gpu.result_layout import COUNTS_BEGIN, FIRST_SEEN_BYTES, counts_bytes, results_bytes
from headrace.columns.load.gpu.setup_cache import LoadSetup
from headrace.columns.load.gpu.speculative import ConversionPath, SpeculativeConversion
from headrace.columns.load.gpu.text_form import TextForm, text_form
from headrace.core.errors import MemoryLimitError
from headrace.gpu.kernels.launcher import BufferGroup, BufferSlice, DeviceBuffer
from headrace.gpu.kernels.trace import Recording
from headrace.gpu.kernels.trace_chain import ChainBegin, ChainEnd, TraceChain
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.find import RecordedSearch, tile_count
from headrace.structure.gpu.launches import VARIANTS_BYTES, FusedSummary

_WORD = Struct("=Q")
_MAX_ENDS = 8
_ARGUMENTS, _FAULTS = 2, 3  # indices among the buffers of `RecordedSearch.extra`


class TargetText(NamedTuple):
    """A text in device memory that begins at byte `begin` of its source."""

    target: GpuTarget  # the execution target, with the whole source
    begin: int
    size: int  # first byte of the data in the source, and their bytes
    head: int = 0  # bytes at the begin of the source that the load copies to the host; 0 if it has them

    @property
    def data(self) -> BufferSlice:
        """The data in device memory."""
        return BufferSlice(self.target.text, self.begin, self.size)


class TextBegin(NamedTuple):
    """The beginning of a text, on the host."""

    prefix: bytes  # the first bytes of the data
    counts: Mapping[str, int]  # the counts of what precedes the data
    builder: Callable[[LoadSetup], LoadResultBuilder]
    """Returns the builder of the result of a load with a setup. Called only if types are inferred, or if there are faults."""


@dataclass(frozen=True, slots=True)
class RepeatedLoad:
    """The launches of an earlier load, for texts of which the same is expected."""

    group: ColumnGroup  # the columns with their types
    chain: TraceChain  # all launches
    search: RecordedSearch  # the output of the search
    conversion: SpeculativeConversion  # the launches of the conversion
    measuring: FusedSummary | None  # the search's kernel that measures strings, or None
    form: TextForm  # the expected form of a text
    has_sums: bool  # True if the sums have room for all columns of strings
    dialect: Dialect
    sizes: SizeHistory  # the sizes of the texts that were loaded
    _ends: dict[tuple[int, ...], ChainEnd] = field(default_factory=dict)  # buffers and results by estimated sizes

    def load(self, setup: LoadSetup, text: TargetText, begin: TextBegin) -> Loaded | None:
        """Load a text; None if it must be loaded step by step. `setup`: that of the plan."""
        group = self.group
        if text.size <= 0 or not self._expects(setup, text, begin.prefix):
            return None
        estimate = setup.estimate(group, begin.prefix, text.size)
        return None if estimate is None else _RepeatedRun(self, setup, text, estimate).load(lambda _: begin)

    def load_ahead(self, setup: LoadSetup, text: TargetText, begun: Callable[[bytes], TextBegin | None]) -> Loaded | None:
        """Load a text of which the host knows no byte; None if it cannot be, or if it is not as expected.

        Sizes are in proportion to those of the last text. While the device works, `begun` returns the beginning of the text from
        its head (`TargetText.head`); None if it differs from the expected one.
        """
        estimate = self.sizes.predict(text.size) if text.size > 0 else None
        if estimate is None:
            return None

        def expected(head: bytes) -> TextBegin | None:
            begin = begun(head)
            return begin if begin is not None and self._expects(setup, text, begin.prefix) else None

        return _RepeatedRun(self, setup, text, estimate).load(expected)

    @property
    def expects_declined(self) -> bool:
        """True if the launches include the general conversion of declined tiles."""
        return self.conversion.path is ConversionPath.BOTH

    def fits(self, setup: LoadSetup, tiles: int) -> bool:
        """Return whether the launches are those that texts of `tiles` tiles need after the last text of the plan."""
        if setup.expects_declined != self.expects_declined or (setup.expects_dfa and not self.form.by_dfa):
            return False
        return self.measuring is not None or setup.has_sums(tiles) == self.has_sums

    def _expects(self, setup: LoadSetup, text: TargetText, prefix: bytes) -> bool:
        """Return whether a text that begins so may be searched and converted as the earlier one."""
        if not prefix or (self.measuring is not None and b"\r" in prefix):
            return False
        tuning = text.target.tuning
        tiles = tile_count(text.data, tuning.find)
        sizes = {"columns": len(setup.positions), "tiles": tiles}
        return text_form(tuning, self.dialect, prefix, expects_dfa=setup.expects_dfa, **sizes) == self.form

    def end(self, setup: LoadSetup, estimate: SizeEstimate) -> ChainEnd:
        """Return the buffers and results of a load, which are kept for texts of the same estimate."""
        key = (setup.expects_faults, estimate.rows, *estimate.strings)
        found = self._ends.get(key)
        if found is not None:
            return found
        group, results = self.group, setup.layout.results
        count, ranges = len(group.columns), estimate.ranges(group)
        found = ChainEnd(
            group.group_sizes(estimate.rows, estimate.strings, cleared=group.is_cleared(is_sparse=self.form.is_sparse)),
            ranges,
            (results + counts_bytes(count), FIRST_SEEN_BYTES) if group.infers else (0, 0),
            self.chain.words.nbytes + 8 * len(ranges),
            results + results_bytes(count, group.infers),
            FIRST_SEEN_BYTES * count * group.infers,
            setup.expects_faults,
        )
        if len(self._ends) >= _MAX_ENDS:
            self._ends.clear()
        self._ends[key] = found
        return found


class _RepeatedRun:
    """One run of a repeated load. `setup`: the state of the plan. `estimate`: the expected sizes of the text."""

    def __init__(self, repeated: RepeatedLoad, setup: LoadSetup, text: TargetText, estimate: SizeEstimate) -> None:
        self._repeated, self._setup, self._text, self._estimate = repeated, setup, text, estimate
        self._begin: TextBegin | None = None
        self._builder: LoadResultBuilder | None = None
        self._retained: BufferGroup | None = None  # buffers of the search, if faults are expected
        self._found: FaultyRecords | None = None

    def load(self, begun: Callable[[bytes], TextBegin | None]) -> Loaded | None:
        """Launch all, and collect the results; None if something is not as expected."""
        repeated, text, setup, estimate = self._repeated, self._text, self._setup, self._estimate
        group, tiles = repeated.group, tile_count(text.data, text.target.tuning.find)
        if not repeated.fits(setup, tiles) or not estimate.fits(group, text.size):
            return None
        zeroed, others = setup.buffer_sizes(tiles, repeated.measuring, group.strings)
        head = BufferSlice(text.target.text, 0, text.head) if text.head else None
        start = ChainBegin(text.data, (text.size, tiles, *zeroed, *others), (text.size, tiles, estimate.rows), head)

        def meanwhile(copied: bytes, retained: BufferGroup | None) -> bool:
            if retained is not None:
                self._find_records(retained)
            begin = self._begin = begun(copied)
            if begin is not None and group.infers:
                self._builder = begin.builder(setup)
                self._builder.inference.first(group.inferred_kinds)
            return begin is not None

        finished = text.target.launcher.run_chain(repeated.chain, start, repeated.end(setup, estimate), meanwhile)
        if finished is None or self._begin is None:
            return None
        return self._collect(ColumnGroupBuffers(group, estimate.rows, finished[0], [0] * len(group.columns)), finished[1])

    def _find_records(self, retained: BufferGroup) -> None:
        """Launch the kernels that find the records of the faults. If the list is too large for that, they are found later."""
        self._retained, launcher = retained, self._text.target.launcher
        faults = BufferSlice(self._buffer(_FAULTS), 0, self._setup.fault_capacity * FAULT.itemsize)
        with suppress(MemoryLimitError):
            self._found = FaultyRecords(launcher, self._located, faults, self._results, self._estimate.rows)

    def _buffer(self, number: int) -> DeviceBuffer:
        """Return a retained buffer, by its index among those of the first conversion."""
        assert self._retained is not None
        return self._retained[self._repeated.search.extra[number]]

    @property
    def _results(self) -> DeviceBuffer:
        """The results of the conversion, of the retained buffers."""
        assert self._retained is not None
        group, totals = self._repeated.group, self._retained[self._repeated.search.totals]
        return BufferSlice(totals, self._setup.layout.results, results_bytes(len(group.columns), group.infers))

    @property
    def _located(self) -> LocatedRecords:
        """The records of the text, in the retained buffers."""
        assert self._retained is not None
        text, roles = self._text, self._repeated.search.roles
        whole, read = text.target.text, None if roles is None else self._retained[roles]
        return LocatedRecords(whole, text.begin, text.data, self._repeated.dialect, read)

    def _collect(self, columns: ColumnGroupBuffers, fetched: bytes) -> Loaded | None:
        """Collect the results of kernels that have run; None if something was not as expected."""
        group, setup = self._repeated.group, self._setup
        searched = self._repeated.search.first_answer(fetched)
        if searched is None or is_mispredicted(_WORD.unpack_from(fetched, setup.layout.word)[0]):
            return None
        found = fetched[setup.layout.results :]
        faults, filled, _, declined = _words(TOTALS_WORDS).unpack_from(found)
        if (declined and not self._repeated.expects_declined) or (faults and self._retained is None):
            return None
        strings = _words(group.strings).unpack_from(fetched, VARIANTS_BYTES)
        columns.trim(searched["records"], strings)
        loaded = self._with_faults(columns, searched, found) if faults else self._plain(columns, searched, filled, found)
        if loaded is None:
            return None
        setup.expects_faults, setup.expects_declined = faults > 0, bool(declined)
        setup.expects_dfa = self._repeated.search.is_stray(searched)
        self._repeated.sizes.see(self._text.size, searched["records"], strings, was_predicted=self._text.head > 0)
        return loaded

    def _plain(self, columns: ColumnGroupBuffers, searched: dict[str, int], filled: int, found: bytes) -> Loaded | None:
        """Return the result of a text without faults; None if its types are not as expected.

        `searched`, `filled`, `found`: counts of the search, filled records, and the bytes of the results.
        """
        group, setup, inference = self._repeated.group, self._setup, None
        count, rows = len(group.columns), searched["records"]
        if self._builder is not None:
            inference = self._builder.inference
            if first_seen := found[counts_bytes(count) :]:  # left out if the guesses were right
                see_kinds(inference, group, first_seen)
            if not inference.is_right(group.inferred_kinds):
                return None
        values = found[COUNTS_BEGIN : counts_bytes(count)]
        if values != _WORD.pack(rows) * count:
            columns.nulls = [rows - valid for valid in _words(count).unpack(values)]
        assert self._begin is not None
        before = self._begin.counts
        blank, comment = before["blank"] + searched["blank_lines"], before["comment"] + searched["comments"]
        own = {"records": rows, "rows": rows, "blank": blank, "comment": comment, "filled": filled}
        counts = {**before, **own, "rejected": 0, "faults": 0, "passes": 1}
        converted = ConvertedGroups()
        converted.add(columns)
        evidence = setup.no_evidence if inference is None else inference.evidence()
        return plain_result(self._text.target, converted, len(setup.no_evidence), evidence, counts)

    def _with_faults(self, columns: ColumnGroupBuffers, searched: dict[str, int], found: bytes) -> Loaded | None:
        """Return the result of a text with faults; None if it takes another conversion."""
        group = self._repeated.group
        assert self._begin is not None and self._retained is not None
        builder = self._builder or self._begin.builder(self._setup)
        builder.take_search(self._located, searched)
        table = self._repeated.conversion.arguments.table(self._buffer(_ARGUMENTS))
        launched = LaunchedConversion(columns, table, self._buffer(_FAULTS), self._results, found=self._found)
        whole = found.ljust(results_bytes(len(group.columns), group.infers), b"\xff")  # ones are left out
        if not builder.add_pass(group, launched, np.frombuffer(whole, np.uint8)):
            return None
        builder.converted.add(columns)
        return None if builder.changed() else builder.build()


_words = cache(lambda count: Struct(f"={count}Q"))


def load_repeated(request: LoadRequest, counts: dict[str, int]) -> Loaded | None:
    """Load a text by the launches of an earlier one; None if that is not possible. `counts`: of what precedes the data."""
    source, plan, setup, begin = request.source, request.plan, request.setup, request.begin
    if plan.part is not None or plan.memory_limit or request.run.share is not None:
        return None
    text = TargetText(request.target, begin, min(plan.end, source.size) - begin)
    prefix = data_prefix(source, begin, text.size)
    repeated = setup.repeated.get(has_quotes(request.dialect, prefix))
    if repeated is None:
        return None
    return repeated.load(setup, text, TextBegin(prefix, counts, lambda _: LoadResultBuilder(request, dict(counts))))


def chain_of(search: Recording, output: RecordedSearch, conversion: SpeculativeConversion) -> TraceChain:
    """Return the chain of a recorded search, with its output, and a recorded conversion."""
    assert conversion.recording is not None
    marks, sums, arguments, faults, *sizes = output.extra
    links = output.totals, output.entries, sums, sizes[0] if sizes else None, marks, arguments, faults, output.roles
    return TraceChain(search, conversion.recording, links, conversion.arguments.words, arguments, output.totals)
