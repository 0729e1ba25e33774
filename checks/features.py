"""The table of features: a feature that exists names the test that shows it, and one that does not exist has a reason.

A row is ``| feature | here | shown by, or why not | other readers ... |``; a test is a link such as
``[test_a.py::test_b](../tests/api/test_a.py)``. The cell of another reader is yes, partly or no, with ``?`` if it was not
checked, or –.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from checks.tree import Finding, parsed

PAGE = "docs/features.md"
ANSWERS = {"yes", "partly", "no"}

_TEST = re.compile(r"\[([^\]]*?)::([^\]]*)\]\(([^)]*)\)")
_HEADER = re.compile(r"\|[^|]*\| *here *\|")


def check(root: Path) -> list[Finding]:
    path = root / PAGE
    if not path.is_file():
        return []
    found: list[Finding] = []
    width = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if _HEADER.match(line):
            width = len(cells)
        elif not cells:
            width = 0
        elif width and set("".join(cells)) - set("-: "):
            found += [Finding(PAGE, number, message) for message in _faults(cells, width, path.parent)]
    return found


def _faults(cells: list[str], width: int, folder: Path) -> Iterator[str]:
    if len(cells) != width:
        yield f"{len(cells)} cells, but the table has {width} columns"
        return
    _, here, shown, *others = cells
    for answer in (here, *others):
        if answer.partition(" ")[0].removesuffix("?") not in {*ANSWERS, "–"}:
            yield f"neither yes, partly nor no: {answer!r}"
    tests = _TEST.findall(shown)
    if here != "no" and not tests:
        yield f"names no test: {shown!r}"
    if here != "yes" and not re.sub(r"[\W_]", "", _TEST.sub("", shown)):
        yield "does not say what is missing"
    for name, test, link in tests:
        if Path(link).name != name:
            yield f"{name} and its link {link} differ"
        elif test not in _tests_of(folder / link):
            yield f"there is no {name}::{test} in {link}"


def _tests_of(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    tree = parsed(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
