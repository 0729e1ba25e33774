"""Writes the verdicts as a table, and reads them back, so that a run of some mutants keeps the verdicts of the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant

RESULTS = Path(__file__).parent / "RESULTS.md"

_HEAD = """# Planted errors, and the tests that found them

Written by `python -m tests.mutation --write`; see
[docs/mutation-tests.md](../../docs/mutation-tests.md).
"""

_ROW = re.compile(r"\| (?P<name>\S+) \| .* \| (?:`(?P<found>.*)`|not found: .*) \|")


def read_table(path: Path) -> dict[str, str | None]:
    """Return the verdicts of a table: the test that found each mutant, None for mutants that are not found."""
    rows = (_ROW.fullmatch(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {row["name"]: row["found"] and row["found"].replace("\\|", "|") for row in rows if row}


def write_table(path: Path, mutants: Sequence[Mutant], verdicts: Mapping[str, str | None]) -> None:
    """One row for each mutant that was judged, below a summary by language and stage."""
    judged = [one for one in mutants if one.name in verdicts]
    lines = [_HEAD, *_summary(judged, verdicts), "", "| Error | File | Change | Found by |", "| --- | --- | --- | --- |"]
    for one in judged:
        found = verdicts[one.name]
        said = f"`{found}`" if found else f"not found: {one.survives or 'unexplained'}"
        cells = (one.name, one.file, f"`{one.token.strip()}` becomes `{one.becomes.strip() or 'nothing'}`", said)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _summary(judged: Sequence[Mutant], verdicts: Mapping[str, str | None]) -> list[str]:
    lines = ["| | Planted | Found |", "| --- | ---: | ---: |"]
    by_name: dict[str, list[Mutant]] = {}
    for one in judged:
        by_name.setdefault(one.group, []).append(one)
    for name, some in sorted(by_name.items()):
        lines.append(f"| {name} | {len(some)} | {sum(verdicts[one.name] is not None for one in some)} |")
    by_name = {}
    for one in judged:
        by_name.setdefault(_stage(one.file), []).append(one)
    for name, some in sorted(by_name.items()):
        lines.append(f"| `{name}` | {len(some)} | {sum(verdicts[one.name] is not None for one in some)} |")
    total = sum(verdicts[one.name] is not None for one in judged)
    lines.append(f"| all | {len(judged)} | {total} ({100 * total / max(len(judged), 1):.1f} %) |")
    return lines


def _stage(file: str) -> str:
    """The folder that a row of the summary is about."""
    first, *others = file.split("/")[:-1] or ["."]
    return "/".join([first, *others[:1]]) if first in {"columns", "core", "arrange"} else first
