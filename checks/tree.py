"""Defines the basis of all checks: the files of the tree, and the findings in them."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_LEFT_OUT = {"build", "dist", "data", "carry", "node_modules", "__pycache__"}
"""Folders of build results or data. Those that begin with a dot are left out, too, except ``.ci``."""

NATIVE = (".cpp", ".hpp", ".cu", ".cuh", ".def")


class Finding(NamedTuple):
    """A place that breaks a law. `path` is relative to the root of the tree; `line` counts from 1, 0 is the whole file."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}"


def files(root: Path, *suffixes: str, under: str = ".") -> Iterator[Path]:
    """Files of those suffixes (or whole names, such as ``CMakeLists.txt``) in a folder of the tree, sorted."""
    found = []
    for folder, folders, names in os.walk(root / under):
        folders[:] = [name for name in folders if name not in _LEFT_OUT and (not name.startswith(".") or name == ".ci")]
        found += [Path(folder, name) for name in names if name in suffixes or os.path.splitext(name)[1] in suffixes]
    yield from (path for path in sorted(found) if path.is_file())


@functools.cache  # several laws read each file
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a Python file. Laws share it: none may change it."""
    return ast.parse(text)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node. Expressions are not entered, which takes most of the time of `ast.walk`."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        part = getattr(node, name, None)
        for inner in part if isinstance(part, list) else ():
            yield inner
            yield from statements(inner)


def name_of(path: Path, root: Path) -> str:
    """The path as findings show it.

    Examples
    --------
    >>> name_of(Path("/tree/src/a.py"), Path("/tree"))
    'src/a.py'
    """
    return path.relative_to(root).as_posix()


_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def without_comments(code: str) -> str:
    """C++ with its comments blanked, so that lines keep their numbers; texts stay.

    Examples
    --------
    >>> without_comments('f("//");  // calls f')
    'f("//");  '
    """

    def blanked(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else "\n" * found.count("\n")

    return _COMMENT_OR_TEXT.sub(blanked, code)


def matches(path: Path, root: Path, pattern: re.Pattern[str], message: str, *, code_only: bool = False) -> Iterator[Finding]:
    """A finding for each line that `pattern` is found in; ``{0}`` in the message is the text found."""
    text = path.read_text(encoding="utf-8")
    lines = (without_comments(text) if code_only else text).splitlines()
    for number, line in enumerate(lines, 1):
        if found := pattern.search(line):
            yield Finding(name_of(path, root), number, message.format(found.group().strip()))
