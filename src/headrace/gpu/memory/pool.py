"""Memory of a GPU, in the order of streams: a pool with a budget, and buffers that are given back when nobody holds them.

Taking and giving back are work of a stream, like a kernel (CUDA's stream-ordered allocator): neither waits, and memory that one
call gave back serves the next call in the same stream at once. The pool keeps what it has, so that only growth asks the system.

What does not fit, a budget or the card, raises `MemoryLimitError`, and nothing is lost: the pool first gives back what it keeps
and waits for what other streams are about to give back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext, suppress
from typing import Any

from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.errors import MemoryLimitError
from headrace.core.process_lock import process_lock
from headrace.gpu.device.device import PER_THREAD_STREAM, Gpu, GpuError, check_status, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event


class DeviceBytes(ABC):
    """Bytes on a GPU, as other libraries and columns know them."""

    __slots__ = ()

    address: int
    nbytes: int
    gpu: Gpu
    stream: int

    @property
    def device(self) -> Device:
        """Where they are."""
        return self.gpu.device

    @abstractmethod
    def show(self) -> None:
        """Another library is told the address."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        self.show()
        return {
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self.address, False),
            "strides": None,
            "stream": self.stream,
            "version": 3,
        }

    def __repr__(self) -> str:
        return f"DeviceBuffer({self.nbytes:_} bytes on {self.device})"


class DeviceBuffer(DeviceBytes):
    """Bytes on a GPU. When nobody holds it, its memory serves the next work of its stream.

    It speaks ``__cuda_array_interface__``, as an array of bytes.

    Parameters
    ----------
    address, nbytes
        Where, and how many. Addresses are multiples of 256.
    gpu
        The card.
    stream
        Handle of the stream that it is taken from and given back to.
    budget
        What it is counted in.
    """

    __slots__ = ("__weakref__", "_budget", "_shown", "_users", "address", "gpu", "nbytes", "stream")

    def __init__(self, address: int, nbytes: int, gpu: Gpu, stream: int, budget: Budget | None) -> None:
        self.address = address
        self.nbytes = nbytes
        self.gpu = gpu
        self.stream = stream
        self._budget = budget
        self._users: dict[int, Event] = {}
        self._shown = False

    def used_by(self, stream: int) -> None:
        """Another stream was told to use it: its memory is given back behind that. To be called after the launch."""
        if stream != self.stream:
            event = self._users.get(stream)
            if event is None:
                event = self._users[stream] = Event(self.gpu)
            event.record(stream)

    def close(self) -> None:
        """Give the memory back now; the buffer is empty from then on."""
        address, self.address = self.address, 0
        if address:
            if self._users or self._shown or self.stream == PER_THREAD_STREAM:
                self._hold_for_others()
            check_status(card_calls().give_back(address, self.stream, int(self.gpu.context)))
            if self._budget is not None:
                self._budget.refund(self.nbytes)
        self.nbytes = 0

    def _hold_for_others(self) -> None:
        """The memory is given back behind what other streams were told; this may be any thread, at any time."""
        with self.gpu.current():
            for event in self._users.values():
                event.hold(self.stream)
            if self._shown or self.stream == PER_THREAD_STREAM:
                self._hold_for_all()
        self._users = {}

    def _hold_for_all(self) -> None:
        """Others have told the address to streams that nobody here knows, or to another thread's: behind all that was started."""
        event = Event(self.gpu)
        try:
            refused = driver().cuCtxRecordEvent(self.gpu.context, event.handle)[0]
        except RuntimeError:  # of cuda.bindings: a driver before 12.5 has no such function
            refused = True
        if refused:
            self.gpu.synchronize()
        else:
            event.hold(self.stream)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            with suppress(Exception):  # when the interpreter ends, the driver may be gone already
                self.close()

    def show(self) -> None:
        """Another library is told the address."""
        self._shown = True


