"""Reads a text in GPU memory as an earlier one with equal options was read, if it begins like that one.

Options, header, names, types and plan are those of the earlier read, so what remains is the load
(`headrace.columns.load.gpu.repeated_load`) and the table. A text that differs is read step by step.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from headrace.api.load.prepared import Beginnings, Prepared, beginnings_of, of_size
from headrace.api.load.reading import encode_texts_on_gpu, load_plan, may_encode_texts, places_of, without_columns
from headrace.api.options.csv_options import CsvOptions, ParsedCall
from headrace.api.table import Table
from headrace.arrays.arrays import Array
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import GpuPlan, gpu_plan_of
from headrace.columns.convert.gpu.target import DEFAULT_TUNING, GpuTarget
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.load.gpu.data_start import find_data, has_quotes
from headrace.columns.load.gpu.repeated_load import StartedLoad, TargetText, TextBegin
from headrace.columns.load.gpu.setup_cache import LoadSetup, load_setup
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.row_policy import COLLECTED
from headrace.core.budget import Budget
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.lazy import LazyMapping
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import launcher_beside
from headrace.sources.kinds.gpu_array import first_fetch_bytes, host_view, text_on_gpu
from headrace.sources.open import FOREIGN_STARTS, OpenSource

if TYPE_CHECKING:
    from headrace.api.report import Report
    from headrace.columns.column import Column

_MAX_KNOWN = 4


@dataclass(slots=True, eq=False)
class _Known:
    """An earlier read."""

    prepared: Prepared
    """Its decisions, for a text of any size."""
    plan: LoadPlan
    gpu_plan: GpuPlan
    """Its plan, and state of the plan that does not depend on the text."""
    begin: int
    counts: dict[str, int]
    """First byte of the data, and the counts of what precedes it."""
    places: Mapping[str, int]
    """Position of each column by name."""
    encodes: bool
    """True if columns of strings may become views or dictionaries."""
    quoted: bool = False
    """True if the last text was expected to have quotes."""


class RepeatedReads:
    """Reads of texts on one device, by the same options, that begin alike. `known_reads` has those of a call.

    `options`: the options, except those of one call.
    """

    def __init__(self, options: CsvOptions) -> None:
        self._options = options
        self._known: dict[int, tuple[Prepared, _Known]] = {}
        self._last: _Known | None = None  # as which the last text was read
        self._expected: _Known | None = None  # as which the last two texts were read

    def _beginnings(self) -> Beginnings:
        options = self._options
        collected = COLLECTED if options.rows.long_records == "collect" else None
        return beginnings_of(options.dialect, options.schema, options.extent, collected)

    def keep(self, opened: OpenSource, options: CsvOptions) -> None:
        """Keep what a later read of a text that begins like this one needs; `options`: those of the call."""
        prepared = self._beginnings().find_in(opened.native.read(0, min(first_fetch_bytes(opened.size), opened.size)))
        if prepared is None or prepared.beginning.rejects is not None:
            return
        plan = load_plan(opened, of_size(prepared, opened.size), options)
        gpu_plan = gpu_plan_of(plan)
        setup = load_setup(gpu_plan, options.dialect, plan, DEFAULT_TUNING, opened.size)
        is_begun = plan.before is not None or plan.data_begin <= plan.begin  # the begin of the data is the same in each text
        if not setup.repeated or plan.memory_limit or not is_begun:
            return
        begin, counts = find_data(opened, setup.native, plan)
        encodes = may_encode_texts(prepared, options)
        known = _Known(prepared, plan, gpu_plan, begin, counts, places_of(prepared.columns), encodes)
        self._known = {**dict(list(self._known.items())[1 - _MAX_KNOWN :]), id(prepared): (prepared, known)}

    def read(self, text: Array, call: ParsedCall, begun: float) -> Table | None:
        """Read a text; None if it must be read step by step. `begun`: time when the read began."""
        size = text.nbytes
        if not self._known or not size:
            return None
        launcher = launcher_beside(text.stream, gpu(text.device), Budget(), call.crossings)
        target = _target(launcher, text, DEFAULT_TUNING, str(text.device))
        expected, started = self._expected, None

        def search() -> None:  # while the first bytes are copied
            nonlocal started
            started = None if expected is None else self._start(target, size, expected, quoted=expected.quoted)

        with launcher.current():
            start = launcher.first_bytes(text, min(first_fetch_bytes(size), size), search)
            prepared = None if start.startswith(FOREIGN_STARTS) else self._beginnings().find_in(start)
            _, known = self._known.get(id(prepared), (None, None))
            self._last, self._expected = known, known if known is self._last else None
            if prepared is None or known is None:
                return None
            planned = time.perf_counter()
            infer = partial(self._inference, text, start, call.crossings, known) if known.gpu_plan.inferred else None
            begin = TextBegin(start[known.begin :], known.counts, infer)
            loaded = self._load(target, size, known, begin, started if known is expected else None)
            if loaded is None:
                return None
            if known.encodes:
                loaded = encode_texts_on_gpu(launcher, loaded, prepared, self._options)
        done = time.perf_counter()
        seconds = {"prepare": planned - begun, **loaded.seconds, "total": done - begun}
        report = partial(_report, size, prepared, without_columns(loaded), call, seconds)
        columns = cast("Sequence[Column]", loaded.columns)
        return Table(LazyMapping(known.places, columns), rejects=Table(loaded.rejects), report=report)

    def _start(self, target: GpuTarget, size: int, known: _Known, *, quoted: bool) -> StartedLoad | None:
        """Launch the search of a text as that of an earlier read, which had quotes or had none."""
        setup, begin = self._setup(known, size), known.begin
        repeated = setup.repeated.get(quoted)
        return None if repeated is None else repeated.start(setup, TargetText(target, begin, size - begin))

    def _setup(self, known: _Known, size: int) -> LoadSetup:
        """Return the state of a plan for texts of about `size` bytes."""
        return load_setup(known.gpu_plan, self._options.dialect, known.plan, DEFAULT_TUNING, size)

    def _load(self, target: GpuTarget, size: int, known: _Known, begin: TextBegin, started: StartedLoad | None) -> Loaded | None:
        """Load a text as that of an earlier read; `started`: its search if it is launched."""
        setup = self._setup(known, size) if started is None else started.setup
        if not setup.repeated:  # the last texts of the plan had faults; the next ones need not be fetched to learn that
            self._known = {key: value for key, value in self._known.items() if value[1] is not known}
            return None
        quoted = known.quoted = has_quotes(self._options.dialect, begin.prefix)
        if started is None or started.load is not setup.repeated.get(quoted):
            started = self._start(target, size, known, quoted=quoted)
        if started is None:
            return None
        loaded = started.load.finish(started, begin)
        if loaded is None:
            setup.repeated.pop(quoted, None)  # the text is loaded step by step at once
        return loaded

    def _inference(self, text: Array, start: bytes, crossings: Crossings, known: _Known) -> Inference:
        source = _open_source(host_view(text, crossings, start), f"<{text.device}>", on_gpu=text)
        plan = load_plan(source, of_size(known.prepared, text.nbytes), self._options)
        return Inference(source, self._options.dialect, plan, known.gpu_plan, known.begin)


_target, _open_source = fast_constructor(GpuTarget), fast_constructor(OpenSource)


def _report(size: int, prepared: Prepared, loaded: Loaded, call: ParsedCall, seconds: Mapping[str, float]) -> Report:
    from headrace.api.load.read_report import read_report  # many calls never look at a report

    return read_report(size, of_size(prepared, size), loaded, call.options(), seconds)


def repeat_read(source: object, call: ParsedCall, begun: float) -> Table | None:
    """Read an array in GPU memory as an earlier call with equal options did; None if it must be read step by step.

    `begun`: time when the read began.

    Raise OptionError if the array does not have bytes.
    """
    if not call.is_kept or call.progress is not None:
        return None
    text = text_on_gpu(source)
    return _reads_of(call, text).read(text, call, begun)


def keep_read(opened: OpenSource, call: ParsedCall, options: CsvOptions) -> None:
    """Keep what a later call needs to repeat a read of an array in GPU memory."""
    text = opened.on_gpu
    if text is None or not opened.is_in_gpu_memory or opened.codec != "utf-8" or opened.begin:
        return
    if call.is_kept and options.row_index is None:
        _reads_of(call, text).keep(opened, options)


def _reads_of(call: ParsedCall, text: Array) -> RepeatedReads:
    parsed = call.parsed
    return known_reads.get_or_create(lambda: RepeatedReads(parsed), parsed, key=text.device)


known_reads: IdentityCache[RepeatedReads] = IdentityCache()
"""Reads by options and device."""
