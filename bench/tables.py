"""Tables that benchmarks keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def keep(out: Path | None, lines: Sequence[str]) -> None:
    """Write a table to OUT.md, whose folder is made, if a benchmark is told where."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.with_suffix(".md").write_text("\n".join(lines) + "\n")
