"""The page for users of other readers agrees with the table of their words.

docs/coming-from.md has a table for each reader between two markers; ``python -m checks.coming_from`` writes them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import NamedTuple

from checks import options
from checks.tree import Finding

TABLE = "src/headrace/api/options/words.py"
PAGE = "docs/coming-from.md"

_BLOCK = re.compile(r"(?<=<!-- words -->\n)(.*?)(?=<!-- end of words -->)", re.DOTALL)
_TITLES = {"pandas": "pandas", "polars": "Polars", "pyarrow": "PyArrow", "duckdb": "DuckDB", "cudf": "cuDF"}
_KINDS = {"option", "source", "ignored", "refused", "translated"}


class Row(NamedTuple):
    """A row of a word, as in its source."""

    table: str  # its file
    line: int
    kind: str
    name: str
    readers: tuple[str, ...]
    meaning: str
    note: str


def check(root: Path) -> list[Finding]:
    if not (root / TABLE).is_file():
        return []
    rows, own = rows_of(root), options.rows_of(root)
    known = {name for row in own for name in (row.name, *row.aliases)}
    found = [
        Finding(row.table, row.line, f"{row.name} is an option too") for row in rows if row.kind != "option" and row.name in known
    ]
    names = [row.name for row in rows]
    found += [Finding(row.table, row.line, f"{row.name} occurs twice") for row in rows if names.count(row.name) > 1]
    page = (root / PAGE).read_text(encoding="utf-8") if (root / PAGE).is_file() else ""
    if _BLOCK.search(page) is None:
        found.append(Finding(PAGE, 0, "has no tables of words between its markers"))
    elif with_tables(page, rows, own) != page:
        found.append(Finding(PAGE, 0, "the tables of words are out of date: run python -m checks.coming_from"))
    return found


def rows_of(root: Path) -> list[Row]:
    """Return the words of the tables of options, and of the table of other words."""
    return [
        _row(table, call)
        for table in (*options.TABLES.values(), TABLE)
        if (root / table).is_file()
        for call in ast.walk(ast.parse((root / table).read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _KINDS
    ]


def with_tables(page: str, rows: list[Row], own: list[options.Row]) -> str:
    """Return the page with the tables as the rows have them."""
    names = {name: row.name for row in own for name in (row.name, *row.aliases)}
    return _BLOCK.sub(lambda _: _tables(rows, names), page)


def _row(table: str, call: ast.Call) -> Row:
    name, *readers = [ast.literal_eval(argument) for argument in call.args]
    texts = {keyword.arg: keyword.value for keyword in call.keywords}
    meaning = next((ast.literal_eval(texts[key]) for key in ("meaning", "why", "use") if key in texts), "")
    note = ast.literal_eval(texts["note"]) if "note" in texts else ""
    return Row(table, call.lineno, ast.unparse(call.func), name, tuple(readers), meaning, note)


def _tables(rows: list[Row], names: dict[str, str]) -> str:
    lines: list[str] = []
    for reader, title in _TITLES.items():
        lines += [f"\n## {title}\n", "| there | here |", "| --- | --- |"]
        own = sorted((row for row in rows if reader in row.readers), key=lambda row: row.name)
        lines += [f"| `{row.name}` | {_meaning(row, names)} |" for row in own]
    return "\n".join([*lines, "", ""])


def _meaning(row: Row, names: dict[str, str]) -> str:
    if row.kind == "source":
        return "the first argument, without a name"
    if row.kind == "ignored":
        return f"no effect: {row.meaning}"
    if row.kind == "refused":
        return f"an error: {row.meaning}"
    if row.kind == "translated":
        return row.meaning + (f": {row.note}" if row.note else "")
    own = names.get(row.name, row.name)
    same = f"`{own}`" if own != row.name else "the same"
    return f"{same}: {row.meaning}" if row.meaning else same


def main() -> int:
    """Write the tables into the page."""
    root = Path(__file__).parents[1]
    page = root / PAGE
    text = with_tables(page.read_text(encoding="utf-8"), rows_of(root), options.rows_of(root))
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
