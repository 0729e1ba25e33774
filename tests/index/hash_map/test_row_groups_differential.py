"""Compares distinct and matching rows of tables with Python dictionaries, also if most hashes collide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace import Column, Context, Table
from headrace.arrange.partition_rows.rows import row_hashes
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


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bits", [HASH_BITS, 12, 1])
def test_rows_of_several_threads(threads: int, bits: int) -> None:
    """Each thread has distinct rows of its own, of which those of the first one count."""
    numbers = np.random.default_rng(bits).integers(0, 700, 40_000)
    texts = [f"text number {number}" for number in numbers.tolist()]
    table = Table.from_arrow(pa.table({"text": texts, "number": numbers % 3}))
    names = ["text"] if bits == 12 else ["text", "number"]
    _, firsts, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    context = Context(threads=threads)
    assert first_rows(HashedRows.of(table.columns, names, context, bits)).tolist() == firsts[inverse].tolist()
    hashed = [HashedRows.of(part.columns, names, context, bits) for part in (table, table[100:])]
    places = matching_rows(*hashed)
    found = places >= 0
    assert np.isin(numbers, numbers[100:]).tolist() == found.tolist()
    assert (numbers[100:][places[found]] == numbers[found]).all()


def test_rows_whose_public_hashes_are_equal() -> None:
    """The hash of partition_by_hash can be computed, so rows can be chosen for it. Those of tables have other hashes."""
    mask, count = (1 << 64) - 1, 30_000

    def mixed(word: int) -> int:
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            word = (word ^ word >> 33) * factor & mask
        return word ^ word >> 33

    first = np.arange(count, dtype=np.uint64)
    second = np.array([-mixed(number) * 0xD6E8FEB86659FD93 & mask for number in range(count)], np.uint64)
    table = Table.from_arrow(pa.table({"a": first, "b": second}))
    assert len(np.unique(row_hashes(table.columns, ["a", "b"], Context()))) == 1
    assert len(np.unique(row_hashes(table.columns, ["a", "b"], Context(), by_secret=True))) == count
    assert len(table.unique()) == count
    assert (table.lookup(table[:100], ["a", "b"])[:101] == [*range(100), -1]).all()
