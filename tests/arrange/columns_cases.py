"""Builds columns of every layout, copies them to a launcher and back, and compares them to the bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import headrace
from headrace.columns.column import Column
from headrace.core.buffer import copy_of
from headrace.testing.fibers.launcher import FiberLauncher

TYPES = {
    "n": "int32", "m": "int8", "w": "uint16", "x": "float64", "y": "float32", "day": "date32", "ok": "bool", "none": "null",
    "price": "decimal128(12, 2)", "large": "large_string",
}  # fmt: skip


def _line(i: int) -> bytes:
    x = b"" if i % 5 == 0 else b"%.2f" % ((i % 97) / 8)
    city = b"" if i % 11 == 0 else b"city%d" % (i % 23) + b" and more of it" * (i % 3)
    large = b'""' if i % 4 else b"text %d of all" % (i % 301)
    fields = [
        b"%d" % (i % 37),
        b"%d" % (i % 100),
        b"%d" % (i * 7 % 60_000),
        x,
        b"-0.0" if i % 2 else b"0",
        b"2020-01-%02d" % (i % 28 + 1),
    ]
    return b",".join([*fields, b"true" if i % 3 else b"", b"", b"%d.25" % i, large, city]) + b"\n"


@cache
def table_of(form: str, rows: int = 3000) -> headrace.Table:
    """Return a table of most types, with nulls, and texts in one layout."""
    text = b"n,m,w,x,y,day,ok,none,price,large,city\n" + b"".join(map(_line, range(rows)))
    return headrace.read_csv(text, dtypes=TYPES, strings=form)


def on_fibers(launcher: FiberLauncher, column: Column) -> Column:
    """Return the column with buffers of the launcher."""

    def put(buffer: Any) -> Any:
        return None if buffer is None else launcher.put(np.frombuffer(bytes(memoryview(buffer)), np.uint8))

    inner = None if column.dictionary is None else on_fibers(launcher, column.dictionary)
    return replace(
        column, values=put(column.values), validity=put(column.validity), offsets=put(column.offsets),
        data=tuple(map(put, column.data)), dictionary=inner,
    )  # fmt: skip


def fetched(column: Column) -> Column:
    """Return the column with host buffers, from results or buffers of a launcher."""

    def get(buffer: Any) -> Any:
        return copy_of(buffer.array.data) if hasattr(buffer, "array") else buffer

    inner = None if column.dictionary is None else fetched(column.dictionary)
    return replace(
        column, values=get(column.values), validity=get(column.validity), offsets=get(column.offsets),
        data=tuple(map(get, column.data)), dictionary=inner,
    )  # fmt: skip


def _bits(buffer: Any, count: int) -> Any:
    return None if buffer is None else np.unpackbits(np.frombuffer(memoryview(buffer), np.uint8), count=count, bitorder="little")


def check_same(found: Column, expected: Column) -> None:
    """Compare every buffer of two columns from row 0; bits up to the number of rows."""
    assert (found.type, found.length, found.null_count, found.offset) == (
        expected.type, expected.length, expected.null_count, 0,
    )  # fmt: skip
    np.testing.assert_array_equal(_bits(found.validity, found.length), _bits(expected.validity, expected.length))
    if found.type.name == "bool":
        np.testing.assert_array_equal(_bits(found.values, found.length), _bits(expected.values, expected.length))
    elif found.type.name != "null":
        assert bytes(found.values) == bytes(expected.values)
    assert (found.offsets is None) == (expected.offsets is None)
    if found.offsets is not None and expected.offsets is not None:
        assert bytes(found.offsets) == bytes(expected.offsets)
    assert repr(found.to_pylist()) == repr(expected.to_pylist())  # NaN does not equal itself
