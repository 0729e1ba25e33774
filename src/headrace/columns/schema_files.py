"""Plans names and types of the columns of several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headrace.columns.header import HeaderDecision
from headrace.columns.schema import (
    FirstRecord,
    SchemaOptions,
    header_begin,
    header_decision,
    name_texts,
    plan_names,
    plan_types,
    plan_wanted,
    widen_names,
)
from headrace.columns.types import DataType, parse_type
from headrace.core.errors import EmptyInputError, OptionError


@dataclass(frozen=True, slots=True)
class FileNames:
    """Names of the columns in one of several files."""

    file: str  # the file's name
    names: tuple[str, ...]  # names of the fields of a complete record; empty if the file has no record
    header: int | None  # first byte of the record with the names; None if no record has them
    renamed: Mapping[str, str]  # given names by the names of columns (`PlannedColumns`)
    decision: HeaderDecision | None = None  # decision about the names in the first record; None if the file has no record


@dataclass(frozen=True, slots=True)
class UnitedColumns:
    """Plan of the columns of several files before they are read: `PlannedColumns` of the table, and the columns of each file."""

    names: tuple[str, ...]
    types: tuple[DataType | None, ...]
    wanted: tuple[int, ...]
    files: tuple[tuple[int, ...], ...]  # for each file its columns, as positions in the table
    bases: tuple[int, ...]  # fields of a complete record in each file
    renamed: Mapping[str, str]


def name_files(
    files: Sequence[str], firsts: Sequence[FirstRecord | None], options: SchemaOptions, *, united: bool
) -> list[FileNames]:
    """Determine the names in each of several files, given by their names and their first records.

    The first file with a record decides whether the files have headers. If names are given, each file is decided by itself.

    Raise EmptyInputError if no file has a record, and neither names nor a schema describe the columns. Raise OptionError if
    the options contradict each other or a file.
    """
    leader = next((number for number, first in enumerate(firsts) if first is not None), 0)
    record = firsts[leader]
    for_leader = _for_part(record, options) if united else options
    header = header_begin(record, for_leader)
    for_others = for_leader
    if options.names is None:
        schema = None if header is not None else options.schema
        for_others = replace(for_leader, header=header is not None, schema=schema, reason=f"as in {files[leader]}")
    result = []
    for number, (name, first) in enumerate(zip(files, firsts, strict=True)):
        if first is None and number != leader:
            result.append(FileNames(name, (), None, {}))
        else:
            result.append(_name_file(name, first, for_leader if number == leader else for_others))
    return result


def _for_part(record: FirstRecord | None, options: SchemaOptions) -> SchemaOptions:
    """Return the options for one file, whose header need not have all names of the schema."""
    if record is None or options.header is False or not isinstance(options.schema, Mapping):
        return options
    named = set(name_texts(record, options))
    if options.header is True or named <= options.schema.keys():
        return replace(
            options, header=True, schema=None, reason=None if options.header is True else "it holds names of the schema"
        )
    return options


def _name_file(name: str, first: FirstRecord | None, options: SchemaOptions) -> FileNames:
    try:
        names, renamed = plan_names(first, options)
        decision = None if first is None else header_decision(first, options)
        return FileNames(name, names, header_begin(first, options), renamed, decision)
    except EmptyInputError:
        raise
    except OptionError as error:
        raise OptionError(f"{name}: {error}") from None


def absent_names(found: Sequence[FileNames], options: SchemaOptions) -> tuple[str, ...]:
    """Return the names in the schema, the types and ``columns=`` that no file has, each once; `found` is from `name_files`."""
    columns = [options.columns] if isinstance(options.columns, str) else options.columns
    types = [given for given in (options.schema, options.dtypes) if isinstance(given, Mapping)]
    sought = [name for names in (*types, columns or ()) for name in names if isinstance(name, str)]
    own = {name for file in found for name in file.names}
    return tuple(dict.fromkeys(name for name in sought if name not in own))


def unite(
    found: Sequence[FileNames], options: SchemaOptions, *, by_name: bool, widths: Sequence[int], collected: str | None
) -> UnitedColumns:
    """Plan the columns of the table that several files make.

    Raise OptionError if the files' columns differ and `by_name` is false, or the options do not fit them.

    `found`: result of `name_files`.
    `by_name`: whether files may have different columns.
    `widths`, `collected`: as in `plan_columns`, with a width for each file.
    """
    leader = next((file for file in found if file.names), found[0])
    if not by_name:
        for file in found:
            if file.names and file.names != leader.names:
                raise OptionError(_difference(file, leader))
        widths = [max(widths)] * len(found)
    own = [widen_names(file.names or leader.names, width, None) for file, width in zip(found, widths, strict=True)]
    base = tuple(dict.fromkeys([*(name for file in found for name in file.names or leader.names), *options.absent]))
    names = tuple(dict.fromkeys([*base, *(name for names in own for name in names)]))
    types = plan_types(names, len(base), options, has_header=leader.header is not None)
    places = {name: place for place, name in enumerate(names)}
    last: tuple[int, ...] = ()
    if collected:
        names, types, last = widen_names(names, 0, collected), (*types, parse_type("string")), (len(names),)
    renamed = dict(leader.renamed)
    for file in found if by_name else ():
        renamed |= {f"{file.file}: {old}": new for old, new in file.renamed.items()} if file is not leader else {}
    return UnitedColumns(
        names,
        types,
        plan_wanted(names, options),
        tuple((*(places[name] for name in its), *last) for its in own),
        tuple(len(file.names or leader.names) for file in found),
        renamed,
    )


def _difference(file: FileNames, leader: FileNames) -> str:
    """Describe the first difference between the columns of a file and those of the first."""
    way_on = "pass union_by_name=True to read files with different columns"
    for place, (mine, theirs) in enumerate(zip(file.names, leader.names, strict=False), 1):
        if mine != theirs:
            return f"column {place} is {mine!r} in {file.file} and {theirs!r} in {leader.file}; {way_on}"
    more = max(file, leader, key=lambda one: len(one.names))
    extra = more.names[min(len(file.names), len(leader.names))]
    counts = f"{file.file} has {len(file.names)} columns and {leader.file} has {len(leader.names)}"
    return f"{counts}: only {more.file} has {extra!r}; {way_on}"
