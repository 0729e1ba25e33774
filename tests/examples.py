"""Defines how many examples a test draws: an eighth of them unless long tests run too.

Long runs (`pytest -m "long or hypothesis"`, or `-m ""`) draw all of them.
"""

from __future__ import annotations

draws_all = False
"""True if all examples are drawn. The suite's configuration sets this before it imports a test."""


def examples(count: int) -> int:
    """Return the number of examples to draw of `count`."""
    return count if draws_all else max(25, count // 8)
