"""Reads a text in GPU memory as an earlier one with equal options was read, if it begins like that one.

Options, header, names, types and plan are those of the earlier read, so what remains is the load
(`headrace.columns.load.gpu.repeated_load`) and the table. A text that differs is read step by step.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from headrace.api.load.prepared import Beginnings, Prepared, beginnings_of, of_size
from headrace.api.load.reading import (
    encode_texts_on_gpu,
    load_plan,
    may_answer_on_cpu,
    may_encode_texts,
    places_of,
    without_columns,
)
from headrace.api.options.csv_options import CsvOptions, ParsedCall
from headrace.api.table import Table
from headrace.arrays.arrays import Array
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.convert.gpu.column_group import GpuPlan, gpu_plan_of
from headrace.columns.convert.gpu.target import DEFAULT_TUNING, GpuTarget
from headrace.columns.load.gpu.data_start import find_data, has_quotes
from headrace.columns.load.gpu.repeated_load import TargetText, TextBegin
from headrace.columns.load.gpu.result import LoadRequest, LoadResultBuilder
from headrace.columns.load.gpu.setup_cache import LoadSetup, load_setup
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.load_run import NO_HANDLES
from headrace.columns.plan.row_policy import COLLECTED
from headrace.core.budget import Budget
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.lazy import LazyMapping
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.child_compile import NotCompiledError, compiling_in_children
from headrace.gpu.kernels.launcher import BufferSlice, GpuLauncher, Launcher, launcher_beside
from headrace.sources.kinds.gpu_array import first_fetch_bytes, host_view, text_on_gpu
from headrace.sources.open import FOREIGN_STARTS, OpenSource

if TYPE_CHECKING:
    from headrace.api.report import Report
    from headrace.columns.column import Column

_MAX_KNOWN = 4


@dataclass(slots=True, eq=False)
class _Known:
    """An earlier read."""

    prepared: Prepared  # its decisions, for a text of any size
    plan: LoadPlan
    gpu_plan: GpuPlan  # its plan, and state of the plan that does not depend on the text
    begin: int
    counts: dict[str, int]  # first byte of the data, and the counts of what precedes it
    places: Mapping[str, int]  # position of each column by name
    encodes: bool  # True if columns of strings may become views or dictionaries
    head: int = 0  # bytes at the begin of the last text from which its types were inferred


class _Kind(NamedTuple):
    """An earlier read, and whether the text is expected to have quotes."""

    known: _Known
    quoted: bool


class RepeatedReads:
    """Reads of texts on one device, by the same options, that begin alike. `known_reads` has those of a call.

    `options`: the options, except those of one call.
    """

    def __init__(self, options: CsvOptions) -> None:
        self.options = options
        self._known: dict[int, tuple[Prepared, _Known]] = {}
        self._last: _Kind | None = None  # of the last text
        self.expected: _Kind | None = None  # the kind of the last two texts; None if they differ

    def _beginnings(self) -> Beginnings:
        options = self.options
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

    def forget(self, known: _Known) -> None:
        """Forget an earlier read, whose last texts had faults: the next ones need not be fetched to learn that."""
        self._known = {key: value for key, value in self._known.items() if value[1] is not known}

    def find(self, start: bytes) -> _Kind | None:
        """Return the kind of a text with these first bytes; None if no earlier text began alike."""
        prepared = None if start.startswith(FOREIGN_STARTS) else self._beginnings().find_in(start)
        _, known = self._known.get(id(prepared), (None, None))
        kind = None if known is None else _Kind(known, has_quotes(self.options.dialect, start[known.begin :]))
        self._last, self.expected = kind, kind if kind == self._last else None
        return kind

    def read(self, text: Array, call: ParsedCall, begun: float) -> Table | None:
        """Read a text; None if it must be read step by step. `begun`: time when the read began."""
        if not self._known or not text.nbytes:
            return None
        launcher = launcher_beside(text.stream, gpu(text.device), Budget(), call.crossings)
        with launcher.current():
            reading = _Reading(self, launcher, text, call)
            loaded = reading.load()
            if loaded is None or reading.kind is None:
                return None
            known = reading.kind.known
            if known.encodes:
                loaded = self._encoded(launcher, loaded, known.prepared, text.nbytes)
                if loaded is None:
                    return None
        done = time.perf_counter()
        seconds = {"prepare": reading.planned - begun, **loaded.seconds, "total": done - begun}
        report = partial(_report, text.nbytes, known.prepared, without_columns(loaded), call, seconds)
        columns = cast("Sequence[Column]", loaded.columns)
        return Table(LazyMapping(known.places, columns), rejects=Table(loaded.rejects), report=report)

    def _encoded(self, launcher: GpuLauncher, loaded: Loaded, prepared: Prepared, size: int) -> Loaded | None:
        """Return a load with encoded strings; None if the kernels for that are being compiled."""
        with suppress(NotCompiledError), compiling_in_children(wanted=may_answer_on_cpu(size, self.options)):
            return encode_texts_on_gpu(launcher, loaded, prepared, self.options)
        return None


class _Reading:
    """One read of a text as an earlier one."""

    def __init__(self, reads: RepeatedReads, launcher: Launcher, text: Array, call: ParsedCall) -> None:
        self._reads, self._text, self._call = reads, text, call
        self._target = _target(launcher, text, DEFAULT_TUNING, str(text.device))
        self._begin: TextBegin | None = None
        self._builder: LoadResultBuilder | None = None
        self.kind: _Kind | None = None  # the kind of the text, if its beginning is known
        self.planned = 0.0  # time when the beginning was known

    def load(self) -> Loaded | None:
        """Load the text; None if it must be read step by step."""
        expected = self._reads.expected
        if expected is not None:
            loaded = self._load_ahead(expected)
            if loaded is not None or self.kind == expected:
                return loaded
        if not self.planned:
            size = self._text.nbytes
            self._see(self._target.launcher.fetch(BufferSlice(self._text, 0, min(first_fetch_bytes(size), size))).tobytes())
        if self.kind is None or self._begin is None:
            return None
        known, quoted = self.kind
        setup = self._setup(known)
        repeated = setup.repeated.get(quoted)
        if not setup.repeated:
            self._reads.forget(known)
        return None if repeated is None else self._checked(repeated.load(setup, self._target_text(known), self._begin), setup)

    def _load_ahead(self, expected: _Kind) -> Loaded | None:
        """Load the text before a byte of it is known; None if it is not as expected."""
        known, quoted = expected
        setup = self._setup(known)
        repeated = setup.repeated.get(quoted)
        if repeated is None:
            return None

        def begun(head: bytes) -> TextBegin | None:
            self._see(head)
            return self._begin if self.kind == expected else None

        size = self._text.nbytes
        text = self._target_text(known, min(max(first_fetch_bytes(size), known.head), size))
        loaded = repeated.load_ahead(setup, text, begun)
        return self._checked(loaded, setup) if self.kind == expected else None

    def _see(self, start: bytes) -> None:
        """Decide as which earlier text one with these first bytes is read."""
        kind = self.kind = self._reads.find(start)
        self.planned = time.perf_counter()
        if kind is not None:
            known = kind.known
            self._begin = TextBegin(start[known.begin :], known.counts, partial(self._build, known, start))

    def _checked(self, loaded: Loaded | None, setup: LoadSetup) -> Loaded | None:
        """Return a load's result, and keep its launches unless the text was not as expected: it is read step by step at once."""
        assert self.kind is not None
        known, quoted = self.kind
        if loaded is None:
            setup.repeated.pop(quoted, None)
        elif self._builder is not None and known.gpu_plan.inferred:
            known.head = self._builder.inference.sample_end
        return loaded

    def _setup(self, known: _Known) -> LoadSetup:
        """Return the state of a plan for texts of about this size."""
        return load_setup(known.gpu_plan, self._reads.options.dialect, known.plan, DEFAULT_TUNING, self._text.nbytes)

    def _target_text(self, known: _Known, head: int = 0) -> TargetText:
        return TargetText(self._target, known.begin, self._text.nbytes - known.begin, head)

    def _build(self, known: _Known, start: bytes, setup: LoadSetup) -> LoadResultBuilder:
        """Return the builder of the result. `setup`: that of the launches; another thread may want longer lists now."""
        text, options = self._text, self._reads.options
        source = _open_source(host_view(text, self._call.crossings, start), f"<{text.device}>", on_gpu=text)
        plan = load_plan(source, of_size(known.prepared, text.nbytes), options)
        given = source, options.dialect, plan, known.gpu_plan, setup, known.begin, NO_HANDLES
        self._builder = LoadResultBuilder(LoadRequest(self._target, *given), dict(known.counts))
        return self._builder


_target, _open_source = fast_constructor(GpuTarget), fast_constructor(OpenSource)


def _report(size: int, prepared: Prepared, loaded: Loaded, call: ParsedCall, seconds: Mapping[str, float]) -> Report:
    from headrace.api.load.read_report import read_report  # many calls never look at a report

    return read_report(size, of_size(prepared, size), loaded, call.options(), seconds)


def repeat_read(source: object, call: ParsedCall, begun: float) -> Table | None:
    """Read an array in GPU memory as an earlier call with equal options did; None if it must be read step by step.

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


known_reads: IdentityCache[RepeatedReads] = IdentityCache()  # reads by options and device
