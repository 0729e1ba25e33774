"""Checks the schema of a store, and brings columns of callers to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from headrace.arrange.gather.take import from_first_row
from headrace.columns.column import Column
from headrace.columns.schema import is_name
from headrace.columns.types import ENCODED, DataType, parse_type
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError, UnknownColumnError, nearest, shown
from headrace.store.dictionary.plain import column_of_nulls, plain_column

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_MAX_OFFSET = 0x7FFFFFFF


def parsed_schema(schema: object) -> dict[str, DataType]:
    """Return the schema of an option: a mapping of names to types.

    Raise OptionError if the schema is no such mapping, is empty, or has a type of encoded texts.
    """
    if not isinstance(schema, Mapping) or not schema:
        raise OptionError.wrong("schema", "a mapping of names of columns to types, such as table.schema", schema)
    found = {}
    for name, type_ in schema.items():
        if not is_name(name):
            raise OptionError(f"schema has the name {shown(name)}, which is not a text")
        if "\0" in name:  # Arrow's C interface ends a name there
            raise OptionError(f"schema has the name {shown(name)}, and a store takes no name with a zero character")
        try:
            found[name] = parse_type(type_)
        except OptionError as error:
            raise OptionError(f"column {shown(name)} of schema: {error}") from None
        if found[name].name in (*ENCODED, "null"):
            raise OptionError(f"column {shown(name)} of schema is of type {found[name]}; a store encodes columns itself")
    return found


def texts_of(schema: Mapping[str, DataType]) -> dict[str, str]:
    """Return a schema as a manifest has it."""
    return {name: str(type_) for name, type_ in schema.items()}


def check_names(option: str, names: Iterable[object], schema: Mapping[str, Any]) -> None:
    """Raise UnknownColumnError if a name of an option is that of no column."""
    for name in names:
        if not isinstance(name, str) or name not in schema:
            near = nearest(name, schema) if isinstance(name, str) else None
            hint = "" if near is None else f"; did you mean {near!r}?"
            raise UnknownColumnError(f"{option} has {shown(name)}, and the store has no such column{hint}")


def fitted(columns: Mapping[str, Column], schema: Mapping[str, DataType], context: Context) -> dict[str, Column]:
    """Return columns in the order and of the types of a schema.

    Texts of one form become those of another. Numbers become those of another type if it has each of them. A column without type
    has nulls only, which every type has.

    Raise OptionError if a type differs. Raise UnknownColumnError if a column is missing, or is not in the schema.
    """
    for name in columns:
        if name not in schema:
            near = nearest(name, schema)
            hint = "" if near is None else f"; did you mean {near!r}?"
            raise UnknownColumnError(f"source has the column {shown(name)}, and the store does not{hint}")
    return {name: _of_type(name, columns[name], type_, context) for name, type_ in schema.items() if name in columns}


def whole_columns(columns: Mapping[str, Column], names: Iterable[str]) -> Mapping[str, Column]:
    """Return columns that have all of the names. Raise UnknownColumnError if a column is missing."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise UnknownColumnError(f"source has no column {shown(missing[0])}, and the store has it")
    return columns


def check_current(columns: Mapping[str, Column], schema: Mapping[str, DataType], *, is_whole: bool = True) -> None:
    """Raise OptionError if columns do not fit a schema, which was changed after they were fitted.

    `is_whole`: whether they must have all of its names.
    """
    is_short = is_whole and len(columns) < len(schema)
    if is_short or any(schema.get(name) != column.type for name, column in columns.items()):
        raise OptionError("the columns of the store were changed while the rows were read; repeat the call")


def _of_type(name: str, column: Column, type_: DataType, context: Context) -> Column:
    column = from_first_row(column, context.thread_count)
    if column.type == type_:
        return column
    if column.type.name == "null":  # other libraries give this type to a column without values
        return column_of_nulls(type_, len(column))
    from headrace.columns.as_numpy import exact_numbers  # without NumPy its error names a function of columns

    if (numbers := exact_numbers(column, type_)) is not None:
        return numbers
    plain = plain_column(column, context)
    same_family = (plain.type.is_string and type_.is_string) or (plain.type.is_binary and type_.is_binary)
    if not same_family or plain.offsets is None:
        raise OptionError(f"column {shown(name)} of source is of type {column.type}, and the store has {type_}; cast it first")
    return _with_offsets(name, plain, type_)


def _with_offsets(name: str, column: Column, type_: DataType) -> Column:
    """Return texts with offsets of another width."""
    if column.type == type_:
        return column
    assert column.offsets is not None
    offsets = np.frombuffer(memoryview(column.offsets), f"<i{column.type.bits // 8}")
    if type_.bits == 32 and len(offsets) and int(offsets[-1]) > _MAX_OFFSET:
        raise OptionError(
            f"column {shown(name)} of source has {int(offsets[-1]):_} bytes of text, too many for {type_}; append fewer rows"
        )
    return replace(column, type=type_, offsets=copy_of(offsets.astype(f"<i{type_.bits // 8}").tobytes()))
