"""Defines how many examples a test draws: all, or by default an eighth of them, 25 at least.

A test that states no count draws 25 of hypothesis' 100 (`conftest.py`).

Runs of other selections (`.ci/nightly`, or `pytest -m ""`) draw all of them.
"""

from __future__ import annotations

draws_all = False
"""True if all examples are drawn. The suite's configuration sets this before it imports a test."""


def examples(count: int) -> int:
    """Return the number of examples to draw of `count`."""
    return count if draws_all else max(25, count // 8)
