"""Keeps scratch memory for communication between the blocks of a launch, one buffer a stream.

The memory is cleared once, not for each launch. Kernels reset counters to zero before they end. A state counts only if it carries
the launch's epoch, a number that this memory has not seen before. A short array therefore costs one launch and no memset.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.core.process.process_lock import process_lock
from headrace.gpu.device.device import Gpu, check_status, checked, driver, is_lasting
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import PoolBuffer, device_pool

COUNTERS = 32 << 10  # bytes at the start of memory of kind 0 that are zero before and after each launch

_MIN_BYTES = 64 << 10
_MAX_STREAMS = 64
_LAST_EPOCH = 2**32 - 1
_DEFAULT_STREAM = -1  # number of the default stream; the driver's ids of other streams are not negative


@dataclass(slots=True)
class _Entry:
    buffer: PoolBuffer
    epoch: int


scratch_entries: dict[tuple[int, int, int], _Entry] = {}
_lock = process_lock()


class Scratch:
    """Scratch memory for one launch, made between `begin` and `end` or inside a ``with`` block.

    `nbytes`: minimum size. Words without this epoch hold zeros or states of other epochs.
    `stream`: handle of the launch's stream; None for the device's default stream of this package.
    `kind`: size of a state in bytes: words of different sizes must not share memory, since one could look like an epoch of the
    other. 0 for memory without states: `COUNTERS` bytes of counters, then uninitialised bytes.
    """

    __slots__ = ("_buffer", "_card", "_key", "_kind", "_nbytes", "_stream")

    def __init__(self, card: Gpu, nbytes: int, stream: int | None, kind: int) -> None:
        self._card, self._nbytes, self._kind = card, nbytes, kind
        self._stream = card.stream if stream is None else stream
        self._key: tuple[int, int, int] | None = None
        self._buffer: PoolBuffer | None = None

    def begin(self) -> tuple[PoolBuffer, int]:
        """Return the buffer and the launch's epoch, which counts from 1.

        A stream under graph capture gets a separate buffer that the graph clears: the graph may run several times at once.
        """
        card, stream = self._card, self._stream
        if is_lasting(stream):
            stream_id = _DEFAULT_STREAM  # it is never captured
        else:
            status, is_capturing, stream_id = card_calls().stream_state(stream, int(card.context))
            check_status(status)
            if is_capturing:
                with card.current():
                    return zeroed(card, self._nbytes, stream), 1
        self._key = key = card.index, stream_id, self._kind
        with _lock:
            entry = scratch_entries.get(key)
            if entry is None or entry.buffer.nbytes < self._nbytes or entry.epoch == _LAST_EPOCH:
                with card.current():
                    entry = _make(card, key, self._nbytes, stream)
            entry.epoch += 1
            self._buffer = entry.buffer
            return entry.buffer, entry.epoch

    def end(self) -> None:
        """Note that the launch was made.

        If another thread has replaced the buffer since `begin`, its release must wait for this stream again.
        """
        if self._key is None or self._buffer is None:
            return
        with _lock:
            entry = scratch_entries.get(self._key)
            if entry is None or entry.buffer is not self._buffer:
                self._buffer.used_by(self._stream)

    def __enter__(self) -> tuple[PoolBuffer, int]:
        return self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


def zeroed(card: Gpu, nbytes: int, stream: int | None) -> PoolBuffer:
    """Allocate a cleared buffer in the order of `stream`."""
    buffer = device_pool(card).take(nbytes, stream)
    checked(driver().cuMemsetD8Async(buffer.address, 0, nbytes, buffer.stream))
    return buffer


def _make(card: Gpu, key: tuple[int, int, int], nbytes: int, stream: int) -> _Entry:
    """Allocate a power of two of bytes, so that it seldom grows, in the device's stream: the caller's may be destroyed."""
    old = scratch_entries.get(key)
    if old is not None:
        old.buffer.used_by(stream)
    elif len(scratch_entries) >= _MAX_STREAMS:
        card.synchronize()
        scratch_entries.clear()
    buffer = zeroed(card, max(_MIN_BYTES, 1 << (nbytes - 1).bit_length()), None)
    if stream != card.stream:
        Event(card).record(card.stream).hold(stream)
    entry = scratch_entries[key] = _Entry(buffer, 0)
    return entry
