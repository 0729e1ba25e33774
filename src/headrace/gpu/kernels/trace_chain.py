"""Chains two traces of launches, with memory, a table of arguments and a copy of results, in one native call.

The first trace allocates buffers that the second one uses. A table with addresses is copied to one of these buffers before the
kernels, and the results are copied to the host after them. The native part is gpu/kernels/trace_chain.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headrace import _native
from headrace.gpu.kernels.launcher import DeviceBuffer, GroupSizes
from headrace.gpu.kernels.trace import Recording


@dataclass(slots=True, eq=False)
class TraceChain:
    """Two traces, of which the first has one input buffer, the text. It is the first input buffer of the second one, too."""

    first: Recording
    second: Recording  # the traces
    links: tuple[int | None, ...]
    """The other input buffers of `second`: indices among the buffers that `first` allocates, None for a null pointer."""
    words: _native.AddressedWords  # the table of arguments
    table: int
    results: int  # indices, among the buffers that `first` allocates, of those for the table and for the results
    _compiled: dict[int, _native.TraceChain] = field(default_factory=dict)  # native form, by device index

    def compiled(
        self, card: int, calls: _native.CardCalls, native_of: Callable[[Recording], _native.NativeTrace]
    ) -> _native.TraceChain:
        """Return the native form for a device; `native_of` returns that of a trace."""
        found = self._compiled.get(card)
        if found is None:
            traces = native_of(self.first), native_of(self.second)
            zeroed, ends = (len(self.first.zeroed), len(self.second.zeroed)), (self.table, self.results)
            found = self._compiled[card] = _native.TraceChain(calls, *traces, zeroed, self.words, self.links, ends)
        return found


class ChainBegin(NamedTuple):
    """The text of a run, and its numbers."""

    text: DeviceBuffer
    first: Sequence[int]
    second: Sequence[int]  # the text, and the numbers that each of the traces gets
    head: DeviceBuffer | None  # bytes that are copied to the host before all kernels; None for none


class ChainEnd(NamedTuple):
    """Buffers and results of a run, which texts of about one size share."""

    later: GroupSizes  # buffers to allocate, whose addresses the table gets
    suffix: Sequence[int]  # words that follow the table
    strided: tuple[int, int]
    """Equally spaced addresses in the table: the offset of the first one in the results, and their distance. Zeros for none."""
    sent: int  # bytes of the table with the words that follow it
    fetched: int
    ones: int
    """Bytes of the results that are copied to the host. The last `ones` of them are left out if all of their bits are set."""
    keeps: bool = False  # True if the caller takes the buffers that the first trace allocates
