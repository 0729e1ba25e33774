"""A column type and options are named in few files, so that a new one needs few changes.

A model of each stands for the next one: the files of the package whose code names it are counted, comments and docstrings aside.
What a script writes does not count, nor does the name of an included file: neither is changed by hand for a new option.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from checks.tree import NATIVE, Finding, files, name_of, without_comments

MAX_FILES = {
    "time64": 6,
    "max_rejects": 6,
    "strict_quotes": 6,
    "escape_sequences": 6,
    "skip_initial_space": 6,
    "lenient_quotes": 6,
    "skip_blank_lines": 6,
}
"""Greatest number of files that name a model. A lower one is welcome, a greater one is a regression."""

MAX_FILES_OF_EXPORT = {"escape_sequences": 5}
"""The same in `export`, for options that `write_csv` has too: there it is an option of its own."""


_WRITTEN = re.compile(r"^ *# [^\n]*, written by python -m checks\.options\n.*?^ *# end of types\n", re.DOTALL | re.MULTILINE)
_INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)


def check(root: Path) -> list[Finding]:
    texts = {path: path.read_text(encoding="utf-8") for path in files(root, ".py", *NATIVE, under="src/headrace")}
    found = []
    for model, limit in MAX_FILES.items():
        named = re.compile(rf"\b{model}\b")
        names = [name_of(path, root) for path, text in texts.items() if named.search(text) and named.search(_code(path))]
        writer = [name for name in names if name.startswith("src/headrace/export/")] if model in MAX_FILES_OF_EXPORT else []
        reader = [name for name in names if name not in writer]
        for several, most in ((reader, limit), (writer, MAX_FILES_OF_EXPORT.get(model, 0))):
            if len(several) > most:
                message = f"{len(several)} files name {model}, at most {most} may: {', '.join(several)}"
                found.append(Finding("checks/spread.py", 0, message))
    return found


def _code(path: Path) -> str:
    text = _WRITTEN.sub("", path.read_text(encoding="utf-8"))
    if path.suffix != ".py":
        return _INCLUDE.sub("", without_comments(text))
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [child for child in node.body if not _is_docstring(child)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
