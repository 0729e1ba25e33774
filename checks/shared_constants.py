"""Constants that Python repeats from C++ have the values of C++.

Python names the source in the comment or docstring of a constant, or the docstring of an enumeration: ``FindFlag of
tile_start.hpp``. The source is a constant, a macro or an enumeration. Its names may have a prefix: ``FIND_REDO`` for ``REDO``.
Texts in the order of an enumeration may have other names, such as operators, if their number is that of the enumeration.
Kernels and modules that are read before the native part is built share no other mechanism; structs have core/layouts.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from checks.tree import Finding, files, name_of, parsed, without_comments

_SOURCE = re.compile(r"(?:\w+::)*\b((?=\w*[A-Z_])\w+|(?<=`)\w+(?=`)) ?`{0,2} of `{0,2}((?:\w+/)*\w+\.(?:hpp|cuh|cu))\b")
_INCLUDE = re.compile(r'#\s*include "([^"]+)"')
_CONSTANT = re.compile(r"^_?[A-Z][A-Z0-9_]*$")
_ENUM = r"\benum\s+(?:class\s+)?{}\b[^{{;]*\{{(.*?)\}}"
_VALUE = r"(?:\bconstexpr\s+(?P<type>[\w:]+)\s+{0}\s*=\s*(?P<value>[^;,]+)[;,]|#\s*define\s+{0}\s+(?P<macro>[^\n]+))"
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.Pow: operator.pow,
}


class Repeated(NamedTuple):
    """Values in Python, by name, and the name and file of their source in C++."""

    line: int
    values: Mapping[str, int]
    source: str
    file: str


def check(root: Path) -> list[Finding]:
    native = {name_of(path, root): path for path in files(root, ".hpp", ".cuh", ".cu", under="src/headrace")}
    found = []
    for path in files(root, ".py", under="src/headrace"):
        text = path.read_text(encoding="utf-8")
        faults = ((each.line, _fault(each, name_of(path, root), native)) for each in repeated(text))
        found += [Finding(name_of(path, root), line, message) for line, message in faults if message]
    return found


def repeated(text: str) -> Iterator[Repeated]:
    """Yield the constants and enumerations of a Python file that name a source in C++."""
    lines, body = text.splitlines(), parsed(text).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef) and {ast.unparse(base) for base in node.bases} & {"IntEnum", "IntFlag"}:
            values = {name: value for inner in node.body if isinstance(inner, ast.Assign) for name, value in _values(inner)}
            note = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign):
            values = dict(_values(node))
            note = lines[(node.end_lineno or 1) - 1].partition("  # ")[2] + " " + _docstring(following)
        else:
            continue
        source = _SOURCE.search(" ".join(note.split()))
        if source and values:
            yield Repeated(node.lineno, values, *source.groups())


def _values(node: ast.Assign) -> Iterator[tuple[str, int]]:
    """Yield names and values of an assignment: of numbers, of a mapping to numbers, or of names in their order."""
    target = node.targets[0]
    names = [ast.unparse(name) for name in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not all(map(_CONSTANT.match, names)):
        return
    if isinstance(node.value, ast.Dict) and len(names) == 1:
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            if isinstance(key, ast.Constant) and _is_number(value) and not str(key.value).startswith("HR_"):  # no macros
                yield str(key.value), number(value)
    elif isinstance(node.value, ast.Tuple) and len(names) == 1:
        texts = [item.value for item in node.value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        yield from ((text, place) for place, text in enumerate(texts))
    else:
        items = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        yield from ((name, number(item)) for name, item in zip(names, items, strict=False) if _is_number(item))


def _is_number(node: ast.expr) -> bool:
    try:
        number(node)
    except ValueError:
        return False
    return True


def number(node: ast.expr, known: Mapping[str, int] | None = None) -> int:
    """Return the value of an expression of numbers, and of names that are known. Raise ValueError for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    if isinstance(node, ast.Name) and known is not None and node.id in known:
        return known[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return int(_OPERATORS[type(node.op)](number(node.left, known), number(node.right, known)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.USub):
        inner = number(node.operand, known)
        return ~inner if isinstance(node.op, ast.Invert) else -inner
    raise ValueError(ast.unparse(node))


def _docstring(node: ast.stmt | None) -> str:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return ast.literal_eval(node.value) if is_text and isinstance(node, ast.Expr) else ""


def _fault(each: Repeated, path: str, native: Mapping[str, Path]) -> str | None:
    """Return how the constants differ from their source; None if they do not."""
    named = [name for name in native if name.endswith("/" + each.file)]
    near = [name for name in named if name.split("/")[:3] == path.split("/")[:3]] or named
    if len(near) != 1:
        return f"{each.file} is not the end of one path: {', '.join(near) or 'no such file'}"
    code = _with_includes(native[near[0]].read_text(encoding="utf-8"), native)
    try:
        wanted = enumerators(code, each.source) or dict.fromkeys(each.values, constant(code, each.source))
    except ValueError as error:
        return f"{each.source} of {each.file} is no enumeration and no constant that can be read ({error})"
    is_whole = list(each.values.values()) == list(range(len(wanted)))
    for name, value in each.values.items():
        keys = [key for key in wanted if key == name or ("_" + key.upper()).endswith("_" + name.strip("_").upper())]
        if not keys and (not is_whole or name.isupper()):
            return f"{each.source} of {each.file} has no {name}"
        if keys and value not in [wanted[key] for key in keys]:
            return f"{name} is {value}, but {wanted[keys[0]]} in {each.source} of {each.file}"
    return None


def _with_includes(code: str, native: Mapping[str, Path]) -> str:
    """Return code without comments, followed by the headers that it includes, but not those that these include."""
    included = [native[f"src/headrace/{name}"] for name in _INCLUDE.findall(code) if f"src/headrace/{name}" in native]
    return without_comments("".join([code, *(path.read_text(encoding="utf-8") for path in included)]))


def enumerators(code: str, name: str) -> dict[str, int]:
    """Return the values of an enumeration of C++; empty if there is none of this name.

    >>> enumerators("enum class Kind : u8 { empty, date = 4, time };", "Kind")
    {'empty': 0, 'date': 4, 'time': 5}
    """
    body = re.search(_ENUM.format(name), code, re.DOTALL)
    values: dict[str, int] = {}
    for part in body.group(1).split(",") if body else ():
        key, _, given = part.partition("=")
        if key.strip():
            values[key.strip()] = _evaluate(given, values) if given else max(values.values(), default=-1) + 1
    return values


def constant(code: str, name: str) -> int:
    """Return the value of a constant or a macro of C++. Raise ValueError if there is none, or if it is not made of numbers.

    >>> constant("constexpr u32 LANES = 8; constexpr u64 MAX_KEYS = u64{1} << 32 - LANES;", "MAX_KEYS")
    16777216
    >>> constant("constexpr u32 NO_FIELD = ~u32{0};", "NO_FIELD")
    4294967295
    """
    found = re.search(_VALUE.format(name), code)
    if not found:
        enums = (enumerators(code, enum) for enum in re.findall(r"\benum\s+(?:class\s+)?(\w+)", code))
        values = next((values for values in enums if name in values), None)
        if values is None:
            raise ValueError(f"no {name}")
        return values[name]
    text = found["value"] or found["macro"]
    others = sorted(set(re.findall(r"\b[A-Za-z_]\w+\b", _plain(text))))
    value = _evaluate(text, {other: constant(code, other) for other in others})
    bits = re.fullmatch(r"u(\d+)", found["type"] or "")
    return value % (1 << int(bits[1])) if bits else value


def _plain(text: str) -> str:
    """Return an expression of C++ as one of Python."""
    text = re.sub(r"(?<=[0-9A-Fa-f])'(?=[0-9A-Fa-f])", "", text.strip())
    text = re.sub(r"\b(?:[ui]\d+|usize|std::size_t)\{([^}]*)\}", r"(\1)", re.sub(r"static_cast<\w+>", "", text))
    return re.sub(r"\b(0x[0-9A-Fa-f]+|\d+)[uUlL]+\b", r"\1", text).replace("/", "//")


def _evaluate(text: str, known: Mapping[str, int]) -> int:
    try:
        return number(ast.parse(_plain(text), mode="eval").body, known)
    except SyntaxError as error:
        raise ValueError(text) from error
