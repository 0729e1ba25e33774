"""Measures sorting on a GPU beside CUB: the targets, the paper's twelve entropies, sizes from 2^10 to 2^30, and its ablation.

Needs the package, nvcc, PyTorch and a GPU; matplotlib for pictures. Every answer is checked before it is timed. Keys must be in
order and equal to the given ones, and values must follow their keys. If the sort is stable, values of equal keys must keep their
order. A figure is the median of device events around a whole call, with counting and allocations. The stream is kept busy before,
so the time excludes the host's launches. The limit is a copy in the same run, for the bytes that a sort by two parts must move:
28 and 56 for a key of 4 and 8 bytes, 52 and 104 for a pair.

CUB is the better of its kernels for a 32-bit and a 64-bit item count. The table *called* has the public functions, by the kernel
and by the call. By the call, the GPU is idle when the call begins, so the time includes the host's work.

    python -m bench.sort.gpu [--tables called,floats,sizes,entropies,both,orders,ablation] [--out bench/results/h200/NAME.md]
    python -m bench.sort.gpu --fibers  # without a GPU: tests the program with few keys in the fiber harness; no figures
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import headrace
from bench.sort.gpu_machines import Case, Fibers, Machine
from bench.tables import Page
from headrace.arrange.sort.gpu.msd.tuning import HybridOptions

ENTROPIES = (*range(11), -1)
"""Number of words ANDed to a uniform word (Thearling and Smith 1992); -1: zeros."""
NAMES = ("u32", "u64", "32+32", "64+64")
LIMIT_BYTES = {"u32": 28, "u64": 56, "32+32": 52, "64+64": 104}
ITEM_BYTES = {"u32": 4, "u64": 8, "32+32": 8, "64+64": 16}
TARGETS = {"u32": 90, "u64": 55, "32+32": 48, "64+64": 26}
OFF = {
    "no look-ahead": HybridOptions(looks_ahead=False),
    "no thread reduction": HybridOptions(reduces=False),
    "one local configuration": HybridOptions(by_size=False),
    "no merging": HybridOptions(merges=False),
    "neither of these two": HybridOptions(by_size=False, merges=False),
    "no counts kept (ours)": HybridOptions(keeps_counts=False),
}
"""Figures 11 to 14 of the paper, one for each type of keys."""
page = Page()
say, head = page.say, page.head


class Sizes(NamedTuple):
    """Numbers of keys in the tables."""

    large: dict[str, int]
    ablation: dict[str, int]
    sweep: tuple[int, ...]
    entropies: tuple[int, ...]
    middle: tuple[int, ...]
    orders: int
    called: tuple[int, ...]
    skewed: tuple[int, ...]


OF_A_GPU = Sizes(
    {"u32": 500_000_000, "u64": 250_000_000, "32+32": 250_000_000, "64+64": 125_000_000},
    {"u32": 500_000_000, "u64": 250_000_000, "32+32": 250_000_000, "64+64": 125_000_000},
    tuple(1 << bits for bits in (10, 12, 14, 16, 18, *range(20, 27), 28, 30)),
    ENTROPIES,
    tuple(1 << bits for bits in (18, 20, *range(22, 27))),
    1 << 28,
    tuple([1 << bits for bits in (16, 18, 20, 22, 23, 24, 25, 27)] + [250_000_000, 500_000_000]),
    (1 << 23, 1 << 25, 250_000_000),
)
OF_FIBERS = Sizes(
    dict.fromkeys(NAMES, 12_000),
    dict.fromkeys(NAMES, 10_000),
    (1 << 10, 5000),
    (0, 3, -1),
    (3000, 5000),
    6000,
    (3000,),
    (3000,),
)


def cell(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def named(ands: int) -> str:
    return "zeros" if ands < 0 else "uniform" if ands == 0 else f"{ands} AND"


def entropies(machine: Machine, sizes: Sizes) -> dict[str, dict[str, list[float]]]:
    """Return rates by type and algorithm."""
    found: dict[str, dict[str, list[float]]] = {}
    for name in NAMES:
        count = sizes.large[name]
        limit = machine.copied / LIMIT_BYTES[name] / 1e9
        head(
            f"{name}: {count:_} keys or pairs, 10^9 a second",
            f"Target, uniform: {TARGETS[name]}; no less than CUB at any entropy. The limit: {cell(limit)}. Percent: of that.",
            [named(ands) for ands in sizes.entropies],
        )
        theirs = machine.peers([(name, ands, count) for ands in sizes.entropies])
        ways: dict[str, list[float]] = {"CUB": theirs} if theirs else {}
        for way in ("chosen", "digits", "hybrid"):
            ways[way] = [machine.rate(Case(name, ands, count, None if way == "chosen" else way)) for ands in sizes.entropies]
        for way, rates in ways.items():
            say(f"| {way} | {' | '.join(f'{cell(rate)} ({rate / limit:.0%})' for rate in rates)} |")
        if theirs:
            for way in ("chosen", "digits", "hybrid"):
                say(f"| {way} over CUB | {' | '.join(f'{a / b:.2f}' for a, b in zip(ways[way], theirs, strict=True))} |")
        found[name] = ways
    return found


def by_size(machine: Machine, sizes: Sizes) -> dict[str, dict[str, list[float]]]:
    """Return rates of uniform keys by type, for headrace and CUB."""
    found: dict[str, dict[str, list[float]]] = {}
    for ands in [a for a in (0, 2, -1) if a in sizes.entropies or a == 2]:
        head(f"By size, {named(ands)}: 10^9 a second", "Ours, CUB's, ratio.", [f"{count:_}" for count in sizes.sweep])
        for name in NAMES:
            fitting = [count for count in sizes.sweep if count * ITEM_BYTES[name] <= 2**33]
            ours = [machine.rate(Case(name, ands, count, None)) for count in fitting]
            theirs = machine.peers([(name, ands, count) for count in fitting])
            empty = " |" * (len(sizes.sweep) - len(fitting))
            say(f"| {name} | {' | '.join(cell(rate) for rate in ours)} |{empty}")
            if theirs:
                say(f"| {name}, CUB | {' | '.join(cell(rate) for rate in theirs)} |{empty}")
                say(f"| {name}, ratio | {' | '.join(f'{a / b:.2f}' for a, b in zip(ours, theirs, strict=True))} |{empty}")
            if ands == 0:
                found[name] = {"headrace": ours, **({"CUB": theirs} if theirs else {})}
    return found


def called(machine: Machine, sizes: Sizes) -> None:
    """Print rates of the public functions and of CUB, by the kernel and by the call."""
    for name in NAMES:
        cases = [(name, ands, count) for count in sizes.called for ands in ((0, 2) if count in sizes.skewed else (0,))]
        called_cases(machine, name, cases, named)


def floats(machine: Machine, sizes: Sizes) -> None:
    """Print rates of `headrace.sort` and of CUB for floats of a normal and an exponential distribution."""
    for name in ("f32", "f64"):
        cases = [(name, which, count) for count in sizes.called for which in (0, 1)]
        called_cases(machine, name, cases, ("normal", "exponential").__getitem__)


def called_cases(machine: Machine, name: str, cases: list[tuple[str, int, int]], named: Callable[[int], str]) -> None:
    """Print one table of rates of a public function and of CUB."""
    columns = ["call", "CUB, call", "ratio", "kernel", "CUB, kernel", "ratio", "CUB's number of items"]
    head(f"{name}, as called: 10^9 keys or pairs a second", "", columns)
    theirs = machine.peers_called(cases) or [None] * len(cases)
    for (_, ands, count), peer in zip(cases, theirs, strict=True):
        kernel, call = machine.called(Case(name, ands, count, None))
        found = {"cub_call": peer.rates.call, "cub_kernel": peer.rates.kernel, "cub": peer.count} if peer else {}
        row = page.figure(table="sort", type=name, data=named(ands), n=count, call=call, kernel=kernel, **found)
        cells = [cell(call), cell(row.get("cub_call")), over(call, row.get("cub_call"))]
        cells += [cell(kernel), cell(row.get("cub_kernel")), over(kernel, row.get("cub_kernel")), str(row.get("cub", ""))]
        say(f"| {count:_}, {named(ands)} | {' | '.join(cells)} |")


def over(ours: float, theirs: float | None) -> str:
    return "" if theirs is None else f"{ours / theirs:.2f}"


def by_both(machine: Machine, sizes: Sizes) -> None:
    """Compare the automatic choice and LSD with CUB, by size and entropy: it shows where one algorithm replaces another."""
    for name in NAMES:
        head(f"{name}: over CUB", "What is chosen, and by digits.", [named(ands) for ands in sizes.entropies])
        for count in sizes.middle:
            theirs = machine.peers([(name, ands, count) for ands in sizes.entropies])
            for way in (None, "digits"):
                ours = [machine.rate(Case(name, ands, count, way)) for ands in sizes.entropies]
                cells = [f"{a / b:.2f}" for a, b in zip(ours, theirs, strict=True)] if theirs else [cell(rate) for rate in ours]
                say(f"| {count:_}{', digits' if way else ''} | {' | '.join(cells)} |")


def ablation(machine: Machine, sizes: Sizes) -> dict[str, dict[str, list[float]]]:
    """Print the percentage of the hybrid's rate for each switch that is off."""
    found: dict[str, dict[str, list[float]]] = {}
    for figure, name in enumerate(NAMES, 11):
        count = sizes.ablation[name]
        text = f"{count:_} of {name}: change of the rate, in percent, against the hybrid with all of it. First row: its rate."
        head(f"Figure {figure}: the ablation", text, [named(ands) for ands in sizes.entropies])
        whole = [machine.rate(Case(name, ands, count, "hybrid")) for ands in sizes.entropies]
        say(f"| all | {' | '.join(cell(rate) for rate in whole)} |")
        found[name] = {}
        for what, options in OFF.items():
            if "+" in name and not options.keeps_counts:
                continue  # values follow their keys by these counts
            rates = [machine.rate(Case(name, ands, count, "hybrid", options)) for ands in sizes.entropies]
            changes = found[name][what] = [100 * (rate / all_on - 1) for rate, all_on in zip(rates, whole, strict=True)]
            say(f"| {what} | {' | '.join(f'{change:+.0f}' for change in changes)} |")
    return found


