"""Every example runs and prints what its page shows: fenced blocks of README.md, the other pages and docs/, and docstrings.

The blocks of one page are one program, run in order in an empty folder. What a ``python`` block prints is compared with the
``text`` block directly below it; a block that begins with ``>>>`` has its output in itself. A ``console`` block has commands
after ``$``, each with its output. ``...`` in an output stands for any text. A block marked ``no-run`` is left alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from checks.tree import Finding, name_of

_BLOCK = re.compile(
    r"^```(?P<language>python|console)[ \t]*\n(?P<code>.*?)^```[ \t]*\n?(?:\n*^```text[ \t]*\n(?P<output>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
_SECONDS = 120


class Block(NamedTuple):
    """A block that must run. `line` is the line before its code, `output` what a ``text`` block below it shows."""

    language: str
    line: int
    code: str
    output: str | None


_RUN_DOCSTRINGS = """
import doctest, importlib, pkgutil, sys
import headrace
names = ["headrace", *(m.name for m in pkgutil.walk_packages(headrace.__path__, "headrace.") if not m.name.endswith("__main__"))]
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
tried = [doctest.testmod(importlib.import_module(name), optionflags=flags) for name in names]
sys.exit(any(result.failed for result in tried))
"""

_RUN_PAGE = r"""
import contextlib, doctest, io, json, re, subprocess, sys
name, blocks = json.load(sys.stdin)
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
shared = {"__name__": "__main__"}

def compare(shown, printed, line):
    if not doctest.OutputChecker().check_output(shown, printed, flags):
        sys.exit(f'File "{name}", line {line}\nthe page shows:\n{shown}\nbut the block prints:\n{printed}')

for language, line, code, output in blocks:
    if language == "console":
        for command in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            command, shown = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", command, re.DOTALL).groups()
            done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            compare(shown, done.stdout, line)
    elif code.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(code, {}, f"line {line}", name, line)
        test.globs = shared
        if doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed:
            sys.exit(1)
    else:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile("\n" * line + code, name, "exec"), shared)
        compare(output or "", printed.getvalue(), line)
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


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page that must run.

    Examples
    --------
    >>> blocks_of("A page.\\n```python\\nx = 1\\n```\\n```python no-run\\ny = 2\\n```\\n")
    [Block(language='python', line=2, code='x = 1\\n', output=None)]
    >>> blocks_of("```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n")
    [Block(language='python', line=1, code='print(1)\\n', output='1\\n')]
    """
    return [
        Block(match["language"], text.count("\n", 0, match.start("code")), match["code"], match["output"])
        for match in _BLOCK.finditer(text)
    ]


def _check_page(path: Path, root: Path) -> Finding | None:
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    if not blocks:
        return None
    error = _run(_RUN_PAGE, json.dumps([path.name, blocks]))
    return Finding(name_of(path, root), 0, f"an example fails:\n{error}") if error else None


def _run(program: str, given: str) -> str:
    """Return the error output of a program that runs in an empty folder; empty if it succeeded.

    Its shell finds the command ``headrace`` of this interpreter's package.
    """
    search = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as commands:
        command = Path(commands, "headrace")
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m headrace "$@"\n')
        command.chmod(0o755)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in search if path),
            "PATH": f"{commands}{os.pathsep}{os.environ.get('PATH', '')}",
            "COLUMNS": "100",
        }
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
