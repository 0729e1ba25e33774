"""From an open source to typed columns: the contract of the native loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace import _native
from headrace.columns.column import Column
from headrace.columns.faults.rejects import parse_error, rejects_of
from headrace.columns.native_columns import column_of
from headrace.columns.plan.row_policy import RowRules
from headrace.columns.plan.value_forms import FormOptions, PlannedForms
from headrace.columns.schema import FirstRecord
from headrace.columns.types import DataType
from headrace.columns.zone import LocalTimes, local_times
from headrace.core.context import Context
from headrace.core.errors import HeadraceError, MemoryLimitError, SourceError
from headrace.core.identity_cache import Recent
from headrace.core.quick import quick
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES
from headrace.structure.survey import Span

MOST_TILE_BYTES = 1 << 30
"""No tile may be larger: places in a tile are 32-bit numbers."""
_LARGE_TILE_BYTES = 4 << 20
Progress = Callable[[int, int], object]
"""Is called with bytes taken and bytes in all."""
SECONDS_OF_PROGRESS = 0.1
"""So often it is called, about."""
_ROWS_PER_TILE = 256
"""So many rows at least, so that a column's loop is worth its start, as long as the tile stays in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOptions:
    """How the texts of fields become values, and what becomes of those that do not; `marks` are the bytes before decimals and
    between thousands; `text_type` is what inferred text becomes in the end, None for what it is loaded as.
    """

    forms: FormOptions = field(default_factory=FormOptions)
    true_words: tuple[bytes, ...] = (b"true", b"True", b"TRUE")
    false_words: tuple[bytes, ...] = (b"false", b"False", b"FALSE")
    quoted_null: bool = False
    replace_invalid: bool = False
    on_error: str = "raise"
    shrink: bool = False
    text_type: DataType | None = None
    marks: tuple[int, int | None] = (ord("."), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A part of a text that is loaded by itself: the records that begin before byte `stop`, read to their ends.

    Parameters
    ----------
    stop
        A byte of the source.
    state
        Of the automaton in front of the part, which may lie inside a record that is not the part's.
    records, bytes, lines
        In front of the source's first byte (lines: of the byte `line_begin`), added to what faults and evidence name.
    line_begin
        A byte of the source that begins a line and lies before all faults.
    is_more
        Whether more of the text is behind the source's last byte.
    """

    stop: int
    state: int = 0
    records: int = 0
    bytes: int = 0
    lines: int = 0
    line_begin: int = 0
    is_more: bool = False


class CutRecordError(Exception):
    """The source ends inside a record of the part, and more of the text follows: load it again with more of it."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the load of a part came: `end` is behind the last record, `state` the automaton's at the stop."""

    end: int = 0
    state: int = 0


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """All that the native loader is told; `columns` are (name, type or None to infer, whether it is wanted).

    `zones` are local times with the positions of the columns that hold them.

    Bytes `begin` to `end` of the source are read; records that begin before `data_begin` are no data.

    `part` is what of them this load reads, if that is not all.

    `before` is what is in front of the data, if that is known: where the data begins, or blank lines and comments in front of it;
    records, blank lines and comments before that.

    Of one file among several: `share` is what their loads have in common, `file` its number, and `share_columns` the places of
    its columns among those of all files.
    """

    columns: list[tuple[str, DataType | None, bool]]
    begin: int
    end: int
    data_begin: int
    rows: RowRules
    values: ValueOptions
    threads: int
    tile_bytes: int
    memory_limit: int
    isa: str
    row_index: int | None = None
    exact_memory: bool = False
    share: _native.LoadShare | None = None
    file: int = 0
    share_columns: tuple[int, ...] = ()
    forms: PlannedForms = field(default_factory=PlannedForms)
    zones: tuple[tuple[LocalTimes, list[int]], ...] = ()
    progress: Progress | None = None
    part: TextPart | None = None
    before: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The field that settled an inferred type: no field before it needed so wide a type.

    Parameters
    ----------
    record
        Number of the data record, from 1.
    byte
        Where the field begins in the source.
    text
        Its first bytes.
    file
        Where several files were read: the path of the one that the field is in. A type that comes from paths themselves (hive
        partitions) has record 0.
    rounded
        Of integers that became float64: the first that it does not hold exactly, such as 9007199254740993.
    """

    record: int
    byte: int
    text: bytes
    file: str | None = None
    rounded: Evidence | None = None

    def __str__(self) -> str:
        file = "" if self.file is None else f"{self.file}, "
        return f"{file}record {self.record}: {self.text.decode('utf-8', 'backslashreplace')!r}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load gives; `counts` has records, rows, rejected, filled, leading, blank, comment and passes; `replaced` the strings
    of each column that were mended with U+FFFD.

    `device` is where the text was read.

    `by_steps`: masks misread the text's quotes on a GPU, so that the automaton read it.

    `columns` and `evidence` are as in the plan, None for columns that are not wanted; `row_index` holds the index of each row's
    record. `described` has type and nulls of each column, where columns are made when they are asked for.
    """

    columns: Sequence[Column | None]
    evidence: Sequence[Evidence | None]
    rejects: Mapping[str, Column]
    counts: dict[str, int]
    row_index: Column | None
    replaced: tuple[int, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = "cpu"
    reached: Reached = Reached()
    described: Sequence[tuple[DataType, int] | None] | None = None
    by_steps: bool = False


_dialects: Recent[_native.Dialect] = Recent()


def native_dialect(dialect: Dialect) -> _native.Dialect:
    """The dialect as the native part has it."""
    return _dialects.of(lambda: _native.Dialect.make(dialect), dialect)


def first_records(source: OpenSource, dialect: Dialect, span: Span, context: Context, count: int) -> list[FirstRecord]:
    """The first records of a span, `count` at most, that are neither blank nor comments; the text ends where the span does."""
    with native_errors():
        found = _native.peek(source.native, native_dialect(dialect), context.isa, span.begin, count, span.end)
    return [_first_record(begin, tuple(fields), *more) for begin, fields, *more in found]


_first_record = quick(FirstRecord)


def evidence_of(found: Sequence[Any] | None, files: Sequence[str] | None = None) -> Evidence | None:
    """The evidence that the native part gives as a tuple; `files` are the names of several files."""
    if found is None:
        return None
    record, at, text, file, rounded = found
    its_rounded = None if rounded is None else evidence_of(rounded, files)
    return _evidence(record, at, text, None if files is None else files[file], its_rounded)


_evidence = quick(Evidence)


def plan_zones(types: Iterable[DataType | None]) -> tuple[tuple[LocalTimes, list[int]], ...]:
    """The time zones, UTC apart, in which columns of given type lie, each with the columns' positions."""
    columns: dict[str, list[int]] = {}
    for position, type_ in enumerate(types):
        if type_ is not None and type_.tz not in (None, "UTC"):
            columns.setdefault(str(type_.tz), []).append(position)
    return tuple((local_times(name), positions) for name, positions in columns.items())


def tile_bytes_for(size: int, first: FirstRecord | None) -> int:
    """Bytes of one tile, for records about as long as the first."""
    if first is None or size == 0:
        return DEFAULT_TILE_BYTES
    record = sum(map(len, first.fields)) + len(first.fields)
    return min(_LARGE_TILE_BYTES, max(DEFAULT_TILE_BYTES, _ROWS_PER_TILE * record))


def load(source: OpenSource, dialect: Dialect, plan: LoadPlan) -> Loaded:
    """Read all records into columns.

    Working memory is a few tiles a thread beside the result; the result is charged to ``plan.memory_limit``.

    Raises
    ------
    ParseError
        With ``on_error="raise"``: the first record (then column) that does not fit.
    MemoryLimitError
        The result outgrew the limit, or there is no more memory.
    SourceError
        The source could not be read to its end as it was when it was opened.
    CutRecordError
        Of a part that more text follows.
    """
    with native_errors():
        made = _native.load(source.native, native_dialect(dialect), plan)
    end, state, is_cut = made["reached"]
    if is_cut and plan.part is not None and plan.part.is_more:
        raise CutRecordError
    counts = made["counts"]
    rejects = rejects_of(made["rejects"], made["fault_count"])
    if made["raised"]:
        raise parse_error(rejects)
    rows = counts["rows"]
    parts = zip(plan.columns, made["columns"], strict=True)
    columns = tuple(column_of(made_column, rows) if wanted else None for (_, _, wanted), made_column in parts)
    row_index = column_of(made["row_index"], rows) if plan.row_index is not None else None
    evidence = tuple(map(evidence_of, made["evidence"]))
    find, convert, finish = made["seconds"]
    return Loaded(
        columns=columns,
        evidence=evidence,
        rejects=rejects,
        counts=counts,
        row_index=row_index,
        replaced=tuple(made["replaced"]),
        seconds={"find": find, "convert": convert, "finish": finish},
        reached=Reached(end, state),
    )


class native_errors:  # noqa: N801  # used as a block
    """A block in which the native part's errors are the package's own."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, _native.SourceFailure):
            raise SourceError(str(error)) from None
        if isinstance(error, _native.RecordTooLong):
            raise HeadraceError(str(error)) from None
        if isinstance(error, MemoryError):
            raise out_of_memory(str(error)) from None


def out_of_memory(said: str) -> MemoryLimitError:
    """The error for a result that found no memory. `said`: the message of the native part; Python's own errors have none."""
    what = said or "the system refused memory"
    limit = "" if "memory_limit" in what else " (see `ulimit -v` for the limit of the process)"
    return MemoryLimitError(
        f"{what}{limit}; read fewer columns (columns=), smaller types (dtypes=), batches (scan_csv), or with fewer threads"
    )
