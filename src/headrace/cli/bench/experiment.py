"""Defines experiments of a paper and the rows that they measure, and times calls.

A module of the registry has `EXPERIMENTS`, a tuple of `Experiment`. Each one checks its answers before it times them, by
`Setting.check`. Modules import NumPy inside functions, because commands that do not measure need none.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace import DeviceArray
from headrace.api.devices import wait_for_device

_MAX_SECONDS = 2.0  # a measurement repeats a call until both its repeats and its least time are reached, or this time is exceeded
_MAX_REPEATS = 200


class WrongAnswerError(Exception):
    """A measured call returned another answer than the reference."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement beside the number of the paper."""

    parameters: Mapping[str, str | int | float]
    """Values by name, such as ``{"method": "drk", "m": 16}``, in the order of the columns."""
    ours: float  # the measured figure, in the unit of the experiment
    paper: float | None = None  # the printed figure; None if the paper has none
    default: float | None = None  # the figure of the product's default for the same input; None if it was not measured
    share: float | None = None  # the part of a limit that `ours` reaches, from 0 to 1; None without a limit


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or a figure of a paper."""

    name: str  # short name for the command line, such as `"table-2.3"`
    title: str  # one line: input, sizes, machine of the paper
    unit: str  # unit of all figures, such as `"GB/s"`
    across: str  # The parameter on the axis x of a plot. Its values are positive numbers.
    measure: Callable[[Setting], Iterable[Row]]
    """Yields the rows, one at a time. It raises WrongAnswerError before it times a wrong answer."""
    limit: str = ""  # the limit that `Row.share` refers to; empty without one
    needs_gpu: bool = False  # True if it is left out on the CPU


@dataclass(frozen=True, slots=True)
class Setting:
    """Choices of a run."""

    device: str = "cpu"  # ``"cpu"`` or a GPU such as ``"cuda"``
    is_small: bool = False  # True if sizes are small and each call is timed once, as tests need it
    repeats: int = 5  # least number of timed calls
    min_seconds: float = 0.05  # least time of all timed calls of a measurement

    @property
    def is_gpu(self) -> bool:
        """True if the work runs on a GPU."""
        return self.device != "cpu"

    def size(self, full: int, small: int) -> int:
        """Return `full`, or in a run of small sizes `small`."""
        return small if self.is_small else full

    def array(self, values: Any) -> Any:
        """Return an array of NumPy, or on a GPU a copy of it there."""
        return DeviceArray.from_host(values, self.device) if self.is_gpu else values

    def host(self, values: Any) -> Any:
        """Return an array of the device as one of NumPy."""
        return values.to_numpy() if self.is_gpu else values

    def check(self, is_right: bool, call: str) -> None:
        """Raise WrongAnswerError, which names the call, unless its answer is right."""
        if not is_right:
            raise WrongAnswerError(f"{call}: another answer than the reference")

    def seconds(self, call: Callable[[], object], prepare: Callable[[], object] | None = None) -> float:
        """Return the median time from a call to its usable result, in seconds.

        `call`: the work. It runs once before it is timed.
        `prepare`: runs before each call, and is not timed. It restores what the call changes.
        """
        if prepare is not None:
            prepare()
        call()
        wait_for_device(self.device)
        times: list[float] = []
        while not self._is_enough(times):
            if prepare is not None:
                prepare()
                wait_for_device(self.device)
            began = time.perf_counter()
            call()
            wait_for_device(self.device)
            times.append(time.perf_counter() - began)
        return statistics.median(times)

    def step_seconds(self, begin: Callable[[], Any], steps: Sequence[Callable[[Any], object]]) -> list[float]:
        """Return the median time of each step, in seconds. Steps run one after another on what `begin` returns, several times."""
        runs: list[list[float]] = []
        while not self._is_enough([sum(run) for run in runs]):
            state, times = begin(), []
            wait_for_device(self.device)
            for step in steps:
                began = time.perf_counter()
                step(state)
                wait_for_device(self.device)
                times.append(time.perf_counter() - began)
            runs.append(times)
        return [statistics.median(times) for times in zip(*runs, strict=True)]

    def _is_enough(self, times: list[float]) -> bool:
        spent = sum(times)
        if self.is_small or not times or spent > _MAX_SECONDS:
            return bool(times)
        return len(times) >= self.repeats and (spent >= self.min_seconds or len(times) >= _MAX_REPEATS)

    def read_rate(self, nbytes: int) -> float:
        """Return the rate at which the device reads memory, in GB/s: that of `headrace.reduce` for `nbytes` bytes."""
        import numpy as np

        import headrace

        words = self.array(np.arange(max(1, nbytes // 8), dtype=np.uint64))
        return nbytes / self.seconds(lambda: headrace.reduce(words, "max")) / 1e9
