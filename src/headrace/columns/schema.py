"""Plans names and types of columns from the caller's options and the first records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from headrace.columns.header import FieldKinds, HeaderDecision, decide_header
from headrace.columns.types import DataType, parse_type
from headrace.core.errors import EmptyInputError, OptionError, UnknownColumnError, shown
from headrace.core.identity_cache import IdentityCache
from headrace.core.options import index_of

ItemT = TypeVar("ItemT")

SchemaLike = Mapping[str, object] | Sequence[object]  # a mapping of names to types for all columns, or the types in order

DTypesLike = Mapping[str | int, object] | object  # a mapping of names or positions to types for some columns, or one type for all


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """A record at the begin of the text."""

    begin: int  # its first byte in the source
    fields: tuple[bytes, ...]  # the texts of its fields, without quotes
    malformed: int | None = None  # position of a malformed quote; None if there is none
    text: bytes = b""  # its raw bytes
    undecodable: int | None = None  # first byte in the source that cannot be decoded; None if there is none
    below: tuple[tuple[bytes, ...], ...] | None = None
    """Fields of the records below it that help to decide whether it is a header; None if they were not read."""


@dataclass(frozen=True, slots=True)
class PlannedColumns:
    """Plan of the columns before the text is read."""

    names: tuple[str, ...]
    types: tuple[DataType | None, ...]  # one entry per column; a type of None is inferred
    base: int  # Fields of a complete record. There are more columns if long records are widened or collected.
    wanted: tuple[int, ...]  # positions of the table's columns, in its order
    renamed: Mapping[str, str]  # names that were missing or repeated: the name in the header (by position), and the new one


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOptions:
    """Options that describe the columns.

    `new_names` holds new names of some columns, by name or position. `kinds` distinguishes names from values in the
    first record. `reason` explains `header` if the caller did not give it. With `replace_invalid`, undecodable bytes in
    names become U+FFFD; otherwise they are escaped. `also` names columns that are read after `columns`, where the text
    has them. `absent` names columns of nulls, which the text lacks.
    """

    header: bool | str = "infer"
    names: Sequence[str] | None = None
    new_names: Mapping[str | int, str] | None = None
    schema: SchemaLike | None = None
    dtypes: DTypesLike | None = None
    infer_schema: bool = True
    columns: Sequence[str | int] | AbstractSet[str | int] | None = None
    kinds: FieldKinds = field(default_factory=FieldKinds)
    reason: str | None = None
    replace_invalid: bool = False
    also: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def header_begin(first: FirstRecord | None, options: SchemaOptions) -> int | None:
    """Return the first byte of the record that holds the names; None if no record does."""
    return first.begin if first is not None and header_decision(first, options).is_header else None


def header_decision(first: FirstRecord, options: SchemaOptions) -> HeaderDecision:
    """Decide whether the first record holds the names, and why."""
    key = first.fields, first.below
    return _headers.get_or_create(lambda: _decide(first, _declared_names(options), options), options, key=key)


_headers: IdentityCache[HeaderDecision] = IdentityCache()


def records_to_compare(first: FirstRecord, options: SchemaOptions) -> int:
    """Return the number of records below the first one to compare it with; 0 if it or an option decides."""
    is_inferred = isinstance(options.header, str) and options.header == "infer"
    if not is_inferred or options.names is not None or isinstance(options.schema, Mapping):
        return 0
    return _compared.get_or_create(lambda: options.kinds.records_to_compare(first.fields), options, key=first.fields)


_compared: IdentityCache[int] = IdentityCache()


def plan_columns(
    first: FirstRecord | None, options: SchemaOptions, *, width: int = 0, collected: str | None = None
) -> PlannedColumns:
    """Plan names and types.

    Raise EmptyInputError if there is no record, and neither names nor a schema describe the columns. Raise OptionError if the
    options contradict each other or the text.

    `first`: the text's first record, None if there is none.
    `width`: minimum number of columns; unnamed ones are named by their position.
    `collected`: name of an additional last column of strings.
    """
    decision = None if first is None else header_decision(first, options)
    has_header = decision is not None and decision.is_header
    # Without a header, only the number of the first record's fields matters.
    fields = None if first is None else first.fields if has_header else len(first.fields)
    with explained_by(decision):
        return _planned.get_or_create(
            lambda: _plan(first, has_header, options, width, collected), options, key=(fields, width, collected)
        )


_planned: IdentityCache[PlannedColumns] = IdentityCache()


class explained_by:  # noqa: N801  # used as a block
    """Block that adds to an error about an unknown column whether the first record was taken for the header, and why."""

    __slots__ = ("_decision",)

    def __init__(self, decision: HeaderDecision | None) -> None:
        self._decision = decision

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnknownColumnError):
            raise UnknownColumnError(f"{error}{self._decision.advice if self._decision else ''}") from None


def _plan(
    first: FirstRecord | None, has_header: bool, options: SchemaOptions, width: int, collected: str | None
) -> PlannedColumns:
    base, renamed = plan_names(first, options)
    names = widen_names(base, width, collected)
    types = plan_types(names[:-1] if collected else names, len(base), options, has_header=has_header)
    types = (*types, parse_type("string")) if collected else types
    return PlannedColumns(names, types, len(base), plan_wanted(names, options), MappingProxyType(renamed))


def plan_names(first: FirstRecord | None, options: SchemaOptions) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of a complete record's fields, and those that were changed, as in `PlannedColumns`."""
    given = _declared_names(options)
    if first is None and given is None and not isinstance(options.schema, Sequence):
        raise EmptyInputError("the input holds no record; pass schema= or names= to get an empty table")
    found = name_texts(first, options) if first is not None and header_decision(first, options).is_header else None
    names, renamed = _plan_unique_names(first, found, given, options)
    if not names:
        raise OptionError("names and schema name no column; a table has at least one")
    return (names, renamed) if options.new_names is None else _with_new_names(names, renamed, options.new_names)


