"""Tests loading on a GPU in dialects that only an automaton reads, under the fiber harness, against `read_csv` on the CPU."""

from __future__ import annotations

from typing import Any

import pytest

import headrace
from headrace.columns.load.gpu.load import GpuTuning
from tests.columns.load.load_gpu_cases import read_on_fibers, same_table
from tests.columns.load.load_gpu_dialects_cases import DIALECTS, case, outcome

pytestmark = pytest.mark.fibers


def compare(data: bytes, options: dict[str, Any], shape: GpuTuning, seed: int) -> bool:
    """Compare the kernels' table with the CPU's, and return whether there is one."""
    expected, error = outcome(lambda: headrace.read_csv(data, **options))
    found, raised = outcome(lambda: read_on_fibers(data, skew=seed % 16, seed=seed, shape=shape, **options)[0])
    assert raised == error
    if found is None or expected is None:
        return False
    same_table(found, expected)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    return True


@pytest.mark.long_except("*-0", "{}-*")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", DIALECTS, ids=str)
def test_dialects(given: dict[str, Any], seed: int) -> None:
    compare(*case(seed, given), seed)
