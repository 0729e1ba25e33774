"""Holds counts of findings that may only fall, in `checks/ratchet.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from checks.tree import Finding

FILE = "checks/ratchet.json"


class Rule(NamedTuple):
    """A rule whose findings are counted: `name` is its key in the file, `find` yields its findings."""

    name: str
    find: Callable[[Path], Iterator[Finding]]


def check_rules(root: Path, rules: tuple[Rule, ...]) -> list[Finding]:
    """Return the findings of each rule that has more of them than the file allows; none are allowed without a row."""
    limits = read_limits(root)
    found: list[Finding] = []
    for rule in rules:
        broken = list(rule.find(root))
        limit = limits.get(rule.name, 0)
        if len(broken) > limit:
            found.append(Finding(FILE, 0, f"{rule.name}: {len(broken)}, {limit} at most; the last ones follow"))
            found += broken[limit - len(broken) :]
    return found


def read_limits(root: Path) -> dict[str, int]:
    """Return the highest counts allowed, by name of their rule."""
    path = root / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def lower_limits(root: Path, rules: tuple[Rule, ...]) -> dict[str, tuple[int, int | None]]:
    """Write counts that fell since, and those of new rules; return each rule's count and its limit until now."""
    limits = read_limits(root)
    counts = {rule.name: sum(1 for _ in rule.find(root)) for rule in rules}
    lowered = {name: min(count, limits.get(name, count)) for name, count in counts.items()}
    (root / FILE).write_text(json.dumps({**limits, **lowered}, indent=1) + "\n", encoding="utf-8")
    return {name: (count, limits.get(name)) for name, count in counts.items()}
