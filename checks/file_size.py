"""Law 5: no file over 500 lines; those over 300 are named. A decision has at most 80 lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checks.tree import NATIVE, Finding, files, name_of

MOST_LINES = 500
AIM_LINES = 300
MAX_DECISION = 80
FOLDERS = ("src", "tests", "bench", "checks", "tools")


def check(root: Path) -> list[Finding]:
    files_and_decisions = (
        (_sizes(root), MOST_LINES, "a file that outgrows this becomes a folder of its name"),
        (_decisions(root), MAX_DECISION, "attempts and their tables belong to bench/results"),
    )
    return [
        Finding(name, 0, f"{lines} lines; {limit} at most: {advice}")
        for sizes, limit, advice in files_and_decisions
        for name, lines in sizes
        if lines > limit
    ]


def notes(root: Path) -> list[str]:
    """Files that are longer than they should be, but not too long."""
    return [f"{name}: {lines} lines, aim under {AIM_LINES}" for name, lines in _sizes(root) if AIM_LINES < lines <= MOST_LINES]


def _sizes(root: Path) -> Iterator[tuple[str, int]]:
    for folder in FOLDERS:
        for path in files(root, ".py", ".pyi", *NATIVE, "CMakeLists.txt", under=folder):
            yield name_of(path, root), len(path.read_text(encoding="utf-8").splitlines())


def _decisions(root: Path) -> Iterator[tuple[str, int]]:
    for path in files(root, ".md", under="docs/decisions"):
        yield name_of(path, root), len(path.read_text(encoding="utf-8").splitlines())