def _with_new_names(
    names: tuple[str, ...], renamed: Mapping[str, str], new_names: Mapping[str | int, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names and those that were changed, as in `plan_names`, after the caller's new names of some columns."""
    places = positions_of("names", new_names, names)
    if twice := _repeated(places):
        raise OptionError(f"names renames column {names[twice[0]]!r} more than once")
    if wrong := [name for name in new_names.values() if not is_name(name)]:
        raise OptionError(f"names has the new name {shown(wrong[0])}, which is not a text")
    result = list(names)
    for place, name in zip(places, new_names.values(), strict=True):
        result[place] = name
    if repeated := _repeated(result):
        raise OptionError(f"names gives two columns the name {repeated[0]!r}")
    final = dict(zip(names, result, strict=True))
    return tuple(result), {old: final[name] for old, name in renamed.items()}


def widen_names(names: tuple[str, ...], width: int, collected: str | None) -> tuple[str, ...]:
    """Return `names` with the additional columns: named by position up to `width`, then the collected one."""
    more = [f"column_{i + 1}" for i in range(len(names), width)] + ([collected] if collected else [])
    return _unique([*names, *more])[0]


def plan_wanted(names: tuple[str, ...], options: SchemaOptions) -> tuple[int, ...]:
    """Return the positions of the columns in ``columns=``, in its order, then of `also`; of all columns without ``columns=``."""
    columns = options.columns
    if columns is None:
        return tuple(range(len(names)))
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, AbstractSet):  # it has no order, so the columns have that of the text
        return _with_also(tuple(sorted(set(positions_of("columns", columns, names)))), names, options)
    if isinstance(columns, bytes) or not isinstance(columns, Sequence):
        raise OptionError.wrong("columns", "names or positions", columns)
    wanted = tuple(positions_of("columns", columns, names))
    if twice := _repeated(wanted):
        raise OptionError(f"columns has {names[twice[0]]!r} more than once")
    return _with_also(wanted, names, options)


def _with_also(wanted: tuple[int, ...], names: tuple[str, ...], options: SchemaOptions) -> tuple[int, ...]:
    also = [names.index(name) for name in options.also if name in names]
    return (*wanted, *(place for place in also if place not in wanted))


def name_texts(record: FirstRecord, options: SchemaOptions) -> list[str]:
    """Return the fields of a record as names."""
    errors = "replace" if options.replace_invalid else "backslashreplace"
    return [field.decode("utf-8", errors) for field in record.fields]


def _declared_names(options: SchemaOptions) -> list[str] | None:
    is_named = options.names is not None or options.new_names is not None
    if is_named and isinstance(options.schema, Mapping):
        raise OptionError("names and a schema with names are both given; pass one of them")
    if isinstance(options.schema, Mapping):
        if wrong := [name for name in options.schema if not is_name(name)]:
            raise OptionError(f"schema has the name {shown(wrong[0])}, which is not a text")
        return list(options.schema)
    if isinstance(options.schema, str | bytes) or not isinstance(options.schema, Sequence | None):
        raise OptionError.wrong("schema", "a mapping of names to types, or the types in order", options.schema)
    if options.names is None:
        return None
    names = [options.names] if isinstance(options.names, str) else options.names
    if not isinstance(names, Sequence) or not all(is_name(name) for name in names):
        raise OptionError.wrong("names", "texts, one for each column", options.names)
    names = list(names)
    if repeated := sorted(_repeated(names)):
        raise OptionError(f"names holds {repeated[0]!r} more than once")
    return names


def is_name(name: object) -> bool:
    """Return whether a column can have this name: a text that UTF-8 can encode."""
    try:
        return isinstance(name, str) and name.encode() is not None
    except UnicodeEncodeError:
        return False


def _decide(first: FirstRecord, given: list[str] | None, options: SchemaOptions) -> HeaderDecision:
    """Decide whether the first record is a header.

    If names are given, it is one if it holds them. Texts other than a schema's names are a header too.
    """
    if isinstance(options.header, bool):
        return HeaderDecision(options.header, options.reason or f"header={options.header}", inferred=options.reason is not None)
    if not isinstance(options.header, str) or options.header != "infer":
        raise OptionError.unknown("header", options.header, ("infer", "True", "False"))
    if given is None:
        return decide_header(first.fields, first.below or (), options.kinds)
    texts = set(name_texts(first, options))
    if texts == set(given):
        return HeaderDecision(True, "it holds the given names")
    if options.names is not None:
        return HeaderDecision(False, "it does not hold the given names")
    if known := sorted(texts.intersection(given)):
        return HeaderDecision(True, f"it holds the name {known[0]!r} of the schema")
    is_text = options.kinds.records_to_compare(first.fields) == 0 and any(first.fields)
    return HeaderDecision(is_text, "it holds text alone" if is_text else "it holds values, and no name of the schema")


def _plan_unique_names(
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
    """Return the header's names with empty and repeated ones replaced: ``a,,a`` becomes ``a, column_2, a_1``."""
    header_names = set(found)
    used: set[str] = set()
    suffixes: dict[str, int] = {}  # the last suffix tried for each name: all before it are used
    names: list[str] = []
    renamed: dict[str, str] = {}
    for position, name in enumerate(found):
        base = unique = name or f"column_{position + 1}"
        while unique in used or (unique != name and unique in header_names):
            suffixes[base] = suffixes.get(base, 0) + 1
            unique = f"{base}_{suffixes[base]}"
        if unique != name:
            renamed[f"{position + 1}: {name!r}"] = unique
        used.add(unique)
        names.append(unique)
    return tuple(names), renamed


def plan_types(names: tuple[str, ...], width: int, options: SchemaOptions, *, has_header: bool) -> tuple[DataType | None, ...]:
    """Return the types of all columns, None for those to infer.

    A schema has the types of a complete record's `width` columns. If it has names, they must be those of the header.

    Raise OptionError if the options contradict each other or the names.
    """
    default = None if options.infer_schema else parse_type("string")
    types: list[DataType | None] = [default] * len(names)
    if isinstance(options.schema, Mapping):
        if has_header:
            _check_same_names(names[:width], options.schema)
        types[:width] = [_type_of("schema", name, options.schema[name]) for name in names[:width]]
    elif options.schema is not None:
        types[:width] = _positional_types(names[:width], options.schema)
    if options.dtypes is None:
        return tuple(types)
    if not isinstance(options.dtypes, Mapping):
        return (_type_of("dtypes", None, options.dtypes),) * len(names)
    for position, (key, value) in zip(positions_of("dtypes", options.dtypes, names), options.dtypes.items(), strict=True):
        types[position] = _type_of("dtypes", key, value)
    return tuple(types)


def _type_of(option: str, key: object, value: object) -> DataType:
    """Parse the type that an option gives a column, or all columns if `key` is None."""
    try:
        return parse_type(value)
    except OptionError as error:
        raise OptionError(f"{option}{'' if key is None else f' of column {shown(key)}'}: {error}") from None


def _positional_types(names: tuple[str, ...], types: Iterable[object]) -> list[DataType | None]:
    parsed: list[DataType | None] = [_type_of("schema", number, value) for number, value in enumerate(types)]
    if len(parsed) != len(names):
        raise OptionError(f"schema has {len(parsed)} types, but the text has {len(names)} columns: {', '.join(names[:20])}")
    return parsed


def _check_same_names(names: tuple[str, ...], schema: Mapping[str, object]) -> None:
    """Require a schema to match the header by name, so that reordered columns cannot get wrong names."""
    own = set(names)
    unknown = [name for name in schema if name not in own]
    missing = [name for name in names if name not in schema]
    if unknown:
        raise UnknownColumnError.unknown("column in schema", unknown[0], names)
    if missing:
        raise UnknownColumnError(
            f"schema lacks column {missing[0]!r} of the header; pass dtypes= to give the types of some columns only"
        )


def positions_of(option: str, keys: Iterable[object], names: tuple[str, ...]) -> list[int]:
    """Return the positions of the columns that an option names, or counts from either end.

    Raise OptionError if there is no such column.
    """
    places = {name: place for place, name in enumerate(names)}
    return [_position_of(option, key, places) for key in keys]


def _position_of(option: str, key: object, places: Mapping[str, int]) -> int:
    position = index_of(key)
    if position is not None:
        if not -len(places) <= position < len(places):
            raise OptionError(f"{option}: there is no column {shown(position)}; there are {len(places)}")
        return position % len(places)
    if not isinstance(key, str) or key not in places:
        raise UnknownColumnError.unknown(f"column in {option}", key, places)
    return places[key]


def _repeated(items: Iterable[ItemT]) -> list[ItemT]:
    """Return the items that occur more than once, in their order."""
    return [item for item, count in Counter(items).items() if count > 1]
