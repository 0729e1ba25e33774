"""docs/errors.md has a section for each class of core/errors.py, and docs/rejects.md one for each kind of fault.

The output of the last example of a section names the class or the kind, so that the example raises it (`docs_run` compares it).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checks.tree import Finding

ERRORS, ERRORS_PAGE = "src/headrace/core/errors.py", "docs/errors.md"
KINDS, KINDS_PAGE = "src/headrace/columns/faults/rejects.py", "docs/rejects.md"

_SECTION = re.compile(r"^## `(\w+)`$", re.MULTILINE)
_OUTPUT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
_BASE = "HeadraceError"
"""Class that is never raised itself: any error of the package is an example."""


def check(root: Path) -> list[Finding]:
    if not ((root / ERRORS).is_file() and (root / KINDS).is_file()):
        return []
    return [*_page(root, ERRORS_PAGE, _classes(root)), *_page(root, KINDS_PAGE, _kinds(root))]


def _classes(root: Path) -> list[str]:
    tree = ast.parse((root / ERRORS).read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _kinds(root: Path) -> list[str]:
    tree = ast.parse((root / KINDS).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FAULT_KINDS":
            return list(ast.literal_eval(node.value))
    raise LookupError(f"{KINDS} has no FAULT_KINDS")


def _page(root: Path, page: str, names: list[str]) -> Iterator[Finding]:
    """Yield findings for sections that are missing, superfluous, or without an example of their name."""
    text = (root / page).read_text(encoding="utf-8") if (root / page).is_file() else ""
    _, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    for name in names:
        if name not in sections:
            yield Finding(page, 0, f"has no section ## `{name}`")
        elif not (outputs := _OUTPUT.findall(sections[name])) or (name != _BASE and name not in outputs[-1]):
            yield Finding(page, 0, f"the example of {name} does not print its name")
    for name in sections:
        if name not in names:
            yield Finding(page, 0, f"{name} does not exist")
