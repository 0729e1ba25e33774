"""Tests that the benchmark of multisplit completes its tables, in the fiber harness with few keys."""

from __future__ import annotations

import pytest

from bench.multisplit import tables as gpu_multisplit
from bench.multisplit import tune as tune_multisplit
from bench.multisplit.places import Harness
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING

pytestmark = pytest.mark.fibers


@pytest.mark.long_except("partition")
@pytest.mark.parametrize("name", ["3.4", "3.6", "partition"])
def test_a_table_is_made(name: str, capsys) -> None:
    gpu_multisplit.TABLES[name](Harness(200))
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) >= 4 and len({row.count("|") for row in rows[:2]}) == 1


def test_wrong_answers_are_found() -> None:
    place = Harness(100)
    keys = place.keys("uniform", 4, 100)
    with pytest.raises(RuntimeError, match="wrong"):
        place.check(gpu_multisplit.prepared(place, keys, None, 4, None)(), keys[::-1], None, 30, 4)


def test_a_shape_is_taken_for_all_keys() -> None:
    shapes = tune_multisplit.shapes_with(SMALL_TUNING, (512, 12, 2))
    assert {shapes.with_values, shapes.together, shapes.long_keys} == {(512, 12, 2)}
