"""Columns to be sorted: values of many bits, nulls at any share, rows from any bit on."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from headrace.columns.column import Column
from headrace.columns.types import parse_type
from headrace.core.buffer import copy_of

TYPES = {
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8",
    "float32": "f4", "float64": "f8", "bool": "?", "date32": "i4", "time64[us]": "i8", "timestamp[ns]": "i8", "duration[s]": "i8",
}  # fmt: skip
"""Types of columns that can be sorted, and of their values."""
SHARES = {"none": 0.0, "few": 0.02, "half": 0.5, "most": 0.97, "all": 1.0}
"""Shares of nulls."""


def column_of(name: str, count: int, share: str | None, offset: int = 0, *, kind: str = "random") -> Column:
    """A column from row `offset` of its buffers on; `share` None: without a bitmap. Values of nulls are arbitrary."""
    random = np.random.default_rng(zlib.crc32(f"{name} {count} {share} {offset}".encode()))
    rows = count + offset
    values = _values(name, rows, kind, random)
    there = None if share is None else random.random(rows) >= SHARES[share]
    made = _bits(values) if name == "bool" else copy_of(np.ascontiguousarray(values).view(np.uint8).data)
    nulls = 0 if there is None else int(np.count_nonzero(~there[offset:]))
    validity = None if there is None else _bits(there)
    return Column(parse_type(name), count, nulls, made, validity, offset=offset)


def uncounted(column: Column) -> Column:
    """Return the column as a slice on a GPU is, whose nulls are not counted."""
    return column if column.validity is None else replace(column, null_count=-1)


def _values(name: str, rows: int, kind: str, random: Any) -> Any:
    dtype = np.dtype(TYPES[name])
    if kind == "rising":
        return np.arange(rows) % 2 == 1 if name == "bool" else np.arange(rows).astype(dtype)
    if name == "bool":
        return random.random(rows) < 0.5
    if kind == "few":
        return random.integers(0, 3, rows).astype(dtype)
    values = random.integers(0, 256, rows * dtype.itemsize, np.uint8).view(dtype)
    if name.startswith("time64"):
        return values % 86_400_000_000
    if dtype.kind == "f" and rows:
        values[random.random(rows) < 0.3] = np.nan
        values[random.random(rows) < 0.3] = -0.0
        values[random.random(rows) < 0.3] = 0.0
    return values


def _bits(flags: Any) -> Any:
    return copy_of(np.packbits(flags, bitorder="little").data)
