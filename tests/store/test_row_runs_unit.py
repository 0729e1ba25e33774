"""Tests numbers of rows as runs, against plain lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

from headrace.store.row_runs import RowRuns


def random_runs(draw, count):
    """Return the starts and the lengths of ascending runs; some are empty."""
    starts, lengths, next_row = [], [], draw.choice([0, 7, 2**63])
    for _ in range(count):
        starts.append(next_row + draw.choice([0, 1, 2**40]))
        lengths.append(draw.choice([0, 1, 2, 33]))
        next_row = starts[-1] + lengths[-1] + 1
    return starts, lengths


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_numbers_and_positions(count, request):
    draw = random.Random(request.node.name)
    for _ in range(20):
        starts, lengths = random_runs(draw, count)
        rows = RowRuns.of_runs(np.array(starts, np.uint64), lengths)
        expected = [start + i for start, length in zip(starts, lengths, strict=True) for i in range(length)]
        assert rows.numbers().tolist() == expected
        assert len(rows) == len(expected)
        again = RowRuns.of_numbers(rows.numbers())
        assert again.numbers().tolist() == expected
        places, found = again.positions(np.array(expected, np.uint64))
        assert found.all()
        assert places.tolist() == list(range(len(expected)))
