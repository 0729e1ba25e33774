"""Parses the options of `read_csv` into values in groups, by walking the table of options."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from headrace import _native
from headrace.api.options.keywords import AUTO
from headrace.api.options.table import DEFAULTS, OPTIONS
from headrace.columns.date_format import date_options
from headrace.columns.header import FieldKinds
from headrace.columns.plan.load_plan import ValueOptions
from headrace.columns.plan.load_run import Progress
from headrace.columns.plan.row_policy import RowOptions
from headrace.columns.plan.value_forms import NULL_WORDS, FormOptions
from headrace.columns.records.data_range import DataRangeOptions
from headrace.columns.schema import SchemaOptions
from headrace.columns.types import DataType
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError, shown
from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.options import PLAIN, frozen
from headrace.core.transfers import Crossings
from headrace.encode.texts import FORMS
from headrace.gpu.device.preload_context import start_early
from headrace.sources.encoding.encoding import TextEncoding
from headrace.sources.open import SourceOptions
from headrace.structure.dialect import DELIMITERS, Dialect, check_effect, check_null_texts


@dataclass(frozen=True, slots=True)
class RowIndex:
    """A first column with the index of each row's record, counted from `offset`."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOptions:
    """Options of a read of several files; a `hive_partitioning` of None is "auto"."""

    glob: bool = True
    union_by_name: bool = False
    include_missing_columns: bool = False
    include_file_paths: str | None = None
    hive_partitioning: bool | None = None

    @property
    def wanted(self) -> bool:
        """True if a single source must be read as several files are."""
        by_name = self.union_by_name or self.include_missing_columns
        return by_name or self.include_file_paths is not None or self.hive_partitioning is True

    def of_one(self) -> FilesOptions:
        """Return the options for a path that is neither in a list nor a pattern: keys in it are no columns unless asked for."""
        return self if self.hive_partitioning else replace(self, hive_partitioning=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """All options of a read, checked, in groups."""

    source: SourceOptions
    dialect: Dialect
    schema: SchemaOptions
    values: ValueOptions
    extent: DataRangeOptions
    rows: RowOptions
    row_index: RowIndex | None
    files: FilesOptions
    context: Context
    chunk_bytes: int | None
    progress: Progress | None = None
    notes: tuple[str, ...] = ()


Keywords = dict[str, object]  # each option's value as the caller gave it, by name; none is missing

Parsed = Mapping[str, Any]  # each option's value as its parser returned it, by name

T = TypeVar("T")


def resolve_names(given: Mapping[str, object], others: Mapping[str, object]) -> tuple[Keywords, tuple[str, ...]]:
    """Return the value of each option, and notes on arguments without an effect.

    Raise OptionError if a name is unknown, or an option is given twice. The message names the nearest valid name.

    `given`: values by the options' names. Options that are missing get their default.
    `others`: values by other names: those that other readers use.
    """
    values = dict(given) if len(given) == len(DEFAULTS) else {**DEFAULTS, **given}
    notes: tuple[str, ...] = ()
    if others:
        from headrace.api.options.translate import translate  # not needed by calls with the names of this package

        values, notes = translate(values, others)
    if values["dialect"] is not None or isinstance(values["columns"], Mapping):
        from headrace.api.options.translate import expand

        values = expand(values)
    return values, notes


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """The parsed options of a call."""

    parsed: CsvOptions  # all options except those of one call
    is_kept: bool  # True if calls with equal options have the same object `parsed`
    crossings: Crossings  # the call's counter of copies between host and GPU
    progress: Progress | None
    notes: tuple[str, ...]  # those of `CsvOptions`

    def options(self) -> CsvOptions:
        """Return all options."""
        parsed, notes = self.parsed, self.notes
        source, used = parsed.source, parsed.context
        if parsed.values.forms.null_words and _NULL_NOTE not in notes:
            notes = (*notes, _NULL_NOTE)
        return _csv_options(
            source=_source_options(
                compression=source.compression,
                encoding=source.encoding,
                memory_limit=source.memory_limit,
                isa=source.isa,
                crossings=self.crossings,
            ),
            dialect=parsed.dialect,
            schema=parsed.schema,
            values=parsed.values,
            extent=parsed.extent,
            rows=parsed.rows,
            row_index=parsed.row_index,
            files=parsed.files,
            context=_context(
                device=used.device, threads=used.threads, memory_limit=used.memory_limit, isa=used.isa, crossings=self.crossings
            ),
            chunk_bytes=parsed.chunk_bytes,
            progress=self.progress,
            notes=notes,
        )


def parse_options(values: Keywords, notes: tuple[str, ...] = ()) -> CsvOptions:
    """Return the options of a call; see `parse_call`."""
    return parse_call(values, notes).options()


def parse_call(values: Keywords, notes: tuple[str, ...] = ()) -> ParsedCall:
    """Parse the options of a call; `notes` are for its report. The result is cached for calls with equal options.

    Raise OptionError if an option does not take its value, or two options contradict each other.
    """
    context = _DEFAULT_CONTEXT if values["context"] is None else context_of(values["context"])
    # Each call has its own counter of host-device transfers, for its report.
    crossings = Crossings() if context is _DEFAULT_CONTEXT else context.crossings.part()
    progress = _PARSERS["progress"]("progress", values["progress"])
    changed = _native.changed_items(values, DEFAULTS)
    for name in _OF_ONE_CALL:
        changed.pop(name, None)
    key = frozen(changed, _PLAIN)
    parsed = _parse(values, context) if key is None else _parse_cached(key, values, context)
    return _parsed_call(parsed, key is not None, crossings, progress, notes)


_parsed_call = fast_constructor(ParsedCall)
_csv_options, _source_options, _context = fast_constructor(CsvOptions), fast_constructor(SourceOptions), fast_constructor(Context)
_DEFAULT_CONTEXT = Context()
_PARSERS = {option.name: option.parse for option in OPTIONS}
_NULL_NOTE = "null_values='auto': words such as NA and null are null in columns that are not text"
_OF_ONE_CALL = "context", "progress"  # options that are no part of the cache's key

_PLAIN = PLAIN | {DataType, Device}
_parsed: IdentityCache[CsvOptions] = IdentityCache()


def _parse_cached(key: Hashable, values: Keywords, context: Context) -> CsvOptions:
    """Parse the options, or return what equal options were parsed to. Cached are copies: a caller may change its lists."""

    def parse() -> CsvOptions:
        copied = deepcopy({name: None if name in _OF_ONE_CALL else value for name, value in values.items()})
        return _parse(copied, replace(context, crossings=Crossings()))

    resources = None if context is _DEFAULT_CONTEXT else (context.device, context.threads, context.memory_limit, context.isa)
    return _parsed.get_or_create(parse, key=(key, resources))


def _parse(values: Keywords, context: Context) -> CsvOptions:
    """Parse all options but those of one call; then check those that depend on each other."""
    parsed = {
        option.name: option.parse(option.name, values[option.name]) for option in OPTIONS if option.name not in _OF_ONE_CALL
    }
    context = _context_of_call(parsed, context)
    start_early(context.device)
    source = source_options(parsed, context)
    _check_bytes(parsed, source.encoding)
    dialect, value_options = _group(Dialect, parsed), _value_options(parsed, source.encoding)
    value_options = replace(value_options, forms=replace(value_options.forms, escape=dialect.escape_char or b""))
    if parsed["dialect"] is None:
        check_effect(parsed, dialect)
    check_null_texts(value_options.forms.all_null_texts, dialect)
    _check_marks(*value_options.marks, dialect)
    return CsvOptions(
        source=source,
        dialect=dialect,
        schema=_schema_options(parsed, value_options),
        values=value_options,
        extent=_extent_options(parsed),
        rows=_group(RowOptions, parsed),
        row_index=_row_index(parsed),
        files=_group(FilesOptions, parsed),
        context=context,
        chunk_bytes=parsed["chunk_bytes"],
    )


def _context_of_call(parsed: Parsed, context: Context) -> Context:
    if parsed["threads"] is not None:
        context = replace(context, threads=parsed["threads"])
    if parsed["device"] is not None:
        context = replace(context, device=parsed["device"])
    return context


def source_options(parsed: Parsed, context: Context) -> SourceOptions:
    """Return how a source's bytes become text. Raise OptionError if there is no such encoding."""
    return SourceOptions(
        compression=parsed["compression"],
        encoding=TextEncoding.parse(parsed["encoding"], parsed["encoding_errors"]),
        memory_limit=context.memory_limit,
        isa=context.isa,
        crossings=context.crossings,
    )


def parse_one(name: str, value: object) -> Any:
    """Parse the value of one option. Raise OptionError if the option does not take the value."""
    return _PARSERS[name](name, value)


def _group(group: type[T], parsed: Parsed, **others: object) -> T:
    """Return a group of options: `others`, and the options that have the name of a field."""
    named = {field.name: parsed[field.name] for field in fields(group) if field.name in parsed}  # type: ignore[arg-type]
    return group(**named | others)


def _check_bytes(parsed: Parsed, encoding: TextEncoding) -> None:
    """Refuse bytes that are not UTF-8 if the text is decoded: the dialect is matched against the text as UTF-8."""
    if encoding.codec is None:
        return
    for name in DELIMITERS:
        value = parsed[name]
        if not isinstance(value, bytes):
            continue
        try:
            value.decode()
        except UnicodeDecodeError:
            raise OptionError(f"{name} must be text, or bytes in UTF-8, whatever the encoding is; not {shown(value)}") from None


def _schema_options(parsed: Parsed, values: ValueOptions) -> SchemaOptions:
    has_indexes = isinstance(parsed["header"], tuple)
    forms = values.forms
    nulls = {b"", *(text.replace(forms.escape, b"") if forms.escape else text for text in forms.all_null_texts)}
    names = parsed["names"]
    new_names = names if isinstance(names, Mapping) else None
    words = frozenset((*values.true_words, *values.false_words))
    return _group(
        SchemaOptions,
        parsed,
        header=True if has_indexes else parsed["header"],
        names=None if new_names is not None else names,
        new_names=new_names,
        kinds=FieldKinds(values.marks, forms.dates.any_of_them, words, frozenset(nulls)),
        replace_invalid=values.replace_invalid,
    )


def _extent_options(parsed: Parsed) -> DataRangeOptions:
    return _group(
        DataRangeOptions,
        parsed,
        header=parsed["header"] if isinstance(parsed["header"], tuple) else None,
        widest=parsed["long_records"] == "widen",
    )


def _row_index(parsed: Parsed) -> RowIndex | None:
    name = parsed["row_index_name"]
    return None if name is None else RowIndex(name, parsed["row_index_offset"])


def _value_options(parsed: Parsed, encoding: TextEncoding) -> ValueOptions:
    true_words, false_words = parsed["true_values"], parsed["false_values"]
    if both := sorted(set(true_words) & set(false_words)):
        raise OptionError(f"true_values and false_values share {both[0].decode()!r}")
    decimal, thousands = parsed["decimal"], parsed["thousands"]
    if decimal == thousands:
        other = "," if decimal == ord(".") else "."
        raise OptionError(f"decimal and thousands are both {chr(decimal)!r}; pass decimal={other!r} or other thousands")
    nulls, dates = parsed["null_values"], date_options(parsed["date_format"], parsed["dayfirst"])
    if nulls == AUTO:
        forms = FormOptions(null_words=tuple(word for word in NULL_WORDS if word not in (*true_words, *false_words)), dates=dates)
    elif isinstance(nulls, dict):
        forms = FormOptions(null_texts_of=nulls, dates=dates)
    else:
        forms = FormOptions(null_texts=nulls, dates=dates)
    return _group(
        ValueOptions,
        parsed,
        forms=forms,
        true_words=true_words,
        false_words=false_words,
        text_type=FORMS[parsed["strings"]],
        marks=(decimal, thousands),
        replace_invalid=encoding.replace,
    )


def _check_marks(decimal: int, thousands: int | None, dialect: Dialect) -> None:
    """Refuse marks of numbers that mean something else in the text. The separator may be one, for numbers in quotes."""
    others = {"quote_char": dialect.quote_char, "escape_char": dialect.escape_char, "lineterminator": dialect.lineterminator}
    for name, mark in (("decimal", decimal), ("thousands", thousands)):
        for other, text in others.items():
            if mark is not None and text is not None and bytes([mark]) in text:
                raise OptionError(f"{name} and {other} are both {chr(mark)!r}")
