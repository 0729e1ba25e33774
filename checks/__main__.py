"""`python -m checks`: every law on this tree; exit code 1 if any is broken."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from checks import (
    caches,
    docs_run,
    extras,
    features,
    figures,
    file_size,
    floating_point,
    folders,
    import_order,
    options,
    readme,
    shared_rules,
    who_knows_what,
    words,
)

STATIC = (
    import_order,
    folders,
    who_knows_what,
    shared_rules,
    file_size,
    floating_point,
    words,
    options,
    caches,
    readme,
    features,
    figures,
    extras,
)
"""Laws that are read off the files. To add one: a module, its name here, and a broken example in tests/checks/."""

RUNNING = (docs_run,)
"""Laws that need the package installed."""


def main() -> int:
    """Print what is found, a line each, then one line that sums up."""
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1], help="tree to check (default: this one)")
    parser.add_argument("--static", action="store_true", help="only what needs no installed package")
    given = parser.parse_args()
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
