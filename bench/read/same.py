"""Compares two tables of headrace by the bytes of their Arrow buffers: every value of every row, strings included."""

from __future__ import annotations

import headrace
from headrace.columns.column import Column


def assert_same(found: headrace.Table, expected: headrace.Table) -> None:
    """Raise AssertionError with the first difference, if any. `found` may be on any device, `expected` is on the host."""
    what = difference(found.to("cpu"), expected)
    assert not what, what


def difference(found: headrace.Table, expected: headrace.Table) -> str:
    """Return the first difference, or "" if schema, nulls and every byte agree.

    Both tables are on the host. Buffers are compared whole, so that the cost is a copy and one comparison of memory.
    """
    if found.schema != expected.schema:
        return f"schema {found.schema}, not {expected.schema}"
    for name, column in expected.columns.items():
        if what := _difference(found[name], column):
            return f"column {name}: {what}"
    return ""


def _difference(found: Column, expected: Column) -> str:
    if (len(found), found.null_count, found.offset) != (len(expected), expected.null_count, expected.offset):
        return f"{len(found)} rows, {found.null_count} null, not {len(expected)} rows, {expected.null_count} null"
    if (found.dictionary is None) != (expected.dictionary is None) or len(found.data) != len(expected.data):
        return "another form"
    for name in ("values", "offsets"):
        one, other = getattr(found, name), getattr(expected, name)
        if (one is None) != (other is None) or (one is not None and bytes(one) != bytes(other)):
            return name
    if any(bytes(one) != bytes(other) for one, other in zip(found.data, expected.data, strict=True)):
        return "data"
    bits = (len(expected) + 7) // 8  # a column without nulls may lack a bitmap
    if expected.validity is not None and (
        found.validity is None or bytes(found.validity)[:bits] != bytes(expected.validity)[:bits]
    ):
        return "validity"
    if expected.dictionary is not None and found.dictionary is not None:
        return _difference(found.dictionary, expected.dictionary)
    return ""
