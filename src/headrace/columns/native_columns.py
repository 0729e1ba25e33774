"""Builds columns and types from the tuples that native code returns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from headrace import _native
from headrace.columns.column import Column, new_column
from headrace.columns.types import parse_type

type_named = cache(parse_type)
"""Cached, since there are few types and may be a million columns."""


class _NativeColumn(NamedTuple):
    """A column as native code returns it, in a plain tuple."""

    type_name: str
    null_count: int
    values: _native.Buffer
    validity: _native.Buffer | None
    offsets: _native.Buffer | None


def column_of(parts: Sequence[Any], length: int) -> Column:
    """Return a column of `length` rows from native code's tuple."""
    native = _NativeColumn(*parts)
    return new_column(
        type=type_named(native.type_name),
        length=length,
        null_count=native.null_count,
        values=native.values,
        validity=native.validity,
        offsets=native.offsets,
    )
