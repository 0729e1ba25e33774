"""Defines the plan of a load: the columns, the range of the text, and the policies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.columns.plan.row_policy import RowRules
from headrace.columns.plan.value_forms import FormOptions, PlannedForms
from headrace.columns.schema import FirstRecord
from headrace.columns.types import DataType
from headrace.columns.zone import LocalTimes, local_times
from headrace.structure.find import DEFAULT_TILE_BYTES

MAX_TILE_BYTES = 1 << 30  # upper limit of a tile: positions in a tile are 32-bit numbers
_LARGE_TILE_BYTES = 4 << 20
_LONG_RECORD_TILE_BYTES = 2 << 20  # bytes of a tile of records of 64 KB and more, of which it reads the last one beyond its end
_ROWS_PER_TILE = 256
"""Minimum number of rows of a tile, as long as it fits into the cache: the loop over one column has a fixed cost."""
_TILES_PER_THREAD = 4
_SHORT_FIELD_BYTES = 16  # a field of more bytes costs more than its share of the loop's fixed cost, so it counts as one of these


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOptions:
    """Options for the conversion of fields to values."""

    forms: FormOptions = field(default_factory=FormOptions)  # null texts and date formats
    true_words: tuple[bytes, ...] = (b"true", b"True", b"TRUE")
    false_words: tuple[bytes, ...] = (b"false", b"False", b"FALSE")  # texts of bools
    quoted_null: bool = False  # True if a quoted field may be null
    replace_invalid: bool = False  # True if invalid UTF-8 becomes U+FFFD
    on_error: str = "raise"  # outcome of a field that does not convert: `"raise"`, `"null"` or `"reject"`
    max_rejects: int | None = None  # greatest number of faults that the result lists; None for all
    shrink: bool = False  # True if inferred numbers get the smallest type that represents them
    text_type: DataType | None = None  # final type of inferred text; None for the type that it is loaded as
    marks: tuple[int, int | None] = (ord("."), None)  # the bytes before decimals and between thousands


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A part of a text that is loaded by itself: the records that begin before byte `stop`, each to its end."""

    stop: int  # a byte of the source
    state: int = 0  # the automaton's state at the begin of the part, which may lie inside a record of the preceding part
    records: int = 0
    bytes: int = 0
    lines: int = 0
    """Numbers of these before the source's first byte (lines: before its byte `line_begin`). They are added to positions in
    faults and evidence.
    """
    line_begin: int = 0  # a byte of the source that begins a line and precedes all faults
    starts_at_line: bool = False  # True if the part's first record of data begins at that byte
    is_more: bool = False  # True if more of the text follows the source's last byte


PlannedColumn = tuple[str, DataType | None, bool]  # name, type or None to infer it, and whether the column is wanted


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """All parameters of a load except its source, dialect and handles (`LoadRun`). A plan can be pickled."""

    columns: tuple[PlannedColumn, ...]  # the columns of the text, in order
    begin: int
    end: int  # the bytes of the source to read; `end` is exclusive
    data_begin: int  # records that begin before this byte are not data, such as a header
    rows: RowRules  # outcomes of records with too few or too many fields
    values: ValueOptions  # options for the conversion
    threads: int
    tile_bytes: int
    memory_limit: int
    isa: str  # resources; a memory limit of 0 is none
    row_index: int | None = None  # number of the first record, if rows are to be numbered
    exact_memory: bool = False  # True if the text is measured before buffers are allocated
    file: int = 0  # number of the file, if several are loaded
    share_columns: tuple[int, ...] = ()  # for each column, its index among the columns of all files
    forms: PlannedForms = field(default_factory=PlannedForms)  # null texts and date formats of each column
    views: tuple[int, ...] = ()
    """Positions of columns whose text is loaded as views. Text of 2^31 bytes and more is loaded as ``large_string``."""
    dictionaries: tuple[int, ...] = ()
    """Positions of columns whose text is loaded as dictionaries, if the first rows have few texts. A load with a memory limit has
    none.
    """
    zones: tuple[tuple[LocalTimes, tuple[int, ...]], ...] = ()
    """Local times, each with the positions of the columns that contain them."""
    part: TextPart | None = None  # the part that is loaded, if it is not the whole range
    before: tuple[int, int, int, int] | None = None
    """Begin of the data (or of blank lines and comments before it), if it is known. Then the numbers of records, blank lines and
    comments that precede it.
    """


def plan_zones(types: Iterable[DataType | None]) -> tuple[tuple[LocalTimes, tuple[int, ...]], ...]:
    """Return the time zones of given types, except UTC, each with the positions of its columns."""
    columns: dict[str, list[int]] = {}
    for position, type_ in enumerate(types):
        if type_ is not None and type_.tz not in (None, "UTC"):
            columns.setdefault(str(type_.tz), []).append(position)
    return tuple((local_times(name), tuple(positions)) for name, positions in columns.items())


def tile_bytes_for(size: int, first: FirstRecord | None, threads: int, *, has_long_records: bool = False) -> int:
    """Return the bytes of a tile for a text whose records are about as long as its first.

    A tile of records with many fields or of 64 KB and more is larger, but every thread gets several.
    """
    if first is None or size == 0:
        return DEFAULT_TILE_BYTES
    record = min(sum(map(len, first.fields)) + len(first.fields), _SHORT_FIELD_BYTES * len(first.fields))
    wanted = max(_ROWS_PER_TILE * record, _LONG_RECORD_TILE_BYTES if has_long_records else 0)
    share = size // (_TILES_PER_THREAD * threads)
    return max(DEFAULT_TILE_BYTES, min(_LARGE_TILE_BYTES, share, wanted))
