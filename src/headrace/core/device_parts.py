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
    """Buffers of so many bytes each, on a card that is current; those of `zeroed` come first, and are zero.

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
    sizes = [*zeroed, *others]
    made: list[DeviceBuffer] = []
    first = 0
    for behind in _slab_ends(sizes):
        zero = min(max(len(zeroed) - first, 0), behind - first)
        made += _slab(pool, sizes[first:behind], zero, stream, budget)
        first = behind
    return made


def _slab_ends(sizes: Sequence[int]) -> list[int]:
    """Behind which buffer each slab ends."""
    if sum(sizes) + ALIGNMENT * len(sizes) <= LARGE:
        return [len(sizes)]
    ends = []
    size = 0
    for number, nbytes in enumerate(sizes):
        if size and (nbytes > LARGE or size + nbytes > SLAB):
            ends.append(number)
            size = 0
        size += (nbytes + ALIGNMENT - 1) & -ALIGNMENT
        if nbytes > LARGE:
            ends.append(number + 1)
            size = 0
    return [*ends, len(sizes)] if size else ends


def _slab(pool: DevicePool, sizes: Sequence[int], zeroed: int, stream: int, budget: Budget | None) -> list[DeviceBuffer]:
    """Buffers side by side, the first of them zero."""
    begins = [0]
    for nbytes in sizes:
        begins.append((begins[-1] + nbytes + ALIGNMENT - 1) & -ALIGNMENT)
    if len(sizes) == 1:
        begins[1] = sizes[0]
    whole = pool.take(begins[-1], stream, budget, is_current=True)
    if begins[zeroed]:
        checked(driver().cuMemsetD8Async(whole.address, 0, begins[zeroed], stream))
    if len(sizes) == 1:
        return [whole]
    return [DevicePart(whole, begin, nbytes) for begin, nbytes in zip(begins, sizes, strict=False)]
