"""The options of `read_csv`: what other readers call them, and their values checked and put in groups."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace

from headrace import _native
from headrace.columns.date_format import date_options
from headrace.columns.header import FieldKinds
from headrace.columns.plan.load_plan import ValueOptions
from headrace.columns.plan.load_run import Progress
from headrace.columns.plan.row_policy import LONG_RECORDS, SHORT_RECORDS, RowOptions
from headrace.columns.plan.value_forms import FormOptions
from headrace.columns.records.data_range import ExtentOptions, header_indexes
from headrace.columns.schema import SchemaOptions, is_name
from headrace.columns.types import DataType
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError, shown
from headrace.core.identity_cache import Recent
from headrace.core.options import PLAIN, Given, frozen, integer
from headrace.core.quick import quick
from headrace.core.transfers import Crossings
from headrace.encode.texts import FORMS
from headrace.gpu.device.preload_context import start_early
from headrace.sources.compression.formats import COMPRESSIONS
from headrace.sources.encoding.encoding import TextEncoding
from headrace.sources.open import SourceOptions
from headrace.structure.dialect import Dialect

ALIASES = {
    "delimiter": "sep",
    "separator": "sep",
    "delim": "sep",
    "has_header": "header",
    "column_names": "names",
    "dtype": "dtypes",
    "column_types": "dtypes",
    "schema_overrides": "dtypes",
    "types": "dtypes",
    "na_values": "null_values",
    "quotechar": "quote_char",
    "doublequote": "double_quote",
    "escapechar": "escape_char",
    "comment_prefix": "comment",
    "eol_char": "lineterminator",
    "new_line": "lineterminator",
    "skipinitialspace": "skip_initial_space",
    "usecols": "columns",
    "include_columns": "columns",
    "skiprows": "skip_rows",
    "skip_lines": "skip_rows",
    "skip": "skip_rows",
    "skip_rows_after_names": "skip_rows_after_header",
    "nrows": "n_rows",
    "skipfooter": "skip_footer",
    "filename": "include_file_paths",
    "thousands_separator": "thousands",
    "decimal_point": "decimal",
    "decimal_separator": "decimal",
    "dateformat": "date_format",
    "timestamp_format": "date_format",
    "timestampformat": "date_format",
    "timestamp_parsers": "date_format",
}
"""What other readers call an option, and what it is called here."""


@dataclass(frozen=True, slots=True)
class RowIndex:
    """A first column with the index of each row's record, counted from `offset`."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOptions:
    """What is said of several files; `hive_partitioning` of None is "auto"."""

    glob: bool = True
    union_by_name: bool = False
    include_file_paths: str | None = None
    hive_partitioning: bool | None = None

    @property
    def wanted(self) -> bool:
        """Whether a single source has to be handled as several are."""
        return self.union_by_name or self.include_file_paths is not None or self.hive_partitioning is True


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """Everything that `read_csv` can be told, checked; in groups."""

    source: SourceOptions
    dialect: Dialect
    schema: SchemaOptions
    values: ValueOptions
    extent: ExtentOptions
    rows: RowOptions
    row_index: RowIndex | None
    files: FilesOptions
    context: Context
    chunk_bytes: int | None
    progress: Progress | None = None


_NO_DEFAULTS: dict[str, object] = {}


def parse_options(values: dict[str, object], defaults: dict[str, object] = _NO_DEFAULTS) -> CsvOptions:
    """Options by name, aliases resolved, as `CsvOptions`. What was parsed is kept for the next call that says the same.

    `defaults` are values that nobody can change, of options that need not be looked at if they have them; None is one anyway.

    Raises
    ------
    OptionError
        A value is none that its option takes, or two options contradict each other.
    """
    context = _CONTEXT if values["context"] is None else context_of(values["context"])
    # What one call copies is counted by itself, for its report.
    crossings = Crossings() if context is _CONTEXT else context.crossings.part()
    progress = _progress(values["progress"])
    given = _native.changed_items(values, defaults)
    for name in _OF_ONE_CALL:
        given.pop(name, None)
    told = frozen(given, _PLAIN)
    parsed = _parse(values, context) if told is None else _known_options(told, values, context)
    source, own = parsed.source, parsed.context
    return _csv_options(
        source=_source_options(
            compression=source.compression,
            encoding=source.encoding,
            memory_limit=source.memory_limit,
            isa=source.isa,
            crossings=crossings,
        ),
        dialect=parsed.dialect,
        schema=parsed.schema,
        values=parsed.values,
        extent=parsed.extent,
        rows=parsed.rows,
        row_index=parsed.row_index,
        files=parsed.files,
        context=_context(device=own.device, threads=own.threads, memory_limit=own.memory_limit, isa=own.isa, crossings=crossings),
        chunk_bytes=parsed.chunk_bytes,
        progress=progress,
    )


