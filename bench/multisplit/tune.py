"""Measures block sizes of multisplit's split kernel beside CUB, to choose those of the tuning table (multisplit/gpu/tuning.py).

Needs what bench.multisplit.tables needs. Programs are compiled first, on all cores; each is checked on 2^21 + 777 keys against a
stable sort before it is timed. A row has threads per block, keys per thread and blocks per multiprocessor. Then follow 10^9 items
per second with counting, for uniform and constant keys, by the highest 1, 5 and 8 bits (8 for long keys). Sizes that do not fit
the device are marked. With --harness, a few small sizes run in the fiber harness to test that the table is complete.

    python -m bench.multisplit.tune [--what keys,pairs,long,long_pairs] [--bits 1,5,8]
        [--out FILE] [--harness]
"""

from __future__ import annotations

import argparse
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import headrace
from bench.multisplit.places import Card, Harness
from bench.tables import Page
from headrace import buckets
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING, BlockTuning, SplitTuning, tuning_of
from headrace.core.errors import HeadraceError

CHECKED = (1 << 21) + 777
BITS = (1, 5, 8)
_KEYS = [BlockTuning(*sizes) for sizes in ((512, 24, 2), (384, 32, 2), (256, 32, 3), (768, 24, 1), (768, 32, 1))]
_PAIRS = [BlockTuning(*sizes) for sizes in ((512, 16, 2), (512, 20, 2), (384, 20, 2), (768, 20, 1), (768, 24, 1))]
SETS: dict[str, tuple[int, bool, list[BlockTuning]]] = {
    "keys": (4, False, _KEYS),
    "pairs": (4, True, _PAIRS),
    "long": (8, False, [BlockTuning(512, 12, 2), BlockTuning(384, 16, 2), BlockTuning(512, 16, 2), BlockTuning(256, 16, 3)]),
    "long_pairs": (8, True, [BlockTuning(512, 12, 1), BlockTuning(384, 10, 2), BlockTuning(512, 8, 2), BlockTuning(384, 12, 2)]),
}
"""Bytes per key, whether values of the same width move with them, and block sizes."""


def shapes_with(base: SplitTuning, shape: BlockTuning) -> SplitTuning:
    """Return a tuning with the same block sizes for all kernels."""
    return replace(
        base, keys=shape, with_values=shape, long_keys=shape, long_keys_with_values=shape,
        together=shape, alone=shape,
    )  # fmt: skip


def highest(width: int, bits: int) -> Any:
    """Return the pass by the highest bits of keys of `width` bytes."""
    from headrace.arrange.multisplit.gpu.launches import bits_pass

    return replace(bits_pass(f"u{8 * width}", 8 * width - bits, 8 * width), min_bits=bits)


