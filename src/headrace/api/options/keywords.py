"""Declares the types of the options of `read_csv`, for type checkers and for the signature of `scan_csv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from headrace.columns.date_format import DateFormatLike
from headrace.columns.plan.load_run import Progress
from headrace.columns.plan.row_policy import LongRecords, ShortRecords
from headrace.columns.schema import DTypesLike, SchemaLike
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.encode.texts import StringForm
from headrace.sources.compression.formats import CompressionName

if TYPE_CHECKING:
    import csv

    from headrace.structure.dialect import Dialect

AUTO = "auto"  # value of an option that is to be found

OnError = Literal["raise", "null", "reject"]
EncodingErrors = Literal["strict", "replace"]
NullText = str | int | float
NullValues = NullText | Iterable[NullText] | Mapping[str | int, NullText | Iterable[NullText]]
"""Texts that mean null, or numbers for their texts."""

ColumnsLike = str | Sequence[str | int] | AbstractSet[str | int] | Mapping[str, object]
"""Names or positions. A mapping of names to types, as in DuckDB, is a schema."""

DialectLike: TypeAlias = "str | Dialect | csv.Dialect | type[csv.Dialect]"
"""``"auto"``, a `Dialect`, or a dialect of Python's `csv` or its name."""

CompressionLike = CompressionName | Literal["infer", "auto", "none"] | Mapping[str, object]
"""Names of this package, of pandas and of DuckDB."""


class CsvKeywords(TypedDict, total=False):
    """The keyword arguments of `read_csv`; `headrace.api.options.table` has their defaults and meanings."""

    # types of read_csv, written by python -m checks.options
    device: Device | str | None
    dialect: DialectLike | None
    sep: str | bytes
    header: bool | Literal["infer"] | int | Sequence[int] | None
    names: Sequence[str] | Mapping[str | int, str] | None
    columns: ColumnsLike | None
    schema: SchemaLike | None
    dtypes: DTypesLike | None
    infer_schema: bool
    shrink: bool
    strings: StringForm
    null_values: NullValues | None
    quoted_null: bool
    true_values: str | Iterable[str] | None
    false_values: str | Iterable[str] | None
    decimal: str
    thousands: str | None
    date_format: DateFormatLike
    dayfirst: bool
    quote_char: str | bytes | None
    double_quote: bool
    lenient_quotes: bool
    strict_quotes: bool
    escape_char: str | bytes | None
    escape_sequences: bool
    comment: str | bytes | None
    lineterminator: str | bytes | None
    skip_initial_space: bool
    strip: bool
    skip_blank_lines: bool
    skip_rows: int
    skip_rows_after_header: int
    n_rows: int | None
    skip_footer: int
    short_records: ShortRecords | None
    long_records: LongRecords | None
    row_index_name: str | None
    row_index_offset: int
    compression: CompressionLike | None
    encoding: str | None
    encoding_errors: EncodingErrors
    on_error: OnError
    max_rejects: int | None
    glob: bool
    union_by_name: bool
    include_missing_columns: bool
    include_file_paths: str | None
    hive_partitioning: bool | Literal["auto"]
    context: Context | None
    threads: int | None
    chunk_bytes: int | None
    progress: Progress | None
    # end of types
