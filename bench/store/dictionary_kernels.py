"""Measures the kernels that merge dictionaries, translate codes and remove duplicates on a GPU, with all arrays in its memory.

usage: python -m bench.store.dictionary_kernels [--log N] [--tiles 256x8,...] [--translations 256x1,...] [--parts PART,...]
           [--out FILE]

A tile is its threads and the values of each; a block of translations has threads, and groups of 32 codes of a warp at once.

Rates are 10^9 items a second by the kernels: fetches of counts do not wait, so the host's work is left out. Bytes are those of
the algorithm, divided by the rate of a copy of the same run. Every answer is checked against PyTorch before it is timed.
Duplicate removal is timed by the call, beside the calls of PyTorch. Texts of a merge are half new ones; their keys are ascending
numbers, so that the answer is known from these. Their time includes the waits for the numbers of texts and of bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import headrace
from bench.gpu_timing import call_ms, median_ms
from bench.machine import description_line
from bench.tables import Page
from headrace import Context, Device, dictionary
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.buffer import copy_of
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.kernel import NeededProgram
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.store.dictionary.gpu.launches import CodeTable, DeviceCodes, DeviceNumbers, DeviceTexts, DictionaryKernels
from headrace.store.dictionary.gpu.tuning import TRANSLATION, VALUE_TILES, VALUE_TYPES, MergeTile, Translation

PARTS = ("merges", "texts", "translations", "duplicates")
_CHECKED_ROWS = 1 << 20


class Tensor:
    """Memory of a tensor as a buffer of kernels."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.address = tensor.data_ptr()
        self.nbytes = tensor.numel() * tensor.element_size()


class TimedLauncher(GpuLauncher):
    """A launcher whose fetches return zeros and do not wait while `is_timed`."""

    is_timed = False

    def fetch(self, buffer: Any) -> Any:
        """See `Launcher.fetch`."""
        return np.zeros(buffer.nbytes, np.uint8) if self.is_timed else super().fetch(buffer)

    def ms(self, work: Callable[[], object]) -> float:
        """Return the median milliseconds of the kernels of a call."""
        self.is_timed = True
        try:
            return median_ms(work, 7, busy=3_000_000)
        finally:
            self.is_timed = False


def launcher_of() -> TimedLauncher:
    """Return a launcher of PyTorch's stream."""
    context, stream = Context(device="cuda"), torch.cuda.current_stream().cuda_stream
    return TimedLauncher(gpu(Device.parse("cuda")), stream=stream, budget=context.new_budget(), crossings=context.crossings)


def programs_of(tiles: list[MergeTile], shapes: list[Translation]) -> list[NeededProgram]:
    """Return the programs of merges and translations, so that they are compiled in parallel."""
    merges = [
        NeededProgram("store/dictionary/gpu/merge_numbers.cu", {"HR_VALUE": VALUE_TYPES[width], **tile.defines})
        for width in (4, 8)
        for tile in tiles
    ]
    translations = [
        NeededProgram("store/dictionary/gpu/translate.cu", shape.defines(chip)) for shape in shapes for chip in (0, 1)
    ]
    return merges + translations


