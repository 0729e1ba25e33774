"""Names are the field's standard terms (docs/style.md), type names are defined once, and no tuple stands for a missing type.

Each rule counts its findings; `checks/ratchet.json` has the highest count allowed (`checks/ratchet.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checks.ratchet import Rule, check_rules
from checks.tree import NATIVE, Finding, files, name_of, parsed, statements, without_comments

_BANNED = re.compile(
    r"\b_?(?:most_(?!common\b)\w+|least_\w+|MOST_\w+|LEAST_\w+|own_\w+|tol[d]|tell(?!\(\))|telling|nobod[y]|somebod[y]|whoeve[r]|quic[k]|[Rr]oom[s]?|settle[d]?"
    r"|given_\w+|so_man[y]|how_man[y]|who|bod[y]_of|tak[e]n|mad[e]|kep[t]|behin[d]|ahead[s]?)_?\b"
)
_TYPE = re.compile(
    r"^\s*(?:template\s*<[^>]*>\s*)?(?:struct|class|enum(?: class)?)\s+(\w+)\s*(?:final\s*)?(?::[^:;]*)?\{", re.MULTILINE
)


def check(root: Path) -> list[Finding]:
    return check_rules(root, RULES)


def private_idiom(root: Path) -> Iterator[Finding]:
    """Yield uses of identifiers that GLOSSARY.md replaces by standard terms."""
    for path in files(root, ".py", *NATIVE, under="src"):
        text = path.read_text(encoding="utf-8")
        lines = (_python_code(text) if path.suffix == ".py" else _native_code(text)).splitlines()
        for number, line in enumerate(lines, 1):
            for found in _BANNED.finditer(line):
                yield Finding(name_of(path, root), number, f"{found.group()!r}: GLOSSARY.md has the standard term")


def repeated_types(root: Path) -> Iterator[Finding]:
    """Yield definitions of a public type name that another module defines too, by language."""
    for suffixes in ((".py",), NATIVE):
        places: dict[str, list[Finding]] = {}
        for path in files(root, *suffixes, under="src"):
            for line, name in _types(path):
                places.setdefault(name, []).append(Finding(name_of(path, root), line, f"type {name} is defined more than once"))
        for name, found in places.items():
            if len({finding.path for finding in found}) > 1 and not name.startswith("_"):
                yield from found


def mixed_tuples(root: Path) -> Iterator[Finding]:
    """Yield parameters whose annotation is a tuple of unlike members: a type is missing."""
    for path in files(root, ".py", under="src"):
        text = path.read_text(encoding="utf-8")
        for node in statements(parsed(text)) if "tuple[" in text else ():
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                for argument in arguments:
                    if argument.annotation is not None and _is_mixed(argument.annotation):
                        yield Finding(name_of(path, root), argument.lineno, f"{argument.arg}: a tuple stands for a missing type")


def _python_code(text: str) -> str:
    """Blank docstrings, texts and comments, so that lines keep their numbers."""
    blanked = re.sub(
        r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"',
        lambda found: "\n" * found.group().count("\n"),
        text,
    )
    return re.sub(r"#[^\n]*", "", blanked)


def _native_code(text: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', without_comments(text))


def _types(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in parsed(text).body:
            if isinstance(node, ast.ClassDef):
                yield node.lineno, node.name
        return
    code = without_comments(text)
    for found in _TYPE.finditer(code):
        yield code.count("\n", 0, found.start(1)) + 1, found.group(1)


def _is_mixed(annotation: ast.expr) -> bool:
    """Return whether the annotation has a tuple of members of more than one type.

    Examples
    --------
    >>> (
    ...     _is_mixed(ast.parse("tuple[int, str] | None", mode="eval").body),
    ...     _is_mixed(ast.parse("tuple[int, int]", mode="eval").body),
    ... )
    (True, False)
    """
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "tuple" and isinstance(node.slice, ast.Tuple):
            members = {ast.unparse(member) for member in node.slice.elts} - {"..."}
            if len(members) > 1:
                return True
    return False


RULES = (
    Rule("uses of private identifiers", private_idiom),
    Rule("type names defined more than once", repeated_types),
    Rule("parameters that are mixed tuples", mixed_tuples),
)
