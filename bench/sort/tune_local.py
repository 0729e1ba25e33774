"""Times the local sorts (bin_sort.cu, block_radix_sort.cu) alone, by block size and keys of a bucket, in 10^9 keys a second.

Buckets are those of an MSD sort after two digits: their keys share the highest 16 bits, the others are uniform. Each answer is
checked before it is timed. --harness runs few keys in the fiber harness, to test that the table is complete.

    python -m bench.sort.tune_local [--what u32,u64,32+32,64+64] [--harness]
"""

from __future__ import annotations

import argparse
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import MovedColumn, SortArrays
from headrace.arrange.sort.gpu.msd.local_sorts import (
    BETWEEN,
    bin_sort_entry,
    block_radix_sort_entry,
    local_sort_shape,
)
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning, BlockSortTuning
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.context import Context
from headrace.core.errors import HeadraceError
from headrace.gpu.device.device import ARCHITECTURES, gpu
from headrace.gpu.kernels.compile import cubin_of
from headrace.gpu.kernels.launcher import BufferSlice, Entry, GpuLauncher
from headrace.gpu.kernels.source import Variant
from headrace.testing.fibers.launcher import FiberLauncher

SHARED_BITS = 16
_U32 = [BinSortTuning(t, 18, 1024 // t) for t in (64, 128, 256, 512)]
_U64 = [BinSortTuning(t, 10, 1024 // t) for t in (64, 128, 256, 512)]
SETS: dict[str, tuple[int, bool, list[Any], list[int]]] = {
    "u32": (4, False, [BlockSortTuning(8, 512, 18, 2), *_U32], [600, 1024, 1300, 2048, 3000, 4096, 7629]),
    "u64": (8, False, [BlockSortTuning(8, 512, 10, 2), *_U64], [600, 1024, 2048, 3815, 4096]),
    "32+32": (4, True, [BlockSortTuning(8, 512, 18, 2), *_U32], [1024, 2048, 3815, 7629]),
    "64+64": (8, True, [BlockSortTuning(8, 512, 10, 2), *_U64], [1024, 1907, 4096]),
}
"""Bytes of a key, whether it carries a value as wide, block sizes, keys of a bucket."""


@dataclass(frozen=True)
class Case:
    """Buckets of equal size."""

    width: int
    has_values: bool
    part: int
    parts: int

    @property
    def count(self) -> int:
        """Return the keys of all buckets."""
        return self.part * self.parts

    def keys(self) -> Any:
        """Return keys, bucket by bucket."""
        low = 8 * self.width - SHARED_BITS
        word = np.dtype(f"u{self.width}")
        random = np.random.default_rng(self.part)
        high = np.arange(self.parts).repeat(self.part).astype(word) << word.type(low)
        return high | random.integers(0, 1 << low, self.count, word)

    def records(self) -> Any:
        """Return the records of buckets.cuh."""
        low = 8 * self.width - SHARED_BITS
        found = np.zeros((self.parts, 4), np.uint32)
        found[:, 0] = np.arange(self.parts) * self.part
        found[:, 1] = self.part
        found[:, 2] = low | low << 8
        found[:, 3] = BETWEEN
        return found


class BufferGroup:
    """Buffers of a case."""

    def __init__(self, launcher: Any, case: Case) -> None:
        self.case, self._launcher = case, launcher
        self.drawn = case.keys()
        keys, target = launcher.put(self.drawn), launcher.allocate(self.drawn.nbytes)
        self.moved = MovedColumn(None, target, keys, case.width)
        self.values = []
        if case.has_values:
            rows = launcher.put(np.arange(case.count).astype(self.drawn.dtype))
            self.values = [MovedColumn(None, launcher.allocate(self.drawn.nbytes), rows, case.width)]
        self.parts, self.left = launcher.put(case.records()), launcher.allocate(case.parts * 16)
        self.counts = launcher.put(np.array([case.parts, 0], np.uint32))

    def launch(self, shape: Any, multiprocessors: int) -> None:
        """Sort all buckets by blocks of one size."""
        case = self.case
        keys = keys_of(case.width)
        parts = struct.pack("<2Q2q4I", self.parts.address, self.counts.address, 0, 1, 0, 0, 0, 0)
        args = [parts, keys.rule, SortArrays(self.moved, self.values).packed, 1]
        resident = shape.blocks if isinstance(shape, BinSortTuning) else 2048 // shape.threads
        launch_shape = local_sort_shape(shape, keys, min(case.parts, multiprocessors * resident), has_values=case.has_values)
        if isinstance(shape, BinSortTuning):
            args += [self.left, BufferSlice(self.counts, 4)]
        self._launcher.launch(entry_of(shape, keys.rule), launch_shape, args)

    def check(self) -> None:
        """Check that buckets are sorted, and stably."""
        word = self.drawn.dtype
        assert self.moved.target is not None
        found = self._launcher.fetch(self.moved.target).view(word)
        right = bool((found[1:] >= found[:-1]).all()) and found.sum(dtype=np.uint64) == self.drawn.sum(dtype=np.uint64)
        if self.values:
            assert self.values[0].target is not None
            rows = self._launcher.fetch(self.values[0].target).view(word)
            right = right and bool((self.drawn[rows] == found).all())
            right = right and bool(((found[1:] > found[:-1]) | (rows[1:] > rows[:-1])).all())
        left = int(self._launcher.fetch(self.counts).view(np.uint32)[1])
        if not right or left:
            raise RuntimeError(f"{self.case}: wrong, or {left} parts left")


def keys_of(width: int) -> KeyType:
    """Return the key type of unsigned integers."""
    return KeyType(width, KeyOrder.of(f"<u{width}").packed)


def entry_of(shape: Any, rule: bytes) -> Entry:
    """Return the kernel of a block size."""
    return bin_sort_entry(len(rule)) if isinstance(shape, BinSortTuning) else block_radix_sort_entry(len(rule))


def name_of(shape: Any) -> str:
    """Return the title of a row."""
    kind = "bins," if isinstance(shape, BinSortTuning) else "by digits,"
    return f"{kind} {shape.threads} x {shape.items} x {shape.blocks}"


class Card:
    """The first GPU."""

    all_keys = 1 << 27

    def __init__(self) -> None:
        import torch

        self._card, self._context = gpu(0), Context()
        self.name = torch.cuda.get_device_name()
        self._stream = torch.cuda.current_stream().cuda_stream or 1

    def compile(self, sets: list[str]) -> None:
        """Compile all programs on all cores."""
        own = "sm_{}{}".format(*self._card.capability)
        architecture = own if own in ARCHITECTURES else "sm_90"
        wanted = [
            Variant.of(entry_of(shape, b"").file, shape.defines(keys_of(width), has_values=has_values))
            for width, has_values, shapes, _ in map(SETS.__getitem__, sets)
            for shape in shapes
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda variant: cubin_of(variant, architecture), wanted))

    def buffers(self, case: Case) -> BufferGroup:
        """Return buffers with the case's keys."""
        budget = self._context.new_budget()
        return BufferGroup(GpuLauncher(self._card, stream=self._stream, budget=budget, crossings=self._context.crossings), case)

    def rate(self, buffers: BufferGroup, shape: Any) -> float:
        """Return 10^9 keys a second."""
        from bench.gpu_timing import median_ms

        def work() -> None:
            buffers.launch(shape, self._card.multiprocessors)

        work()
        buffers.check()
        return buffers.case.count / median_ms(work, 9) / 1e6


class Harness:
    """The fiber harness, whose times do not apply to a GPU."""

    name, all_keys = "harness", 1 << 14

    def compile(self, sets: list[str]) -> None:
        """Do nothing: the harness compiles on demand."""

    def buffers(self, case: Case) -> BufferGroup:
        """Return buffers with the case's keys."""
        return BufferGroup(FiberLauncher(), case)

    def rate(self, buffers: BufferGroup, shape: Any) -> float:
        """Return 10^9 keys a second."""
        begin = perf_counter()
        buffers.launch(shape, 1)
        buffers.check()
        return buffers.case.count / (perf_counter() - begin) / 1e9


def table(place: Any, what: str) -> None:
    """Print the table of one kind of keys."""
    width, has_values, shapes, sizes = SETS[what]
    if isinstance(place, Harness):
        shapes, sizes = shapes[:4:2], sizes[:2]
    all_keys = place.all_keys // width
    found: dict[str, list[str]] = {name_of(shape): [] for shape in shapes}
    for part in sizes:
        buffers = place.buffers(Case(width, has_values, part, min(1 << SHARED_BITS, all_keys // part)))
        for shape in shapes:
            cell = "-"
            if part <= shape.keys and part > shape.keys // 4:
                try:
                    cell = f"{place.rate(buffers, shape):.4g}"
                except (HeadraceError, RuntimeError) as error:
                    cell = str(error)[:120]
            found[name_of(shape)].append(cell)
    print(f"\n## {what}: 10^9 keys a second, by keys of a part\n")
    print("| | " + " | ".join(map(str, sizes)) + " |\n| --- |" + " ---: |" * len(sizes))
    for name, cells in found.items():
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", default=",".join(SETS))
    parser.add_argument("--harness", action="store_true")
    options = parser.parse_args()
    place = Harness() if options.harness else Card()
    begin = perf_counter()
    print(f"# Local sorts\n\n{place.name}")
    place.compile(options.what.split(","))
    for what in options.what.split(","):
        table(place, what)
    print(f"\n{perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
