"""Law: a test file has a name of its own and imports no other test file, and no test replaces a private name.

pytest imports test files by their names alone, so two of one name end a run of the whole suite.

Code that several test files share lies in a module ``*_cases.py``, so that each test file can be read, moved and left out alone.
Where a test needs another value, the module under test has a parameter or a name without an underscore for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from checks.tree import Finding, files, name_of, parsed, statements

EXCEPTIONS: frozenset[tuple[str, str]] = frozenset()
"""Pairs of a test file's name and a private name that it replaces. The set may only get smaller."""


def check(root: Path) -> list[Finding]:
    found, unused = [], set(EXCEPTIONS)
    named: dict[str, Path] = {}
    for path in files(root, ".py", under="tests"):
        if path.name.startswith("test_") and named.setdefault(path.name, path) != path:
            found.append(Finding(name_of(path, root), 0, f"has the name of {name_of(named[path.name], root)}: choose another"))
        text = path.read_text(encoding="utf-8")
        tree = parsed(text)
        found += [
            Finding(name_of(path, root), line, f"imports {module}: move what both need to a module *_cases.py")
            for line, module in _imported_tests(tree)
        ]
        for line, name in _replaced_private_names(tree) if "attr(" in text else ():
            if (path.name, name) in EXCEPTIONS:
                unused.discard((path.name, name))
            else:
                found.append(Finding(name_of(path, root), line, f"replaces the private name {name}: pass a parameter"))
    here = root / "checks" / "test_files.py"
    found += [
        Finding(name_of(here, root), 0, f"{file} replaces no {name}: take the exception out")
        for file, name in sorted(unused)
        if here.exists()
    ]
    return found


def _imported_tests(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield each import of a test module, with its line."""
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        for module in modules:
            if module.rpartition(".")[2].startswith("test_") and (module.startswith("tests.") or "." not in module):
                yield node.lineno, module


def _replaced_private_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield each private name that a call of ``setattr`` or ``delattr`` replaces, with its line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in {"setattr", "delattr"}:
            continue
        names = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
        for name in names:
            last = str(name).rpartition(".")[2]
            if last.startswith("_") and not last.startswith("__"):
                yield node.lineno, last
