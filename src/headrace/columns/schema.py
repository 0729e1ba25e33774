"""Names and types of the columns: what the caller says, what the first records say, and what is left to inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from headrace import _native
from headrace.columns.date_format import DateForms
from headrace.columns.types import DataType, parse_type
from headrace.core.errors import EmptyInputError, OptionError
from headrace.core.recent import Recent

SchemaLike = Mapping[str, object] | Sequence[object]
"""Name to type for all columns, or the types in order."""

DTypesLike = Mapping[str | int, object] | object
"""Name or position to type for some columns, or one type for all."""


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """A record at the beginning of the text.

    Parameters
    ----------
    begin
        Its first byte in the source.
    fields
        The texts of its fields, quotes undone.
    malformed
        Where its quoting is malformed; None if it is not.
    text
        Its raw bytes.
    """

    begin: int
    fields: tuple[bytes, ...]
    malformed: int | None = None
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class PlannedColumns:
    """What is known of the columns before the text is read.

    Parameters
    ----------
    names, types
        One for each column; a type of None is to be inferred.
    base
        Fields of a whole record: there are more columns where long records are widened or collected.
    wanted
        Positions of the columns of the table, in its order.
    renamed
        Names that had to be made unique or made up: as they stood in the header (by position), and what they became.
    """

    names: tuple[str, ...]
    types: tuple[DataType | None, ...]
    base: int
    wanted: tuple[int, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """The reader's options that say what the columns are; `marks` and `dates` are those of values, by which a first record is
    told from a header.
    """

    header: bool | str = "infer"
    names: Sequence[str] | None = None
    schema: SchemaLike | None = None
    dtypes: DTypesLike | None = None
    infer_schema: bool = True
    columns: Sequence[str | int] | None = None
    marks: tuple[int, int | None] = (ord("."), None)
    dates: DateForms = field(default_factory=DateForms)


def header_begin(first: FirstRecord | None, options: SchemaOptions) -> int | None:
    """First byte of the record that holds the names; None if no record does."""
    if first is None:
        return None
    holds = _headers.of(lambda: _is_header(first, _given_names(options), options), options, key=first.fields)
    return first.begin if holds else None


_headers: Recent[bool] = Recent()


def plan_columns(
    first: FirstRecord | None, options: SchemaOptions, *, width: int = 0, collected: str | None = None
) -> PlannedColumns:
    """Settle names and types.

    Parameters
    ----------
    first
        The text's first record, None if there is none.
    options
        What the caller says.
    width
        Columns that there are at least; those that nobody names are called by their position.
    collected
        Name of a last column, of strings.

    Raises
    ------
    EmptyInputError
        There is no record, and neither names nor a schema say what the columns are.
    OptionError
        The options contradict each other or the text.
    """
    has_header = header_begin(first, options) is not None
    # Without a header nothing but their number is asked of the first record's fields.
    fields = None if first is None else first.fields if has_header else len(first.fields)
    return _planned.of(lambda: _plan(first, has_header, options, width, collected), options, key=(fields, width, collected))


_planned: Recent[PlannedColumns] = Recent()


def _plan(
    first: FirstRecord | None, has_header: bool, options: SchemaOptions, width: int, collected: str | None
) -> PlannedColumns:
    base, renamed = plan_names(first, options)
    types = plan_types(base, has_header, options)
    names = widen_names(base, width, collected)
    types = (*types, *[None if options.infer_schema else parse_type("string")] * (len(names) - len(base)))
    types = (*types[:-1], parse_type("string")) if collected else types
    return PlannedColumns(names, types, len(base), plan_wanted(names, options), MappingProxyType(renamed))


def plan_names(first: FirstRecord | None, options: SchemaOptions) -> tuple[tuple[str, ...], dict[str, str]]:
    """The names of a whole record's fields, and those that had to change, as in `PlannedColumns`.

    Raises
    ------
    EmptyInputError, OptionError
        As `plan_columns`.
    """
    given = _given_names(options)
    if first is None and given is None and not isinstance(options.schema, Sequence):
        raise EmptyInputError("the input holds no record; pass schema= or names= to get an empty table")
    if first is not None and given is not None and len(given) != len(first.fields):
        raise OptionError(
            f"{len(given)} names are given, but the first record has {len(first.fields)} fields: {', '.join(_texts(first)[:20])}"
        )
    found = _texts(first) if first is not None and _is_header(first, given, options) else None
    names, renamed = _settle_names(first, found, given, options)
    if not names:
        raise OptionError("names and schema name no column; a table has at least one")
    return names, renamed


def widen_names(names: tuple[str, ...], width: int, collected: str | None) -> tuple[str, ...]:
    """`names`, and those of the columns behind them: called by their position up to `width`, then the collected one."""
    more = [f"column_{i + 1}" for i in range(len(names), width)] + ([collected] if collected else [])
    return _unique([*names, *more])[0]


def plan_wanted(names: tuple[str, ...], options: SchemaOptions) -> tuple[int, ...]:
    """Positions of the columns that ``columns=`` asks for, in its order; of all if it is not given."""
    columns = options.columns
    if columns is None:
        return tuple(range(len(names)))
    if isinstance(columns, str | bytes) or not isinstance(columns, Sequence):
        raise OptionError(f"columns must be names or positions, not {columns!r}")
    wanted = tuple(position_of("columns", key, names) for key in columns)
    if twice := [names[position] for position in wanted if wanted.count(position) > 1]:
        raise OptionError(f"columns has {twice[0]!r} more than once")
    return wanted


def _texts(record: FirstRecord) -> list[str]:
    return [field.decode("utf-8", "backslashreplace") for field in record.fields]


def _given_names(options: SchemaOptions) -> list[str] | None:
    if options.names is not None and isinstance(options.schema, Mapping):
        raise OptionError("names and a schema with names are both given; pass one of them")
    if isinstance(options.schema, Mapping):
        if wrong := [name for name in options.schema if not _is_name(name)]:
            raise OptionError(f"schema has the name {wrong[0]!r}, which is no text")
        return list(options.schema)
    if isinstance(options.schema, str | bytes) or not isinstance(options.schema, Sequence | None):
        raise OptionError(f"schema must map names to types or hold the types in order, not {options.schema!r}; see also dtypes=")
    if options.names is None:
        return None
    names = [options.names] if isinstance(options.names, str) else options.names
    if not isinstance(names, Sequence) or not all(_is_name(name) for name in names):
        raise OptionError(f"names must be texts, one for each column, not {options.names!r}")
    names = list(names)
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise OptionError(f"names holds {repeated[0]!r} more than once")
    return names


def _is_name(name: object) -> bool:
    try:
        return isinstance(name, str) and name.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_header(first: FirstRecord | None, given: list[str] | None, options: SchemaOptions) -> bool:
    """A first record of text alone is a header; with names given it is one if it holds them, or if the schema has no texts."""
    if first is None or isinstance(options.header, bool):
        return first is not None and options.header is True
    if options.header != "infer":
        raise OptionError.unknown("header", options.header, ("infer", "True", "False"))
    if given is not None and set(_texts(first)) == set(given):
        return True
    if options.names is not None:
        return False
    kinds = {_native.kind_of(field, options.marks, options.dates) for field in first.fields if field}
    return kinds == {"text"}


def _settle_names(
    first: FirstRecord | None, found: list[str] | None, given: list[str] | None, options: SchemaOptions
) -> tuple[tuple[str, ...], dict[str, str]]:
    if found is None:
        if given is not None:
            return tuple(given), {}
        types = options.schema if isinstance(options.schema, Sequence) else None
        count = len(types) if types is not None else len(first.fields) if first else 0
        return tuple(f"column_{i + 1}" for i in range(count)), {}
    if options.names is not None and given is not None:
        return tuple(given), {}
    names, renamed = _unique(found)
    for position, text in enumerate(first.fields if first else ()):
        if text.decode("utf-8", "replace").encode() != text:
            renamed[f"{position + 1}: {text!r} (not UTF-8)"] = names[position]
    return names, renamed


def _unique(found: list[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names as in the header, but none empty and none twice: ``a,,a`` becomes ``a, column_2, a_1``."""
    taken = set(found)
    used: set[str] = set()
    names: list[str] = []
    renamed: dict[str, str] = {}
    for position, name in enumerate(found):
        settled = name or f"column_{position + 1}"
        suffix = 0
        while settled in used or (settled != name and settled in taken):
            suffix += 1
            settled = f"{name or f'column_{position + 1}'}_{suffix}"
        if settled != name:
            renamed[f"{position + 1}: {name!r}"] = settled
        used.add(settled)
        names.append(settled)
    return tuple(names), renamed


