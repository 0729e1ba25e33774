"""Runs the measurements of bench.multisplit.tables: on a GPU beside CUB, or in the fiber harness, which tests the tables.

A place generates keys, splits them, checks answers and measures rates. Times of the harness are those of the host's processor,
which simulates every GPU thread. They do not apply to a GPU.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Protocol

import numpy as np

import headrace
from headrace import buckets
from headrace.arrange.bucket.functions import BucketFunction, rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu import planner
from headrace.arrange.multisplit.gpu.launches import Splitter, bits_pass
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS, SMALL_TUNING, SplitTuning, tuning_of
from headrace.arrange.multisplit.multisplit import Split
from headrace.arrange.multisplit.paper.strategies import strategy_named
from headrace.arrays.arrays import take
from headrace.gpu.kernels.launcher import Entry, Launcher, Shape
from headrace.testing.fibers.launcher import FiberLauncher

KINDS = ("uniform", "0.25-uniform", "binomial", "constant")
_RULES = ("BitsOf", "AnyOf", "BetweenOf", "Computed")
STAGES = {
    "split_count": "pre-scan", "count_warps": "pre-scan", "split_bases": "scan", "split": "post-scan",
    "split_warps": "post-scan", **{f"label_{rule}": "labelling" for rule in _RULES},
}  # fmt: skip
"""Stages of the dissertation's table 3.4, by kernel."""
Work = Callable[[], Any]


class Place(Protocol):
    """Runs the measurements of a table; keys have 4 bytes, and their highest bits are the bucket."""

    n: int
    paper_n: int
    copied: float
    """Bytes per second that a copy moves."""

    def keys(self, kind: str, m: int, count: int) -> Any: ...
    def values(self, count: int) -> Any: ...
    def split(self, keys: Any, function: BucketFunction, values: Any, strategy: str | None) -> Split: ...
    def unordered(self, width: int, kind: str) -> tuple[float, float]: ...
    def check(self, split: Split, keys: Any, values: Any, low: int, m: int) -> None: ...
    def rate(self, work: Work, count: int) -> float: ...
    def stages(self, keys: Any, function: BucketFunction, values: Any, strategy: str) -> dict[str, float]: ...
    def called(self, work: Work, count: int) -> tuple[float, float]: ...
    def cub(self, asked: list[tuple[str, str, int, int, int]]) -> list[float | None]: ...
    def cub_called(self, asked: list[tuple[str, str, int, int, int]]) -> list[Any]: ...
    def about(self) -> str: ...


