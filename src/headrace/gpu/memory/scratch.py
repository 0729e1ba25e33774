"""Memory in which the blocks of one launch tell each other things, kept for the next launch of the same stream.

It is cleared when it is made, not for each launch: counters are back at zero when a kernel ends, and a state counts only
if it has the launch's epoch, a number that its memory has not seen. So a short array costs a launch and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.core.process_lock import process_lock
from headrace.gpu.device.device import Gpu, checked, driver
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import DeviceBuffer, device_pool

COUNTERS = 32 << 10
"""Bytes at the beginning of memory of kind 0 that are zero when a launch begins and when it ends."""

_LEAST = 64 << 10
_MOST_STREAMS = 64
_LAST_EPOCH = 2**32 - 1


@dataclass(slots=True)
class _Kept:
    buffer: DeviceBuffer
    epoch: int


kept_scratch: dict[tuple[int, int, int], _Kept] = {}
_lock = process_lock()


class Scratch:
    """Memory for the next launch of a stream, which is made between `begin` and `end`, or in a block.

    Parameters
    ----------
    card
        Where.
    nbytes
        At least so many; what this epoch does not mark holds zeros, or states of other epochs.
    stream
        Handle of the stream of the launch; None for the card's own.
    kind
        Bytes of a state, since a word of one size must not be taken for an epoch of another. 0 for memory without states:
        `COUNTERS` bytes of counters, and behind them what a launch likes.
    """

    __slots__ = ("_buffer", "_card", "_key", "_kind", "_nbytes", "_stream")

    def __init__(self, card: Gpu, nbytes: int, stream: int | None, kind: int) -> None:
        self._card, self._nbytes, self._kind = card, nbytes, kind
        self._stream = card.stream if stream is None else stream
        self._key: tuple[int, int, int] | None = None
        self._buffer: DeviceBuffer | None = None

    def begin(self) -> tuple[DeviceBuffer, int]:
        """The buffer and its epoch, from 1 on.

        A stream that is captured into a graph gets memory of its own, which the graph clears: its launch may be repeated beside
        others.
        """
        functions, card, stream = driver(), self._card, self._stream
        with card.current():
            if checked(functions.cuStreamIsCapturing(stream)) != functions.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
                return zeroed(card, self._nbytes, stream), 1
            self._key = key = card.index, int(checked(functions.cuStreamGetId(stream))), self._kind
            with _lock:
                kept = kept_scratch.get(key)
                if kept is None or kept.buffer.nbytes < self._nbytes or kept.epoch == _LAST_EPOCH:
                    kept = _make(card, key, self._nbytes, stream)
                kept.epoch += 1
                self._buffer = kept.buffer
                return kept.buffer, kept.epoch

    def end(self) -> None:
        """The launch was made.

        Another thread may have replaced the buffer since `begin`, and noted its use by this stream before this launch.
        """
        if self._key is None or self._buffer is None:
            return
        with _lock:
            kept = kept_scratch.get(self._key)
            if kept is None or kept.buffer is not self._buffer:
                self._buffer.used_by(self._stream)

    def __enter__(self) -> tuple[DeviceBuffer, int]:
        return self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


def zeroed(card: Gpu, nbytes: int, stream: int | None) -> DeviceBuffer:
    """A buffer of zeros, in the order of `stream`."""
    buffer = device_pool(card).take(nbytes, stream)
    checked(driver().cuMemsetD8Async(buffer.address, 0, nbytes, buffer.stream))
    return buffer


def _make(card: Gpu, key: tuple[int, int, int], nbytes: int, stream: int) -> _Kept:
    """More than is asked for, so that it seldom grows. It belongs to the card's stream, since the other one may go first."""
    old = kept_scratch.get(key)
    if old is not None:
        old.buffer.used_by(stream)
    elif len(kept_scratch) >= _MOST_STREAMS:
        card.synchronize()
        kept_scratch.clear()
    buffer = zeroed(card, max(_LEAST, 1 << (nbytes - 1).bit_length()), None)
    if stream != card.stream:
        Event(card).record(card.stream).hold(stream)
    kept = kept_scratch[key] = _Kept(buffer, 0)
    return kept
