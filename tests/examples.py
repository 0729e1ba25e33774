"""Defines how many examples a test draws: an eighth of them, 25 at least, unless long tests run too.

A test that states no count draws 25 of hypothesis' 100 (`conftest.py`).

Long runs (`pytest -m "long or hypothesis"`, or `-m ""`) draw all of them.
"""

from __future__ import annotations

draws_all = False
"""True if all examples are drawn. The suite's configuration sets this before it imports a test."""


def examples(count: int) -> int:
    """Return the number of examples to draw of `count`."""
    return count if draws_all else max(25, count // 8)
