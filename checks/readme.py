"""The README's two commands, taken from its text, so that CI runs the commands that a reader types.

``python -m checks.readme run`` prints the command that installs and runs the main job, ``... test`` the one that tests.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from checks.tree import Finding

COMMANDS = {"run": re.compile(r"pip install .*headrace demo"), "test": re.compile(r"pip install .*\bpytest\b")}

_FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELLS = {"", "sh", "bash", "shell", "console"}


def command(text: str, which: str) -> str:
    """The one line of a fenced shell block in `text` that is the command.

    Raises
    ------
    LookupError
        There is none, or several that differ.

    Examples
    --------
    >>> command("```sh\\n$ pip install '.[test]' && pytest\\n```\\n", "test")
    "pip install '.[test]' && pytest"
    """
    blocks = [block for language, block in _FENCED.findall(text) if language.strip() in _SHELLS]
    lines: list[str] = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    found = list(dict.fromkeys(line for line in lines if COMMANDS[which].search(line)))
    if len(found) != 1:
        raise LookupError(f"one fenced line must match {COMMANDS[which].pattern!r}; found {found or 'none'}")
    return found[0]


def check(root: Path) -> list[Finding]:
    path = root / "README.md"
    if not path.is_file():
        return [Finding("README.md", 0, "is missing")]
    found = []
    for which in COMMANDS:
        try:
            command(path.read_text(encoding="utf-8"), which)
        except LookupError as error:
            found.append(Finding("README.md", 0, str(error)))
    return found


if __name__ == "__main__":
    print(command((Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8"), sys.argv[1]))