def _known_options(told: Hashable, values: dict[str, object], context: Context) -> CsvOptions:
    """What options that say the same were parsed to. What is kept has copies of lists and the like, which are the caller's to
    change.
    """

    def parse() -> CsvOptions:
        kept = deepcopy({name: None if name in _OF_ONE_CALL else value for name, value in values.items()})
        return _parse(kept, replace(context, crossings=Crossings()))

    resources = None if context is _CONTEXT else (context.device, context.threads, context.memory_limit, context.isa)
    return _parsed.of(parse, key=(told, resources))


_csv_options, _source_options, _context = quick(CsvOptions), quick(SourceOptions), quick(Context)
_CONTEXT = Context()
_OF_ONE_CALL = "context", "progress"

_PLAIN = PLAIN | {DataType, Device}
_parsed: Recent[CsvOptions] = Recent()


def _parse(values: dict[str, object], context: Context) -> CsvOptions:
    """The options, but for what is a call's own: `progress`, and where copies are counted."""
    given = Given(values)
    if values["dialect"] is not None:
        given.choice("dialect", ("auto",))
    if (threads := given.count("threads")) is not None:
        context = replace(context, threads=threads)
    if values["device"] is not None:
        context = replace(context, device=Device.parse(values["device"]))  # type: ignore[arg-type]  # it says what it takes
    start_early(context.device)
    indexes = header_indexes(values["header"])
    source = source_options(values, context)
    _check_bytes(values, source.encoding)
    schema = SchemaOptions(
        header=values["header"] if indexes is None else True,  # type: ignore[arg-type]
        names=values["names"],  # type: ignore[arg-type]
        schema=values["schema"],  # type: ignore[arg-type]
        dtypes=values["dtypes"],
        infer_schema=given.flag("infer_schema"),
        columns=values["columns"],  # type: ignore[arg-type]
    )
    dialect, value_options = _dialect(values, given), _value_options(given)
    _check_marks(value_options.marks, dialect)
    rows = _row_options(given)
    return CsvOptions(
        source=source,
        dialect=dialect,
        schema=replace(schema, kinds=_field_kinds(value_options), replace_invalid=source.encoding.replace),
        values=replace(value_options, replace_invalid=source.encoding.replace),
        extent=ExtentOptions(
            skip_rows=given.whole("skip_rows"),
            header=indexes,
            skip_rows_after_header=given.whole("skip_rows_after_header"),
            n_rows=None if values["n_rows"] is None else given.whole("n_rows"),
            skip_footer=given.whole("skip_footer"),
            widest=rows.long_records == "widen",
        ),
        rows=rows,
        row_index=_row_index(given),
        files=_files_options(values, given),
        context=context,
        chunk_bytes=given.count("chunk_bytes"),
    )


def source_options(values: Mapping[str, object], context: Context) -> SourceOptions:
    """How a source's bytes become text.

    Raises
    ------
    OptionError
        There is no such compression or encoding.
    """
    given = Given(values)
    names = (*COMPRESSIONS, "infer")
    compression = None if values["compression"] is None else given.choice("compression", names)
    encoding = TextEncoding.parse(values["encoding"], given.choice("encoding_errors", ("strict", "replace")))
    return SourceOptions(
        compression=compression,
        encoding=encoding,
        memory_limit=context.memory_limit,
        isa=context.isa,
        crossings=context.crossings,
    )


def _row_options(given: Given) -> RowOptions:
    chosen = {}
    for name, valid in (("short_records", SHORT_RECORDS), ("long_records", LONG_RECORDS)):
        chosen[name] = None if given.values[name] is None else given.choice(name, valid)
    return RowOptions(**chosen)


def _row_index(given: Given) -> RowIndex | None:
    name, offset = given.values["row_index_name"], given.values["row_index_offset"]
    if not isinstance(name, str | None) or not is_name(name or ""):
        raise OptionError.wrong("row_index_name", "a text that UTF-8 can write, or None", name)
    first = integer("row_index_offset", offset, "an integer of 64 bits", -(2**62), 2**62 - 1)
    return None if name is None else RowIndex(name, first)


def _check_bytes(values: dict[str, object], encoding: TextEncoding) -> None:
    """The dialect speaks of the decoded text, so bytes of another encoding would be looked for in vain."""
    if encoding.codec is None:
        return
    for name in ("sep", "quote_char", "escape_char", "comment", "lineterminator"):
        value = values[name]
        if not isinstance(value, bytes):
            continue
        try:
            value.decode()
        except UnicodeDecodeError:
            raise OptionError(f"{name} must be text, or bytes in UTF-8, whatever the encoding is; not {shown(value)}") from None


def _progress(value: object) -> Progress | None:
    if value is not None and not callable(value):
        raise OptionError.wrong("progress", "a function of two numbers (bytes done, bytes in all)", value)
    return value


