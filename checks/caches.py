"""Every module-level cache is listed in core/caches.py, and nothing else is.

A cache is one of three. It is a function or method with ``@cache`` or ``@lru_cache``, or a value of `IdentityCache`. Or it is
an empty dictionary, list, set or deque bound to a name in lower case (``_kept = {}``), which calls fill by convention.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from checks.tree import Finding, files, name_of, parsed

LIST = "src/headrace/core/caches.py"
_DECORATORS = {"cache", "lru_cache", "functools.cache", "functools.lru_cache"}
_MAKERS = re.compile(r"(?:IdentityCache|OrderedDict|defaultdict|deque|dict|list|set|Weak\w+)\(.*\)|\{\}|\[\]")
_VARIABLE = re.compile(r"[a-z_][a-z_0-9]*")


def check(root: Path) -> list[Finding]:
    package = root / "src" / "headrace"
    if not (root / LIST).is_file():
        return []
    cleared, kept = _listed(root / LIST)
    found: list[Finding] = []
    used: set[str] = set()
    for path in files(package, ".py"):
        if path.relative_to(package).parts[0] == "testing":
            continue
        module = ".".join(("headrace", *path.relative_to(package).with_suffix("").parts))
        for name, line in _caches(parsed(path.read_text(encoding="utf-8")).body):
            full = f"{module}.{name}"
            entries = {entry for entry in (*cleared, *kept) if entry == full or fnmatchcase(full, entry)}
            used |= entries
            if not entries:
                found.append(Finding(name_of(path, root), line, f"{name}: a cache that {LIST} does not list"))
    unused = {**cleared, **kept}.keys() - used
    return found + [Finding(LIST, {**cleared, **kept}[entry], f"{entry}: there is no such cache") for entry in sorted(unused)]


def _listed(path: Path) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the full names of `CLEARED`, and the patterns of `KEPT`, each with its line."""
    tables: dict[str, ast.Dict] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        table = next((part for part in ast.walk(value) if isinstance(part, ast.Dict)), None) if value is not None else None
        if isinstance(target, ast.Name) and table is not None:
            tables[target.id] = table
    pairs = {name: list(zip(table.keys, table.values, strict=True)) for name, table in tables.items()}
    cleared = {
        f"{ast.literal_eval(key)}.{name}": key.lineno
        for key, names in pairs.get("CLEARED", [])
        if key is not None
        for name in ast.literal_eval(names)
    }
    return cleared, {ast.literal_eval(key): key.lineno for key, _ in pairs.get("KEPT", []) if key is not None}


def _caches(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, int]]:
    """Yield the name and the line of each cache of a module or class."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _caches(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            if any(ast.unparse(_called(decorator)) in _DECORATORS for decorator in node.decorator_list):
                yield f"{owner}{node.name}", node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and _VARIABLE.fullmatch(target.id) and _MAKERS.fullmatch(_source(node.value)):
                yield f"{owner}{target.id}", node.lineno


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _source(value: ast.expr) -> str:
    """Return the source of a container without items: ``dict(zip(...))`` is a table, and no cache."""
    text = ast.unparse(value)
    is_table = isinstance(value, ast.Call) and value.args and ast.unparse(value.func) in {"dict", "list", "set"}
    return "" if is_table else text
