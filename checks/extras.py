"""Every extra that a message or a page tells a user to install is one of `pyproject.toml`.

Extras are named as ``headrace[extra]`` or ``.[extra]`` in a text, or as the second argument of a call that makes such a message.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from checks.tree import Finding, files, name_of, parsed

_NAMED = re.compile(r"(?:\bheadrace|(?<=['\"\s])\.)\[([a-z0-9_,-]+)\]")
_MAKERS = {"of", "needed", "_Format"}
"""Functions that take a package (or a writer of files) and then the extra that brings it."""


def check(root: Path) -> list[Finding]:
    project = root / "pyproject.toml"
    known = set()
    if project.is_file():
        known = set(tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("optional-dependencies", {}))
    found = []
    for path in [*files(root, ".py", under="src"), *files(root, ".md")]:
        text = path.read_text(encoding="utf-8")
        named = list(_in_text(text))
        if path.suffix == ".py":
            named += _in_calls(parsed(text)) if any(maker in text for maker in _MAKERS) else ()
        found += [
            Finding(name_of(path, root), line, f"pyproject.toml has no extra {extra!r}")
            for line, extra in named
            if extra not in known
        ]
    return found


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in _NAMED.finditer(line):
            yield from ((number, extra) for extra in match[1].split(",") if extra)


def _in_calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 2 or _name(node.func) not in _MAKERS:
            continue
        extra = node.args[1]
        if isinstance(extra, ast.Constant) and isinstance(extra.value, str):
            yield node.lineno, extra.value


def _name(function: ast.expr) -> str:
    """``needed`` of ``needed(...)``, ``of`` of ``MissingDependencyError.of(...)`` alone."""
    if isinstance(function, ast.Attribute):
        return function.attr if isinstance(function.value, ast.Name) and function.value.id == "MissingDependencyError" else ""
    return function.id if isinstance(function, ast.Name) else ""