def _check_literal(values: dict[str, object]) -> None:
    """Refuse texts that other readers do not take literally."""
    for name in ("sep", "comment", "lineterminator", "quote_char", "escape_char"):
        value = values[name]
        if isinstance(value, str | bytes) and value in ("auto", b"auto"):
            raise OptionError(f"{name} is taken literally; to find how a text is written pass dialect='auto' in place of 'auto'")
    sep = values["sep"]
    text = sep.decode("latin-1") if isinstance(sep, bytes) else sep
    if isinstance(text, str) and _REGULAR_EXPRESSION.search(text):
        raise OptionError(
            f"sep is taken literally, and {sep!r} is a regular expression; pass the separator itself, such as ' ' or '\t'. "
            "Runs of spaces have to be replaced before: re.sub(rb'[ \\t]+', b'\\t', text)"
        )


_REGULAR_EXPRESSION = re.compile(r"\\[A-Za-z]|\A\[.+\]")


def _dialect(values: dict[str, object], given: Given) -> Dialect:
    _check_literal(values)
    return Dialect(
        sep=values["sep"],  # type: ignore[arg-type]
        quote_char=values["quote_char"],  # type: ignore[arg-type]
        double_quote=given.flag("double_quote"),
        lenient_quotes=given.flag("lenient_quotes"),
        strict_quotes=given.flag("strict_quotes"),
        escape_char=values["escape_char"],  # type: ignore[arg-type]
        comment=values["comment"],  # type: ignore[arg-type]
        lineterminator=values["lineterminator"],  # type: ignore[arg-type]
        skip_initial_space=given.flag("skip_initial_space"),
        skip_blank_lines=given.flag("skip_blank_lines"),
    )


def _files_options(values: dict[str, object], given: Given) -> FilesOptions:
    column = values["include_file_paths"]
    if isinstance(column, bool):
        column = "filename" if column else None
    if not isinstance(column, str | None) or column == "" or not is_name(column or ""):
        raise OptionError.wrong("include_file_paths", "the name of a column or None", column)
    hive = values["hive_partitioning"]
    if not isinstance(hive, bool) and not (isinstance(hive, str) and hive == "auto"):
        raise OptionError.unknown("hive_partitioning", hive, ("auto", "True", "False"))
    return FilesOptions(
        glob=given.flag("glob"),
        union_by_name=given.flag("union_by_name"),
        include_file_paths=column,
        hive_partitioning=hive if isinstance(hive, bool) else None,
    )


def _value_options(given: Given) -> ValueOptions:
    true_words, false_words = given.texts("true_values"), given.texts("false_values")
    if both := sorted(set(true_words) & set(false_words)):
        raise OptionError(f"true_values and false_values share {both[0].decode()!r}")
    return ValueOptions(
        forms=_form_options(given),
        true_words=true_words,
        false_words=false_words,
        quoted_null=given.flag("quoted_null"),
        on_error=given.choice("on_error", ("raise", "null", "reject")),
        shrink=given.flag("shrink"),
        text_type=FORMS[given.choice("strings", tuple(FORMS))],
        marks=_number_marks(given),
    )


def _field_kinds(values: ValueOptions) -> FieldKinds:
    nulls = {b"", *values.forms.null_texts, *(text for texts in values.forms.null_texts_of.values() for text in texts)}
    words = frozenset((*values.true_words, *values.false_words))
    return FieldKinds(values.marks, values.forms.dates.any_of_them, words, frozenset(nulls))


def _form_options(given: Given) -> FormOptions:
    dates = date_options(given.values["date_format"], given.flag("dayfirst"))
    if isinstance(own := given.values["null_values"], Mapping):
        several = Given({f"null_values of column {shown(key)}": texts for key, texts in own.items()})
        return FormOptions(null_texts_of=dict(zip(own, map(several.texts, several.values), strict=True)), dates=dates)
    return FormOptions(null_texts=given.texts("null_values"), dates=dates)


def _number_marks(given: Given) -> tuple[int, int | None]:
    decimal = _mark("decimal", given.values["decimal"])
    thousands = None if given.values["thousands"] is None else _mark("thousands", given.values["thousands"])
    if decimal == thousands:
        raise OptionError(f"decimal and thousands are both {chr(decimal)!r}")
    return decimal, thousands


def _mark(name: str, value: object) -> int:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if not isinstance(text, str) or len(text) != 1 or not text.isascii() or not text.isprintable():
        raise OptionError.wrong(name, "one ASCII character that is no letter, digit or sign", value)
    if text.isalnum() or text in "+-":
        raise OptionError(f"{name} must be no letter, digit or sign, not {value!r}")
    return ord(text)


def _check_marks(marks: tuple[int, int | None], dialect: Dialect) -> None:
    """A mark may be the separator, for numbers in quotes; other bytes of the dialect could never be in a number."""
    others = {"quote_char": dialect.quote_char, "escape_char": dialect.escape_char, "lineterminator": dialect.lineterminator}
    for name, mark in zip(("decimal", "thousands"), marks, strict=True):
        for other, text in others.items():
            if mark is not None and text is not None and bytes([mark]) in text:
                raise OptionError(f"{name} and {other} are both {chr(mark)!r}")
