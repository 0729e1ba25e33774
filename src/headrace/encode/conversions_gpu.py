"""Runs conversions of text columns on a GPU step by step, so that several of them wait for sizes together.

Each is a generator, which yields when its kernels have been launched that write the sizes (`run_together`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from headrace.columns.column import MAX_VIEW_BYTES
from headrace.core.layouts.layout import layout
from headrace.encode.tuning import ROWS_PER_THREAD, TEXT_THREADS
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher

MAX_TOGETHER = 4  # MAX_TOGETHER of texts_task.hpp. Each column that is encoded takes 4 bytes a row beside its texts.
PLAIN_TEXTS = layout("PlainTexts")
_PLAIN_TASK = PLAIN_TEXTS.packer()
_FEW_ROWS = 1 << 20  # rows below which the first hash table has 2^16 slots; otherwise 2^18, for up to 2^17 distinct texts

ResultT = TypeVar("ResultT")
Steps = Generator[None, list[int], ResultT]
"""The steps of a conversion. After each it is sent the words of its answer, which kernels have written."""


class TextConversion(NamedTuple, Generic[ResultT]):
    """A conversion of columns that is run step by step."""

    words: int  # words of its answer
    begin: Callable[[DeviceBuffer], Steps[ResultT]]  # returns its steps, for an answer in device memory, at first zeros


def run_together(launcher: Launcher, conversions: Sequence[TextConversion[ResultT]]) -> list[ResultT]:
    """Run conversions step by step, and return their results. The host waits once for the same step of all."""
    ends = [0, *accumulate(one.words for one in conversions)]
    answers = launcher.allocate(8 * ends[-1], fill=0)
    left = {number: one.begin(BufferSlice(answers, 8 * ends[number], 8 * one.words)) for number, one in enumerate(conversions)}
    results: dict[int, ResultT] = {}
    words: Any = None
    while left:
        for number, steps in list(left.items()):
            try:
                steps.send(words and words[ends[number] : ends[number + 1]])
            except StopIteration as end:
                results[number] = end.value
                del left[number]
        if left:
            words = launcher.fetch(answers).view(np.uint64).tolist()
    return [results[number] for number in range(len(conversions))]


@dataclass(frozen=True, slots=True)
class TextShape:
    """Sizes of the text kernels."""

    threads: int = TEXT_THREADS  # threads per block
    slots: int = 1 << 16  # slots of the first hash table
    max_viewed: int = MAX_VIEW_BYTES  # maximum bytes of a buffer of views

    @property
    def rows(self) -> int:
        """Rows per block."""
        return self.threads * ROWS_PER_THREAD


TEXT_SHAPE, _MANY_ROWS_SHAPE = TextShape(), TextShape(slots=1 << 18)


def dictionary_shape(rows: int) -> TextShape:
    """Return the sizes for dictionaries of columns with this number of rows. A hash table takes 20 bytes a slot."""
    return TEXT_SHAPE if rows < _FEW_ROWS else _MANY_ROWS_SHAPE


@cache
def text_defines(threads: int) -> dict[str, int]:
    """Return the macros of the text kernels; the same object each time, by which launches are found."""
    return {"HR_THREADS": threads}


@dataclass(frozen=True, slots=True)
class StringColumnBuffers:
    """Buffers of a string column."""

    offsets: DeviceBuffer
    values: DeviceBuffer
    validity: DeviceBuffer | None  # the buffers; `validity` is None if no row is null
    rows: int  # number of rows
    width: int  # bytes of an offset

    def packed(self) -> bytes:
        """Return the buffers as a ``PlainTexts``."""
        validity = 0 if self.validity is None else self.validity.address
        return _PLAIN_TASK.pack(self.offsets.address, self.values.address, validity, self.rows, self.width, 0)
