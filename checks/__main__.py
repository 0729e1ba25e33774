"""`python -m checks`: every law on this tree; exit code 1 if any is broken."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from checks import (
    architecture,
    caches,
    coming_from,
    docs_run,
    error_pages,
    extras,
    features,
    figures,
    file_size,
    floating_point,
    folders,
    import_order,
    names,
    options,
    prose,
    ratchet,
    readme,
    shared_constants,
    shared_rules,
    spread,
    test_files,
    versions,
    who_knows_what,
    words,
)

STATIC = (
    import_order,
    folders,
    architecture,
    who_knows_what,
    shared_rules,
    file_size,
    floating_point,
    names,
    prose,
    words,
    options,
    shared_constants,
    spread,
    coming_from,
    caches,
    test_files,
    readme,
    features,
    figures,
    extras,
    versions,
    error_pages,
)
"""Laws that are read off the files. To add one: a module, its name here, and a broken example in tests/checks/."""

RUNNING = (docs_run,)
"""Laws that need the package installed."""


def main() -> int:
    """Print the findings, a line each, then one line that sums up."""
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1], help="tree to check (default: this one)")
    parser.add_argument("--static", action="store_true", help="only what needs no installed package")
    parser.add_argument(
        "--ratchet", action="store_true", help="write the counts of checks/ratchet.json that have fallen, and print all"
    )
    given = parser.parse_args()
    if given.ratchet:
        for name, (count, limit) in ratchet.lower_limits(given.root, (*prose.RULES, *names.RULES)).items():
            print(f"{name}: {count} (limit until now: {limit})")
        return 0
    laws = STATIC if given.static else STATIC + RUNNING
    for note in file_size.notes(given.root):
        print(f"note: {note}")
    findings = [finding for law in laws for finding in law.check(given.root)]
    for finding in findings:
        print(finding)
    print(f"checks: {len(laws)} laws, {len(findings)} finding(s)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
