"""Law 5: no file over 500 lines; those over 300 are named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checks.tree import NATIVE, Finding, files, name_of

MOST_LINES = 500
AIM_LINES = 300
FOLDERS = ("src", "tests", "bench", "checks", "tools")


def check(root: Path) -> list[Finding]:
    return [
        Finding(name, 0, f"{lines} lines; {MOST_LINES} at most: a file that outgrows this becomes a folder of its name")
        for name, lines in _sizes(root)
        if lines > MOST_LINES
    ]


def notes(root: Path) -> list[str]:
    """Files that are longer than they should be, but not too long."""
    return [f"{name}: {lines} lines, aim under {AIM_LINES}" for name, lines in _sizes(root) if AIM_LINES < lines <= MOST_LINES]


def _sizes(root: Path) -> Iterator[tuple[str, int]]:
    for folder in FOLDERS:
        for path in files(root, ".py", ".pyi", *NATIVE, "CMakeLists.txt", under=folder):
            yield name_of(path, root), len(path.read_text(encoding="utf-8").splitlines())