class Tuner:
    """Measures block sizes on a device."""

    def __init__(self, bits: tuple[int, ...]) -> None:
        from headrace.gpu.device.device import gpu

        self.bits = bits
        self.place = Card()
        self.card = gpu(0)
        self.base = tuning_of(self.card.multiprocessors, self.card.capability)

    def keys(self, width: int, kind: str, count: int) -> Any:
        words = self.place.keys(kind, 256, count)
        if width == 4:
            return words
        torch = __import__("torch")
        return (words.view(torch.int32).long() << 32).view(torch.uint64)

    def values(self, width: int, count: int) -> Any:
        return self.place.values(count) if width == 4 else self.place.values(count).long()

    def launched(self, keys: Any, values: Any, bits: int, shapes: SplitTuning) -> tuple[Any, Any]:
        from headrace.arrange.bucket.functions import rule_for
        from headrace.arrange.bucket.key_types import key_type
        from headrace.arrange.gather.moved_items import MovedItems
        from headrace.arrange.multisplit.gpu.launches import Splitter
        from headrace.arrange.multisplit.gpu.planner import split
        from headrace.arrange.multisplit.gpu.strategy import Bucketing
        from headrace.arrays.arrays import take
        from headrace.arrays.placement import empty_like
        from headrace.gpu.kernels.launcher import GpuLauncher

        context = headrace.Context()
        arrays = [take(array) for array in (keys, values) if array is not None]
        made = [empty_like(array, array.length) for array in arrays]
        stream = arrays[0].stream
        launcher = GpuLauncher(self.card, stream=stream, budget=context.new_budget(), crossings=context.crossings)
        width = 8 * arrays[0].width
        rule = rule_for(buckets.bits(width - bits, width), np.dtype(arrays[0].typestr))
        columns = [MovedItems(a, b, a.width) for a, b in zip(arrays, made, strict=True)]
        offsets = launcher.allocate((rule.count + 1) * 8)
        split(Splitter(launcher, arrays[0].length, shapes), Bucketing(key_type(arrays[0].typestr), rule), columns, offsets)
        return made[0].owner, made[-1].owner if values is not None else None

    def check(self, width: int, pairs: bool, bits: int, shapes: SplitTuning) -> None:
        torch = __import__("torch")
        keys = self.keys(width, "uniform", CHECKED)
        values = self.values(width, CHECKED) if pairs else None
        found, moved = self.launched(keys, values, bits, shapes)
        words = keys.view(torch.int32 if width == 4 else torch.int64)
        _, order = torch.sort(((words >> (8 * width - bits)) & ((1 << bits) - 1)).to(torch.uint8), stable=True)
        if not torch.equal(found.view(words.dtype), words[order]) or (pairs and not torch.equal(moved, values[order])):
            raise RuntimeError(f"{bits} bits: wrong")

    def row(self, width: int, pairs: bool, shapes: SplitTuning) -> list[str]:
        found, count = [], self.place.n * 4 // width
        values = self.values(width, count) if pairs else None
        for bits in self.bits if width == 4 else BITS[-1:]:
            self.check(width, pairs, bits, shapes)
            rates = []
            for kind in ("uniform", "constant"):
                keys = self.keys(width, kind, count)
                rates.append(self.place.rate(partial(self.launched, keys, values, bits, shapes), count))
                del keys
            found.append(" ".join(f"{rate:.0f}" for rate in rates))
        return found

    def compile(self, sets: list[str]) -> None:
        """Compile all programs on all cores into the kernel cache."""
        from headrace.arrange.gather.moved_items import MovedItems
        from headrace.arrange.multisplit.gpu.launches import Splitter
        from headrace.gpu.device.device import ARCHITECTURES
        from headrace.gpu.kernels.compile import cubin_of
        from headrace.gpu.kernels.source import Variant

        wanted: dict[Variant, None] = {}

        class DeviceBuffer:
            address, nbytes = 16, 8

        class Lister:
            def allocate(self, nbytes: int, fill: int | None = None) -> DeviceBuffer:
                return DeviceBuffer()

            def launch(self, entry: Any, shape: Any, args: Any) -> None:
                wanted[Variant.of(entry.file, shape.defines)] = None

        for name in sets:
            width, pairs, shapes = SETS[name]
            for shape, bits in itertools.product(shapes, self.bits if width == 4 else BITS[-1:]):
                lister: Any = Lister()
                splitter = Splitter(lister, 1 << 20, shapes_with(self.base, shape))
                columns = [
                    MovedItems(DeviceBuffer(), DeviceBuffer(), width),
                    *([MovedItems(DeviceBuffer(), DeviceBuffer(), width)] * pairs),
                ]
                splitter.run(highest(width, bits), columns, None)
        own = "sm_{}{}".format(*self.card.capability)
        architecture = own if own in ARCHITECTURES else "sm_90"
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda variant: cubin_of(variant, architecture), wanted))


class SmallTuner:
    """Runs small block sizes in the fiber harness."""

    def __init__(self) -> None:
        self.place = Harness(1500)

    def compile(self, sets: list[str]) -> None:
        """Do nothing: the harness compiles programs when it runs them."""

    def row(self, width: int, pairs: bool, shapes: SplitTuning) -> list[str]:
        from bench.multisplit.places import split_with
        from headrace.testing.fibers.launcher import FiberLauncher

        launcher = FiberLauncher()
        keys = self.place.keys("uniform", 256, 1500)
        values = self.place.values(1500) if pairs else None
        arrays = [launcher.put(array) for array in (keys, values) if array is not None]
        buffers = split_with(launcher, SMALL_TUNING, arrays, buckets.bits(24, 32), "block")
        order = np.argsort(keys >> 24, kind="stable")
        if (launcher.fetch(buffers[0]).view("u4") != keys[order]).any():
            raise RuntimeError("wrong")
        return ["right"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--what", default=",".join(SETS))
    parser.add_argument("--bits", default=",".join(map(str, BITS)))
    parser.add_argument("--harness", action="store_true")
    options = parser.parse_args()
    tuner: Tuner | SmallTuner = SmallTuner() if options.harness else Tuner(tuple(map(int, options.bits.split(","))))
    names = options.what.split(",")
    tuner.compile(names)
    page = Page()
    page.say(f"# Shapes and ways of multisplit\n\n`python -m bench.multisplit.tune`; {tuner.place.about()}\n")
    for name in names:
        width, pairs, all_shapes = SETS[name]
        shapes = all_shapes[:1] if options.harness else all_shapes
        theirs = tuner.place.cub([("digit", "pairs" if pairs else "keys", bits, 0, tuner.place.n) for bits in BITS])
        title = f"{name}; CUB's sort of keys of 4 bytes by 1, 5 and 8 bits: {theirs}"
        page.say(f"\n## {title}\n\n| shape | rates |\n| --- | --- |")
        for shape in shapes:
            try:
                base = SMALL_TUNING if isinstance(tuner, SmallTuner) else tuner.base
                wanted = shapes_with(base, shape)
                found = "; ".join(tuner.row(width, pairs, wanted))
            except HeadraceError as error:  # it does not fit the GPU
                found = str(error).splitlines()[0]
            page.say(f"| {', '.join(map(str, shape))} | {found} |")
            page.keep(options.out)


if __name__ == "__main__":
    main()
