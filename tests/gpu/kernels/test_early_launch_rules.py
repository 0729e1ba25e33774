"""A kernel that begins early waits for the preceding launch first; one whose blocks wait for each other is cooperative."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headrace

pytestmark = pytest.mark.pure

PACKAGE = Path(headrace.__file__).parent
KERNEL = re.compile(r'extern "C" __global__[^{;]*?(\w+)\([^{;]*\) \{\n(.*?)\n\}', re.DOTALL)
ENTRY = re.compile(r'Entry\(\s*f?"([^"]+\.cu)"[^()]*(?:\([^()]*\)[^()]*)*mode=(\w+(?:\.\w+)?)\s*\)')
WAITS = "tile::wait_for_launch_before();"
WAITS_FOR_BLOCKS = "GridBarrier barrier("


def entries() -> set[tuple[str, str]]:
    """Each file of an entry, and the mode that it is launched with."""
    return {entry for path in PACKAGE.rglob("*.py") for entry in ENTRY.findall(path.read_text(encoding="utf-8"))}


def sources(file: str) -> list[Path]:
    """A file by its name, or all that a pattern of Python's may mean."""
    return sorted(PACKAGE.glob(re.sub(r"\{[^}]*\}", "*", file)))


def test_every_kernel_of_an_early_file_waits_first() -> None:
    files = {file for file, mode in entries() if mode == "LaunchMode.EARLY"}
    assert "arrange/sort/gpu/lsd/onesweep_pass.cu" in files
    for file in files:
        assert sources(file)
        for path in sources(file):
            kernels = KERNEL.findall(path.read_text(encoding="utf-8"))
            assert kernels
            early = [(name, body) for name, body in kernels if WAITS_FOR_BLOCKS not in body]  # the others are cooperative
            assert [name for name, body in early if not body.lstrip().startswith(WAITS)] == []


def test_every_kernel_whose_blocks_wait_for_each_other_is_launched_cooperatively() -> None:
    waiting = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.cu")
        if WAITS_FOR_BLOCKS in path.read_text(encoding="utf-8")
    }
    assert waiting == {
        "arrange/sort/gpu/single_launch/rank_sort.cu",  # where it sorts in place
        "arrange/sort/gpu/single_launch/cooperative_sort.cu",
        "arrange/sort/gpu/msd/scatter_stable.cu",
        "arrange/sort/gpu/msd/scatter_reserve.cu",
    }
    cooperative = {file for file, mode in entries() if mode == "LaunchMode.COOPERATIVE"}
    assert waiting - cooperative == {"arrange/sort/gpu/single_launch/rank_sort.cu"}  # whose mode depends on the arrays
