"""Loads a text on a GPU by the launches of an earlier text with the same plan, all in one native call.

A load of 1 MB takes the host longer than the GPU. The host chooses launches, allocates and describes buffers, and collects
results. Most texts of a plan need the same launches. So a text that was loaded in one pass, without a fault, leaves its recorded
launches for the next one.

The kernels check what is expected: the search variant, the estimated sizes, the types. If any of it is wrong, nothing of the
attempt is kept, and the text is loaded step by step (docs/decisions/0051-a-repeated-load.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import ColumnGroup, ColumnGroupBuffers
from headrace.columns.convert.gpu.layouts import TOTALS_WORDS
from headrace.columns.faults.rejects import no_rejects
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.data_start import data_prefix, has_quotes
from headrace.columns.load.gpu.estimate import SizeEstimate, estimate_sizes, is_mispredicted
from headrace.columns.load.gpu.launches import FIRST_SEEN_BYTES, SpeculativeConversion, counts_bytes, results_bytes
from headrace.columns.load.gpu.lazy_columns import ConvertedGroups
from headrace.columns.load.gpu.result import LoadRequest, see_kinds
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.gpu.kernels.trace import Recording
from headrace.gpu.kernels.trace_chain import ChainRun, TraceChain
from headrace.structure.gpu.find import RecordedSearch, needs_dfa, tile_count
from headrace.structure.gpu.launches import VARIANTS_BYTES, FusedSummary, SearchTuning

_WORD = Struct("=Q")


@dataclass(frozen=True, slots=True)
class RepeatedLoad:
    """The launches of an earlier load, for texts of which the same is expected.

    Parameters
    ----------
    group, chain
        The columns with their types, and all launches.
    search
        The output of the search.
    measuring
        The search's kernel that measures strings, or None.
    quoted
        Whether fields are expected to have quotes.
    tuning
        Launch configuration of the search.
    """

    group: ColumnGroup
    chain: TraceChain
    search: RecordedSearch
    measuring: FusedSummary | None
    quoted: bool
    tuning: SearchTuning

    def load(self, request: LoadRequest, counts: dict[str, int]) -> Loaded | None:
        """Load a text; None if it must be loaded step by step.

        `counts`: the counts of what precedes the data.
        """
        plan, source, setup = request.plan, request.source, request.setup
        if plan.part is not None or plan.memory_limit or source.decoded is not None or request.run.share is not None:
            return None
        size = min(plan.end, source.size) - request.begin
        prefix = data_prefix(source, request.begin, size)
        if not self._expects(request, prefix):
            return None
        text = BufferSlice(request.target.text, request.begin, size)
        tiles, group = tile_count(text, self.tuning), self.group
        estimate = estimate_sizes(setup.native, prefix, size, group.string_positions)
        if estimate is None or not estimate.fits(group, size):
            return None
        return _Attempt(self, request, text, tiles).run(estimate, counts)

    def _expects(self, request: LoadRequest, prefix: bytes) -> bool:
        """Return whether a text that begins so may be searched as the earlier one."""
        dialect = request.dialect
        if not prefix or has_quotes(dialect, prefix) != self.quoted or request.setup.expects_declined:
            return False
        if request.setup.expects_dfa or needs_dfa(dialect, prefix):
            return False
        return self.measuring is None or b"\r" not in prefix


class _Attempt:
    """One load by the launches of `known`."""

    __slots__ = ("_known", "_request", "_text", "_tiles")

    def __init__(self, known: RepeatedLoad, request: LoadRequest, text: DeviceBuffer, tiles: int) -> None:
        self._known, self._request, self._text, self._tiles = known, request, text, tiles

    def run(self, estimate: SizeEstimate, counts: dict[str, int]) -> Loaded | None:
        """Launch all kernels, wait, and return the result; None if something was not as expected."""
        known, request, setup = self._known, self._request, self._request.setup
        group, size = known.group, self._text.nbytes
        inference = sample = None
        if group.infers:
            inference = Inference(request.source, request.dialect, request.plan, request.gpu_plan, request.begin)
            sample = inference.first  # the host samples the kinds of text while the device works
        zeroed, others = setup.buffer_sizes(self._tiles, known.measuring, group.strings)
        count, results = len(group.columns), setup.layout.results
        run = ChainRun(
            self._text,
            (size, self._tiles, *zeroed, *others),
            (size, self._tiles, estimate.rows),
            group.group_sizes(estimate.rows, estimate.strings),
            estimate.ranges(group),
            (results + counts_bytes(count), FIRST_SEEN_BYTES) if group.infers else (0, 0),
            results + results_bytes(count, group.infers),
        )
        finished = request.target.launcher.run_chain(known.chain, run, sample)
        if finished is None:
            return None
        buffers, fetched = finished
        return self._collected(ColumnGroupBuffers(group, estimate.rows, buffers, ()), fetched, counts, inference)

    def _collected(
        self, columns: ColumnGroupBuffers, fetched: bytes, counts: dict[str, int], inference: Inference | None
    ) -> Loaded | None:
        """Return the result of kernels that have run; None if something was not as expected."""
        request, group, layout = self._request, self._known.group, self._request.setup.layout
        searched = self._known.search.first_answer(fetched)
        if searched is None or is_mispredicted(_WORD.unpack_from(fetched, layout.word)[0]):
            return None
        count, rows = len(group.columns), searched["records"]
        faults, filled, _, declined, *values = Struct(f"={TOTALS_WORDS + count}Q").unpack_from(fetched, layout.results)
        if faults or declined:
            return None
        if inference is not None:
            see_kinds(inference, group, fetched[layout.results + counts_bytes(count) :])
            if not inference.is_right(group.inferred_kinds):
                return None
        columns.trim(rows, Struct(f"={group.strings}Q").unpack_from(fetched, VARIANTS_BYTES))
        columns.nulls = [rows - valid for valid in values]
        converted = ConvertedGroups()
        converted.add(columns)
        counts["records"] = counts["rows"] = rows
        counts["blank"] += searched["blank_lines"]
        counts["comment"] += searched["comments"]
        counts["rejected"], counts["faults"], counts["filled"], counts["passes"] = 0, 0, filled, 1
        width = len(request.plan.columns)
        items, described = converted.columns(request.target.launcher, width)
        return _loaded(
            columns=items,
            evidence=request.setup.no_evidence if inference is None else inference.evidence(),
            rejects=no_rejects(),
            counts=counts,
            row_index=None,
            replaced=(0,) * width,
            device=request.target.device,
            described=described,
        )


_loaded = fast_constructor(Loaded)


def chain_of(search: Recording, output: RecordedSearch, conversion: SpeculativeConversion) -> TraceChain:
    """Return the chain of a recorded search, with its output, and a recorded conversion."""
    assert conversion.recording is not None
    marks, sums, arguments, faults, *sizes = output.extra
    links = output.totals, output.entries, sums, sizes[0] if sizes else None, marks, arguments, faults
    return TraceChain(search, conversion.recording, links, conversion.arguments.words, arguments, output.totals)
