"""Defines the cases of bench.sort.gpu, and runs them in the fiber harness, whose times do not apply to a GPU."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.sort.gpu.lsd.lsd import MsdUse
from headrace.arrange.sort.gpu.msd.tuning import HybridOptions
from headrace.arrange.sort.gpu.planner import MsdChoice, Sorter, SortRequest
from headrace.arrange.sort.gpu.single_launch.tuning import CooperativeTuning, SingleLaunchTuning
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Shape
from headrace.testing.fibers.launcher import FiberLauncher


@dataclass(frozen=True)
class Case:
    """Keys to sort: ``"u32"``, ``"u64"``, ``"32+32"``, ``"64+64"``, ``"f32"`` or ``"f64"``; words ANDed (floats: 0 normal, 1
    exponential); count; strategy; single-launch table.
    """

    name: str
    ands: int
    count: int
    strategy: str | None
    options: HybridOptions = field(default_factory=HybridOptions)
    kind: str = "drawn"
    single: SingleLaunchTuning | None = None

    @property
    def width(self) -> int:
        """Return the bytes of a key, and of a value."""
        return 8 if "64" in self.name else 4

    @property
    def has_values(self) -> bool:
        """Return whether keys carry values."""
        return "+" in self.name

    @property
    def is_float(self) -> bool:
        """Return whether keys are floats."""
        return self.name[0] == "f"

    @property
    def stable(self) -> bool:
        """Return whether the sort is stable; the hybrid is not."""
        return self.strategy != "hybrid"

    def request(self, buffers: list[DeviceBuffer]) -> SortRequest:
        """Return a request. `buffers`: keys, target, values, target of values."""
        order = KeyOrder("float" if self.is_float else "unsigned", 8 * self.width)
        values = (MovedItems(buffers[2], buffers[3], self.width),) if self.has_values else ()
        return SortRequest(order, buffers[0], buffers[1], values, None, self.stable, self.strategy, self.options)


class MsdSorter(Sorter):
    """A sorter that always sorts by MSD if the plan may choose it."""

    def _msd_choice(self, request: SortRequest, widths: Sequence[int]) -> MsdChoice | None:
        choice = super()._msd_choice(request, widths)
        return choice and replace(choice, use=MsdUse.ALWAYS)


class Machine(Protocol):
    """Runs cases."""

    name: str
    copied: float
    """Bytes a second that a copy reads and writes."""
    tuning: SortTuning

    def rate(self, case: Case) -> float:
        """Return 10^9 keys or pairs a second of a case with a right answer."""

    def steps(self, case: Case, tuning: SortTuning, sorter: type[Sorter] = Sorter) -> list[tuple[str, float]]:
        """Return the launches of a case with their microseconds."""

    def called(self, case: Case) -> tuple[float, float]:
        """Return 10^9 keys or pairs a second of the public function, by the kernel and by the call."""

    def peers_called(self, asked: list[tuple[str, int, int]]) -> list[Any]:
        """Return CUB's rates as `bench.gpu_timing.Better`; none if CUB is not installed."""

    def peers(self, asked: list[tuple[str, int, int]]) -> list[float]:
        """Return CUB's rates for names, words ANDed and counts; none if CUB is not installed."""


class _Timed(FiberLauncher):
    """Records the microseconds of each launch."""

    taken: list[tuple[str, float]]

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        begun = time.perf_counter()
        super().launch(entry, shape, args)
        self.taken.append((entry.name, 1e6 * (time.perf_counter() - begun)))


class Fibers:
    """The fiber harness: real programs, few keys."""

    name, copied = "the fiber harness: these are no figures", 1e9

    def __init__(self) -> None:
        one, tuning = (CooperativeTuning(8192, 8),), SortTuning(multiprocessors=4)
        rows = tuple(replace(row, keys_only=one, with_values=one) for row in tuning.single_launch.rows if row.key_bytes >= 4)
        msd = tuple(replace(row, min_keys=11_000) for row in tuning.msd)
        self.tuning = replace(tuning, single_launch=SingleLaunchTuning(rows), msd=msd)

    def rate(self, case: Case) -> float:
        """See `Machine`."""
        return case.count / sum(taken for _, taken in self.steps(case, self.tuning)) / 1e3

    def steps(self, case: Case, tuning: SortTuning, sorter: type[Sorter] = Sorter) -> list[tuple[str, float]]:
        """See `Machine`."""
        keys = self._keys(case)
        rows = np.arange(case.count, dtype=keys.dtype)
        launcher = _Timed("forward")
        buffers: list[Any] = [
            launcher.put(keys),
            launcher.allocate(keys.nbytes),
            launcher.put(rows),
            launcher.allocate(keys.nbytes),
        ]
        tuning = tuning if case.single is None else replace(tuning, single_launch=case.single)
        launcher.taken = []
        sorter(launcher, case.count, tuning, lambda: launcher.allocate(16, fill=0)).sort(case.request(buffers))
        found, moved = (buffers[at].array.view(keys.dtype) for at in (1, 3))
        order = np.argsort(keys, kind="stable")
        right = np.array_equal(found, keys[order])
        if case.has_values:
            right = right and np.array_equal(keys[moved], found) and np.array_equal(np.sort(moved), rows)
            right = right and (not case.stable or np.array_equal(moved, order))
        if not right:
            raise RuntimeError(f"{case}: wrong")
        return launcher.taken

    def called(self, case: Case) -> tuple[float, float]:
        """See `Machine`; here the rate is that of the launches."""
        rate = self.rate(case)
        return rate, rate

    def peers_called(self, asked: list[tuple[str, int, int]]) -> list[Any]:
        """None."""
        del asked
        return []

    def peers(self, asked: list[tuple[str, int, int]]) -> list[float]:
        """None."""
        del asked
        return []

    def _keys(self, case: Case) -> Any:
        random = np.random.default_rng(1)
        if case.is_float:
            draw = random.standard_exponential if case.ands else random.standard_normal
            return draw(case.count).astype(f"f{case.width}")
        drawn = [random.integers(0, 2**64, case.count, np.uint64) for _ in range(case.ands + 1)]
        words = np.bitwise_and.reduce(drawn) if drawn else np.zeros(case.count, np.uint64)
        keys = words.astype(f"u{case.width}")
        if case.kind == "few values":
            return keys % 10
        if case.kind in {"fifty values", "half one value", "Zipf"}:
            keys[: case.count // 2] = 12345
            return random.permutation(keys)
        if case.kind != "drawn":
            keys = np.sort(keys)[:: -1 if case.kind == "reversed" else 1].copy()
        if case.kind == "all but sorted":
            keys[-1] = 0
        return keys
