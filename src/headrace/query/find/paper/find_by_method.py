"""Finds a pattern by a published method that the caller names: the part of `find` and `count` for `method`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like, in_stream_of
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.query.find.paper.methods import SAMPLE_BYTES, MethodPlan
from headrace.query.find.pattern.pattern import Pattern

if TYPE_CHECKING:
    from headrace.query.find.paper.search import RabinKarpOnDevice

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MethodSearch:
    """A search for all positions of a pattern, which may overlap."""

    name: str  # name of the method, one of `headrace.query.find.paper.methods.NAMES`
    text: Array
    pattern: Pattern
    context: Context
    budget: Budget  # those of the call

    def positions(self) -> Any:
        """Return the positions, ascending, in an array of the library of the text.

        Raise OptionError if the pattern is too long for the method or ignores case, or the method does not run on the
        device. Raise MemoryLimitError if the positions or the tables of the method do not fit.
        """
        result: list[Array] = []

        def buffer(count: int) -> int:
            result.append(empty_like(self.text, count, "<u8", self.budget))
            return result[0].address

        def write(search: RabinKarpOnDevice | None) -> None:
            if search is None:
                buffer(0)
                return
            hits = search.marks()
            buffer(hits.total)
            with in_stream_of(self.text, result[0]):
                search.write(hits, result[0])

        if self.text.device.kind == "cpu":
            _native.rabin_karp_positions(*self._given(), buffer, self.context.thread_count)
        else:
            self._on_device(write)
        return result[0].owner

    def count(self) -> int:
        """Return the number of positions."""
        if self.text.device.kind == "cpu":
            return _native.rabin_karp_count(*self._given(), self.context.thread_count)
        return self._on_device(lambda search: 0 if search is None else search.count())

    def _given(self) -> tuple[_native.FindPattern, tuple[int, int], tuple[int, bytes, bool]]:
        """Return pattern, text and search as the native functions take them."""
        text = self.text
        plan = MethodPlan.of(self.name, self.pattern, text.as_numpy()[:SAMPLE_BYTES].tobytes())
        return self.pattern.native, (text.address, text.length), (plan.method.form, plan.fields, plan.method.is_serial)

    def _on_device(self, use: Callable[[RabinKarpOnDevice | None], _T]) -> _T:
        """Call `use` with a search, or with None if the text is shorter than the pattern."""
        from headrace.gpu.device.device import gpu  # needs cuda-core
        from headrace.gpu.kernels.launcher import GpuLauncher
        from headrace.query.find.gpu.marks import DeviceText
        from headrace.query.find.paper.search import RabinKarpOnDevice

        card = gpu(self.text.device)
        with card.current():
            launcher = GpuLauncher(card, stream=self.text.stream, budget=self.budget, crossings=self.context.crossings)
            text = DeviceText(self.text.address, self.text.length)
            sample = launcher.fetch(DeviceText(text.address, min(text.nbytes, SAMPLE_BYTES)))
            plan = MethodPlan.of(self.name, self.pattern, sample.tobytes())
            plan.check_device()
            is_short = text.nbytes < len(self.pattern)
            return use(None if is_short else RabinKarpOnDevice(launcher, text, self.pattern, plan))
