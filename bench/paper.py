"""Measures a paper's experiments as `headrace bench paper` does, and keeps the rows as a result.

usage: python -m bench.paper NAME [--device cpu|cuda] [--quick] [--out FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.machine import description_line
from bench.tables import Page
from headrace.cli.bench.experiment import Setting
from headrace.cli.bench.output import Measured, table_of
from headrace.cli.bench.registry import PAPERS, experiments_of


def main() -> int:
    """Measure all experiments, and write the page after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=tuple(PAPERS))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    setting, page = Setting(given.device, given.quick, repeats=3), Page()
    page.say(f"# {PAPERS[given.name].title}\n")
    page.say(description_line())
    for experiment in experiments_of(given.name):
        if experiment.needs_gpu and not setting.is_gpu:
            continue
        rows = tuple(experiment.measure(setting))
        page.say(f"\n```text\n{table_of(Measured(experiment, rows))}```")
        for row in rows:
            page.rows.append({"experiment": experiment.name, **row.parameters, "ours": row.ours, "paper": row.paper})
        page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
