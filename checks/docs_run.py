"""Every example runs: the fenced ``python`` blocks of README.md, the other pages and docs/, and the package's docstrings.

The blocks of one page are one program, run in order in an empty folder. A block that begins with ``>>>`` must print the output
that it shows. A block marked ``python no-run`` is left alone.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.tree import Finding, name_of

_BLOCK = re.compile(r"^```python[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SECONDS = 120

_RUN_DOCSTRINGS = """
import doctest, importlib, pkgutil, sys
import headrace
names = ["headrace", *(m.name for m in pkgutil.walk_packages(headrace.__path__, "headrace.") if not m.name.endswith("__main__"))]
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
tried = [doctest.testmod(importlib.import_module(name), optionflags=flags) for name in names]
sys.exit(any(result.failed for result in tried))
"""

_RUN_PAGE = """
import doctest, json, sys
name, blocks = json.load(sys.stdin)
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
shared = {"__name__": "__main__"}
for line, code in blocks:
    if code.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(code, {}, f"line {line}", name, line)
        test.globs = shared
        if doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed:
            sys.exit(1)
    else:
        exec(compile("\\n" * line + code, name, "exec"), shared)
"""


def check(root: Path) -> list[Finding]:
    found = check_pages(root)
    if error := _run(_RUN_DOCSTRINGS, ""):
        found.append(Finding("src/headrace", 0, f"an example of a docstring fails:\n{error}"))
    return found


def check_pages(root: Path) -> list[Finding]:
    """Return the pages of a tree that have an example that fails."""
    return [page for path in pages(root) if (page := _check_page(path, root))]


def pages(root: Path) -> list[Path]:
    """Markdown of the root and of docs/."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def blocks_of(text: str) -> list[tuple[int, str]]:
    """Line before the code (so that the code's first line is the next), and code, of each block that must run.

    Examples
    --------
    >>> blocks_of("A page.\\n```python\\nx = 1\\n```\\n```python no-run\\ny = 2\\n```\\n")
    [(2, 'x = 1\\n')]
    """
    return [(text.count("\n", 0, block.start(1)), block.group(1)) for block in _BLOCK.finditer(text)]


def _check_page(path: Path, root: Path) -> Finding | None:
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    if not blocks:
        return None
    error = _run(_RUN_PAGE, json.dumps([path.name, blocks]))
    return Finding(name_of(path, root), 0, f"an example fails:\n{error}") if error else None


def _run(program: str, given: str) -> str:
    """Return the error output of a program that runs in an empty folder; empty if it succeeded."""
    search = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in search if path)}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                input=given,
                capture_output=True,
                text=True,
                cwd=folder,
                env=environment,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"took more than {_SECONDS} seconds"
    return "" if done.returncode == 0 else (done.stderr + done.stdout).strip() or f"exit code {done.returncode}"
