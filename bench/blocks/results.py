"""Finds result files and reads their figures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class MissingResultError(LookupError):
    """A result file, or a row of it, is not there."""


class Results:
    """The newest result of each name in bench/results.

    Parameters
    ----------
    root
        The root of the tree.
    folder
        The folder of the page, to which links are relative.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder

    def path(self, name: str, suffix: str = ".json") -> Path:
        """The newest file of a name such as ``"readers"``: bench/results/MACHINE/DATE-readers.json."""
        days = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
        found = sorted((self._root / "bench" / "results").glob(f"*/{days}-{name}{suffix}"), key=lambda path: path.name)
        if not found:
            raise MissingResultError(f"there is no bench/results/*/DATE-{name}{suffix}")
        return found[-1]

    def has(self, name: str) -> bool:
        """Whether there is a result of this name."""
        try:
            self.path(name)
        except MissingResultError:
            return False
        return True

    def rows(self, name: str, wanted: Callable[[Row], bool] = bool) -> list[Row]:
        """Rows of figures, at least one.

        Of `bench.read.run` each reader of each file is a row.
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
        """The one row with these values."""
        return self.rows(name, lambda row: all(row.get(key) == value for key, value in wanted.items()))[0]

    @staticmethod
    def facts(path: Path) -> dict[str, str]:
        """The machine, commit and date of a result."""
        return dict(json.loads(path.read_text(encoding="utf-8"))["machine"])

    def cell(self, name: str, row: str, column: str) -> float:
        """A number of the first table with such a row and column in the newest Markdown file of a name."""
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
        """A link, relative to the page, to the table of the newest result of a name; `suffix`: of the file that is looked for."""
        path = self.path(name, suffix).with_suffix(".md")
        return f"[{path.stem}]({os.path.relpath(path, self._folder).replace(os.sep, '/')})"

    def source(self, *names: str) -> str:
        """Where figures are from: links, commit, day, machine, and versions of peers."""
        facts = self.facts(self.path(names[0]))
        links = ", ".join(self.link(name) for name in names)
        machine = f"{facts.get('gpu', '')}, driver {facts.get('driver')}, " if facts.get("gpu") else ""
        processor = f"{facts['cores']} cores of {facts['processor']}"
        model = f" ({facts['processor model']})" if "processor model" in facts else ""
        commit = facts.get("commit", "not kept")
        return f"Results: {links}; commit {commit}, {facts.get('date', 'date not kept')}; {machine}{processor}{model}."


def three(value: float) -> str:
    """A number with three digits, or all before the point.

    Examples
    --------
    >>> [three(value) for value in (1136.2, 96.52, 9.8, 0.2566)]
    ['1136', '96.5', '9.80', '0.257']
    """
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def ratio(ours: float, theirs: float) -> str:
    """A ratio with two digits after the point, or one from 10 on.

    Examples
    --------
    >>> ratio(3, 2), ratio(56, 2)
    ('1.50', '28.0')
    """
    value = ours / theirs
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, first column on the left."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
