"""Writes the tables of benchmarks: Markdown for readers, and JSON for the figures of README.md (bench/readme.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Page:
    """Output of a benchmark, which is printed at once and stored."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rows: list[Row] = []
        self.out: str | Path | None = None

    def say(self, text: str = "") -> None:
        """Add one or more lines."""
        self.lines.append(text)
        print(text, flush=True)

    def head(self, title: str, text: str, columns: Sequence[str]) -> None:
        """Add heading, text and header row of a table. Its first column has no title. If `title` is empty, add no heading."""
        heading = f"\n## {title}\n" + (f"\n{text}\n" if text else "") if title else ""
        self.say(f"{heading}\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")

    def figure(self, **row: Any) -> Row:
        """Add a row of figures. It is written to `self.out` at once, so that an interrupted run keeps its results."""
        self.rows.append(row)
        self.keep(self.out)
        return row

    def keep(self, out: str | Path | None) -> None:
        """Write all lines and all rows of figures up to now, as the function `keep`."""
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
