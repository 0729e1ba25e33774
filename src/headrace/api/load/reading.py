"""Runs the steps of a read between an open source and a table, for one source or for several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from headrace.api.load.column_order import asked_columns, in_order, index_name
from headrace.api.load.prepared import Prepared, beginnings_of, new_prepared
from headrace.api.options.csv_options import CsvOptions
from headrace.columns.buffers.load_result import Loaded
from headrace.columns.column import Column
from headrace.columns.finish.header_faults import check_header, with_header_count, with_header_faults
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import MAX_TILE_BYTES, LoadPlan, PlannedColumn, plan_zones, tile_bytes_for
from headrace.columns.plan.load_run import LoadRun
from headrace.columns.plan.row_policy import COLLECTED, RowRules, row_rules
from headrace.columns.plan.value_forms import PlannedForms
from headrace.columns.records.data_range import decide_header, find_data_range, find_data_start
from headrace.columns.schema import FirstRecord, PlannedColumns, explained_by, plan_columns
from headrace.columns.types import ENCODED
from headrace.columns.zone import LocalTimes
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.lazy import LazyMapping
from headrace.encode.texts import encoded
from headrace.sources.open import OpenSource

if TYPE_CHECKING:
    from headrace.api.report import Report
    from headrace.gpu.kernels.launcher import GpuLauncher


_FIRST_READ_BYTES = 64 << 20
"""Bytes of text a thread that the CPU reads while a GPU's kernels are compiled: in about 0.3 s, the compiler takes 2 to 4."""
_LONG_RECORD_BYTES = 64 << 10  # bytes without a line end that show a long record


def prepare(source: OpenSource, options: CsvOptions) -> Prepared:
    """Read the beginning of a source, and decide on header, names and types."""
    collected = COLLECTED if options.rows.long_records == "collect" else None
    beginnings = None
    if source.is_in_gpu_memory and source.codec == "utf-8":
        beginnings = beginnings_of(options.dialect, options.schema, options.extent, collected)
        known = beginnings.find(source)
        if known is not None:
            return known
    found = find_data_start(source, options.dialect, options.extent, options.context)
    decided = decide_header(source, options.dialect, found, options.schema, options.context)
    beginning = check_header(source, decided, options.schema, options.values)
    extent = find_data_range(source, options.dialect, beginning, options.extent, options.context)
    own, asked = asked_columns(options)
    schema = options.schema if asked is None else replace(options.schema, columns=own)
    columns = plan_columns(beginning.first, schema, width=extent.max_fields, collected=collected)
    names = 0 if beginning.header is None else len(options.extent.header or (0,))
    prepared = new_prepared(beginning=beginning, extent=extent, columns=columns, header=names)
    return prepared if beginnings is None else beginnings.keep(source, prepared, options.context)


def _tile_bytes(source: OpenSource, prepared: Prepared, options: CsvOptions) -> int:
    """Return the bytes of a tile."""
    first, size, threads = prepared.beginning.first, source.size, options.context.thread_count
    if first is None or size >> 20 < threads or source.is_in_gpu_memory:
        return tile_bytes_for(size, first, threads)
    return tile_bytes_for(size, first, threads, has_long_records=_is_record_long(source, first, options))


def _is_record_long(source: OpenSource, first: FirstRecord, options: CsvOptions) -> bool:
    """Return whether no line ends in the 64 KB after the first record."""
    begin = source.native.read(first.begin + len(first.text), _LONG_RECORD_BYTES).lstrip(b"\r\n")
    line_end = options.dialect.lineterminator or b"\n"
    return len(begin) > _LONG_RECORD_BYTES // 2 and line_end not in begin and b"\r" not in begin


def load_plan(source: OpenSource, prepared: Prepared, options: CsvOptions, forms: PlannedForms | None = None) -> LoadPlan:
    """Return the plan for the native loader; `forms` are given if they were planned for the columns of several files."""
    planned, extent, context = prepared.columns, prepared.extent, options.context
    tile_bytes = options.chunk_bytes or _tile_bytes(source, prepared, options)
    with explained_by(prepared.beginning.decision):
        columns, rows, planned_forms, zones = _parts.get_or_create(
            lambda: _plan_parts(planned, options, forms), planned, options.values, options.rows, forms
        )
    return _load_plan(
        columns=columns,
        begin=extent.begin,
        end=extent.end,
        data_begin=extent.data_begin,
        rows=rows,
        values=options.values,
        threads=context.thread_count,
        tile_bytes=min(tile_bytes, MAX_TILE_BYTES),
        memory_limit=max(context.memory_limit - source.held_bytes, 1) if context.memory_limit else 0,
        isa=context.isa,
        row_index=None if options.row_index is None else options.row_index.offset,
        forms=planned_forms,
        zones=zones,
        before=prepared.before,
    )


