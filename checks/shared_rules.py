"""Law 4: rules that CPU and GPU share include core/cpu/portable.hpp and each other alone, since NVRTC has no other header."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from checks.tree import Finding, files, name_of, without_comments

SHARED = (
    "core/types.def",
    "core/cpu/portable.hpp",
    "core/hash.hpp",
    "core/operators.hpp",
    "core/expressions/expression_values.hpp",
    "gpu/containers/slab_table.hpp",
    "primitives/float_scan.hpp",
    "primitives/float_sum.hpp",
    "arrange/bucket/bucket.hpp",
    "arrange/bucket/cells.hpp",
    "arrange/bucket/rules.hpp",
    "arrange/partition_rows/hash_rows.hpp",
    "arrange/partition_rows/equal_rows.hpp",
    "arrange/filter/filter.hpp",
    "arrange/gather/take.hpp",
    "core/expressions/expression_kernels.hpp",
    "arrange/search/search.hpp",
    "query/find/pattern/fold.hpp",
    "query/find/pattern/window.hpp",
    "query/find/paper/fingerprint.hpp",
    "query/match/automaton/match_rules.hpp",
    "index/hash_map/rules/map_operation.hpp",
    "index/hash_map/rules/seeded_hash.hpp",
    "index/sorted_map/level.hpp",
    "index/sorted_map/gpu/cut_task.hpp",
    "store/dictionary/rules/codes.hpp",
    "store/dictionary/rules/merge.hpp",
    "store/dictionary/paper/slices.hpp",
    "arrange/sort/sort_key.hpp",
    "structure/dfa.hpp",
    "structure/dialect_flags.hpp",
    "structure/emit.hpp",
    "structure/reached.hpp",
    "structure/gpu/dfa_tables.hpp",
    "structure/gpu/tile_summary.hpp",
    "structure/gpu/tile_start.hpp",
    "columns/rules/*.hpp",
)
"""Headers of rules, relative to src/headrace. To add one: a row here."""

_INCLUDE = re.compile(r'^\s*#\s*include\s*(<[^>]*>|"[^"]*")')


def check(root: Path) -> list[Finding]:
    package = root / "src" / "headrace"
    found = []
    for path in files(root, ".hpp", under="src/headrace"):
        if not _is_shared(name_of(path, package)):
            continue
        for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
            include = _INCLUDE.match(line)
            if include and not _is_shared(include.group(1).strip('"')):
                found.append(Finding(name_of(path, root), number, f"a shared rule may not include {include.group(1)}"))
    return found


def _is_shared(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in SHARED)