def copy_rate() -> float:
    """Return the bytes per second that a copy reads and writes."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / median_ms(lambda: target.copy_(source)) * 1e3


def merges(page: Page, launcher: TimedLauncher, size: int, tiles: list[MergeTile | None], rate: float) -> None:
    """Add the rates of merges of two dictionaries of `size` values of 4 and 8 bytes. A tile of None is that of the package."""
    page.head("Dictionaries", f"2 dictionaries of {size:,} values, with both tables.", ["10^9 values/s", "part of the copy"])
    for dtype in (torch.int64, torch.int32):
        width = dtype.itemsize
        gaps = (torch.randint(1, 8, (size,), dtype=dtype, device="cuda") for _ in range(2))
        main, delta = (torch.cumsum(part, 0, dtype=dtype) for part in gaps)
        joined = torch.unique(torch.cat([main, delta]))
        codes = [torch.searchsorted(joined, part).to(torch.int32) for part in (main, delta)]
        rule = KeyOrder("signed", 8 * width, total_order=True).packed
        numbers = [DeviceNumbers(Tensor(part), size) for part in (main, delta)]
        for given in tiles:
            tile = given or VALUE_TILES[width]
            kernels = DictionaryKernels(launcher, tiles={width: tile})
            found = kernels.merge_numbers(*numbers, rule)
            values = launcher.fetch(found.dictionary.values).view(f"i{width}")[: found.dictionary.count]
            assert np.array_equal(values, joined.cpu().numpy())
            for table, right in zip((found.main_codes, found.delta_codes), codes, strict=True):
                assert np.array_equal(launcher.fetch(table).view(np.int32)[:size], right.cpu().numpy())
            del found, values
            seconds = launcher.ms(partial(kernels.merge_numbers, *numbers, rule)) / 1e3
            moved = 2 * size * (width + 4) + len(joined) * width
            name = f"{width} bytes, {tile.threads} threads of {tile.values} values"
            page.say(f"| {name} | {2 * size / seconds / 1e9:.1f} | {moved / seconds / rate:.2f} |")
            page.figure(
                what="merge",
                width=width,
                threads=tile.threads,
                values=tile.values,
                rate=2 * size / seconds,
                part=moved / seconds / rate,
            )


def texts_of(kind: str, keys: Any) -> tuple[Any, Any]:
    """Return offsets and bytes of a text for each ascending key, in the same order: names of 13 to 16 bytes, UUIDs or URLs."""
    shifts = np.arange(60, -4, -4, dtype=np.uint64)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[((keys[:, None] >> shifts) & np.uint64(15)).astype(np.uint8)]
    parts = {"name": b"", "UUID": b"-4000-8000-123456789012", "URL": b"https://www.example.com/catalogue/"}
    fixed = np.broadcast_to(np.frombuffer(parts[kind], np.uint8), (len(keys), len(parts[kind])))
    whole = np.concatenate([fixed, digits] if kind == "URL" else [digits[:, :13], fixed] if kind == "UUID" else [digits], axis=1)
    sizes = np.full(len(keys), whole.shape[1])
    if kind == "name":
        sizes = 13 + (keys % np.uint64(4)).astype(np.int64)
    is_there = np.arange(whole.shape[1]) < sizes[:, None]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), whole[is_there]


def text_merges(page: Page, launcher: TimedLauncher, size: int) -> None:
    """Add the rates of merges of two dictionaries of `size` texts, half of which both have."""
    page.head("Texts", f"2 dictionaries of {size:,} texts, half of them common.", ["10^6 texts/s", "GB/s of texts", "ms"])
    random = np.random.default_rng(3)
    pool = np.unique(random.integers(0, 1 << 52, 3 * size // 2, dtype=np.uint64)) << np.uint64(12)
    is_old = random.permutation(np.arange(len(pool)) < size)
    old, new = pool[is_old], pool[~is_old | (np.cumsum(is_old) % 2 == 0)]
    codes = [np.searchsorted(pool, keys) for keys in (old, new)]
    for kind in ("name", "UUID", "URL"):
        kernels, parts = DictionaryKernels(launcher), []
        for keys in (old, new):
            offsets, data = (torch.from_numpy(part).cuda() for part in texts_of(kind, keys))
            parts.append(DeviceTexts(Tensor(offsets), Tensor(data), len(keys)))
        found, (offsets, data) = kernels.merge_texts(*parts), texts_of(kind, pool)
        assert found.dictionary.count == len(pool)
        assert np.array_equal(launcher.fetch(found.dictionary.data), data)
        assert np.array_equal(launcher.fetch(found.dictionary.offsets).view(np.int64)[: len(offsets)], offsets)
        for table, right in zip((found.main_codes, found.delta_codes), codes, strict=True):
            assert np.array_equal(launcher.fetch(table).view(np.int32)[: len(right)], right)
        del found
        seconds = call_ms(partial(kernels.merge_texts, *parts), 7) / 1e3
        count, nbytes = len(old) + len(new), sum(part.data.nbytes for part in parts)
        page.say(f"| {kind} | {count / seconds / 1e6:,.0f} | {nbytes / seconds / 1e9:,.1f} | {seconds * 1e3:.2f} |")
        page.figure(what="merge texts", kind=kind, texts=count, rate=count / seconds, nbytes=nbytes)


def translations(page: Page, launcher: TimedLauncher, rows: int, shapes: list[Translation], rate: float) -> None:
    """Add the rates of translations by the number of old codes."""
    page.head("Translation", f"{rows:,} packed codes.", ["10^9 codes/s", "part of the copy"])
    for bits in (8, 16, 19, 22, 27):
        words = torch.randint(-(1 << 62), 1 << 62, (rows // 64 * bits,), device="cuda") * 3
        table = torch.cumsum(torch.randint(1, 3, (1 << bits,), device="cuda"), 0).to(torch.int32)
        for shape in shapes:
            kernels = DictionaryKernels(launcher, translation=shape)
            on_chip = kernels.on_chip(CodeTable(Tensor(table), bits), 1 << bits)
            main = DeviceCodes(Tensor(words), rows, None, on_chip)
            none = DeviceCodes(launcher.allocate(0), 0, None, CodeTable(None, 0))
            check_translation(launcher, kernels.translate(main, none, bits + 1), words, table, bits)
            seconds = launcher.ms(partial(kernels.translate, main, none, bits + 1)) / 1e3
            where = "table in memory" if on_chip.blocks is None else "counts and bits on chip"
            part = rows * (2 * bits + 1) / 8 / seconds / rate
            name = f"{bits} to {bits + 1} bits, {where}, {shape.threads} threads, {shape.groups} groups"
            page.say(f"| {name} | {rows / seconds / 1e9:.1f} | {part:.2f} |")
            page.figure(
                what="translate",
                where=where,
                bits=bits,
                threads=shape.threads,
                groups=shape.groups,
                rate=rows / seconds,
                part=part,
            )


def check_translation(launcher: TimedLauncher, found: Any, words: torch.Tensor, table: torch.Tensor, bits: int) -> None:
    """Raise AssertionError if the first or the last codes are wrong."""
    result = launcher.fetch(found).view(np.int64)
    groups, codes = _CHECKED_ROWS // 64, table.cpu().numpy()
    for part in (slice(0, groups), slice(-groups, None)):
        old = words.view(-1, bits)[part].cpu().numpy()
        new = result.reshape(-1, bits + 1)[part]
        unpacked = dictionary.unpack(copy_of(old.tobytes()), bits, _CHECKED_ROWS)
        assert np.array_equal(dictionary.unpack(copy_of(new.tobytes()), bits + 1, _CHECKED_ROWS), codes[unpacked])


def sorted_once(items: torch.Tensor) -> torch.Tensor:
    """Return the distinct items, ascending, by a sort and a comparison of neighbours."""
    ascending = torch.sort(items)[0]
    is_first = torch.ones_like(ascending, dtype=torch.bool)
    torch.ne(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


def duplicates(page: Page, rows: int) -> None:
    """Add the rates of duplicate removal by the share of distinct values."""
    columns = ["unique", "sort and comparison in PyTorch", "torch.unique", "ratio"]
    page.head("Duplicate removal", f"10^9 values a second, {rows:,} values.", columns)
    for dtype in (torch.int32, torch.int64):
        for share in (1, 10, 100):
            pool = torch.randint(-(1 << 31), (1 << 31) - 1, (rows * share // 100,), device="cuda").to(dtype)
            items = pool[torch.randint(0, len(pool), (rows,), device="cuda")]
            peer = sorted_once(items)
            assert torch.equal(headrace.unique(items), peer)
            calls = (partial(headrace.unique, items), partial(sorted_once, items), partial(torch.unique, items))
            ours, sort, theirs = (rows / call_ms(call, 5) / 1e6 for call in calls)
            name = f"{dtype.itemsize} bytes, {share} % distinct"
            page.say(f"| {name} | {ours:.2f} | {sort:.2f} | {theirs:.2f} | {ours / max(sort, theirs):.2f} |")
            page.figure(what="unique", width=dtype.itemsize, share=share, rate=ours * 1e9, sort=sort * 1e9, torch=theirs * 1e9)
            torch.cuda.empty_cache()


def main() -> int:
    """Run the sizes of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=int, default=26, help="logarithm of the values of a dictionary; codes are 8 times as many")
    parser.add_argument("--tiles", default="", help="tiles of merges, as 256x8; those of the package if none are given")
    parser.add_argument("--translations", default="", help="blocks of translations, as 256x2")
    parser.add_argument("--parts", default=",".join(PARTS), help="tables to measure")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tiles = [MergeTile(*map(int, text.split("x"))) for text in given.tiles.split(",") if text]
    shapes = [Translation(*map(int, text.split("x"))) for text in given.translations.split(",") if text]
    page, launcher, rate = Page(), launcher_of(), copy_rate()
    page.out = given.out
    page.say("# Kernels of dictionary-encoded columns\n")
    page.say(f"{description_line()}; a copy reads and writes {rate / 1e9:.0f} GB/s")
    parts = given.parts.split(",")
    with launcher.current():
        launcher.prepare(programs_of(tiles or list(VALUE_TILES.values()), shapes or [TRANSLATION]))
        if "merges" in parts:
            merges(page, launcher, 1 << given.log, [*tiles] or [None], rate)
        if "texts" in parts:
            text_merges(page, launcher, 1 << (given.log - 4))
        if "translations" in parts:
            translations(page, launcher, 8 << given.log, shapes or [TRANSLATION], rate)
    torch.cuda.empty_cache()
    if "duplicates" in parts:
        duplicates(page, 1 << given.log)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
