"""Compares loads by the kernels with the CPU's for texts in other forms: encodings, mended texts, row numbers."""

from __future__ import annotations

from typing import Any

import headrace
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, read_on_fibers, same_table
from tests.columns.load.load_gpu_dialects_cases import outcome


def check(data: bytes, seed: int = 0, **options: Any) -> headrace.Table | None:
    """Read on both; the table, None where both raise."""
    how = {"skew": seed % 16, "seed": seed, "far": seed % 2 == 1, "shape": OTHER_SHAPE}
    expected, error = outcome(lambda: headrace.read_csv(data, **options))
    found, raised = outcome(lambda: read_on_fibers(data, **how, **options)[0])
    assert raised == error
    if expected is None:
        return None
    assert found is not None
    assert list(found.schema.items()) == list(expected.schema.items())
    same_table(found, expected)
    assert repr(found.rejects.to_pydict()) == repr(expected.rejects.to_pydict())
    assert found.report.replaced == expected.report.replaced
    return found
