"""Tables of many short columns by the fast conversion, whose blocks then have few threads, at the launch sizes of a GPU."""

from __future__ import annotations

import random

import pytest

from headrace.columns.convert.gpu.target import DEFAULT_TUNING
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers


def _table(rng: random.Random, columns: int, rows: int) -> bytes:
    """Return a text of numbers, of which half are absent."""
    fields = ["", "", "", "7", "12", "3.5", "-4", "123456789"]
    lines = [",".join([str(row), *rng.choices(fields, k=columns - 1)]) for row in range(rows)]
    return (",".join(f"c{i}" for i in range(columns)) + "\n" + "\n".join(lines) + "\n").encode()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("columns", [63, 64, 70])
@pytest.mark.parametrize("skew", [0, 5])
def test_wide_tables(columns: int, skew: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of some 150 bytes: a tile has more rows than a warp has lanes, so the fast conversion takes it."""
    threads: list[int] = []
    launch = FiberLauncher.launch

    def recorded(self, entry, shape, args):
        if entry.name == "convert_rows":
            threads.append(shape.threads)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    data = _table(random.Random(columns), columns, 230)
    assert len(data) > 2 * DEFAULT_TUNING.find.tile - 8192
    check(data, skew=skew, shape=DEFAULT_TUNING)
    assert set(threads) == {64 if columns >= 64 else 128}