def plan_types(names: tuple[str, ...], has_header: bool, options: SchemaOptions) -> tuple[DataType | None, ...]:
    """The types of all columns, None for those to infer; a schema with names has to have those of a header.

    Raises
    ------
    OptionError
        The options contradict each other or the names.
    """
    default = None if options.infer_schema else parse_type("string")
    types: list[DataType | None] = [default] * len(names)
    if isinstance(options.schema, Mapping):
        if has_header:
            _check_same_names(names, options.schema)
        types = [parse_type(options.schema[name]) for name in names]
    elif options.schema is not None:
        types = _positional_types(names, options.schema)
    if options.dtypes is None:
        return tuple(types)
    if not isinstance(options.dtypes, Mapping):
        return (parse_type(options.dtypes),) * len(names)
    for key, value in options.dtypes.items():
        types[position_of("dtypes", key, names)] = parse_type(value)
    return tuple(types)


def _positional_types(names: tuple[str, ...], types: Iterable[object]) -> list[DataType | None]:
    parsed: list[DataType | None] = [parse_type(value) for value in types]
    if len(parsed) != len(names):
        raise OptionError(f"schema has {len(parsed)} types, but the text has {len(names)} columns: {', '.join(names[:20])}")
    return parsed


def _check_same_names(names: tuple[str, ...], schema: Mapping[str, object]) -> None:
    """A schema goes by the header's names, so that a changed order cannot put values under a wrong name."""
    unknown = [name for name in schema if name not in names]
    missing = [name for name in names if name not in schema]
    if unknown:
        raise OptionError.unknown("column in schema", unknown[0], names)
    if missing:
        raise OptionError(
            f"schema lacks column {missing[0]!r} of the header; pass dtypes= to give the types of some columns only"
        )


def position_of(option: str, key: object, names: tuple[str, ...]) -> int:
    """Position of the column that an option names, or counts from either end.

    Raises
    ------
    OptionError
        There is none.
    """
    if isinstance(key, int) and not isinstance(key, bool):
        if not -len(names) <= key < len(names):
            raise OptionError(f"{option}: there is no column {key}; there are {len(names)}")
        return key % len(names)
    if key not in names:
        raise OptionError.unknown(f"column in {option}", str(key), names)
    return names.index(str(key))
