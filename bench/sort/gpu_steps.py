"""Times each kernel of a GPU sort by events around every launch, by type, number and kind of keys.

Needs the package, PyTorch and a GPU. Every answer is checked before its launches are timed. A figure is the median in
microseconds. A row has the launches of one kernel in all passes; --each separates them. Kernels below 5 microseconds share one
row. The last row is the sum with keys a nanosecond.

    python -m bench.sort.gpu_steps [--names u32,u64] [--bits 27,29] [--ands 0,3,-1] [--ways chosen,digits] [--each] [--out X.md]
    python -m bench.sort.gpu_steps --fibers  # without a GPU: tests the program; no figures
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from bench.sort.gpu_machines import Case, Fibers, Machine, MsdSorter
from bench.tables import Page
from headrace.arrange.sort.gpu.planner import Sorter
from headrace.arrange.sort.gpu.tuning import SortTuning

LITTLE = 5.0


def with_msd(tuning: SortTuning) -> SortTuning:
    """Return a tuning by which MSD may be chosen for any number of keys."""
    return replace(tuning, msd=tuple(replace(row, min_keys=1) for row in tuning.msd))


WAYS: Mapping[str, tuple[str | None, Callable[[SortTuning], SortTuning]]] = {
    "chosen": (None, lambda tuning: tuning),
    "digits": ("digits", lambda tuning: tuning),
    "hybrid": ("hybrid", lambda tuning: tuning),
    "parts": (
        None,
        with_msd,
    ),  # regardless of the plan
    "parts early": (None, with_msd),
}
"""Strategy and change of the tuning, by name."""
page = Page()
say = page.say


def named(ands: int) -> str:
    return "zeros" if ands < 0 else "uniform" if ands == 0 else f"{ands} AND"


def together(launches: list[tuple[str, float]], *, each: bool) -> dict[str, float]:
    """Return microseconds by kernel; `each`: by kernel and number of its launch."""
    found: dict[str, float] = {}
    seen: dict[str, int] = {}
    for name, taken in launches:
        seen[name] = seen.get(name, 0) + 1
        key = f"{name} {seen[name]}" if each else name
        found[key] = found.get(key, 0) + taken
    return found


def table(machine: Machine, cases: dict[str, Case], how: tuple[SortTuning, type[Sorter]], *, each: bool) -> None:
    columns = {title: together(machine.steps(case, *how), each=each) for title, case in cases.items()}
    rows = list(dict.fromkeys(name for column in columns.values() for name in column))
    large = [name for name in rows if max(column.get(name, 0) for column in columns.values()) >= LITTLE]
    page.head("", "", list(columns))
    for name in large:
        say(f"| {name} | {' | '.join(f'{column.get(name, 0):.0f}' for column in columns.values())} |")
    sums = [sum(column.values()) for column in columns.values()]
    rest = [total - sum(column.get(name, 0) for name in large) for total, column in zip(sums, columns.values(), strict=True)]
    say(f"| others | {' | '.join(f'{one:.0f}' for one in rest)} |")
    rates = [case.count / total / 1e3 for case, total in zip(cases.values(), sums, strict=True)]
    say(f"| all | {' | '.join(f'{total:.0f} ({rate:.1f} G/s)' for total, rate in zip(sums, rates, strict=True))} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", default="u32,u64")
    parser.add_argument("--bits", default="27,29")
    parser.add_argument("--ands", default="0,3,-1")
    parser.add_argument("--ways", default="chosen")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--fibers", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.fibers:
        machine: Machine = Fibers()
    else:
        from bench.sort.gpu_card import Card  # needs PyTorch

        machine = Card(peers=False)
    counts = [12_000] if options.fibers else [1 << int(bits) for bits in options.bits.split(",")]
    say(f"# Kernels of a sort, microseconds\n\n`python -m bench.sort.gpu_steps`, {datetime.now(UTC):%Y-%m-%d}; {machine.name}")
    for way in options.ways.split(","):
        strategy, shaped = WAYS[way]
        for name in options.names.split(","):
            say(f"\n## {name}, {way}")
            cases = {
                f"{named(ands)} {count:_}": Case(name, ands, count, strategy)
                for count in counts
                for ands in map(int, options.ands.split(","))
            }
            table(machine, cases, (shaped(machine.tuning), MsdSorter if way == "parts" else Sorter), each=options.each)
            page.keep(options.out)


if __name__ == "__main__":
    main()
