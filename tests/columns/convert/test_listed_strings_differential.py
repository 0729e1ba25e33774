"""Texts of many columns of strings, whose fields are listed, under the fiber harness, against the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.columns.convert.gpu.target import GpuTuning
from headrace.gpu.kernels.launcher import Entry, Shape
from headrace.testing.fibers.launcher import FiberLauncher
from tests import examples
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, SHAPE, check

_FIELDS = st.text("abcdeé 漢", max_size=12) | st.sampled_from(["", "", "NA", "x" * 60])
"""Texts of which few are long."""


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the names of the kernels that list fields and convert strings."""
    names: list[str] = []
    launch = FiberLauncher.launch

    def recorded(self: FiberLauncher, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        if entry.name in ("convert_listed", "convert_tiles"):
            names.append(entry.name)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    yield names


def _text(rows: Sequence[Sequence[str]]) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("shape", [SHAPE, LARGER_SHAPE])
@pytest.mark.parametrize("columns", [17, 60])
@pytest.mark.parametrize("skew", [0, 5])
def test_many_columns_of_strings(columns: int, skew: int, shape: GpuTuning, listed: list[str]) -> None:
    rows = [["abcdefghijklmnopqrstuvw"[: (7 * r + c) % 23 * (r * c % 5 != 0)] for c in range(columns)] for r in range(150)]
    check(_text(rows), header=False, schema=["string"] * columns, skew=skew, shape=shape)
    assert listed == ["convert_listed"]
