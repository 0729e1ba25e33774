"""Wraps CUDA events, which order the work of streams and measure its time.

The handle of a default stream refers to the current context, and other libraries change that context. So an event makes its own
GPU current, and any thread may call its methods.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from headrace.gpu.device.device import NAMED_STREAMS, Gpu, checked, driver


class Event:
    """A point in the work of a stream. `gpu`: the GPU. `timing`: whether `seconds_since` will be called."""

    __slots__ = ("_destroy", "gpu", "handle")

    def __init__(self, gpu: Gpu, *, timing: bool = False) -> None:
        functions = driver()
        flags = functions.CUevent_flags
        kind = flags.CU_EVENT_DEFAULT if timing else flags.CU_EVENT_DISABLE_TIMING
        self.gpu = gpu
        self._destroy = functions.cuEventDestroy
        with gpu.current():
            self.handle = checked(functions.cuEventCreate(kind.value))

    def record(self, stream: int, *, is_current: bool = False) -> Event:
        """Record all work enqueued on `stream` up to here, and return the event. `is_current`: the GPU is current already."""
        with self._naming(stream, is_current=is_current):
            checked(driver().cuEventRecord(self.handle, stream))
        return self

    def hold(self, stream: int, *, is_current: bool = False) -> None:
        """Make later work of `stream` wait for this event. The caller does not wait. `is_current` as for `record`."""
        with self._naming(stream, is_current=is_current):
            checked(driver().cuStreamWaitEvent(stream, self.handle, 0))

    def _naming(self, stream: int, *, is_current: bool = False) -> AbstractContextManager[None]:
        """Return a context manager in which the handle of a default stream refers to the event's GPU."""
        return self.gpu.current() if stream <= NAMED_STREAMS and not is_current else nullcontext()

    def wait(self) -> None:
        """Wait for the recorded work. Raise GpuError if a kernel before it failed."""
        checked(driver().cuEventSynchronize(self.handle))

    @property
    def is_done(self) -> bool:
        """True if all recorded work is complete."""
        functions = driver()
        status = functions.cuEventQuery(self.handle)[0]
        if status == functions.CUresult.CUDA_ERROR_NOT_READY:
            return False
        checked((status,))
        return True

    def seconds_since(self, earlier: Event) -> float:
        """Return the seconds between two completed events."""
        milliseconds: float = checked(driver().cuEventElapsedTime(earlier.handle, self.handle))
        return milliseconds / 1e3

    @classmethod
    def order(cls, gpu: Gpu, earlier: int, later: int) -> None:
        """Make later work of the stream `later` wait for the work enqueued in `earlier`. The GPU is current.

        The event serves later calls: a wait refers to the record that precedes it. A thread has it alone in between.
        """
        spare = spare_events.setdefault(gpu.index, [])
        try:
            event = spare.pop()
        except IndexError:
            event = cls(gpu)
        event.record(earlier, is_current=True).hold(later, is_current=True)
        spare.append(event)

    def __del__(self) -> None:
        handle = getattr(self, "handle", None)
        if handle is not None:
            self._destroy(handle)


spare_events: dict[int, list[Event]] = {}  # events of `Event.order` that no thread uses, by device
