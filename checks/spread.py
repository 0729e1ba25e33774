"""A column type and options are named in few files, so that a new one needs few changes.

A model of each stands for the next one: the files of the package whose code names it are counted, comments and docstrings aside.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from checks.tree import NATIVE, Finding, files, name_of, without_comments

MAX_FILES = {"time64": 6, "max_rejects": 7, "strict_quotes": 14, "escape_sequences": 18}
"""Greatest number of files that name a model. A lower one is welcome, a greater one is a regression."""


def check(root: Path) -> list[Finding]:
    texts = {path: path.read_text(encoding="utf-8") for path in files(root, ".py", *NATIVE, under="src/headrace")}
    found = []
    for model, limit in MAX_FILES.items():
        named = re.compile(rf"\b{model}\b")
        names = [name_of(path, root) for path, text in texts.items() if named.search(text) and named.search(_code(path))]
        if len(names) > limit:
            message = f"{len(names)} files name {model}, at most {limit} may: {', '.join(names)}"
            found.append(Finding("checks/spread.py", 0, message))
    return found


def _code(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return without_comments(text)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [child for child in node.body if not _is_docstring(child)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
