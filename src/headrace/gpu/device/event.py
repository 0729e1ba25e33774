"""Points in the work of a GPU's streams: what waits for what, and how long it took.

A default stream is that of the card that is current, so an event makes its own card so: any thread may ask, and other libraries
change what is current.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from headrace.gpu.device.device import NAMED_STREAMS, Gpu, checked, driver


class Event:
    """A point in the work of a stream.

    Parameters
    ----------
    gpu
        The card.
    timing
        Whether `seconds_since` will be asked.
    """

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
        """Stand for all that `stream` has been told so far; returns itself. A card that is current need not be made so."""
        with self._naming(stream, is_current=is_current):
            checked(driver().cuEventRecord(self.handle, stream))
        return self

    def hold(self, stream: int) -> None:
        """What `stream` is told from now on waits for this event; the caller does not."""
        with self._naming(stream):
            checked(driver().cuStreamWaitEvent(stream, self.handle, 0))

    def _naming(self, stream: int, *, is_current: bool = False) -> AbstractContextManager[None]:
        """A block in which the handle of a stream means a stream of the event's card."""
        return self.gpu.current() if stream <= NAMED_STREAMS and not is_current else nullcontext()

    def wait(self) -> None:
        """Wait for it.

        Raises
        ------
        GpuError
            A kernel before it failed.
        """
        checked(driver().cuEventSynchronize(self.handle))

    @property
    def is_done(self) -> bool:
        """Whether everything before it has been done."""
        functions = driver()
        status = functions.cuEventQuery(self.handle)[0]
        if status == functions.CUresult.CUDA_ERROR_NOT_READY:
            return False
        checked((status,))
        return True

    def seconds_since(self, earlier: Event) -> float:
        """Seconds between two events that are done."""
        milliseconds: float = checked(driver().cuEventElapsedTime(earlier.handle, self.handle))
        return milliseconds / 1e3

    def __del__(self) -> None:
        handle = getattr(self, "handle", None)
        if handle is not None:
            self._destroy(handle)
