"""Times the tiles of stable passes by size: mean microseconds of a pass, and the sort's keys a nanosecond.

Needs the package, PyTorch and a GPU. Every answer is checked. Rows are sizes (threads of a block, keys of a thread, blocks of a
multiprocessor). Values move together with their keys, after them, or separately, as columns of any width do.

    python -m bench.sort.tune_tiles [--names u32,32+32] [--count 125000000] [--ands 0,3] [--steps digits,parts] [--out X.md]
    python -m bench.sort.tune_tiles --fibers  # without a GPU: tests the program; no figures
"""

from __future__ import annotations

import argparse
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from bench.sort.gpu_machines import Case, Fibers, Machine, MsdSorter
from bench.tables import Page
from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.lsd.tuning import ANY_WIDTH, TileTuning
from headrace.arrange.sort.gpu.planner import Sorter
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.core.errors import HeadraceError
from headrace.gpu.kernels.compile import cubin_of
from headrace.gpu.kernels.source import Variant

TILES: dict[str, list[TileTuning]] = {
    "u32": [TileTuning(*shape) for shape in ((384, 32, 2), (320, 32, 2), (512, 24, 2), (768, 32, 1))],
    "u64": [TileTuning(*shape) for shape in ((256, 32, 2), (384, 20, 2), (384, 16, 2), (512, 16, 2))],
    "32+32": [
        *(TileTuning(*shape, 4) for shape in ((256, 32, 2), (320, 24, 2), (384, 20, 2), (640, 24, 1), (768, 20, 1))),
        TileTuning(320, 32, 2, 4, values_follow=True),
        TileTuning(384, 16, 2, 1),
    ],
    "64+64": [
        *(TileTuning(256, items, 2, 8, values_follow=True) for items in (20, 24, 28, 32)),
        *(
            TileTuning(*shape, 8, values_follow=True)
            for shape in ((320, 20, 2), (320, 24, 2), (384, 16, 2), (256, 20, 3), (768, 16, 1))
        ),
        *(TileTuning(*shape, 8) for shape in ((512, 12, 1), (384, 12, 2), (640, 14, 1), (768, 12, 1), (896, 10, 1))),
        TileTuning(512, 12, 1, 1),
    ],
}
KERNELS = {"digits": "onesweep_pass", "parts": "scatter_stable"}
FOLDERS = {"digits": "lsd", "parts": "msd"}


def with_tile(tuning: SortTuning, name: str, tile: TileTuning) -> SortTuning:
    """Return a tuning with this tile for one kind of keys; each MSD pass has its own launches."""
    width = 8 if "64" in name else 4
    lsd = tuning.lsd
    row = lsd.tiles_of(width)
    if "+" not in name:
        row = replace(row, keys_only=tile)
    elif tile.value_bytes == ANY_WIDTH:
        row = replace(row, any_values=tile, same_width=None)
    else:
        row = replace(row, same_width=tile, few_same_width=None)
    same_width = tile if "+" in name and tile.value_bytes != ANY_WIDTH else None
    msd = tuple(
        replace(one, pairs=replace(one.pairs, tail_from=None), few_pairs=(), same_width=same_width or one.same_width)
        for one in tuning.msd
    )
    return replace(tuning, lsd=replace(lsd, tiles=(row,)), msd=msd)


def compile_all(names: list[str], steps: list[str]) -> None:
    """Compile all programs on all cores into the kernel cache."""
    from headrace.gpu.device.device import ARCHITECTURES, gpu

    wanted = []
    for name, step in itertools.product(names, steps):
        width = 8 if "64" in name else 4
        for tiles in TILES[name]:
            defines = tiles.defines(KeyType(width, b""), SortTuning().lsd.bits, is_large=False)
            if step == "digits" or "+" in name:
                wanted.append(Variant.of(f"arrange/sort/gpu/{FOLDERS[step]}/{KERNELS[step]}.cu", defines))
    own = "sm_{}{}".format(*gpu(0).capability)
    architecture = own if own in ARCHITECTURES else "sm_90"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda variant: cubin_of(variant, architecture), wanted))


def cell(machine: Machine, what: tuple[Case, str], tuning: SortTuning) -> str:
    """Return the mean of the launches that had work, and the sort's rate. MSD is forced regardless of the plan."""
    case, steps = what
    try:
        launches = machine.steps(case, tuning, MsdSorter if steps == "parts" else Sorter)
    except HeadraceError as error:  # it does not fit the GPU
        return str(error).splitlines()[0]
    taken = [one for launched, one in launches if launched == KERNELS[steps] and one > 20]
    mean = sum(taken) / len(taken) if taken else 0.0
    return f"{mean:.0f} ({case.count / sum(one for _, one in launches) / 1e3:.1f} G/s)"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", default=",".join(TILES))
    parser.add_argument("--count", type=int, default=125_000_000, help="not a power of two: arrays would share banks")
    parser.add_argument("--ands", default="0,3")
    parser.add_argument("--steps", default="digits")
    parser.add_argument("--fibers", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    machine: Machine = Fibers()
    if not options.fibers:
        from bench.sort.gpu_card import Card

        machine = Card(peers=False)
    names = options.names.split(",")
    count = 12_000 if options.fibers else options.count
    ands = [int(each) for each in options.ands.split(",")]
    page = Page()
    page.say(f"# Tiles of a sort's steps\n\n`python -m bench.sort.tune_tiles`, {datetime.now(UTC):%Y-%m-%d}; {machine.name}")
    if not options.fibers:
        compile_all(names, options.steps.split(","))
    for steps in options.steps.split(","):
        for name in names:
            page.head(f"{name}, {steps}, {count:_}", "By threads, keys of a thread and blocks.", [f"{each} AND" for each in ands])
            for tiles in TILES[name][: 3 if options.fibers else None]:
                tuning = with_tile(machine.tuning, name, tiles)
                cases = [Case(name, each, count, "digits" if steps == "digits" else None) for each in ands]
                cells = [cell(machine, (case, steps), tuning) for case in cases]
                traits = ["follows"] * tiles.values_follow + ["apart"] * (tiles.value_bytes == ANY_WIDTH)
                described = ", ".join([str(tiles.threads), str(tiles.items), str(tiles.blocks), *traits])
                page.say(f"| {described} | {' | '.join(cells)} |")
                page.keep(options.out)


if __name__ == "__main__":
    main()
