"""Loads a text on a GPU by the launches of an earlier text with the same plan, all in one native call.

A load of 1 MB takes the host longer than the GPU. The host chooses launches, allocates and describes buffers, and collects
results. Most texts of a plan need the same launches. So a text that was loaded in one pass, without a fault, leaves its recorded
launches for the next one.

The kernels check what is expected: the search variant, the estimated sizes, the types. If any of it is wrong, nothing of the
attempt is kept, and the text is loaded step by step (docs/decisions/0051-a-repeated-load.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from struct import Struct
from typing import NamedTuple

from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import TOTALS_WORDS
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.data_start import data_prefix, has_quotes
from headrace.columns.load.gpu.estimate import SizeEstimate, SizeHistory, is_mispredicted
from headrace.columns.load.gpu.lazy_columns import ConvertedGroups
from headrace.columns.load.gpu.result import LoadRequest, plain_result, see_kinds
from headrace.columns.load.gpu.result_layout import COUNTS_BEGIN, FIRST_SEEN_BYTES, counts_bytes, results_bytes
from headrace.columns.load.gpu.setup_cache import LoadSetup
from headrace.columns.load.gpu.speculative import SpeculativeConversion
from headrace.columns.load.gpu.text_form import TextForm, text_form
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.gpu.kernels.trace import Recording
from headrace.gpu.kernels.trace_chain import ChainBegin, ChainEnd, TraceChain
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.find import RecordedSearch, tile_count
from headrace.structure.gpu.launches import VARIANTS_BYTES, FusedSummary

_WORD = Struct("=Q")
_MAX_ENDS = 8


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
    infer: Callable[[], Inference] | None
    """Returns the inferred types of the text before any are known; None if all types are given."""


@dataclass(frozen=True, slots=True)
class RepeatedLoad:
    """The launches of an earlier load, for texts of which the same is expected."""

    group: ColumnGroup  # the columns with their types
    chain: TraceChain  # all launches
    search: RecordedSearch  # the output of the search
    measuring: FusedSummary | None  # the search's kernel that measures strings, or None
    form: TextForm  # the expected form of a text
    has_sums: bool  # True if the sums have room for all columns of strings
    dialect: Dialect
    width: int  # number of the plan's columns
    sizes: SizeHistory  # the sizes of the texts that were loaded
    _ends: dict[tuple[int, ...], ChainEnd] = field(default_factory=dict)  # buffers and results by estimated sizes

    def load(self, setup: LoadSetup, text: TargetText, begin: TextBegin) -> Loaded | None:
        """Load a text; None if it must be loaded step by step. `setup`: that of the plan."""
        group = self.group
        if text.size <= 0 or not self._expects(setup, text, begin.prefix):
            return None
        estimate = setup.estimate(group, begin.prefix, text.size)
        return None if estimate is None else self._run(setup, text, estimate, lambda _: begin)

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

        return self._run(setup, text, estimate, expected)

    def _run(
        self, setup: LoadSetup, text: TargetText, estimate: SizeEstimate, begun: Callable[[bytes], TextBegin | None]
    ) -> Loaded | None:
        """Launch all, and collect the results; None if something is not as expected."""
        group, tiles = self.group, tile_count(text.data, text.target.tuning.find)
        if setup.expects_declined or setup.expects_dfa or not estimate.fits(group, text.size):
            return None
        if self.measuring is None and setup.has_sums(tiles) != self.has_sums:
            return None
        zeroed, others = setup.buffer_sizes(tiles, self.measuring, group.strings)
        head = BufferSlice(text.target.text, 0, text.head) if text.head else None
        start = ChainBegin(text.data, (text.size, tiles, *zeroed, *others), (text.size, tiles, estimate.rows), head)
        begin: TextBegin | None = None
        inference: Inference | None = None

        def see_begin(copied: bytes) -> bool:
            nonlocal begin, inference
            begin = begun(copied)
            if begin is not None and begin.infer is not None:
                inference = begin.infer()
                inference.first(group.inferred_kinds)
            return begin is not None

        finished = text.target.launcher.run_chain(self.chain, start, self._end(setup, estimate), see_begin)
        if finished is None or begin is None:
            return None
        columns = ColumnGroupBuffers(group, estimate.rows, finished[0], [0] * len(group.columns))
        counts = self._collect(setup, columns, finished[1], inference, begin.counts)
        if counts is None:
            return None
        strings = _words(group.strings).unpack_from(finished[1], VARIANTS_BYTES)
        self.sizes.see(text.size, counts["rows"], strings, was_predicted=text.head > 0)
        converted = ConvertedGroups()
        converted.add(columns)
        evidence = setup.no_evidence if inference is None else inference.evidence()
        return plain_result(text.target, converted, self.width, evidence, counts)

    def _expects(self, setup: LoadSetup, text: TargetText, prefix: bytes) -> bool:
        """Return whether a text that begins so may be searched and converted as the earlier one."""
        if not prefix or (self.measuring is not None and b"\r" in prefix):
            return False
        tuning = text.target.tuning
        tiles = tile_count(text.data, tuning.find)
        return text_form(tuning, self.dialect, prefix, columns=len(setup.positions), tiles=tiles) == self.form

    def _end(self, setup: LoadSetup, estimate: SizeEstimate) -> ChainEnd:
        """Return the buffers and results of a load, which are kept for texts of the same estimate."""
        key = (estimate.rows, *estimate.strings)
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
        )
        if len(self._ends) >= _MAX_ENDS:
            self._ends.clear()
        self._ends[key] = found
        return found

    def _collect(
        self,
        setup: LoadSetup,
        columns: ColumnGroupBuffers,
        fetched: bytes,
        inference: Inference | None,
        before: Mapping[str, int],
    ) -> dict[str, int] | None:
        """Collect the results of kernels that have run, and return the counts; None if something was not as expected.

        `before`: the counts of what precedes the data.
        """
        group, layout = self.group, setup.layout
        searched = self.search.first_answer(fetched)
        if searched is None or is_mispredicted(_WORD.unpack_from(fetched, layout.word)[0]):
            return None
        count, rows = len(group.columns), searched["records"]
        faults, filled, _, declined = _words(TOTALS_WORDS).unpack_from(fetched, layout.results)
        if faults or declined:
            return None
        if inference is not None:
            if first_seen := fetched[layout.results + counts_bytes(count) :]:  # left out if the guesses were right
                see_kinds(inference, group, first_seen)
            if not inference.is_right(group.inferred_kinds):
                return None
        columns.trim(rows, _words(group.strings).unpack_from(fetched, VARIANTS_BYTES))
        values = fetched[layout.results + COUNTS_BEGIN : layout.results + counts_bytes(count)]
        if values != _WORD.pack(rows) * count:
            columns.nulls = [rows - valid for valid in _words(count).unpack(values)]
        blank, comment = before["blank"] + searched["blank_lines"], before["comment"] + searched["comments"]
        found = {"records": rows, "rows": rows, "blank": blank, "comment": comment, "filled": filled}
        return {**before, **found, "rejected": 0, "faults": 0, "passes": 1}


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
    inferred = request.gpu_plan.inferred
    infer = partial(Inference, source, request.dialect, plan, request.gpu_plan, begin) if inferred else None
    return repeated.load(setup, text, TextBegin(prefix, counts, infer))


def chain_of(search: Recording, output: RecordedSearch, conversion: SpeculativeConversion) -> TraceChain:
    """Return the chain of a recorded search, with its output, and a recorded conversion."""
    assert conversion.recording is not None
    marks, sums, arguments, faults, *sizes = output.extra
    links = output.totals, output.entries, sums, sizes[0] if sizes else None, marks, arguments, faults, output.roles
    return TraceChain(search, conversion.recording, links, conversion.arguments.words, arguments, output.totals)
