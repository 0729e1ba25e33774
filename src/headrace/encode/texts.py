"""Converts text columns to string views, to dictionaries, and back to plain strings."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from headrace import _native
from headrace.columns.column import MAX_VIEW_BYTES, Column, column_of_texts
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import ENCODED, DataType

StringForm = Literal["plain", "view", "dictionary"]
FORMS: dict[StringForm, DataType | None] = {"plain": None, "view": DataType("string_view"), "dictionary": DataType("dictionary")}
"""Values of ``strings=``, with the type that inferred text gets."""


def encoded(column: Column, given: DataType | None, inferred: DataType | None, threads: int) -> Column:
    """Return a loaded text column in the form of its given type, or of `inferred` if no type was given.

    Other columns are returned as they are. Texts of 2^31 bytes and more have no views, so such a column stays ``large_string``.

    Raise HeadraceError if the dictionary would have more texts or bytes than an Arrow dictionary of strings can have. Raise
    MemoryLimitError if both forms together exceed the memory limit.
    """
    form = wanted_form(column, given, inferred)
    if form == column.type.name:
        return column
    if form == "string_view":
        return as_views(column, threads)
    return as_dictionary(column, threads) if form == "dictionary" else column


def wanted_form(column: Column, given: DataType | None, inferred: DataType | None) -> str:
    """Return the name of the `ENCODED` type for a loaded column; empty if the column keeps its type."""
    wanted = given or inferred
    return wanted.name if wanted is not None and column.type.is_string and wanted.name in ENCODED else ""


def as_views(column: Column, threads: int) -> Column:
    """Return a text column as string views, or unchanged if a text is too long for a view."""
    with native_errors():
        result = _native.string_views(column, threads, MAX_VIEW_BYTES)
    return column if result is None else column_of_texts(result, column)


def as_dictionary(column: Column, threads: int) -> Column:
    """Return a text column as codes with a dictionary of distinct texts, in the order of their first rows.

    Raise HeadraceError if the dictionary has too many texts or bytes.
    """
    with native_errors():
        codes, texts, count = _native.text_dictionary(column, threads)
    dictionary = replace(column_of_texts(texts, column), length=count, null_count=0)
    return replace(column_of_texts(codes, column), dictionary=dictionary)


def as_plain(column: Column, threads: int = 1) -> Column:
    """Return string views as ``string``, or as ``large_string`` from 2^31 bytes; other columns unchanged."""
    if column.type.name != "string_view":
        return column
    with native_errors():
        return column_of_texts(_native.plain_strings(column, threads, MAX_VIEW_BYTES), column)
