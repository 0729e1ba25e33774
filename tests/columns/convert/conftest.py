"""A fixture for tests of the fast conversion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from headrace.testing.fibers.launcher import FiberLauncher

_WANTED = 3
"""ROW_MARK_WANTED of row_task.hpp."""


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """Return, for each launch of ``convert_rows``, the number of tiles that it left to the next kernel, and that of all tiles."""
    launches: list[tuple[int, int]] = []
    launch = FiberLauncher.launch

    def counted(self: FiberLauncher, entry, shape, args) -> None:
        launch(self, entry, shape, args)
        if entry.name == "convert_rows":
            marks = self.fetch(args[6]).view(np.uint32)
            self.waits -= 1
            launches.append((int((marks & _WANTED != 0).sum()), len(marks)))

    monkeypatch.setattr(FiberLauncher, "launch", counted)
    return launches
