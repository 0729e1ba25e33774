"""Replays random histories on maps with keys of several columns and on Python dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from headrace import Context, HashMap

Row = tuple[Any, ...]
TYPES: dict[str, dict[str, str]] = {
    "numbers": {"a": "int32", "b": "uint64"},
    "texts": {"a": "string", "b": "string"},
    "mixed": {"a": "int64", "b": "string", "c": "float32"},
}
VALUES: dict[str, Callable[[int], Any]] = {
    "int32": lambda number: number * 77 - 3000,
    "int64": lambda number: (number - 20) << 40,
    "uint64": lambda number: number * 0x9E3779B97F4A7C15 % 2**64,
    "float32": lambda number: (number - 30) / 4,
    "string": lambda number: ("\0" if number % 5 == 0 else "é") * (number % 4) + str(number % 9),
}


def rows_of(random: np.random.Generator, types: dict[str, str], count: int) -> list[Row]:
    numbers = random.integers(0, 60, (count, len(types))).tolist()
    return [tuple(VALUES[kind](number) for kind, number in zip(types.values(), row, strict=True)) for row in numbers]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", TYPES)
def test_histories(name: str, threads: int) -> None:
    random, types = np.random.default_rng(11), TYPES[name]
    table, oracle = HashMap(types, "int64", context=Context(threads=threads)), dict[Row, int]()
    for step in range(16):
        rows = rows_of(random, types, int(random.choice([1, 17, 300, 9000])))
        values = random.integers(-9, 9, len(rows))
        columns = {key: list(column) for key, column in zip(types, zip(*rows, strict=True), strict=True)}
        if step % 4 == 3:
            expected = [oracle.pop(row, None) is not None for row in rows[::2]]
            assert table.erase(rows[::2]).tolist() == expected
            table.compact()
        else:
            before = len(oracle)
            for row, value in zip(rows, values.tolist(), strict=True):
                oracle[row] = oracle.get(row, 0) + value
            assert table.upsert(columns, values, reduce="sum") == len(oracle) - before
        found = table.find(columns)
        assert found.found.tolist() == [row in oracle for row in rows]
        assert found.values.tolist() == [oracle.get(row, 0) for row in rows]
    keys, held = table.items()
    listed = [column.to_pylist() if types[key] == "string" else column.tolist() for key, column in keys.items()]
    by_bytes = sorted(oracle, key=lambda row: [item.encode() if isinstance(item, str) else item for item in row])
    assert list(zip(*listed, strict=True)) == by_bytes
    assert held.tolist() == [oracle[row] for row in by_bytes]
