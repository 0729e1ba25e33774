"""Sorts in one launch in all shapes that its kernels have, beside sorts by many launches and CUB: which to choose for how many.

Needs what bench.sort.gpu needs, which tells how it is timed and checked. Microseconds. A row: blocks that rank their own keys
among all, by threads and own keys by 32; blocks that meet, by threads and keys of a thread; many launches, as chosen
and by digits; what is chosen of all.

    python -m bench.sort.tune_small [--from 8] [--to 24] [--types u32,u64,32+32,64+64] [--ands 0] [--out FILE]
    python -m bench.sort.tune_small --fibers  # without a GPU: few keys under the fiber harness; no figures
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from bench.sort.gpu_machines import Case, Fibers, Machine
from bench.tables import Page
from headrace.arrange.sort.gpu.single_launch.single_launch import BlockShape, RankShape, SmallShapes, Way

WIDTHS = (4, 8)
RANKING = ((RankShape(512, 1), WIDTHS), (RankShape(512, 2), WIDTHS), (RankShape(512, 4), WIDTHS), (RankShape(512, 8), (8,)))
_SHAPES = ((512, 2), (512, 4), (512, 8), (512, 16))
MEETING = [BlockShape(8, threads, items, 1, meets=True) for threads, items in _SHAPES]
NO_WAY = SmallShapes((), (), ())
MOST = 1 << 31


def ways() -> dict[str, SmallShapes]:
    """One way each."""
    found = {}
    for rank, widths in RANKING:
        shapes = tuple((width, ((MOST, rank),)) for width in widths)
        found[f"ranked, {rank.threads} x {rank.own}"] = replace(NO_WAY, ranking=shapes)
    for block in MEETING:
        meeting = tuple((width, ((MOST, block),)) for width in WIDTHS)
        found[f"meeting, {block.threads} x {block.items}"] = replace(NO_WAY, meeting=meeting, meeting_with_values=meeting)
    return found


def may(way: Way | None, name: str, count: int) -> bool:
    """Whether it is one that a kernel is listed for, and blocks that meet are two at least."""
    if not isinstance(way, BlockShape):
        return way is not None
    if way.blocks(count) == 1:
        return False
    return name != "64+64" or way.items < 16


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

        def microseconds(count: int, small: SmallShapes | None, how: str | None = None, name: str = name) -> float | None:
            try:
                return count / machine.rate(Case(name, options.ands, count, how, small=small)) / 1e3
            except RuntimeError as error:  # a wrong answer: the others are worth having
                say(f"{error}")
                return None

        case = Case(name, 0, 1, None)
        for title, small in ways().items():
            taken: list[float | None] = []
            for count in counts:
                way = small.way(case.width, count, multiprocessors, has_values=case.has_values)
                taken.append(microseconds(count, small) if may(way, name, count) else None)
            row(title, taken)
        row("many launches", [microseconds(count, NO_WAY) for count in counts])
        row("many, by digits", [microseconds(count, NO_WAY, "digits") for count in counts])
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