_load_plan = fast_constructor(LoadPlan)
_Parts = tuple[tuple[PlannedColumn, ...], RowRules, PlannedForms, tuple[tuple[LocalTimes, tuple[int, ...]], ...]]
_parts: IdentityCache[_Parts] = IdentityCache()


def _plan_parts(planned: PlannedColumns, options: CsvOptions, forms: PlannedForms | None) -> _Parts:
    """Return the parts of a plan that do not depend on the text."""
    wanted = set(planned.wanted)
    types = [given and given.loaded_as for given in planned.types]
    columns = tuple([(name, types[i], i in wanted) for i, name in enumerate(planned.names)])
    rows = row_rules(options.rows, planned.base, options.values.on_error)
    return columns, rows, options.values.forms.plan(planned.names) if forms is None else forms, plan_zones(planned.types)


def load_placed(source: OpenSource, prepared: Prepared, options: CsvOptions) -> Loaded:
    """Load on the device of the text or of the context; string columns become views or dictionaries if their types require it.

    Raise OptionError if the text is on another GPU than that of the context.
    """
    loaded, beginning = _loaded_where_wanted(source, prepared, options), prepared.beginning
    if beginning.rejects is None:
        return loaded
    rejects = with_header_faults(loaded.rejects, beginning, options.context)
    return replace(loaded, rejects=rejects, counts=with_header_count(loaded.counts, beginning))


def _loaded_where_wanted(source: OpenSource, prepared: Prepared, options: CsvOptions) -> Loaded:
    plan, device = load_plan(source, prepared, options), wanted_device(source, options)
    if device.kind == "cpu":
        return _loaded_on_cpu(source, prepared, options, plan)
    from headrace.columns.load.gpu.load_text import launcher_for, load_text, loads_on  # imports the packages for GPUs
    from headrace.gpu.kernels.child_compile import NotCompiledError, compiling_in_children

    launcher = launcher_for(source, options.context, device)
    is_wanted = may_answer_on_cpu(source.size, options)
    with launcher.current(), suppress(NotCompiledError), compiling_in_children(wanted=is_wanted):
        loads = loads_on(device, options.dialect)
        # The load's result has no name, so that its buffers are released before the CPU's load.
        return encode_texts_on_gpu(launcher, load_text(loads, launcher, source, plan), prepared, options)
    return _loaded_on_cpu(source, prepared, options, plan)


def may_answer_on_cpu(size: int, options: CsvOptions) -> bool:
    """Return whether the CPU reads a text of `size` bytes while a GPU's kernels are compiled."""
    return size <= options.context.thread_count * _FIRST_READ_BYTES


def _loaded_on_cpu(source: OpenSource, prepared: Prepared, options: CsvOptions, plan: LoadPlan) -> Loaded:
    if may_encode_texts(prepared, options):
        views, dictionaries = (_text_positions(prepared, options, name) for name in ("string_view", "dictionary"))
        plan = replace(plan, views=views, dictionaries=dictionaries)
    return encode_texts(load(source, options.dialect, plan, LoadRun(options.progress)), prepared, options)


def may_encode_texts(prepared: Prepared, options: CsvOptions) -> bool:
    """Return whether columns of strings may become views or dictionaries."""
    given = prepared.columns.types
    return options.values.text_type is not None or any(type_ is not None and type_.name in ENCODED for type_ in given)


def _text_positions(prepared: Prepared, options: CsvOptions, name: str) -> tuple[int, ...]:
    """Return the positions of columns that get the type `name` if they are text."""
    wanted = [given or options.values.text_type for given in prepared.columns.types]
    return tuple(position for position, type_ in enumerate(wanted) if type_ is not None and type_.name == name)


def encode_texts_on_gpu(launcher: GpuLauncher, loaded: Loaded, prepared: Prepared, options: CsvOptions) -> Loaded:
    """Encode the strings of a load on a GPU, as `encode_texts` does."""
    inferred, types = options.values.text_type, prepared.columns.types
    if not may_encode_texts(prepared, options):
        return loaded
    from headrace.encode.texts_gpu import encoded_on_gpu  # rarely needed

    wanted = [(position, column) for position, column in enumerate(loaded.columns) if column is not None]
    given = [types[position] for position, _ in wanted]
    encoded_columns = encoded_on_gpu(launcher, [column for _, column in wanted], given, inferred)
    columns: list[Column | None] = [None] * len(loaded.columns)
    for (position, _), column in zip(wanted, encoded_columns, strict=True):
        columns[position] = column
    return _with_columns(loaded, columns, is_described=loaded.described is not None)


