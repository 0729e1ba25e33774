"""Defines sources of which any byte range can be read: the reader that a kind implements, and how it is opened.

A kind of source defines one `RangeReader`. The loader's threads, the parts of a scan, and the thread that sends text to a GPU all
use the reader, whatever the kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from headrace import _native
from headrace.core.errors import SourceError
from headrace.core.lazy import LazyAttribute
from headrace.core.transfers import Crossings

if TYPE_CHECKING:
    from collections.abc import Hashable

    from headrace.arrays.arrays import Array

CHUNK_BYTES = 1 << 20  # bytes of one range where a source is read from its beginning to its end


class RangeReader(ABC):
    """Reads byte ranges of one open source, from any thread.

    A subclass defines `size`, `read_ranges` and, if it can, `identity`. The default of `native` lets the native readers call
    `read_ranges`; a kind whose bytes native code can read by itself overrides it.
    """

    max_in_flight = 1  # calls of `read_ranges` that may run at the same time, and ranges that one call may request

    path: str | None = None
    """Path of a regular local file that holds exactly these bytes; for readers that bypass the host (GPUDirect Storage)."""

    on_gpu: Array | None = None  # the bytes as an array in GPU memory, if they are there

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes of the source."""

    @abstractmethod
    def read_ranges(self, ranges: Sequence[range]) -> Sequence[bytes | bytearray | memoryview]:
        """Return the bytes of each range, in order. All ranges lie inside the source.

        Raises
        ------
        SourceError
            A range cannot be read.
        """

    def identity(self) -> Hashable:
        """Return a value that changes if the bytes do (an etag; inode, size and time), None if there is none.

        A source with an identity can be opened again; one without is kept open. It is asked for at the beginning and the end.
        """
        return None

    @LazyAttribute
    def native(self) -> _native.Source:
        """The source for native readers, which call `read_ranges` with the GIL."""
        slots = BoundedSemaphore(self.max_in_flight)
        first_identity = self.identity()

        def read(offset: int, count: int, address: int) -> None:
            with slots:
                (content,) = self.read_ranges([range(offset, offset + count)])
            _copy_to(content, count, address)

        def check() -> None:
            if self.identity() != first_identity:
                raise SourceError("the source changed while it was read; read it again")

        return _native.Source.from_reader(self.size, read, b"", None if first_identity is None else check)

    def chunks(self) -> Iterator[bytes | bytearray | memoryview]:
        """Yield all bytes in order, `max_in_flight` ranges a request.

        Raises
        ------
        SourceError
            The source cannot be read, or changed meanwhile.
        """
        step = CHUNK_BYTES * self.max_in_flight
        for begin in range(0, self.size, step):
            end = min(begin + step, self.size)
            yield from self.read_ranges([range(at, min(at + CHUNK_BYTES, end)) for at in range(begin, end, CHUNK_BYTES)])
        try:
            self.native.check_unchanged()
        except _native.SourceFailure as error:
            raise SourceError(str(error)) from None


def _copy_to(content: bytes | bytearray | memoryview, count: int, address: int) -> None:
    view = memoryview(content).cast("B")
    if len(view) != count:
        raise SourceError(f"the reader of the source returned {len(view)} bytes of a range of {count}")
    import ctypes

    memoryview((ctypes.c_char * count).from_address(address)).cast("B")[:] = view


class NativeReader(RangeReader):
    """Reads a source that native code can read by itself: bytes in memory, a file.

    `path`, `on_gpu`: as for `RangeReader`.
    `identity`: as `RangeReader.identity` returns it.
    """

    def __init__(
        self, native: _native.Source, *, path: str | None = None, identity: Hashable = None, on_gpu: Array | None = None
    ) -> None:
        self.native, self.path, self.on_gpu, self._identity = native, path, on_gpu, identity

    @property
    def size(self) -> int:
        """Bytes of the source."""
        return self.native.size

    def identity(self) -> Hashable:
        """Return the identity when the source was opened; `native` itself checks for changes."""
        return self._identity

    def read_ranges(self, ranges: Sequence[range]) -> Sequence[bytes]:
        """Return the bytes of each range. Raise SourceError if the file cannot be read, or shrank."""
        try:
            return [self.native.read(part.start, len(part)) for part in ranges]
        except _native.SourceFailure as error:
            raise SourceError(str(error)) from None


@dataclass(frozen=True, slots=True)
class RangeSource:
    """A source that gives a `RangeReader` each time it is opened."""

    name: str  # name for messages: a path, a URL, or a description in angle brackets
    open: Callable[[Crossings], AbstractContextManager[RangeReader]]
    """Opens the reader until the block ends; transfers from a GPU are counted in its argument."""
