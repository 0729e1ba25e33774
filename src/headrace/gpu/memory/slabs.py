"""Several buffers taken at once: small ones lie side by side in slabs, each taken, zeroed and given back by one call.

A slab lives as long as any of its buffers, so it is small: who keeps one column of a table keeps 16 MB of others at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headrace import _native
from headrace.core.budget import Budget
from headrace.gpu.device.device import Gpu
from headrace.gpu.memory.pool import DeviceBuffer, DeviceBytes, DevicePool

ALIGNMENT = 256
LARGE = 4 << 20
"""Larger buffers lie alone."""
SLAB = 16 << 20


class DevicePart(DeviceBytes):
    """Bytes inside a buffer, which is given back when nobody holds any part of it."""

    __slots__ = ("_whole", "address", "nbytes")

    def __init__(self, whole: DeviceBuffer, begin: int, nbytes: int) -> None:
        self.address = whole.address + begin
        self.nbytes = nbytes
        self._whole = whole

    @property
    def gpu(self) -> Gpu:  # type: ignore[override]  # it is not for others to set
        """The card."""
        return self._whole.gpu

    @property
    def stream(self) -> int:  # type: ignore[override]
        """Handle of the stream that uses it."""
        return self._whole.stream

    def used_by(self, stream: int) -> None:
        """Another stream was told to use it; as of a buffer."""
        self._whole.used_by(stream)

    def show(self) -> None:
        """As of a buffer."""
        self._whole.show()


class DeviceParts:
    """Buffers by number. Each is made when it is asked for: most of a table's columns never need all of theirs."""

    __slots__ = ("_begins", "_sizes", "_wholes", "addresses")

    def __init__(self) -> None:
        self._wholes: list[Any] = []  # buffers, or None for what is dropped
        self._begins: list[int] = []
        self._sizes: list[int] = []
        self.addresses: list[int] = []
        """Where each of them begins."""

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> DevicePart:
        return DevicePart(self._wholes[number], self._begins[number], self._sizes[number])

    def __iter__(self) -> Iterator[DevicePart]:
        return map(DevicePart, self._wholes, self._begins, self._sizes)

    def trim(self, sizes: Sequence[int]) -> None:
        """So many bytes of each count from now on, no more than it has."""
        self._sizes = list(sizes)

    def drop(self, numbers: Sequence[int]) -> None:
        """Nobody asks for these any more."""
        wholes = self._wholes
        for number in numbers:
            wholes[number] = None

    def join(self, others: DeviceParts) -> None:
        """Have others behind these."""
        self._wholes += others._wholes
        self._begins += others._begins
        self._sizes += others._sizes
        self.addresses += others.addresses

    def add(self, whole: DeviceBuffer, begins: Sequence[int], sizes: Sequence[int]) -> None:
        """Some that lie in one buffer."""
        self._wholes += [whole] * len(sizes)
        self._begins += begins
        self._sizes += sizes
        address = whole.address
        self.addresses += [address + begin for begin in begins]


def take_together(
    pool: DevicePool, zeroed: Sequence[int], others: Sequence[int], stream: int, budget: Budget | None, *, ones: int = 0
) -> DeviceParts:
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
    ones
        So many of `zeroed`, from the first on, have all bits set instead.

    Raises
    ------
    MemoryLimitError
        They do not fit the budget, or the card. Nothing was taken.
    """
    made = DeviceParts()
    first = 0
    sizes = [*zeroed, *others]
    slabs, begins = _native.lay_out(sizes, (ones, len(zeroed)), (ALIGNMENT, LARGE, SLAB))
    for behind, nbytes, set_, filled in slabs:
        whole = pool.take(nbytes, stream, budget, is_current=True, ones_and_zeros=(set_, filled))
        made.add(whole, begins[first:behind], sizes[first:behind])
        first = behind
    return made
