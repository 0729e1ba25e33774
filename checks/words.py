"""No word for "not done", no path of one machine, no test that is left out without a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checks.tree import NATIVE, Finding, files, matches, name_of, parsed

# Each pattern is written so that it does not match itself.
_UNDONE = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X|Not[I]mplementedError)\b")
_MACHINE_PATH = re.compile(r"(?<![\w.~/$}-])/(?:work|root|home|Users)/[\w.]*")
_LEFT_OUT = re.compile(r"\b(?:skip|skipif|xfail)\b")
_KEYWORD_ONLY = {"skipif"}


def check(root: Path) -> list[Finding]:
    found: list[Finding] = []
    texts = (".py", ".pyi", ".md", ".toml", ".ini", ".yaml", ".cmake", ".sh", "CMakeLists.txt", "run")
    for path in files(root, *texts, *NATIVE):
        found += matches(path, root, _UNDONE, "finish it or leave it out: {0}")
        found += matches(path, root, _MACHINE_PATH, "a path of one machine: {0}")
    for path in files(root, ".py", under="tests"):
        found += [
            Finding(name_of(path, root), line, f"pytest's {what} must give its reason") for line, what in _left_out_silently(path)
        ]
    return found


def _left_out_silently(path: Path) -> Iterator[tuple[int, str]]:
    """Uses of skip, skipif and xfail whose reason is missing or empty."""
    text = path.read_text(encoding="utf-8")
    if not _LEFT_OUT.search(text):
        return
    tree = parsed(text)
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"skip", "skipif", "xfail"} and _is_of_pytest(node.value):
            call = called.get(id(node))
            if call is None or not _has_reason(call, node.attr):
                yield node.lineno, node.attr


def _is_of_pytest(node: ast.expr) -> bool:
    return ast.unparse(node) in {"pytest", "pytest.mark", "mark"}


def _has_reason(call: ast.Call, what: str) -> bool:
    reasons = [keyword.value for keyword in call.keywords if keyword.arg in {"reason", "msg"}]
    if what not in _KEYWORD_ONLY and call.args:
        reasons.append(call.args[0])
    return any(not isinstance(reason, ast.Constant) or bool(reason.value) for reason in reasons)
