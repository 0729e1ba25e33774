"""All files that state the version of the package state the same one."""

from __future__ import annotations

import re
from pathlib import Path

from checks.tree import Finding

_NUMBER = r"([0-9][0-9a-z.]*)"
PLACES = (
    ("pyproject.toml", re.compile(rf'^version = "{_NUMBER}"', re.MULTILINE)),
    ("pyproject.toml", re.compile(rf"headrace-kernels-cuda13=={_NUMBER}")),
    ("packages/kernels-cuda13/pyproject.toml", re.compile(rf'^version = "{_NUMBER}"', re.MULTILINE)),
    ("src/headrace/__init__.py", re.compile(rf'^__version__ = "{_NUMBER}"', re.MULTILINE)),
    ("CITATION.cff", re.compile(rf"^version: {_NUMBER}", re.MULTILINE)),
    ("CHANGELOG.md", re.compile(rf"^## \[{_NUMBER}\]", re.MULTILINE)),
)
"""Files, and where each has the version. The first is compared with the others."""


def check(root: Path) -> list[Finding]:
    if not (root / PLACES[0][0]).is_file():
        return []
    found = [(name, _stated(root / name, pattern)) for name, pattern in PLACES]
    wanted = found[0][1]
    return [
        Finding(name, 0, f"states the version {version!r}; pyproject.toml has {wanted!r}")
        for name, version in found
        if version != wanted or version is None
    ]


def _stated(path: Path, pattern: re.Pattern[str]) -> str | None:
    match = pattern.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return match[1] if match else None
