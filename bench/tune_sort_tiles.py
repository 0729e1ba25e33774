"""Tiles of a sort's stable steps, by shape: mean microseconds of a step, and the sort's keys a nanosecond.

Needs the package, PyTorch and a GPU. Every answer is checked. Rows are shapes (threads of a block, keys of a thread, blocks of a
multiprocessor).

    python -m bench.tune_sort_tiles [--names u32,32+32] [--bits 27] [--ands 0,3] [--steps digits,parts] [--out X.md]
    python -m bench.tune_sort_tiles --fibers  # without a GPU, to see that it runs; no figures
"""

from __future__ import annotations

import argparse
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.gpu_sort_machines import Case, Fibers, Machine
from headrace.arrange.sort.launch_gpu import Keys
from headrace.arrange.sort.sorter_gpu import SortShapes
from headrace.core.errors import HeadraceError
from headrace.core.gpu.kernel_source import Variant
from headrace.core.gpu.kernels import cubin_of

Shape = tuple[int, int, int]
SHAPES: dict[str, list[Shape]] = {
    "u32": [(384, 32, 2), (512, 24, 2), (768, 32, 1)],
    "u64": [(512, 16, 2), (384, 16, 2), (768, 16, 1)],
    "32+32": [(384, 20, 2), (512, 16, 2), (768, 24, 1)],
    "64+64": [(512, 12, 1), (384, 12, 2), (768, 12, 1)],
}
KERNELS = {"digits": "sort_pass", "parts": "parts_stable"}


def shaped(shapes: SortShapes, name: str, shape: Shape, *, apart: bool = False) -> SortShapes:
    """With one shape for all; `apart`: values follow their keys."""
    width = 8 if "64" in name else 4
    digits = shapes.digits
    if "+" not in name:
        return replace(shapes, digits=replace(digits, keys=((width, shape),)))
    if apart:
        return replace(shapes, digits=replace(digits, with_values=((width, shape),), together=()))
    return replace(shapes, digits=replace(digits, together=(((width, width), shape),)))


def ways_of(name: str) -> list[tuple[Shape, bool]]:
    """Shape, and whether values follow their keys."""
    old = [((384, 16, 2) if name == "32+32" else (512, 12, 1), True)] * ("+" in name)
    return old + [(shape, False) for shape in SHAPES[name]]


def compile_all(names: list[str], steps: list[str], count: int) -> None:
    """On all cores, into the cache of kernels."""
    from headrace.core.gpu.card import ARCHITECTURES, gpu

    wanted = []
    for name, step in itertools.product(names, steps):
        width = 8 if "64" in name else 4
        for shape, apart in ways_of(name):
            digits = shaped(SortShapes(), name, shape, apart=apart).digits
            tiles = digits.of(width, [width] * ("+" in name))
            defines = tiles.defines(Keys(width, b""), digits.bits, count)
            if step == "digits" or "+" in name:
                wanted.append(Variant.of(f"arrange/sort/{KERNELS[step]}.cu", defines))
    own = "sm_{}{}".format(*gpu(0).capability)
    architecture = own if own in ARCHITECTURES else "sm_90"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda variant: cubin_of(variant, architecture), wanted))


def cell(machine: Machine, case: Case, shapes: SortShapes, kernel: str) -> str:
    """Mean of the kernel's launches that had work, and the sort's rate."""
    try:
        launches = machine.steps(case, shapes)
    except HeadraceError as error:  # it does not fit the card
        return str(error).splitlines()[0]
    taken = [one for launched, one in launches if launched == kernel and one > 20]
    mean = sum(taken) / len(taken) if taken else 0.0
    return f"{mean:.0f} ({case.count / sum(one for _, one in launches) / 1e3:.1f} G/s)"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", default=",".join(SHAPES))
    parser.add_argument("--bits", type=int, default=27)
    parser.add_argument("--ands", default="0,3")
    parser.add_argument("--steps", default="digits")
    parser.add_argument("--fibers", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    machine: Machine = Fibers()
    if not options.fibers:
        from bench.gpu_sort_card import Card

        machine = Card(peers=False)
    names = options.names.split(",")
    count = 12_000 if options.fibers else 1 << options.bits
    ands = [int(each) for each in options.ands.split(",")]
    lines = [f"# Tiles of a sort's steps\n\n`python -m bench.tune_sort_tiles`, {datetime.now(UTC):%Y-%m-%d}; {machine.name}"]
    if not options.fibers:
        compile_all(names, options.steps.split(","), count)
    for steps in options.steps.split(","):
        for name in names:
            lines.append(f"\n## {name}, {steps}, {count:_}\n\n| shape | {' | '.join(f'{each} AND' for each in ands)} |")
            lines.append("| --- |" + " ---: |" * len(ands))
            print("\n".join(lines[-2:]), flush=True)
            for shape, apart in ways_of(name)[: 3 if options.fibers else None]:
                shapes = shaped(machine.shapes, name, shape, apart=apart)
                cases = [Case(name, each, count, "digits" if steps == "digits" else None) for each in ands]
                cells = [cell(machine, case, shapes, KERNELS[steps]) for case in cases]
                told = f"{', '.join(map(str, shape))}{', apart' * apart}"
                lines.append(f"| {told} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
                if options.out:
                    Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
