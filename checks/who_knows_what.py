"""Law 4: bindings.* and .py alone know Python; .cu, .cuh and core/cpu/portable.hpp alone know CUDA. Comments may name both."""

from __future__ import annotations

import re
from pathlib import Path

from checks.tree import NATIVE, Finding, files, matches

_PYTHON = re.compile(r"nanobind|\bnb::|\bNB_\w+|pybind11|Python\.h|\bPy[A-Z_]\w*")
_UNSAFE_GIL = re.compile(r"\bgil_scoped_(?:release|acquire)\b|\bPy_(?:BEGIN|END)_ALLOW_THREADS\b")
"""Forms that abort the process if the interpreter ends while a daemon thread waits in them."""
_CUDA = re.compile(
    r"__CUDACC(?:_RTC)?__|__CUDA_ARCH__|__(?:global|device|host|shared|constant)__|\bcuda[A-Z_]\w*|<cuda[^>]*>|\bcub::"
)


def check(root: Path) -> list[Finding]:
    found: list[Finding] = []
    for path in files(root, *NATIVE, under="src"):
        if path.stem != "bindings":
            found += matches(path, root, _PYTHON, "only bindings.cpp and bindings.hpp may know Python: {0}", code_only=True)
        found += matches(path, root, _UNSAFE_GIL, "{0}: use GilRelease or with_gil of core/bindings.hpp", code_only=True)
        knows_cuda = path.suffix in {".cu", ".cuh"} or path.parts[-3:] == ("core", "cpu", "portable.hpp")
        if not knows_cuda:
            found += matches(path, root, _CUDA, "only .cu, .cuh and core/cpu/portable.hpp may know CUDA: {0}", code_only=True)
    return found
