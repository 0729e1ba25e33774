"""Several buffers taken at once: small ones lie side by side in slabs, each taken, zeroed and given back by one call.

A slab lives as long as any of its buffers, so it is small: who keeps one column of a table keeps 16 MB of others at most.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.core.device_memory import Budget, DeviceBuffer, DevicePool
from headrace.core.gpu import checked, driver

ALIGNMENT = 256
LARGE = 4 << 20
"""Larger buffers lie alone."""
SLAB = 16 << 20


class DevicePart(DeviceBuffer):
    """A buffer inside another one, which is given back when nobody holds any part of it."""

    __slots__ = ("_whole",)

    def __init__(self, whole: DeviceBuffer, begin: int, nbytes: int) -> None:
        self.address = whole.address + begin
        self.nbytes = nbytes
        self.gpu = whole.gpu
        self.stream = whole.stream
        self._whole: DeviceBuffer | None = whole

    def used_by(self, stream: int) -> None:
        """As of a buffer."""
        if self._whole is not None:
            self._whole.used_by(stream)

    def close(self) -> None:
        """Let go of it; the buffer is empty from then on."""
        self.address = self.nbytes = 0
        self._whole = None

    def show(self) -> None:
        """As of a buffer."""
        if self._whole is not None:
            self._whole.show()

    def __del__(self) -> None:
        """Nothing: the whole is let go of."""


def take_together(
    pool: DevicePool, zeroed: Sequence[int], others: Sequence[int], stream: int, budget: Budget | None
) -> list[DeviceBuffer]:
    """Buffers of so many bytes each; those of `zeroed` come first, and are zero behind what the stream was told.

    Parameters
    ----------
    pool
        Of the card.
    zeroed, others
        Sizes in bytes.
    stream
        Handle of the stream that uses them.
    budget
        What they are counted in, with what lies between them.

    Raises
    ------
    MemoryLimitError
        They do not fit the budget, or the card. Nothing was taken.
    """
    made: list[DeviceBuffer] = []
    waiting: list[int] = []
    size = zero = 0
    last_zeroed = len(zeroed)
    for number, nbytes in enumerate([*zeroed, *others]):
        if nbytes > LARGE or size + nbytes > SLAB:
            made += _slab(pool, waiting, (size, zero), stream, budget)
            waiting, size, zero = [], 0, 0
        if nbytes > LARGE:
            made += _slab(pool, [nbytes], (nbytes, nbytes if number < last_zeroed else 0), stream, budget)
            continue
        waiting.append(nbytes)
        size += (nbytes + ALIGNMENT - 1) & -ALIGNMENT
        if number < last_zeroed:
            zero = size
    made += _slab(pool, waiting, (size, zero), stream, budget)
    return made


def _slab(pool: DevicePool, sizes: list[int], extents: tuple[int, int], stream: int, budget: Budget | None) -> list[DeviceBuffer]:
    """Buffers side by side; `extents`: bytes that they take, and how many of them are to be zero."""
    if not sizes:
        return []
    size, zero = extents
    whole = pool.take(size, stream, budget)
    if zero:
        checked(driver().cuMemsetD8Async(whole.address, 0, zero, stream))
    if len(sizes) == 1 and sizes[0] == size:
        return [whole]
    made: list[DeviceBuffer] = []
    begin = 0
    for nbytes in sizes:
        made.append(DevicePart(whole, begin, nbytes))
        begin += (nbytes + ALIGNMENT - 1) & -ALIGNMENT
    return made