class DevicePool:
    """The memory of a card that this process takes. `device_pool` gives the one of a card.

    Parameters
    ----------
    gpu
        The card.
    """

    def __init__(self, gpu: Gpu) -> None:
        functions = driver()
        self.gpu = gpu
        properties = functions.CUmemPoolProps()
        properties.allocType = functions.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = functions.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = gpu.index
        with gpu.current():
            self._pool = checked(functions.cuMemPoolCreate(properties))
        self._handle = int(self._pool)
        keep = functions.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        checked(functions.cuMemPoolSetAttribute(self._pool, keep, functions.cuuint64_t(2**64 - 1)))

    def take(
        self,
        nbytes: int,
        stream: int | None = None,
        budget: Budget | None = None,
        *,
        is_current: bool = False,
        ones_and_zeros: tuple[int, int] = (0, 0),
    ) -> DeviceBuffer:
        """A buffer whose contents are anything, but for its first bytes if that is asked for.

        Parameters
        ----------
        nbytes
            Its size.
        stream
            Handle of the stream that uses it; None for the card's own.
        budget
            What it is counted in.
        is_current
            Whether the caller has made the card current.
        ones_and_zeros
            So many first bytes have all bits set, and so many behind them are zero.

        Raises
        ------
        MemoryLimitError
            It does not fit the budget, or the card. Nothing was taken.
        """
        stream = self.gpu.stream if stream is None else stream
        if nbytes == 0:
            return DeviceBuffer(0, 0, self.gpu, stream, None)
        if budget is not None:
            budget.charge(nbytes)
        try:
            with nullcontext() if is_current else self.gpu.current():
                address = self._take(nbytes, stream, ones_and_zeros)
        except BaseException:
            if budget is not None:
                budget.refund(nbytes)
            raise
        return DeviceBuffer(address, nbytes, self.gpu, stream, budget)

    def _take(self, nbytes: int, stream: int, ones_and_zeros: tuple[int, int]) -> int:
        wanted = self._handle, nbytes, stream, ones_and_zeros
        status, address = card_calls().take(*wanted)
        if status:
            self.gpu.synchronize()  # other streams may be about to give some back
            self.release_unused()
            status, address = card_calls().take(*wanted)
        functions = driver()
        if status == functions.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            free, total = checked(functions.cuMemGetInfo())
            raise MemoryLimitError(f"{nbytes:_} bytes do not fit the memory of {self.gpu.device}: {free:_} of {total:_} are free")
        check_status(status)
        return address

    def release_unused(self) -> None:
        """Give what is kept for later back to the system."""
        checked(driver().cuMemPoolTrimTo(self._pool, 0))

    @property
    def used(self) -> int:
        """Bytes in buffers."""
        return self._count("CU_MEMPOOL_ATTR_USED_MEM_CURRENT")

    @property
    def reserved(self) -> int:
        """Bytes taken from the system, those that are kept for later included."""
        return self._count("CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT")

    @property
    def most_used(self) -> int:
        """Bytes in buffers at one time, the most since `count_anew`, as far as something was taken since; at least what is used
        now.
        """
        return max(self._count("CU_MEMPOOL_ATTR_USED_MEM_HIGH"), self.used)

    def count_anew(self) -> None:
        """Forget what was used before, for `most_used`.

        The driver can only set its mark to zero, and raises it when something is taken: what is given back before that is not
        in it.
        """
        functions = driver()
        attribute = functions.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH
        checked(functions.cuMemPoolSetAttribute(self._pool, attribute, functions.cuuint64_t(0)))

    def _count(self, attribute: str) -> int:
        functions = driver()
        return int(checked(functions.cuMemPoolGetAttribute(self._pool, getattr(functions.CUmemPool_attribute, attribute))))


_pools: dict[int, DevicePool] = {}
_pools_lock = process_lock()


def device_pool(gpu: Gpu) -> DevicePool:
    """The pool of a card.

    Raises
    ------
    GpuError
        The card has no stream-ordered memory.
    """
    found = _pools.get(gpu.index)
    if found is None:
        with _pools_lock:
            found = _pools.get(gpu.index)
            if found is None:
                try:
                    found = _pools[gpu.index] = DevicePool(gpu)
                except GpuError as error:
                    raise GpuError(f"{gpu} has no stream-ordered memory pools: {error}") from error
    return found
