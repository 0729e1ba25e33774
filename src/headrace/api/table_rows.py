"""Iterates over the rows of tables, and compares tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from headrace.columns.column import Column

_ROWS_AT_A_TIME = 1 << 13


def rows_of(columns: Mapping[str, Column], num_rows: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as tuples; a few thousand rows at a time become Python values."""
    for start in range(0, num_rows, _ROWS_AT_A_TIME):
        parts = [column[start : start + _ROWS_AT_A_TIME].to_pylist() for column in columns.values()]
        yield from zip(*parts, strict=True)


def equal_columns(one: Mapping[str, Column], other: Mapping[str, Column]) -> bool:
    """Return whether both have the same names in the same order, types and values. Nulls are equal, as are NaN."""
    if list(one) != list(other):
        return False
    return all(_equal(column, other[name]) for name, column in one.items())


def _equal(one: Column, other: Column) -> bool:
    if one is other:
        return True
    if one.type != other.type or len(one) != len(other):
        return False
    is_float = one.type.name.startswith("float")
    for start in range(0, len(one), _ROWS_AT_A_TIME):
        left, right = (column[start : start + _ROWS_AT_A_TIME].to_pylist() for column in (one, other))
        if left != right and not (is_float and all(map(_equal_floats, left, right))):
            return False
    return True


def _equal_floats(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return left == right or (math.isnan(left) and math.isnan(right))
