"""Compares distinct and matching rows of tables with Python dictionaries, also if most hashes collide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import Column, Context, Table
from headrace.index.hash_map.row_groups import HASH_BITS, HashedRows, first_rows, matching_rows
from tests.index.hash_map.row_cases import NAMES, ROWS, table_of


def words_of(column: Column) -> list[Any]:
    """Return values such that equal ones are equal in Python; None for null."""
    return [
        "nan" if isinstance(value, float) and math.isnan(value) else (value if value is None else (value,))
        for value in column.to_pylist()
    ]


def rows_of(table: Table, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the rows as tuples."""
    return list(zip(*(words_of(table[name]) for name in names), strict=True))


@pytest.mark.parametrize("names", NAMES, ids="".join)
@pytest.mark.parametrize("bits", [HASH_BITS, 1])
def test_first_rows(names: list[str], bits: int) -> None:
    table = table_of(1)
    rows = rows_of(table, names)
    firsts: dict[Any, int] = {}
    expected = [firsts.setdefault(row, number) for number, row in enumerate(rows)]
    for part in (table, table[3:300]):
        found = first_rows(HashedRows.of(part.columns, names, Context(), bits))
        if len(part) == ROWS:
            assert found.tolist() == expected
        else:
            inner: dict[Any, int] = {}
            assert found.tolist() == [inner.setdefault(row, number) for number, row in enumerate(rows[3:300])]


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("encode", ["none", "string_view", "dictionary"])
@pytest.mark.parametrize("names", NAMES, ids="".join)
@pytest.mark.parametrize("bits", [HASH_BITS, 2])
def test_matching_rows(names: list[str], bits: int, encode: str) -> None:
    table, other = table_of(2), table_of(3, 30, encode=encode)[1:]
    firsts: dict[Any, int] = {}
    for number, row in enumerate(rows_of(other, names)):
        firsts.setdefault(row, number)
    expected = [-1 if None in row else firsts.get(row, -1) for row in rows_of(table, names)]
    hashed = [HashedRows.of(part.columns, names, Context(threads=2), bits) for part in (table, other)]
    assert matching_rows(*hashed).tolist() == expected


def test_many_rows() -> None:
    random = np.random.default_rng(4)
    numbers = random.integers(0, 50_000, 200_000)
    table = headrace.read_csv(b"n\n" + "\n".join(map(str, numbers.tolist())).encode())
    assert np.sort(np.array(table.unique().to_pydict()["n"])).tolist() == np.unique(numbers).tolist()
    counts = table.value_counts()
    assert counts["count"].to_numpy().sum() == 200_000
    assert dict(zip(*counts.to_pydict().values(), strict=True)) == dict(zip(*np.unique(numbers, return_counts=True), strict=True))
    places = table.lookup(counts, "n")
    assert (counts["n"].to_numpy()[places] == numbers).all()