def split_with(
    launcher: Launcher, tuning: SplitTuning, arrays: list[Any], function: BucketFunction, strategy: str | None
) -> list[Any]:
    """Return the result buffers for arrays of 4 bytes, keys first, and the buffer of the offsets."""
    rule = rule_for(function, np.dtype("u4"))
    columns = [MovedItems(array, launcher.allocate(array.nbytes), 4) for array in arrays]
    offsets = launcher.allocate((rule.count + 1) * 8)
    splitter = Splitter(launcher, arrays[0].nbytes // 4, tuning)
    planner.split(splitter, Bucketing(key_type("<u4"), rule), columns, offsets, strategy_named(strategy))
    return [*(column.target for column in columns), offsets]


class Harness:
    """The fiber harness, with few keys and without CUB."""

    def __init__(self, n: int) -> None:
        self.n = self.paper_n = n
        source = np.zeros(1 << 20, np.uint8)
        begin = perf_counter()
        source.copy()
        self.copied = 2 * source.nbytes / (perf_counter() - begin)

    def about(self) -> str:
        """Return a description."""
        return "fiber harness: no figure here is a GPU's"

    def keys(self, kind: str, m: int, count: int) -> np.ndarray[Any, Any]:
        """Return keys, as `Card.keys`."""
        random, shift = np.random.default_rng(1), 32 - (m.bit_length() - 1)
        words = random.integers(0, 2**32, count, np.uint32)
        low = words & np.uint32((1 << shift) - 1)
        if kind == "constant":
            return np.full(count, 0x12345678, np.uint32)
        if kind == "0.25-uniform":
            return np.where(random.integers(0, 4, count) == 0, words, low)
        return random.binomial(m - 1, 0.5, count).astype(np.uint32) << np.uint32(shift) | low if kind == "binomial" else words

    def values(self, count: int) -> np.ndarray[Any, Any]:
        """Return the numbers from 0 on."""
        return np.arange(count, dtype=np.uint32)

    def split(self, keys: Any, function: BucketFunction, values: Any, strategy: str | None) -> Split:
        """Run a multisplit."""
        launcher = FiberLauncher()
        arrays = [launcher.put(array) for array in (keys, values) if array is not None]
        buffers = split_with(launcher, SMALL_TUNING, arrays, function, strategy)
        found = [launcher.fetch(buffer) for buffer in buffers]
        return Split(found[0].view("u4"), None if values is None else found[1].view("u4"), found[-1].view("i8"))

    def unordered(self, width: int, kind: str, tuning: SplitTuning = SMALL_TUNING) -> tuple[float, float]:
        """Return 10^9 keys per second of a partition by the highest 8 bits, twice for the call."""
        keys = self.keys(kind, 256, self.n).astype(f"u{width // 8}") << np.uint64(width - 32).astype(f"u{width // 8}")
        begin = perf_counter()
        launcher = FiberLauncher()
        by = replace(bits_pass(f"u{width}", width - 8, width), min_bits=DIGIT_BITS)
        given, made, offsets = launcher.put(keys), launcher.allocate(keys.nbytes), launcher.allocate(257 * 8)
        splitter = Splitter(launcher, len(keys), tuning)
        starts, _ = splitter.starts(by, given, offsets)
        splitter.run_by_reserving(by, MovedItems(given, made, keys.itemsize), starts)
        found, digits = launcher.fetch(made).view(keys.dtype), keys >> keys.dtype.type(width - 8)
        counts = np.diff(launcher.fetch(offsets).view("i8"))
        if (np.sort(found) != np.sort(keys)).any() or (counts != np.bincount(digits.astype("i8"), minlength=256)).any():
            raise RuntimeError("partition: wrong")
        seen = len(keys) / (perf_counter() - begin) / 1e9
        return seen, seen

    def check(self, split: Split, keys: Any, values: Any, low: int, m: int) -> None:
        """Raise RuntimeError unless the result equals that of a stable sort."""
        order = np.argsort(keys >> low & (m - 1), kind="stable")
        if (split.keys != keys[order]).any() or (values is not None and (split.values != values[order]).any()):
            raise RuntimeError(f"{m} buckets: wrong")

    def rate(self, work: Work, count: int) -> float:
        """Return 10^9 items per second of one run."""
        begin = perf_counter()
        work()
        return count / (perf_counter() - begin) / 1e9

    def stages(self, keys: Any, function: BucketFunction, values: Any, strategy: str) -> dict[str, float]:
        """Return milliseconds by stage, of one run."""
        found: dict[str, float] = {}

        class Staged(FiberLauncher):
            def launch(self, entry: Entry, shape: Shape, args: Any) -> None:
                begin = perf_counter()
                super().launch(entry, shape, args)
                stage = STAGES[entry.name]
                found[stage] = found.get(stage, 0) + (perf_counter() - begin) * 1e3

        launcher = Staged()
        split_with(launcher, SMALL_TUNING, [launcher.put(a) for a in (keys, values) if a is not None], function, strategy)
        return found

    def called(self, work: Work, count: int) -> tuple[float, float]:
        """Return the rate of one run, twice; see `Card.called`."""
        rate = self.rate(work, count)
        return rate, rate

    def cub(self, asked: list[tuple[str, str, int, int, int]]) -> list[float | None]:
        """Return None for each."""
        return [None] * len(asked)

    def cub_called(self, asked: list[tuple[str, str, int, int, int]]) -> list[Any]:
        """Return None for each."""
        return [None] * len(asked)


class Card:
    """The first GPU, with PyTorch arrays, and CUB of the toolkit."""

    n, paper_n = 1 << 28, 1 << 25

    def __init__(self) -> None:
        import torch  # installed on machines with a GPU

        from bench.gpu_timing import Cub, median_ms, rates_of

        self._torch, self._median_ms, self._cub = torch, median_ms, Cub("multisplit/cub_multisplit")
        self._rates_of = rates_of
        source = self.drawn(torch.int32, self.n, 3)
        target = torch.empty_like(source)
        self.copied = 2 * source.nbytes / median_ms(lambda: target.copy_(source)) * 1e3

    def about(self) -> str:
        """Return the device and versions."""
        torch, query = self._torch, ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
        return f"{torch.cuda.get_device_name()}, driver {driver}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}"

    def drawn(self, dtype: Any, count: int, seed: int) -> Any:
        """Return random words."""
        torch = self._torch
        info, generator = torch.iinfo(dtype), torch.Generator("cuda").manual_seed(seed)
        return torch.empty(count, dtype=dtype, device="cuda").random_(info.min, info.max, generator=generator)

    def keys(self, kind: str, m: int, count: int) -> Any:
        """Return words whose highest bits are uniform, a quarter uniform and the rest in one bucket, binomial, or constant."""
        torch, shift = self._torch, 32 - (m.bit_length() - 1)
        words = self.drawn(torch.int32, count, 1)
        low = words & ((1 << shift) - 1)
        if kind == "constant":
            words = torch.full_like(words, 0x12345678)
        elif kind == "0.25-uniform":
            one = low | (0x5A << 24 if shift == 24 else 0)
            words = torch.where(self.drawn(torch.int32, count, 2) & 3 == 0, words, one)
        elif kind == "binomial":
            places = torch.binomial(torch.full((count,), m - 1.0, device="cuda"), torch.full((count,), 0.5, device="cuda"))
            words = (places.long() << shift).to(torch.int32) | low
        return words.view(torch.uint32)

    def values(self, count: int) -> Any:
        """Return the numbers from 0 on."""
        return self._torch.arange(count, dtype=self._torch.int32, device="cuda")

    def split(self, keys: Any, function: BucketFunction, values: Any, strategy: str | None) -> Split:
        """Run the public multisplit."""
        return headrace.multisplit(keys, function, values, strategy=strategy)

    def unordered(self, width: int, kind: str) -> tuple[float, float]:
        """Return 10^9 keys per second of a partition by the highest 8 bits: of the pass, and of the call with its counting."""
        from headrace.arrange.multisplit.partition import partition

        torch = self._torch
        dtype, given = (torch.int32, torch.uint32) if width == 32 else (torch.int64, torch.uint64)
        count = self.n * 32 // width
        keys = self.drawn(dtype, count, 5) if kind == "uniform" else torch.full((count,), 0x12345678, dtype=dtype, device="cuda")
        work = partial(partition, keys.view(given), width - 8, width)
        found, offsets = work()
        digits = (found.view(dtype) >> (width - 8)) & 255
        counts = torch.bincount(((keys >> (width - 8)) & 255).int(), minlength=256)
        same = found.view(dtype).sum() == keys.sum()
        if not same or not (digits[1:] >= digits[:-1]).all() or not torch.equal(offsets.diff(), counts):
            raise RuntimeError("partition: wrong")
        ms = self._median_ms(work, 9, busy=3_000_000)
        counting = self._median_ms(partial(headrace.bucket_counts, keys.view(given), 256), 9, busy=3_000_000)
        return count / (ms - counting) / 1e6, count / ms / 1e6

    def check(self, split: Split, keys: Any, values: Any, low: int, m: int) -> None:
        """Raise RuntimeError unless the result equals that of a stable sort."""
        torch = self._torch
        words = keys.view(torch.int32)
        wanted = (words >> low) & (m - 1) if m < 1 << 31 else words.long() & 0xFFFFFFFF
        _, order = torch.sort(wanted.to(torch.uint8) if m <= 256 else wanted, stable=True)
        right = torch.equal(split.keys.view(torch.int32), words[order])
        if not right or (values is not None and not torch.equal(split.values, values[order])):
            raise RuntimeError(f"{m} buckets: wrong")

    def rate(self, work: Work, count: int) -> float:
        """Return 10^9 items per second, the median of nine runs."""
        return float(count / self._median_ms(work, 9, busy=3_000_000) / 1e6)

    def stages(self, keys: Any, function: BucketFunction, values: Any, strategy: str) -> dict[str, float]:
        """Return milliseconds by stage, medians of nine runs, between events around each kernel."""
        from headrace.gpu.device.device import gpu
        from headrace.gpu.device.event import Event
        from headrace.gpu.kernels.launcher import GpuLauncher

        card, context = gpu(0), headrace.Context()
        marks: list[tuple[str, Event, Event]] = []

        class Staged(GpuLauncher):
            def launch(self, entry: Entry, shape: Shape, args: Any) -> None:
                begin = Event(card, timing=True).record(self.stream)
                super().launch(entry, shape, args)
                marks.append((STAGES[entry.name], begin, Event(card, timing=True).record(self.stream)))

        arrays = [take(array) for array in (keys, values) if array is not None]
        rounds: list[dict[str, float]] = []
        for _ in range(11):
            marks.clear()
            self._torch.cuda._sleep(3_000_000)  # noqa: SLF001 (there is no public function)
            launcher = Staged(card, stream=arrays[0].stream, budget=context.new_budget(), crossings=context.crossings)
            split_with(launcher, tuning_of(card.multiprocessors, card.capability), arrays, function, strategy)
            self._torch.cuda.synchronize()
            rounds.append({})
            for stage, begin, end in marks:
                rounds[-1][stage] = rounds[-1].get(stage, 0) + end.seconds_since(begin) * 1e3
        return {stage: statistics.median(each[stage] for each in rounds[2:]) for stage in rounds[-1]}

    def called(self, work: Work, count: int) -> tuple[float, float]:
        """Return 10^9 items per second of the kernel and of the call."""
        return self._rates_of(work, count)

    def cub(self, asked: list[tuple[str, str, int, int, int]]) -> list[float | None]:
        """Return 10^9 items per second of CUB's kernels."""
        return [found.rates.kernel for found in self.cub_called(asked)]

    def cub_called(self, asked: list[tuple[str, str, int, int, int]]) -> list[Any]:
        """Return the `bench.gpu_timing.Better` of each CUB call."""
        return list(self._cub.better(asked))


def sorted_by_digits(place: Place, keys: Any, values: Any, digit_bits: int) -> Split:
    """Return keys sorted by multisplits, lowest digit first."""
    split = Split(keys, values, None)
    for low in range(0, 32, digit_bits):
        split = place.split(split.keys, buckets.bits(low, min(32, low + digit_bits)), split.values, None)
    return split


def prepared(place: Place, keys: Any, values: Any, m: int, strategy: str | None) -> Work:
    """Return a multisplit by the highest bits, after a check of one answer."""
    low = 32 - (m.bit_length() - 1)
    work = partial(place.split, keys, buckets.bits(low, 32), values, strategy)
    place.check(work(), keys, values, low, m)
    return work