def _with_columns(loaded: Loaded, columns: Sequence[Column | None], *, is_described: bool) -> Loaded:
    """Return a load's result with other columns; `is_described`: the result has their descriptions."""
    described = [None if column is None else (column.type, column.null_count) for column in columns] if is_described else None
    return replace(loaded, columns=tuple(columns), described=described)


def wanted_device(source: OpenSource, options: CsvOptions) -> Device:
    """Return the device of the result. Raise OptionError if the text is on another GPU than that of the context."""
    named = options.context.device
    if source.on_gpu is None or named == source.on_gpu.device:
        return named
    if named.kind != "cpu":
        raise OptionError(
            f"source is on {source.on_gpu.device}, but device is {named}; nothing is copied between GPUs, so pass the same device"
        )
    return source.on_gpu.device


def encode_texts(loaded: Loaded, prepared: Prepared, options: CsvOptions) -> Loaded:
    """Return a load's result with columns of strings as the views or dictionaries that their types require."""
    if not may_encode_texts(prepared, options):
        return loaded
    inferred, threads = options.values.text_type, options.context.thread_count
    columns, is_described = list(loaded.columns), loaded.described is not None
    loaded = replace(loaded, columns=(), described=None)
    for position, given in enumerate(prepared.columns.types):
        column, columns[position] = columns[position], None  # frees the column's memory before the next column is encoded
        if column is not None:
            columns[position] = encoded(column, given, inferred, threads)
    return _with_columns(loaded, columns, is_described=is_described)


def table_columns(prepared: Prepared, loaded: Loaded, options: CsvOptions) -> Mapping[str, Column]:
    """Return the columns to read by name, in order, after the row index.

    Raise OptionError if the row index has the name of a column.
    """
    if loaded.described is not None and options.row_index is None:
        return LazyMapping(places_of(prepared.columns), cast("Sequence[Column]", loaded.columns))
    named: dict[str, Column] = {}
    if options.row_index is not None and loaded.row_index is not None:
        named[options.row_index.name] = loaded.row_index
    for position in prepared.columns.wanted:
        name, column = prepared.columns.names[position], loaded.columns[position]
        if name in named:
            raise OptionError(f"row_index_name={name!r} is the name of a column; choose another")
        if column is not None:
            named[name] = column
    return in_order(asked_columns(options)[1], named, prepared.columns, index_name(options))


_places: IdentityCache[dict[str, int]] = IdentityCache()


def make_report(
    source: OpenSource, prepared: Prepared, loaded: Loaded, options: CsvOptions, seconds: Mapping[str, float]
) -> Report:
    """Return the report of the read of one source."""
    return _report_of_size(source.size, prepared, loaded, options, seconds)


def _report_of_size(size: int, prepared: Prepared, loaded: Loaded, options: CsvOptions, seconds: Mapping[str, float]) -> Report:
    from headrace.api.load.read_report import read_report  # many calls never look at a report

    return read_report(size, prepared, loaded, options, seconds)


def report_later(
    source: OpenSource, prepared: Prepared, loaded: Loaded, options: CsvOptions, seconds: Mapping[str, float]
) -> Report | Callable[[], Report]:
    """Return the report, or a function that creates it if that needs no columns, so that no column is kept alive for it."""
    if loaded.described is None:
        return make_report(source, prepared, loaded, options, seconds)
    return partial(_report_of_size, source.size, prepared, without_columns(loaded), options, seconds)


def places_of(planned: PlannedColumns) -> Mapping[str, int]:
    """Return the position of each column to read by name."""
    return _places.get_or_create(lambda: {planned.names[position]: position for position in planned.wanted}, planned)


def without_columns(loaded: Loaded) -> Loaded:
    """Return a load's result without its columns, for a report that keeps none alive."""
    return _loaded(
        columns=(),
        evidence=loaded.evidence,
        rejects=loaded.rejects,
        counts=loaded.counts,
        row_index=None,
        replaced=loaded.replaced,
        device=loaded.device,
        described=loaded.descriptions(),
    )


_loaded = fast_constructor(Loaded)
