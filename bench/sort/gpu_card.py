"""Runs bench.sort.gpu on a GPU. PyTorch generates keys and checks answers; a separate program measures CUB."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch

import headrace
from bench.gpu_timing import Better, Cub, Times, median_ms, rates_of
from bench.sort.gpu_machines import Case
from headrace.arrange.sort.gpu.planner import Sorter
from headrace.arrange.sort.gpu.tuning import SortTuning, tuning_of
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, GpuLauncher, Shape
from headrace.gpu.memory.scratch import COUNTERS, Scratch

_MIXER = -0x61C8864680B583EB  # 2^64 over the golden ratio, as a signed word


class _Tensor:
    """A tensor with the interface of `DeviceBuffer`."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.address, self.nbytes = tensor, tensor.data_ptr(), tensor.nbytes


class _Timed(GpuLauncher):
    """Records an event before and after each launch, if `events` is a list."""

    events: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] | None = None

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        begin = self._now()
        super().launch(entry, shape, args)
        self._add(entry.name, begin)

    def fill(self, buffer: DeviceBuffer, byte: int) -> None:
        begin = self._now()
        super().fill(buffer, byte)
        self._add("fill", begin)

    def _now(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        if self.events is not None:
            event.record()
        return event

    def _add(self, name: str, begin: torch.cuda.Event) -> None:
        if self.events is not None:
            self.events.append((name, begin, self._now()))


class Card:
    """The first GPU.

    Parameters
    ----------
    peers
        Whether CUB is measured, which needs nvcc.
    """

    def __init__(self, *, peers: bool = True) -> None:
        self._cub = Cub("sort/cub_sort") if peers else None
        self._card = gpu(0)
        self.tuning = tuning_of(self._card.multiprocessors, self._card.capability)
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
        self.name = f"{torch.cuda.get_device_name()}, driver {driver}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}"
        source = torch.zeros(1 << 28, dtype=torch.int32, device="cuda")
        target = torch.empty_like(source)
        self.copied = 2 * source.nbytes / median_ms(lambda: target.copy_(source)) * 1e3
        self._drawn: tuple[Any, torch.Tensor] | None = None

    def rate(self, case: Case) -> float:
        """Return 10^9 keys or pairs a second of a case with a right answer."""
        tensors, context = self._tensors(case), Context()

        def work() -> None:
            self._sort(case, tensors, context)

        work()
        _check(case, tensors)
        return case.count / median_ms(work, 7, busy=3_000_000) / 1e6

    def called(self, case: Case) -> Times:
        """Return 10^9 keys or pairs a second of the public function, by the kernel and by the call."""
        keys, unsigned = self._keys(case), torch.uint64 if case.width == 8 else torch.uint32
        unsigned = keys.dtype if case.is_float else unsigned
        rows = torch.arange(case.count, dtype=keys.dtype, device="cuda") if case.has_values else None

        def work() -> Any:
            given = keys.view(unsigned)
            return headrace.sort(given) if rows is None else headrace.sort_pairs(given, rows)

        found = work()
        sorted_keys = (found if rows is None else found.keys).view(keys.dtype)
        _check(case, [keys, sorted_keys] if rows is None else [keys, sorted_keys, rows, found.values])
        del found, sorted_keys
        _warm_up(work)
        return rates_of(work, case.count, 7)

    def steps(self, case: Case, tuning: SortTuning, sorter: type[Sorter] = Sorter) -> list[tuple[str, float]]:
        """Return the launches of a case with a right answer, each with its microseconds."""
        tensors, context, seen = self._tensors(case), Context(), []
        for _ in range(7):
            torch.cuda._sleep(6_000_000)  # noqa: SLF001 (there is no public function)
            launcher = self._sort(case, tensors, context, (sorter, tuning))
            torch.cuda.synchronize()
            assert launcher.events is not None
            seen.append([(name, 1e3 * begin.elapsed_time(end)) for name, begin, end in launcher.events])
        _check(case, tensors)
        return [(same[0][0], statistics.median(taken for _, taken in same)) for same in zip(*seen[2:], strict=True)]

    def _tensors(self, case: Case) -> list[torch.Tensor]:
        """Return the keys and their target, then the values and their target."""
        keys = self._keys(case)
        tensors = [keys, torch.empty_like(keys)]
        if case.has_values:
            rows = torch.arange(case.count, dtype=keys.dtype, device="cuda")
            tensors += [rows, torch.empty_like(rows)]
        return tensors

    def _sort(
        self, case: Case, tensors: list[torch.Tensor], context: Context, timed: tuple[type[Sorter], SortTuning] | None = None
    ) -> _Timed:
        """`timed`: by which each launch is."""
        stream = torch.cuda.current_stream().cuda_stream or 1
        launcher = _Timed(self._card, stream=stream, budget=context.new_budget(), crossings=context.crossings)
        sorter, tuning = timed or (Sorter, self.tuning)
        if case.single is not None:
            tuning = replace(tuning, single_launch=case.single)
        if timed:
            launcher.events = []
        given = case.request([_Tensor(tensor) for tensor in tensors])
        with self._card.current(), ExitStack() as launches:

            def counters() -> DeviceBuffer:
                return launches.enter_context(Scratch(self._card, COUNTERS, stream, 0))[0]

            sorter(launcher, case.count, tuning, counters).sort(given)
        return launcher

    def peers(self, asked: list[tuple[str, int, int]]) -> list[float]:
        """Return CUB's rates by the kernel."""
        return [found.rates.kernel for found in self.peers_called(asked)]

    def peers_called(self, asked: list[tuple[str, int, int]]) -> list[Better]:
        """Return CUB's rates, each the better of its 32-bit and 64-bit item counts."""
        self._drawn = None  # frees memory for the other process
        lines = [
            ("floats" if name[0] == "f" else "pairs" if "+" in name else "keys", 64 if "64" in name else 32, ands, count)
            for name, ands, count in asked
        ]
        assert self._cub is not None
        return self._cub.better(lines)

    def _keys(self, case: Case) -> torch.Tensor:
        which = case.width, case.ands, case.count, case.kind
        if self._drawn is None or self._drawn[0] != which:
            self._drawn = None
            self._drawn = which, _drawn(case)
        return self._drawn[1]


def _warm_up(work: Callable[[], object]) -> None:
    """Repeat a call for 0.2 s, so that its programs are compiled and loaded and its launches are kept."""
    begun, calls = time.perf_counter(), 0
    while calls < 5 or time.perf_counter() - begun < 0.2:
        work()
        torch.cuda.synchronize()
        calls += 1


def _drawn(case: Case) -> torch.Tensor:
    if case.is_float:
        dtype = torch.float64 if case.width == 8 else torch.float32
        floats, generator = torch.empty(case.count, dtype=dtype, device="cuda"), torch.Generator("cuda").manual_seed(1)
        return floats.exponential_(generator=generator) if case.ands else floats.normal_(generator=generator)
    dtype = torch.int64 if case.width == 8 else torch.int32
    info = torch.iinfo(dtype)
    if case.kind in _RANKS:
        return _of_ranks(case, dtype)
    keys = torch.zeros(case.count, dtype=dtype, device="cuda")
    for word in range(case.ands + 1):
        generator = torch.Generator("cuda").manual_seed(word)
        one = torch.empty_like(keys).random_(info.min, info.max, generator=generator)
        keys = one if word == 0 else keys.bitwise_and_(one)
    if case.kind == "few values":
        return keys.remainder_(10)
    if case.kind != "drawn":
        keys = torch.sort(keys ^ info.min)[0] ^ info.min
        keys = keys.flip(0) if case.kind == "reversed" else keys
    if case.kind == "all but sorted":
        keys[-1] = 0
    return keys


_RANKS = {"fifty values": 50.0, "Zipf": 2.0**20, "half one value": 0.0}
"""Kinds of keys that are mixed from ranks, and their number of ranks; 0 means the number of keys."""


def _of_ranks(case: Case, dtype: torch.dtype) -> torch.Tensor:
    """Return ranks: fifty, uniform; 2^20 with shares like 1 / r; or one rank for half of the keys and all others different."""
    made = torch.empty(case.count, dtype=dtype, device="cuda")
    generator = torch.Generator("cuda").manual_seed(1)
    for part in made.split(1 << 26):
        drawn = torch.rand(len(part), device="cuda", dtype=torch.float64, generator=generator)
        most = _RANKS[case.kind]
        ranks = drawn * most if most == 50 else most**drawn if most else (2 * drawn - 1).clamp(min=0) * 2.0**52
        words = ranks.long() * (_MIXER + 2)
        part.copy_(words if dtype == torch.int64 else words >> 32)
    return made


def _check(case: Case, tensors: list[torch.Tensor]) -> None:
    """Check the order, the keys (by two sums) and the values: each once, at its key, in order for equal keys if stable."""
    keys, found = tensors[:2]
    if case.is_float:
        ordered = found
        keys, found = (tensor.view(torch.int64 if case.width == 8 else torch.int32) for tensor in (keys, found))
    else:
        ordered = found ^ torch.iinfo(keys.dtype).min  # unsigned words in the order of signed ones
    right = bool((ordered[1:] >= ordered[:-1]).all())
    right = right and all(bool(_sum(keys, step) == _sum(found, step)) for step in (1, 3))
    if case.has_values:
        moved = tensors[3].long()
        right = right and torch.equal(keys[moved], found)
        if case.stable:
            alike = ordered[1:] == ordered[:-1]
            right = right and bool((~alike | (moved[1:] > moved[:-1])).all())
        else:
            seen = torch.zeros(case.count, dtype=torch.bool, device="cuda")
            seen[moved] = True
            right = right and bool(seen.all())
    if not right:
        raise RuntimeError(f"{case}: wrong")


def _sum(keys: torch.Tensor, step: int) -> torch.Tensor:
    """Return mixed words, computed in parts, since they are widened."""
    total = torch.zeros((), dtype=torch.int64, device="cuda")
    for part in keys.split(1 << 26):
        wide = part.long() * (_MIXER * step % 2**64 - 2**64 * (_MIXER * step % 2**64 >> 63))
        total += (wide ^ (wide >> 29)).sum()
    return total
