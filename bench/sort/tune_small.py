"""Times sorts in one launch in all block sizes, beside sorts by many launches and CUB, to find up to how many keys each pays.

Needs what bench.sort.gpu needs, whose documentation describes timing and checks. Times are in microseconds. The first rows are
the rank sort, by threads and keys of a block in units of 32. Then follow the cooperative sort, by threads and keys of a thread,
and sorts by many launches, automatic and LSD. The last row is the automatic choice.

    python -m bench.sort.tune_small [--from 8] [--to 24] [--types u32,u64,32+32,64+64] [--ands 0] [--out FILE]
    python -m bench.sort.tune_small --fibers  # without a GPU: few keys under the fiber harness; no figures
"""

from __future__ import annotations

import argparse

from bench.sort.gpu_machines import Case, Fibers, Machine
from bench.tables import Page
from headrace.arrange.sort.gpu.single_launch.tuning import (
    CooperativeTuning,
    KeySingleLaunch,
    RankSortTuning,
    SingleLaunch,
    SingleLaunchTuning,
)

MAX = 1 << 31
RANKS = ((RankSortTuning(MAX, 512, 2), (4, 8)), (RankSortTuning(MAX, 512, 4), (4, 8)), (RankSortTuning(MAX, 512, 8), (8,)))
COOPERATIVE = [CooperativeTuning(MAX, items) for items in (2, 4, 8, 16)]
NONE = SingleLaunchTuning(())


def ways() -> dict[str, SingleLaunchTuning]:
    """Return a table for each kernel, which has no other."""
    found = {}
    for rank, widths in RANKS:
        rows = tuple(KeySingleLaunch(width, (rank,), (), ()) for width in widths)
        found[f"ranked, {rank.threads} x {rank.block_groups}"] = SingleLaunchTuning(rows)
    for one in COOPERATIVE:
        rows = tuple(KeySingleLaunch(width, (), (one,), (one,)) for width in (4, 8))
        found[f"cooperative, {one.threads} x {one.items}"] = SingleLaunchTuning(rows)
    return found


def may(way: SingleLaunch | None, name: str, count: int) -> bool:
    """Return whether a program is listed for it; a cooperative launch must have two blocks at least."""
    if not isinstance(way, CooperativeTuning):
        return way is not None
    return way.grid(count) > 1 and (name != "64+64" or way.items < 16)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", type=int, default=8, dest="least")
    parser.add_argument("--to", type=int, default=24)
    parser.add_argument("--types", default="u32,u64,32+32,64+64")
    parser.add_argument("--ands", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--fibers", action="store_true")
    options = parser.parse_args()
    if options.fibers:
        machine: Machine = Fibers()
        multiprocessors, counts = 4, [100, 1 << 12]
    else:
        from bench.sort.gpu_card import Card  # needs PyTorch

        machine = Card()
        multiprocessors, counts = 132, [1 << bits for bits in range(options.least, options.to + 1)]
    page = Page()
    say = page.say
    say(f"# Sorts in one launch\n\n`python -m bench.sort.tune_small`; {machine.name}. Microseconds.")
    for name in options.types.split(","):
        page.head(name, "", [f"{count:_}" for count in counts])

        def row(title: str, taken: list[float | None]) -> None:
            say(f"| {title} | {' | '.join('' if one is None else f'{one:.1f}' for one in taken)} |")

        def microseconds(count: int, single: SingleLaunchTuning | None, how: str | None = None, name: str = name) -> float | None:
            try:
                return count / machine.rate(Case(name, options.ands, count, how, single=single)) / 1e3
            except RuntimeError as error:  # a wrong answer does not stop the other cases
                say(f"{error}")
                return None

        case = Case(name, 0, 1, None)
        for title, single in ways().items():
            taken: list[float | None] = []
            for count in counts:
                way = single.select(case.width, count, multiprocessors, has_values=case.has_values)
                taken.append(microseconds(count, single) if may(way, name, count) else None)
            row(title, taken)
        row("many launches", [microseconds(count, NONE) for count in counts])
        row("many, by digits", [microseconds(count, NONE, "digits") for count in counts])
        chosen = [microseconds(count, None) for count in counts]
        row("chosen", [*chosen])
        peers = machine.peers([(name, options.ands, count) for count in counts])
        if peers:
            theirs = [count / rate / 1e3 for count, rate in zip(counts, peers, strict=True)]
            row("CUB", [*theirs])
            row("CUB's time over ours", [b and a / b for a, b in zip(theirs, chosen, strict=True)])
    page.keep(options.out)


if __name__ == "__main__":
    main()
