"""Loads a text on a GPU by the launches of an earlier text with the same plan, all in one native call.

A load of 1 MB takes the host longer than the GPU. The host chooses launches, allocates and describes buffers, and collects
results. Most texts of a plan need the same launches. So a text that was loaded in one pass, without a fault, leaves its recorded
launches for the next one.

The kernels check what is expected: the search variant, the estimated sizes, the types. If any of it is wrong, nothing of the
attempt is kept, and the text is loaded step by step (docs/decisions/0051-a-repeated-load.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from struct import Struct
from typing import Any, NamedTuple

from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import TOTALS_WORDS
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.data_start import has_quotes
from headrace.columns.load.gpu.estimate import SizeEstimate, estimate_sizes, is_mispredicted
from headrace.columns.load.gpu.launches import COUNTS_BEGIN, FIRST_SEEN_BYTES, SpeculativeConversion, counts_bytes, results_bytes
from headrace.columns.load.gpu.lazy_columns import ConvertedGroups
from headrace.columns.load.gpu.result import see_kinds
from headrace.columns.load.gpu.setup_cache import LoadSetup
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.gpu.kernels.trace import Recording
from headrace.gpu.kernels.trace_chain import ChainEnd, TraceChain
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.find import RecordedSearch, needs_dfa, tile_count
from headrace.structure.gpu.launches import VARIANTS_BYTES, FusedSummary

_WORD = Struct("=Q")


class TargetText(NamedTuple):
    """A text in device memory that begins at byte `begin` of its source."""

    target: GpuTarget
    """The execution target, with the whole source."""
    begin: int
    size: int
    """First byte of the data in the source, and their bytes."""

    @property
    def data(self) -> BufferSlice:
        """The data in device memory."""
        return BufferSlice(self.target.text, self.begin, self.size)


class TextBegin(NamedTuple):
    """The beginning of a text, on the host."""

    prefix: bytes
    """The first bytes of the data."""
    counts: Mapping[str, int]
    """The counts of what precedes the data."""
    infer: Callable[[], Inference] | None
    """Returns the inferred types of the text before any are known; None if all types are given."""


class StartedLoad(NamedTuple):
    """A text whose search is launched."""

    load: RepeatedLoad
    setup: LoadSetup
    """The load that launched the search, and the state of its plan."""
    text: TargetText
    tiles: int
    """The text, and its tiles."""
    chain: Any
    """Launched chain for `Launcher.finish_chain`."""


@dataclass(frozen=True, slots=True)
class RepeatedLoad:
    """The launches of an earlier load, for texts of which the same is expected."""

    group: ColumnGroup
    """The columns with their types."""
    chain: TraceChain
    """All launches."""
    search: RecordedSearch
    """The output of the search."""
    measuring: FusedSummary | None
    """The search's kernel that measures strings, or None."""
    quoted: bool
    """True if fields are expected to have quotes."""
    has_sums: bool
    """True if the sums have room for all columns of strings."""
    is_wide: bool
    """True if tiles are expected to have few rows of many columns."""
    dialect: Dialect
    width: int
    """Number of the plan's columns."""

    def start(self, setup: LoadSetup, text: TargetText) -> StartedLoad | None:
        """Launch the search of a text, of which the host need not know a byte; None if it must be loaded step by step.

        `setup`: that of the plan.
        """
        if text.size <= 0:
            return None
        data, group = text.data, self.group
        tiles = tile_count(data, text.target.tuning.find)
        if setup.expects_declined or setup.expects_dfa or (self.measuring is None and setup.has_sums(tiles) != self.has_sums):
            return None
        zeroed, others = setup.buffer_sizes(tiles, self.measuring, group.strings)
        chain = text.target.launcher.start_chain(self.chain, data, (text.size, tiles, *zeroed, *others))
        return None if chain is None else StartedLoad(self, setup, text, tiles, chain)

    def finish(self, started: StartedLoad, begin: TextBegin) -> Loaded | None:
        """Load a text whose search this load has started; None if it must be loaded step by step."""
        group, setup, text = self.group, started.setup, started.text
        if not self._expects(started, begin.prefix):
            return None
        estimate = estimate_sizes(setup.native, begin.prefix, text.size, group.string_positions, group.row_bytes)
        if estimate is None or not estimate.fits(group, text.size):
            return None
        inferred: list[Inference] = []
        sample = None if begin.infer is None else partial(_sample, begin.infer, group.inferred_kinds, inferred)
        end = self._end(started, estimate)
        finished = text.target.launcher.finish_chain(started.chain, end, sample)
        if finished is None:
            return None
        columns = ColumnGroupBuffers(group, estimate.rows, finished[0], [0] * len(group.columns))
        inference = inferred[0] if inferred else None
        counts = self._collect(setup, columns, finished[1], inference, begin.counts)
        if counts is None:
            return None
        converted = ConvertedGroups()
        converted.add(columns)
        items, described = converted.columns(text.target.launcher, self.width)
        return _loaded(
            columns=items,
            evidence=setup.no_evidence if inference is None else inference.evidence(),
            rejects=no_rejects(),
            counts=counts,
            row_index=None,
            replaced=(0,) * self.width,
            device=text.target.device,
            described=described,
        )

    def reads(self, prefix: bytes) -> bool:
        """Return whether a text that begins so is searched as the earlier one."""
        if not prefix or has_quotes(self.dialect, prefix) != self.quoted or needs_dfa(self.dialect, prefix):
            return False
        return self.measuring is None or b"\r" not in prefix

    def _expects(self, started: StartedLoad, prefix: bytes) -> bool:
        """Return whether a text that begins so may be searched and converted as the earlier one."""
        dialect, tuning = self.dialect, started.text.target.tuning
        if not self.reads(prefix):
            return False
        return tuning.is_wide(prefix, dialect.lineterminator, len(started.setup.positions), started.tiles) == self.is_wide

    def _end(self, started: StartedLoad, estimate: SizeEstimate) -> ChainEnd:
        """Return the inputs of the conversion."""
        group, results = self.group, started.setup.layout.results
        count, ranges = len(group.columns), estimate.ranges(group)
        return ChainEnd(
            (started.text.size, started.tiles, estimate.rows),
            group.group_sizes(estimate.rows, estimate.strings),
            ranges,
            (results + counts_bytes(count), FIRST_SEEN_BYTES) if group.infers else (0, 0),
            self.chain.words.nbytes + 8 * len(ranges),
            results + results_bytes(count, group.infers),
            FIRST_SEEN_BYTES * count * group.infers,
        )

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


_loaded = fast_constructor(Loaded)
_words = cache(lambda count: Struct(f"={count}Q"))


def _sample(infer: Callable[[], Inference], expected: bytes, inferred: list[Inference]) -> None:
    """Sample the kinds of a text, and append its inferred types."""
    inference = infer()
    inference.first(expected)
    inferred.append(inference)


def chain_of(search: Recording, output: RecordedSearch, conversion: SpeculativeConversion) -> TraceChain:
    """Return the chain of a recorded search, with its output, and a recorded conversion."""
    assert conversion.recording is not None
    marks, sums, arguments, faults, *sizes = output.extra
    links = output.totals, output.entries, sums, sizes[0] if sizes else None, marks, arguments, faults
    return TraceChain(search, conversion.recording, links, conversion.arguments.words, arguments, output.totals)
