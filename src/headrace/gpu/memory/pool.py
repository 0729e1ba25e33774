"""Allocates device memory in stream order, from a pool, within a budget.

Allocation and release are work of a stream, like a kernel (CUDA's stream-ordered allocator). Neither waits, and memory that one
call releases serves the next call in the same stream at once. The pool keeps released memory, so only growth asks the system.

An allocation that exceeds the budget or the device raises `MemoryLimitError` and changes nothing. Before that, the pool waits for
pending releases of other streams and returns its unused memory to the system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext, suppress
from typing import Any

from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.errors import MemoryLimitError
from headrace.core.process.process_lock import process_lock
from headrace.gpu.device.device import PER_THREAD_STREAM, Gpu, GpuError, check_status, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event


class DeviceBytes(ABC):
    """Interface of bytes in device memory, for columns and other libraries."""

    __slots__ = ()

    address: int
    nbytes: int
    gpu: Gpu
    stream: int

    @property
    def device(self) -> Device:
        """Device of the memory."""
        return self.gpu.device

    @abstractmethod
    def show(self) -> None:
        """Note that another library gets the address."""

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
        return f"PoolBuffer({self.nbytes:_} bytes on {self.device})"


class PoolBuffer(DeviceBytes):
    """A buffer in device memory. When the last reference is gone, its memory serves later work of its stream.

    It has ``__cuda_array_interface__``, as an array of bytes.

    `address`, `nbytes`: device address, a multiple of 256, and size.
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
        """Make the release wait for the work enqueued in another stream. Call it after the launch."""
        if stream != self.stream:
            event = self._users.get(stream)
            if event is None:
                event = self._users[stream] = Event(self.gpu)
            event.record(stream)

    def close(self) -> None:
        """Release the memory now; the buffer is empty afterwards."""
        address, self.address = self.address, 0
        if address:
            if self._users or self._shown or self.stream == PER_THREAD_STREAM:
                self._hold_for_others()
            check_status(card_calls().give_back(address, self.stream, int(self.gpu.context)))
            if self._budget is not None:
                self._budget.refund(self.nbytes)
        self.nbytes = 0

    def _hold_for_others(self) -> None:
        """Make the release wait for other streams. May run in any thread at any time."""
        with self.gpu.current():
            for event in self._users.values():
                event.hold(self.stream)
            if self._shown or self.stream == PER_THREAD_STREAM:
                self._hold_for_all()
        self._users = {}

    def _hold_for_all(self) -> None:
        """Make the release wait for all work of the device: the streams of other libraries and threads are unknown."""
        event = Event(self.gpu)
        try:
            refused = driver().cuCtxRecordEvent(self.gpu.context, event.handle)[0]
        except RuntimeError:  # cuda.bindings: drivers before 12.5 lack the function
            refused = True
        if refused:
            self.gpu.synchronize()
        else:
            event.hold(self.stream)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            with suppress(Exception):  # at interpreter exit the driver may be gone
                self.close()

    def show(self) -> None:
        """Note that another library gets the address."""
        self._shown = True


class DevicePool:
    """Device memory of this process. `device_pool` returns the pool of a device."""

    def __init__(self, gpu: Gpu) -> None:
        functions = driver()
        self.gpu = gpu
        properties = functions.CUmemPoolProps()
        properties.allocType = functions.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = functions.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = gpu.index
        with gpu.current():
            self._pool = checked(functions.cuMemPoolCreate(properties))
        self.handle = int(self._pool)  # the driver's handle
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
    ) -> PoolBuffer:
        """Allocate a buffer. Its contents are uninitialised, except for the bytes of `ones_and_zeros`.

        Raise MemoryLimitError if the budget or the device has too little memory. Nothing was allocated.

        `stream`: handle of the stream that uses it; None for the device's default stream of this package.
        `is_current`: whether the caller has made the device current.
        `ones_and_zeros`: number of first bytes whose bits are all set, and of following bytes that are cleared.
        """
        stream = self.gpu.stream if stream is None else stream
        if nbytes == 0:
            return PoolBuffer(0, 0, self.gpu, stream, None)
        if budget is not None:
            budget.charge(nbytes)
        try:
            with nullcontext() if is_current else self.gpu.current():
                address = self._take(nbytes, stream, ones_and_zeros)
        except BaseException:
            if budget is not None:
                budget.refund(nbytes)
            raise
        return PoolBuffer(address, nbytes, self.gpu, stream, budget)

    def _take(self, nbytes: int, stream: int, ones_and_zeros: tuple[int, int]) -> int:
        wanted = self.handle, nbytes, stream, ones_and_zeros
        status, address = card_calls().take(*wanted)
        if not status:
            return address
        self.gpu.synchronize()  # waits for pending releases of other streams
        self.release_unused()
        status, address = card_calls().take(*wanted)
        functions = driver()
        if status == functions.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            free, total = checked(functions.cuMemGetInfo())
            raise MemoryLimitError(f"{nbytes:_} bytes do not fit the memory of {self.gpu.device}: {free:_} of {total:_} are free")
        check_status(status)
        return address

    def release_unused(self) -> None:
        """Return unused memory of the pool to the system."""
        checked(driver().cuMemPoolTrimTo(self._pool, 0))

    @property
    def used(self) -> int:
        """Bytes allocated in buffers."""
        return self._count("CU_MEMPOOL_ATTR_USED_MEM_CURRENT")

    @property
    def reserved(self) -> int:
        """Bytes reserved from the system, including unused ones."""
        return self._count("CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT")

    @property
    def peak_used(self) -> int:
        """Highest number of allocated bytes since `reset_peak`, observed at allocations; at least the bytes used now."""
        return max(self._count("CU_MEMPOOL_ATTR_USED_MEM_HIGH"), self.used)

    def reset_peak(self) -> None:
        """Reset `peak_used`.

        The driver can only set its mark to zero, and raises it at an allocation. Bytes that are released before the next
        allocation are not in it.
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
    """Return the pool of a device. Raise GpuError if the device has no stream-ordered memory."""
    found = _pools.get(gpu.index)
    if found is None:
        with _pools_lock:
            found = _pools.get(gpu.index)
            if found is None:
                try:
                    found = _pools[gpu.index] = DevicePool(gpu)
                except GpuError as error:
                    raise type(error)(f"{gpu} has no stream-ordered memory pools: {error}") from error
    return found
