"""What bench.sort.gpu runs on: a case, and the fiber harness, which has no figures worth keeping."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from headrace.arrange.sort.gpu.lsd.lsd import MUST
from headrace.arrange.sort.gpu.msd.tuning import PartOptions, PartShapes
from headrace.arrange.sort.gpu.planner import Given, Sorter
from headrace.arrange.sort.gpu.single_launch.single_launch import SmallShapes, meeting_block
from headrace.arrange.sort.gpu.tuning import SortShapes
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.launcher import Entry, Room, Shape
from headrace.testing.fibers.launcher import FiberLauncher


@dataclass(frozen=True)
class Case:
    """What is sorted: ``"u32"``, ``"u64"``, ``"32+32"`` or ``"64+64"``; words ANDed; how many; how; ways in one launch."""

    name: str
    ands: int
    count: int
    strategy: str | None
    options: PartOptions = field(default_factory=PartOptions)
    kind: str = "drawn"
    small: SmallShapes | None = None

    @property
    def width(self) -> int:
        """Bytes of a key, and of a value."""
        return 8 if "64" in self.name else 4

    @property
    def has_values(self) -> bool:
        """Whether these are pairs."""
        return "+" in self.name

    @property
    def stable(self) -> bool:
        """The hybrid is not."""
        return self.strategy != "hybrid"

    def given(self, rooms: list[Room]) -> Given:
        """For a sorter; rooms are keys, where they go, values, where they go."""
        order = KeyOrder("unsigned", 8 * self.width)
        values = ((rooms[2], rooms[3], self.width),) if self.has_values else ()
        return Given(order, rooms[0], rooms[1], values, None, self.stable, self.strategy, self.options)


class ByParts(Sorter):
    """Goes by parts, as far as it may, whatever the keys are."""

    def _parts(self, given: Given, widths: list[int]) -> tuple[PartShapes, PartOptions, int] | None:
        found = super()._parts(given, widths)
        return found and (*found[:2], MUST)


class Machine(Protocol):
    """Where cases run."""

    name: str
    copied: float
    """Bytes a second that a copy reads and writes."""
    shapes: SortShapes

    def rate(self, case: Case) -> float:
        """10^9 keys or pairs a second, of a case whose answer was right."""

    def steps(self, case: Case, shapes: SortShapes, sorter: type[Sorter] = Sorter) -> list[tuple[str, float]]:
        """Its launches with their microseconds."""

    def called(self, case: Case) -> tuple[float, float]:
        """10^9 keys or pairs a second of the public function, by the kernel and by the call."""

    def peers_called(self, asked: list[tuple[str, int, int]]) -> list[Any]:
        """CUB's rates, as `bench.gpu_timing.Better`; none where CUB is not installed."""

    def peers(self, asked: list[tuple[str, int, int]]) -> list[float]:
        """The same of CUB for names, words ANDed and counts; none where it is not."""


class _Timed(FiberLauncher):
    """Remembers what each launch takes, in microseconds."""

    taken: list[tuple[str, float]]

    def launch(self, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        begun = time.perf_counter()
        super().launch(entry, shape, args)
        self.taken.append((entry.name, 1e6 * (time.perf_counter() - begun)))


class Fibers:
    """The fiber harness: real programs, few keys."""

    name, copied = "the fiber harness: these are no figures", 1e9

    def __init__(self) -> None:
        meeting = tuple((width, ((8192, meeting_block(8)),)) for width in (4, 8))
        small = SmallShapes(meeting=meeting, meeting_with_values=meeting)
        self.shapes = replace(SortShapes(), small=small, parts_from=((4, 11_000), (8, 11_000)), multiprocessors=4)

    def rate(self, case: Case) -> float:
        """See `Machine`."""
        return case.count / sum(taken for _, taken in self.steps(case, self.shapes)) / 1e3

    def steps(self, case: Case, shapes: SortShapes, sorter: type[Sorter] = Sorter) -> list[tuple[str, float]]:
        """See `Machine`."""
        keys = self._keys(case)
        rows = np.arange(case.count, dtype=keys.dtype)
        launcher = _Timed("forward")
        rooms: list[Any] = [launcher.put(keys), launcher.room(keys.nbytes), launcher.put(rows), launcher.room(keys.nbytes)]
        shapes = shapes if case.small is None else replace(shapes, small=case.small)
        launcher.taken = []
        sorter(launcher, case.count, shapes, lambda: launcher.room(16, fill=0)).sort(case.given(rooms))
        found, moved = (rooms[at].array.view(keys.dtype) for at in (1, 3))
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
