"""Defines how many examples a test draws: all, or by default 25.

That holds for a test that states no count, too (`conftest.py`). The fuzzers draw many more of the texts that matter.

Runs of other selections (`.ci/nightly`, or `pytest -m ""`) draw all of them.
"""

from __future__ import annotations

SOME = 25
"""Examples that a test draws by default, at most."""
draws_all = False
"""True if all examples are drawn. The suite's configuration sets this before it imports a test."""


def examples(count: int) -> int:
    """Return the number of examples to draw of `count`."""
    return count if draws_all else min(SOME, count)
