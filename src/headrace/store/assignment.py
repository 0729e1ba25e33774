"""Computes the columns that an update by condition replaces, from expressions and literals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from headrace.arrange.filter.computed import computed_column, literal_column
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError, UnknownColumnError, shown
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.expressions.operators import is_missing
from headrace.store.dictionary.items import empty_column
from headrace.store.schema import check_names, fitted

Assignment: TypeAlias = Callable[[Mapping[str, Column]], dict[str, Column]]
"""Returns the new columns of rows, given all their old ones."""


def assignment(values: object, schema: Mapping[str, DataType], context: Context) -> Assignment:
    """Return a function that computes new columns. It reads old values only, so the order of `values` does not matter.

    Raise OptionError if `values` is no such mapping, or the type of a column does not have a literal, or an expression's type
    of value. Raise UnknownColumnError if there is no such column.

    `values`: mapping from names of columns to literals, None or expressions of columns.
    """
    if not isinstance(values, Mapping) or not values:
        raise OptionError.wrong("values", "a mapping of names of columns to values or expressions", values)
    chosen = dict(values)

    def assigned(old: Mapping[str, Column]) -> dict[str, Column]:
        check_names("values", chosen, old)
        return {name: _new_column(name, value, old, old[name].type, context) for name, value in chosen.items()}

    assigned({name: empty_column(type_) for name, type_ in schema.items()})  # raises if a type does not fit
    return assigned


def _new_column(name: str, value: object, old: Mapping[str, Column], type_: DataType, context: Context) -> Column:
    length = len(next(iter(old.values())))
    try:
        if not isinstance(value, ColumnExpression):
            return literal_column(None if is_missing(value) else value, type_, length, context.thread_count)
        if value.symbol == "column" and value.value in old and _are_alike(old[value.value].type, type_):
            return fitted({name: old[value.value]}, {name: type_}, context)[name]
        return computed_column(old, value, type_, context)
    except UnknownColumnError:
        raise
    except OptionError as error:
        raise OptionError(f"values of {shown(name)}: {error}") from None


def _are_alike(one: DataType, other: DataType) -> bool:
    """Return whether columns of these types are copied: equal types, and texts or bytes with any width of offsets."""
    return one == other or (one.is_string and other.is_string) or (one.is_binary and other.is_binary)
