"""Finds result files and reads their figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class MissingResultError(LookupError):
    """A result file, or a row of it, is missing."""


class Results:
    """Newest result of each name in bench/results.

    Parameters
    ----------
    root
        Root of the tree.
    folder
        Folder of the page, to which links are relative.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder

    def path(self, name: str, suffix: str = ".json") -> Path:
        """Return the newest file of a name such as ``"readers"``: bench/results/MACHINE/DATE-readers.json."""
        days = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
        found = sorted((self._root / "bench" / "results").glob(f"*/{days}-{name}{suffix}"), key=lambda path: path.name)
        if not found:
            raise MissingResultError(f"there is no bench/results/*/DATE-{name}{suffix}")
        return found[-1]

    def has(self, name: str) -> bool:
        """Return whether there is a result of this name."""
        try:
            self.path(name)
        except MissingResultError:
            return False
        return True

    def rows(self, name: str, wanted: Callable[[Row], bool] = bool) -> list[Row]:
        """Return rows of figures, at least one.

        Results of `bench.read.run` have a row for each reader of each file.
        """
        kept = json.loads(self.path(name).read_text(encoding="utf-8"))
        rows = kept.get("rows") or [
            {"case": result["case"], "file_bytes": result["file_bytes"], **row}
            for result in kept["results"]
            for row in result["rows"]
        ]
        found = [row for row in rows if wanted(row)]
        if not found:
            raise MissingResultError(f"{self.path(name).name} has no such row")
        return found

    def row(self, name: str, **wanted: object) -> Row:
        """Return the single row with these values."""
        return self.rows(name, lambda row: all(row.get(key) == value for key, value in wanted.items()))[0]

    @staticmethod
    def facts(path: Path) -> dict[str, str]:
        """Return the machine, commit and date of a result."""
        return dict(json.loads(path.read_text(encoding="utf-8"))["machine"])

    def cell(self, name: str, row: str, column: str) -> float:
        """Return a number of the first table with this row and column in the newest Markdown file of a name."""
        path = self.path(name, ".md")
        columns: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if column in cells:
                columns = cells
            elif not cells:
                columns = []
            elif columns and cells[0] == row:
                return float(cells[columns.index(column)])
        raise MissingResultError(f"{path.name} has no {column} of {row}")

    def link(self, name: str, suffix: str = ".json") -> str:
        """Return a link, relative to the page, to the table of the newest result. `suffix`: suffix of the result file."""
        path = self.path(name, suffix).with_suffix(".md")
        return f"[{path.stem}]({os.path.relpath(path, self._folder).replace(os.sep, '/')})"

    def source(self, *names: str) -> str:
        """Return the origin of figures: for each machine the links and commits with their dates."""
        of_machines: dict[str, list[str]] = {}
        for name in names:
            of_machines.setdefault(_machine(self.facts(self.path(name))), []).append(name)
        return "Results: " + "; ".join(f"{self._origin(some)}; {machine}" for machine, some in of_machines.items()) + "."

    def _origin(self, names: list[str]) -> str:
        """Return links, and commits with their dates."""
        found = [self.facts(self.path(name)) for name in names]
        commits = dict.fromkeys(f"commit {one.get('commit', 'not kept')}, {one.get('date', 'date not kept')}" for one in found)
        return f"{', '.join(self.link(name) for name in names)}; {'; '.join(commits)}"


def _machine(facts: dict[str, Any]) -> str:
    """Return the machine of a result."""
    gpu = f"{facts.get('gpu', '')}, driver {facts.get('driver')}, " if facts.get("gpu") else ""
    model = f" ({facts['processor model']})" if "processor model" in facts else ""
    return f"{gpu}{facts['cores']} cores of {facts['processor']}{model}"


def three(value: float) -> str:
    """Format a number with three digits, or with all digits before the point.

    Examples
    --------
    >>> [three(value) for value in (1136.2, 96.52, 9.8, 0.2566)]
    ['1136', '96.5', '9.80', '0.257']
    """
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def ratio(ours: float, theirs: float) -> str:
    """Format a ratio with two digits after the point, or one from 10 on.

    Examples
    --------
    >>> ratio(3, 2), ratio(56, 2)
    ('1.50', '28.0')
    """
    value = ours / theirs
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table whose first column is aligned left."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
