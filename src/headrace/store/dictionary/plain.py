"""Turns columns of views and of codes into plain ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace.arrange.gather.take import take_rows
from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets
from headrace.core.buffer import copy_of, empty_buffer
from headrace.core.context import Context
from headrace.core.errors import UnsupportedDeviceError
from headrace.encode.texts import as_plain
from headrace.store.dictionary import validity
from headrace.store.dictionary.given import column_given
from headrace.store.dictionary.items import items_at


def plain_column(column: Column | Any, context: Context, name: str = "column") -> Column:
    """Return a host column without views and without codes; arrays, lists and Series as `column_given`.

    Raise OptionError if `column` is none of these. Messages name it `name`. Raise UnsupportedDeviceError if the column is on
    a GPU.
    """
    if not isinstance(column, Column):
        column = column_given(column, name)
    if column.device.kind != "cpu":
        raise UnsupportedDeviceError(f"the column is on {column.device}; copy it to the host with .to('cpu')")
    if column.dictionary is not None:
        column = _of_codes(column, context)
    return as_plain(column, context.thread_count)


def _of_codes(column: Column, context: Context) -> Column:
    """Return a column of dictionary codes as its texts. The code of a null may be any number."""
    assert column.dictionary is not None
    if not len(column.dictionary):
        return column_of_nulls(column.dictionary.type, column.length)
    codes = items_at(column.values, "<i4", column.length, column.offset).astype("u8")
    if column.validity is not None:
        codes *= validity.flags_of(column.validity, column.length, column.offset)
    bits, nulls = validity.of_column(column)
    return replace(take_rows(column.dictionary, codes, context.thread_count), validity=bits, null_count=nulls)


def column_of_nulls(type_: DataType, length: int) -> Column:
    """Return a column of nulls."""
    if type_.name == "null":
        return Column(type_, length, length, empty_buffer(0))
    bits = validity.all_null(length).bits
    if has_offsets(type_):
        width = type_.bits // 8
        return Column(type_, length, length, empty_buffer(0), bits, copy_of(bytes((length + 1) * width)))
    return Column(type_, length, length, copy_of(bytes(-(-length * type_.bits // 8))), bits)
