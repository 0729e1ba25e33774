"""Law 6: floating point means the same everywhere: no contraction, no fast mathematics, fused operations only by name."""

from __future__ import annotations

import re
from pathlib import Path

from checks.tree import NATIVE, Finding, files, matches, name_of

FUSED_BY_NAME: tuple[str, ...] = (
    "src/headrace/core/cpu/portable.hpp",  # fused(): exact remainders in columns/convert/gpu/digits.cuh
)
"""Files that may use fused multiply-add, each with its reason in a comment here."""

_NEEDED = "-ffp-contract=off"
_LOOSE = re.compile(
    r"-Ofast|-f(?:fast-math|unsafe-math-optimizations|associative-math|reciprocal-math|finite-math-only|no-signed-zeros)"
    r"|-ffp-contract=(?!off)\w*|-ffp-model=\S*|--?(?:use_fast_math|fmad=true)"
)
_LOOSE_CODE = re.compile(r"\bFP_CONTRACT\s+ON\b|\bfp\s+(?:contract|reassociate)\b|(?:GCC|clang)\s+optimize\b")
_FUSED = re.compile(r"\b(?:std::fma[fl]?|__builtin_fma[fl]?|fmaf?|__fmaf?_r[nzud])\s*\(|\b_mm\d*_\w*fn?m(?:add|sub)\w*\s*\(")


def check(root: Path) -> list[Finding]:
    found: list[Finding] = []
    options = root / "CMakeLists.txt"
    if not options.is_file() or _NEEDED not in options.read_text(encoding="utf-8"):
        found.append(Finding("CMakeLists.txt", 0, f"must compile everything with {_NEEDED}"))
    for path in files(root, "CMakeLists.txt", "pyproject.toml", ".cmake"):
        found += matches(path, root, _LOOSE, "changes what floating point means: {0}")
    for path in files(root, *NATIVE, under="src"):
        found += matches(path, root, _LOOSE_CODE, "changes what floating point means: {0}", code_only=True)
        if name_of(path, root) not in FUSED_BY_NAME:
            fused = "a fused operation: {0}...; name the file in checks/floating_point.py, or do without"
            found += matches(path, root, _FUSED, fused, code_only=True)
    return found
