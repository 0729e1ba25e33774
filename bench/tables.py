"""Tables that benchmarks keep: Markdown to read, and JSON whose figures README takes over (bench/readme.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Page:
    """What a benchmark says: printed as it comes, and kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rows: list[Row] = []
        self.out: str | Path | None = None

    def say(self, text: str = "") -> None:
        """A line, or several."""
        self.lines.append(text)
        print(text, flush=True)

    def head(self, title: str, text: str, columns: Sequence[str]) -> None:
        """What stands before the rows of a table, whose first column has no title; no title: no heading."""
        heading = f"\n## {title}\n" + (f"\n{text}\n" if text else "") if title else ""
        self.say(f"{heading}\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")

    def figure(self, **row: Any) -> Row:
        """Add a row of figures. It is written to `self.out` at once, so that a run that is cut off leaves what it has."""
        self.rows.append(row)
        self.keep(self.out)
        return row

    def keep(self, out: str | Path | None) -> None:
        """All that was said so far, and all rows of figures so far, as `keep` does."""
        keep(Path(out) if out else None, self.lines, self.rows)


def keep(out: Path | None, lines: Sequence[str], rows: Sequence[Row] = ()) -> None:
    """Write a table to OUT.md, and rows of figures to OUT.json beside the machine's description.

    The folder is created. Without `out`, nothing is written.
    """
    if out is None:
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    if rows:
        from bench.machine import description

        facts = {"machine": description(), "rows": list(rows)}
        out.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
