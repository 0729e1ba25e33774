"""Text columns in other forms: string views, dictionaries, and plain strings again."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from headrace import _native
from headrace.columns.column import MOST_VIEWED_BYTES, Column, column_of_texts
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import ENCODED, DataType

StringForm = Literal["plain", "view", "dictionary"]
FORMS: dict[StringForm, DataType | None] = {"plain": None, "view": DataType("string_view"), "dictionary": DataType("dictionary")}
"""What ``strings=`` may be, and the type that inferred text becomes."""


def encoded(column: Column, given: DataType | None, inferred: DataType | None, threads: int) -> Column:
    """A loaded column of texts in another form, if its given type is one, or without a given type `inferred`; else as it is.

    Texts of 2^31 bytes and more have no views; such a column stays ``large_string``.

    Raises
    ------
    HeadraceError
        A dictionary of more texts or bytes than an Arrow dictionary of strings holds.
    MemoryLimitError
        There is no room for both forms.
    """
    form = wanted_form(column, given, inferred)
    if form == "string_view":
        return as_views(column, threads)
    return as_dictionary(column, threads) if form == "dictionary" else column


def wanted_form(column: Column, given: DataType | None, inferred: DataType | None) -> str:
    """The name of the type, of `ENCODED`, that a loaded column is to have; empty if it is to stay as it is."""
    wanted = given or inferred
    return wanted.name if wanted is not None and column.type.is_string and wanted.name in ENCODED else ""


def as_views(column: Column, threads: int) -> Column:
    """A column of texts as string views, or as it is where a text is too long for that."""
    with native_errors():
        made = _native.string_views(column, threads, MOST_VIEWED_BYTES)
    return column if made is None else column_of_texts(made, column)


def as_dictionary(column: Column, threads: int) -> Column:
    """A column of texts as codes, and the distinct texts in the order of their first rows.

    Raises
    ------
    HeadraceError
        The texts are too many or too long.
    """
    with native_errors():
        codes, texts, count = _native.text_dictionary(column, threads)
    dictionary = replace(column_of_texts(texts, column), length=count, null_count=0)
    return replace(column_of_texts(codes, column), dictionary=dictionary)


def as_plain(column: Column, threads: int = 1) -> Column:
    """Views as ``string``, or ``large_string`` from 2^31 bytes on; another column as it is."""
    if column.type.name != "string_view":
        return column
    with native_errors():
        return column_of_texts(_native.plain_strings(column, threads, MOST_VIEWED_BYTES), column)
