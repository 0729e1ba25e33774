"""Defines sources whose bytes come in order only: file objects, pipes, devices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from headrace import _native
from headrace.core.errors import MemoryLimitError, OptionError, SourceError, shown
from headrace.sources.kinds.ranges import CHUNK_BYTES

Content = bytes | bytearray | memoryview | str


class StreamSource(ABC):
    """A source that is read from its beginning to its end."""

    name: str  # name for messages
    is_once = False  # True if the bytes can be read only once
    is_text = False  # True if it gives `str`, which needs no decoding. Known once `chunks` or `read_all` has been called.

    @abstractmethod
    def chunks(self) -> Iterator[bytes]:
        """Return the bytes from the beginning, in pieces; text is encoded as UTF-8."""

    @abstractmethod
    def read_all(self, memory_limit: int | None) -> Content:
        """Return all bytes, or all text. Raise SourceError if the source gave neither.

        Raise MemoryLimitError if they exceed the limit, or if None, what the container has left. Text that the caller has in
        memory may have any size.
        """

    def peek(self, max_bytes: int) -> tuple[Content, bool]:
        """Return the first `max_bytes` bytes and whether more may follow. A file object keeps its position.

        The default reads all of the source.

        Raise OptionError if a file object cannot seek.
        """
        return self.read_all(None), False


def checked_content(content: object, name: str) -> Content:
    """Return `content` if it is bytes or text. Raise SourceError if it is neither."""
    if not isinstance(content, bytes | bytearray | memoryview | str):
        raise SourceError(f"read() of {name} gave {shown(content)}, not bytes or text; is it a non-blocking stream?")
    return content


def chunks_of(stream: object, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file object, up to its end. Raise SourceError if it gave neither bytes nor text."""
    while chunk := checked_content(stream.read(CHUNK_BYTES), name):  # type: ignore[attr-defined]
        yield chunk.encode() if isinstance(chunk, str) else bytes(chunk)


def joined_within(memory_limit: int | None, chunks: Iterable[bytes], name: str) -> bytearray:
    """Return all chunks as one text; errors as for `StreamSource.read_all`."""
    text = bytearray()
    for chunk in chunks:
        text += chunk
        if memory_limit is None:
            _native.poll_group_memory(len(chunk))
        elif len(text) > memory_limit:
            raise MemoryLimitError(
                f"the text of {name} is longer than memory_limit = {memory_limit} bytes, and is held as a whole; scan_csv reads "
                "it in batches, without options such as skip_footer"
            )
    return text


def peek_stream(stream: object, name: str, max_bytes: int) -> tuple[Content, bool]:
    """Return the next `max_bytes` bytes of a file object and whether more may follow, and restore its position.

    Raise OptionError if it cannot seek. Raise SourceError if it gave neither bytes nor text.
    """
    if not is_seekable(stream):
        raise OptionError("source cannot seek, so a look would use it up; read_csv(..., dialect='auto') reads it as a whole")
    position = stream.tell()  # type: ignore[attr-defined]
    try:
        content = stream.read(max_bytes)  # type: ignore[attr-defined]
    finally:
        stream.seek(position)  # type: ignore[attr-defined]
    content = checked_content(content, name)
    return content, len(content) >= max_bytes


def is_seekable(stream: object) -> bool:
    """Return whether a file object reports that it can seek."""
    return bool(getattr(stream, "seekable", lambda: False)())