def orders(machine: Machine, sizes: Sizes) -> None:
    kinds = ("sorted", "reversed", "all but sorted", "few values", "fifty values", "half one value", "Zipf")
    text = "What is chosen, and by digits. Few values: below 10. Zipf: 2^20 values, the r-th with a share like 1 / r."
    head(f"Keys in some order, or of some values: {sizes.orders:_}, 10^9 a second", text, list(kinds))
    for name in NAMES:
        for way in (None, "digits"):
            rates = [machine.rate(Case(name, 0, sizes.orders, way, kind=kind)) for kind in kinds]
            say(f"| {name}{', digits' if way else ''} | {' | '.join(cell(rate) for rate in rates)} |")


def pictures(found: dict[str, dict[str, dict[str, list[float]]]], sizes: Sizes, out: Path) -> None:
    """Write a PNG for each table, with a curve for each row."""
    try:
        import matplotlib
    except ImportError:
        return say("\nNo matplotlib, so no pictures.")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    def drawn(title: str, x: list[Any], curves: dict[str, list[float]], unit: str) -> None:
        figure, axes = pyplot.subplots(figsize=(7, 4))
        for label, values in curves.items():
            axes.plot([str(one) for one in x[: len(values)]], values, marker="o", label=label)
        axes.set(title=title, ylabel=unit)
        axes.tick_params(axis="x", rotation=45)
        axes.legend()
        figure.tight_layout()
        figure.savefig(out.with_name(f"{out.stem}-{title.replace(' ', '-').replace('+', '-')}.png"), dpi=110)
        pyplot.close(figure)

    names = [named(ands) for ands in sizes.entropies]
    drawings = {
        "entropies": ("entropy", names, "10^9 a second"),
        "sizes": ("size", [f"{count:_}" for count in sizes.sweep], "10^9 a second"),
        "ablation": ("ablation", names, "percent"),
    }
    for title in drawings.keys() & found.keys():
        what, x, unit = drawings[title]
        for name in NAMES:
            drawn(f"{what} {name}", x, found[title][name], unit)
    return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="called,floats,sizes,entropies,both,orders,ablation")
    parser.add_argument("--out")
    parser.add_argument("--fibers", action="store_true")
    options = parser.parse_args()
    page.out = options.out
    if options.fibers:
        machine: Machine = Fibers()
    else:
        from bench.sort.gpu_card import Card  # needs PyTorch

        machine = Card()
    sizes = OF_FIBERS if options.fibers else OF_A_GPU
    say(f"# Sorting on a GPU\n\n`python -m bench.sort.gpu`, {datetime.now(UTC):%Y-%m-%d}; {machine.name}, headrace")
    say(f"{headrace.__version__}. Every answer checked; CUB of the toolkit in the same run.")
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    tables: dict[str, Callable[[Machine, Sizes], Any]] = {
        "called": called, "floats": floats, "sizes": by_size, "entropies": entropies, "both": by_both, "orders": orders,
        "ablation": ablation,
    }  # fmt: skip
    for title in options.tables.split(","):
        found[title] = tables[title](machine, sizes)
        page.keep(options.out)  # so that an interrupted run keeps its results
    if options.out:
        pictures(found, sizes, Path(options.out))
        page.keep(options.out)


if __name__ == "__main__":
    main()
