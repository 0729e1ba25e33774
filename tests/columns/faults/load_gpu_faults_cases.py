"""Draws texts with faults, and compares the report of a load by the kernels with the CPU's report."""

from __future__ import annotations

import random
from typing import Any

import headrace
from headrace.columns.convert.gpu.target import GpuTuning
from tests.columns.load.load_gpu_cases import SHAPE, read_on_fibers

FACTS = ("record", "line", "byte", "column", "kind", "expected", "text")


COUNTS = ("records", "rows", "rejected", "skipped", "columns", "filled", "faults")


def outcome(read: Any, data: bytes, options: dict[str, Any]) -> tuple[headrace.Table | None, Any]:
    """Return the table, or None and the error's fields."""
    try:
        return read(data, **options), None
    except headrace.ParseError as error:
        return None, (str(error), *(getattr(error, name) for name in FACTS))


def check(data: bytes, *, skew: int = 0, seed: int = 0, shape: GpuTuning = SHAPE, **options: Any) -> headrace.Table | None:
    """Read on both; the table, None where both raise."""
    how = {"skew": skew, "seed": seed, "shape": shape, "far": seed % 2 == 1}
    expected, error = outcome(headrace.read_csv, data, options)
    found, raised = outcome(lambda data, **given: read_on_fibers(data, **how, **given)[0], data, options)
    assert raised == error
    if expected is None:
        return None
    assert found is not None
    found.report.check()
    assert found.schema == expected.schema
    for name, column in expected.columns.items():
        made = found[name]
        assert (made.null_count, repr(made.to_pylist())) == (column.null_count, repr(column.to_pylist())), name
    assert repr(found.rejects.to_pydict()) == repr(expected.rejects.to_pydict())
    for name in COUNTS:
        assert getattr(found.report, name) == getattr(expected.report, name), name
    return found


def spoiled(rng: random.Random, data: bytes, times: int) -> bytes:
    """The text with too few or too many fields, stray and unclosed quotes, and bytes that are no UTF-8."""
    lines = data.split(b"\n")
    for _ in range(times):
        number = rng.randrange(1, len(lines))
        line = lines[number]
        at = rng.randrange(len(line) + 1)
        lines[number] = rng.choice(
            [
                line + b",7,8",
                line + b",",
                line.rpartition(b",")[0] or b"1",
                line[:at] + b'"' + line[at:],
                line.replace(b",", b',"', 1),
                b'"1"' + line,
                line[:at] + b"\xff" + line[at:],
                b"," * rng.randrange(1, 20),
            ]
        )
    return b"\n".join(lines)
