"""Tables that benchmarks keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Page:
    """What a benchmark says: printed as it comes, and kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        """A line, or several."""
        self.lines.append(text)
        print(text, flush=True)

    def head(self, title: str, text: str, columns: Sequence[str]) -> None:
        """What stands before the rows of a table, whose first column has no title; no title: no heading."""
        heading = f"\n## {title}\n" + (f"\n{text}\n" if text else "") if title else ""
        self.say(f"{heading}\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")

    def keep(self, out: str | Path | None) -> None:
        """All that was said so far, as `keep` does."""
        keep(Path(out) if out else None, self.lines)


def keep(out: Path | None, lines: Sequence[str]) -> None:
    """Write a table to OUT.md, whose folder is made, if a benchmark is told where."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.with_suffix(".md").write_text("\n".join(lines) + "\n")
