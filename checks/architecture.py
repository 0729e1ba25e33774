"""ARCHITECTURE.md lists every folder of the package, with the first line of its docstring.

``python -m checks.architecture`` writes the list between its two marks; the check compares them.
"""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath

from checks.folders import ORDER
from checks.import_order import FOUNDATIONS, STAGES
from checks.tree import Finding, files

PAGE = "ARCHITECTURE.md"
BEGIN = "<!-- folders: python -m checks.architecture -->"
END = "<!-- end of folders -->"
MAX_LINES = 120
MAX_COLUMNS = 100
_DEVICES = {"cpu", "gpu"}
_COLUMN = 23
"""Characters of a line that the folder's name takes."""


def check(root: Path) -> list[Finding]:
    path = root / PAGE
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    found = []
    if _list_in(text) != folder_list(root):
        found.append(Finding(PAGE, 0, "the list of folders is not that of the docstrings: run python -m checks.architecture"))
    wide = [line.strip() for line in folder_list(root).splitlines() if len(line) > MAX_COLUMNS]
    found += [Finding(PAGE, 0, f"a docstring is too long for a line of {MAX_COLUMNS} characters: {line}") for line in wide]
    if (count := len(text.splitlines())) > MAX_LINES:
        found.append(Finding(PAGE, 0, f"{count} lines, {MAX_LINES} at most"))
    return found


def folder_list(root: Path) -> str:
    """Return one line for each folder with a module, in the order of imports: its name and its docstring's first line.

    Folders named ``cpu`` and ``gpu`` have no line: ARCHITECTURE.md says what they are. Those inside them have one.
    """
    package = root / "src" / "headrace"
    folders = [path.parent.relative_to(package) for path in files(root, "__init__.py", under="src/headrace")]
    lines = []
    for folder in sorted(folders, key=_rank):
        if folder.parts and (folder.name not in _DEVICES or len(folder.parts) == 1):
            docstring = ast.get_docstring(ast.parse((package / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
            depth, name = _indented(folder.parts)
            lines.append(f"{'  ' * depth + name + '/':<{_COLUMN}}{docstring.partition(chr(10))[0]}")
    return "\n".join(lines)


def _indented(parts: tuple[str, ...]) -> tuple[int, str]:
    """Depth and name of a folder in the list, where ``cpu`` and ``gpu`` are part of the name.

    Examples
    --------
    >>> _indented(("arrange", "sort", "gpu", "lsd")), _indented(("gpu", "block"))
    ((2, 'gpu/lsd'), (1, 'block'))
    """
    if len(parts) > 2 and parts[-2] in _DEVICES:
        return len(parts) - 2, "/".join(parts[-2:])
    return len(parts) - 1, parts[-1]


def _rank(folder: PurePosixPath | Path) -> tuple[tuple[int, str], ...]:
    """Sort key: the place of each folder on the way in the order of imports, then its name."""
    ranks = []
    above = ""
    for name in folder.parts:
        order = ORDER.get(above, ()) if above else (*FOUNDATIONS, *STAGES, "api", "cli", "testing")
        ranks.append((order.index(name) if name in order else len(order), name))
        above = f"{above}/{name}" if above else name
    return tuple(ranks)


def _list_in(text: str) -> str:
    inside = text.partition(BEGIN)[2].partition(END)[0]
    return inside.strip().removeprefix("```").removesuffix("```").strip("\n")


def write(root: Path) -> None:
    """Write the list of folders into the page."""
    path = root / PAGE
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n```\n{folder_list(root)}\n```\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[1])
