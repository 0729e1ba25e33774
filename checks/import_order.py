"""Law 1: a stage imports from stages to its left and from core; api may import every stage, cli only api and core's errors.

The same for Python's imports and C++'s includes, also for imports inside functions and under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checks.tree import NATIVE, Finding, files, name_of, parsed, statements

FOUNDATIONS = ("core", "gpu", "arrays", "primitives")

STAGES = ("sources", "structure", "columns", "encode", "export", "arrange", "index", "query", "store")

FACE = "headrace"
"""The package's own ``__init__``: the names that api exports."""

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def may_import(importer: str, imported: str) -> bool:
    """Return whether a file of folder `importer` may import module `imported`, named without ``headrace.``.

    Examples
    --------
    >>> may_import("columns", "structure.dialect"), may_import("structure", "columns.types")
    (True, False)
    """
    folder = imported.partition(".")[0]
    if folder in {"_native", importer}:
        return True
    stack = (*FOUNDATIONS, *STAGES)
    allowed: dict[str, tuple[str, ...]] = {
        "api": stack,
        "cli": (FACE, "api"),
        "testing": (*stack, "api", FACE),
        FACE: (*stack, "api", "cli"),
    }
    if importer == "cli" and imported == "core.errors":
        return True
    return folder in (allowed[importer] if importer in allowed else stack[: stack.index(importer)])


def check(root: Path) -> list[Finding]:
    package = root / "src" / "headrace"
    found = []
    for path in files(root, ".py", *NATIVE, under="src/headrace"):
        folders = path.relative_to(package).parts[:-1]
        importer = folders[0] if folders else FACE
        if importer not in {*FOUNDATIONS, *STAGES, "api", "cli", "testing", FACE}:
            found.append(Finding(name_of(path, root), 0, f"folder {importer!r} is no stage; checks/import_order.py lists them"))
            continue
        found += [
            Finding(name_of(path, root), line, f"{importer} may not import {imported}")
            for line, imported in imports_of(path)
            if not may_import(importer, imported)
        ]
    return found


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import of a file of the package, without ``headrace.``; includes with dots for slashes."""
    return _python_imports(path) if path.suffix == ".py" else _includes(path)


def _python_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module, without ``headrace.``; an import from ``headrace`` itself is `FACE`, unless it is a module."""
    modules = {*FOUNDATIONS, *STAGES, "_native", "api", "cli", "testing"}
    for node in statements(parsed(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "headrace":
            names = [f"headrace.{alias.name}" if alias.name in modules else "headrace" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}" if node.level == 0 else f"headrace.<relative import of {node.module}>"]
        else:
            continue
        for name in names:
            if name == "headrace":
                yield node.lineno, FACE
            elif name.startswith("headrace."):
                yield node.lineno, name.removeprefix("headrace.")


def _includes(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := _INCLUDE.match(line):
            yield number, found.group(1).replace("/", ".")
