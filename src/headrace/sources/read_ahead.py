"""Makes pieces of a text on a thread of its own, a few MB ahead of the reader, so that decompression and loading overlap."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

_MAX_WAITING_BYTES = 8 << 20  # bytes of pieces that may wait; the thread adds one more piece and then blocks


class ReadAhead:
    """Runs an iterator on a thread, ahead of the thread that takes its pieces.

    If the system has no thread left, each piece is made when it is taken.

    `make`: returns the iterator; called on the new thread.
    """

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._pieces: queue.Queue[bytes | BaseException | None] = queue.Queue()
        self._changed = threading.Condition()
        self._bytes = 0
        self._is_closed = False
        self._without_thread: Iterator[bytes] | None = None
        self._thread = threading.Thread(target=self._work, args=(make,), name="headrace-text", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._without_thread = make()

    def take(self) -> bytes | None:
        """Return the next piece, None after the last. An exception that ended the thread is raised here."""
        if self._without_thread is not None:
            return next(self._without_thread, None)
        piece = self._pieces.get()
        if isinstance(piece, BaseException):
            self._pieces.put(piece)
            raise piece
        if piece is None:
            self._pieces.put(None)
            return None
        with self._changed:
            self._bytes -= len(piece)
            self._changed.notify()
        return piece

    def close(self) -> None:
        """Stop the thread and wait for it."""
        if self._without_thread is not None:
            self._without_thread = iter(())
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self, make: Callable[[], Iterator[bytes]]) -> None:
        try:
            for piece in make():
                if not self._put(piece):
                    return
        except BaseException as error:  # noqa: BLE001  # every exception is passed to the thread that takes the next piece
            self._pieces.put(error)
        else:
            self._pieces.put(None)

    def _put(self, piece: bytes) -> bool:
        """Add a piece as soon as there is room; return whether more are wanted."""
        with self._changed:
            while self._bytes > _MAX_WAITING_BYTES and not self._is_closed:
                self._changed.wait()
            self._bytes += len(piece)
            if not self._is_closed:
                self._pieces.put(piece)
            return not self._is_closed
