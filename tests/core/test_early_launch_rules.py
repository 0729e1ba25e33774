"""A kernel that begins before the launch in front of it has ended waits for that first of all; the launches say which do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headrace

pytestmark = pytest.mark.pure

PACKAGE = Path(headrace.__file__).parent
KERNEL = re.compile(r'extern "C" __global__[^{;]*?(\w+)\([^{;]*\) \{\n\s*([^\n]*)\n')
ENTRY = re.compile(r'Entry\(\s*f?"([^"]+\.cu)"[^()]*(?:\([^()]*\)[^()]*)*begins_early=True\s*\)')
WAITS = "tile::wait_for_launch_before();"


def early_files() -> set[str]:
    return {file for path in PACKAGE.rglob("*.py") for file in ENTRY.findall(path.read_text(encoding="utf-8"))}


def sources(file: str) -> list[Path]:
    """A file by its name, or all that a pattern of Python's may mean."""
    return sorted(PACKAGE.glob(re.sub(r"\{[^}]*\}", "*", file)))


def test_every_kernel_of_an_early_file_waits_first() -> None:
    files = early_files()
    assert "arrange/sort/digits/sort_pass.cu" in files
    for file in files:
        assert sources(file)
        for path in sources(file):
            kernels = KERNEL.findall(path.read_text(encoding="utf-8"))
            assert kernels
            assert [name for name, first in kernels if first != WAITS] == []
