"""Compares rows of given numbers with a dictionary of Python, and counts the changes that small changes read."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.store.state_cases import CONTEXT, SCHEMA, columns_of, counted_engine, rows_in


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))])
def test_rows_of_numbers(seed, request):
    draw = random.Random(request.node.name)
    engine, _ = counted_engine()
    model, key = {}, 0
    for _ in range(30):
        rows = [(key + i, draw.choice([None, "x", "Zürich"])) for i in range(draw.choice([1, 1, 2, 40]))]
        first = len(model)
        model |= {first + i: row for i, row in enumerate(rows)}
        key += len(rows)
        engine.append(columns_of(rows))
        if draw.random() < 0.1:
            engine.merge()
        numbers = draw.choices(list(model), k=draw.choice([1, 2, 5, 60]))
        found = engine.state.rows_at(np.array(numbers, np.uint64), ["city", "n"], CONTEXT)
        assert rows_in(found) == [model[number][::-1] for number in numbers]
    assert rows_in(engine.state.rows_at(np.empty(0, np.uint64), SCHEMA, CONTEXT)) == []


def reads_of(count, change):
    """Return the number of changes that are read by a number of small changes."""
    engine, changes = counted_engine("replace")
    engine.append(columns_of([(n, "old") for n in range(10)]))
    engine.find(np.array([0]))  # builds the index of keys
    changes.reads = 0
    for number in range(count):
        change(engine, number)
    assert engine.state.num_rows == 10
    return changes.reads


def replaced(engine, number):
    engine.append(columns_of([(number % 10, "new")]))


def updated(engine, number):
    engine.update({"n": columns_of([(number % 10, "")])["n"]})


@pytest.mark.parametrize("change", [replaced, updated])
def test_a_small_change_does_not_read_the_delta(change):
    few, many = reads_of(100, change), reads_of(800, change)
    assert 800 < many < 8 * 2 * few  # a binary search in 800 changes takes at most twice the steps of one in 100
