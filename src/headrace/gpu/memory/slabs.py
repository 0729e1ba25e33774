"""Allocates several buffers at once: small ones share slabs, each allocated, cleared and released by one call.

A slab lives as long as any of its buffers. It is small: a column that outlives the others keeps at most 16 MB of them alive, or
64 MB if there are many. A driver call for each buffer of 300 columns would take 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headrace import _native
from headrace.core.budget import Budget
from headrace.gpu.device.device import Gpu
from headrace.gpu.memory.pool import DeviceBytes, DevicePool, PoolBuffer

ALIGNMENT = 256
LARGE = 4 << 20  # larger buffers have an allocation of their own
SLAB = 16 << 20
MANY, MANY_SLAB = 64, 64 << 20  # from `MANY` buffers on, those of up to `SLAB` bytes share slabs of `MANY_SLAB`


class DevicePart(DeviceBytes):
    """A slice of a buffer, which is released when its last slice is gone."""

    __slots__ = ("_whole", "address", "nbytes")

    def __init__(self, whole: PoolBuffer, begin: int, nbytes: int) -> None:
        self.address = whole.address + begin
        self.nbytes = nbytes
        self._whole = whole

    @property
    def gpu(self) -> Gpu:  # type: ignore[override]  # read-only
        """The device."""
        return self._whole.gpu

    @property
    def stream(self) -> int:  # type: ignore[override]
        """Handle of the stream of its allocation."""
        return self._whole.stream

    def used_by(self, stream: int) -> None:
        """See `PoolBuffer.used_by`."""
        self._whole.used_by(stream)

    def show(self) -> None:
        """See `PoolBuffer.show`."""
        self._whole.show()


class DeviceBufferGroup:
    """Buffers by index. Their objects are created on access, since most columns never need all of theirs.

    `begins`, `sizes`: the offset of each buffer in its slab, and its bytes.
    """

    __slots__ = ("_begins", "_sizes", "_wholes")

    def __init__(self, begins: Sequence[int], sizes: Sequence[int]) -> None:
        self._wholes: list[Any] = []  # slabs, or None for released buffers
        self._begins, self._sizes = begins, sizes

    def add(self, slab: PoolBuffer, end: int) -> None:
        """Set the slab of the next buffers, before `end`."""
        self._wholes += [slab] * (end - len(self._wholes))

    @property
    def addresses(self) -> list[int]:
        """Device address of each buffer; none may be released."""
        return [slab.address + begin for slab, begin in zip(self._wholes, self._begins, strict=True)]

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> DevicePart:
        return DevicePart(self._wholes[number], self._begins[number], self._sizes[number])

    def __iter__(self) -> Iterator[DevicePart]:
        return map(DevicePart, self._wholes, self._begins, self._sizes)

    def trim(self, sizes: Sequence[int]) -> None:
        """Reduce each buffer to `sizes` bytes; none may grow."""
        self._sizes = sizes

    def drop(self, numbers: Sequence[int]) -> None:
        """Release the buffers with these indices."""
        wholes = self._wholes
        if isinstance(numbers, range):
            wholes[numbers.start : numbers.stop] = [None] * len(numbers)
            return
        for number in numbers:
            wholes[number] = None

    def join(self, others: DeviceBufferGroup) -> None:
        """Append other buffers."""
        self._wholes += others._wholes
        self._begins = [*self._begins, *others._begins]
        self._sizes = [*self._sizes, *others._sizes]


FEW_LIMITS, _MANY_LIMITS = (ALIGNMENT, LARGE, SLAB), (ALIGNMENT, SLAB, MANY_SLAB)


def slab_limits(buffers: int) -> tuple[int, int, int]:
    """Return the limits for slabs of a number of buffers in bytes: alignment, largest buffer that shares a slab, largest slab."""
    return FEW_LIMITS if buffers < MANY else _MANY_LIMITS


def allocate_group(
    pool: DevicePool, zeroed: Sequence[int], others: Sequence[int], stream: int, budget: Budget | None, *, ones: int = 0
) -> DeviceBufferGroup:
    """Allocate buffers on the current device: first those of `zeroed`, which are cleared, then `others`.

    Raise MemoryLimitError if the budget or the device has too little memory. Nothing was allocated.

    `zeroed`, `others`: sizes in bytes.
    `ones`: number of first buffers of `zeroed` that have all bits set instead.
    """
    sizes = [*zeroed, *others]
    slabs, begins = _native.lay_out(sizes, (ones, len(zeroed)), slab_limits(len(sizes)))
    result = DeviceBufferGroup(begins, sizes)
    for end, nbytes, set_, filled in slabs:
        result.add(pool.take(nbytes, stream, budget, is_current=True, ones_and_zeros=(set_, filled)), end)
    return result
