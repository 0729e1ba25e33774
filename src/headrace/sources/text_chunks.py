"""Makes the text of a source from its beginning, chunk by chunk: reads, decompresses, and decodes where native readers cannot."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from headrace.core.errors import SourceError
from headrace.sources.compression.decompress import decompressed_pieces
from headrace.sources.compression.formats import MARK_BYTES
from headrace.sources.encoding.encoding import MARK_UNDECODABLE, TextEncoding, in_utf8, is_decoded_whole
from headrace.sources.kinds.ranges import CHUNK_BYTES
from headrace.sources.kinds.streams import StreamSource
from headrace.sources.open import SourceOptions, compression_of
from headrace.sources.registry import AnySource


class TextChunks:
    """The text of a source, in order, as often as it is asked for.

    A pipe, or a file object that cannot seek, can be read only once. The first reading copies it to a temporary file, if `keep`
    says that another will follow.

    `options`: how its bytes become text.
    `always_utf8`: whether encodings that the native readers decode are decoded, too.
    """

    def __init__(self, source: AnySource, options: SourceOptions, *, always_utf8: bool = False) -> None:
        self._source, self._options, self._always_utf8 = source, options, always_utf8
        self._buffered: _BufferedChunks | None = None
        self._is_decoded = False
        self.name = source.name

    def make(self, *, keep: bool = False) -> Iterator[bytes]:
        """Return the text from its beginning, in UTF-8 or in an encoding that the native readers decode.

        `keep`: whether the text will be made again. Raise SourceError if the source cannot be read a second time, or is
        truncated.
        """
        self._is_decoded = False
        chunks = self._chunks(keep)
        start = _take(chunks, MARK_BYTES)
        form = None if self._is_text else compression_of(start, self._options, self.name)
        chunks = _joined(start, chunks)
        if form is not None:
            chunks = decompressed_pieces(chunks, form, self.name)
        return self._decoded(chunks)

    def codec_of(self, start: bytes) -> tuple[str, int]:
        """Return the codec of the text that `make` gives and begins with `start`, and the size of its byte-order mark."""
        if self._is_decoded:
            return "utf-8", 0
        return (TextEncoding() if self._is_text else self._options.encoding).of_text(start)

    def close(self) -> None:
        """Delete the temporary file."""
        if self._buffered is not None:
            self._buffered.close()

    @property
    def _is_text(self) -> bool:
        return isinstance(self._source, StreamSource) and self._source.is_text

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        start = _take(chunks, 4)
        codec, begin = self.codec_of(start)
        if not is_decoded_whole(codec) and not (self._always_utf8 and codec != "utf-8"):
            yield from _joined(start, chunks)
            return
        self._is_decoded = True
        decoder = codecs.getincrementaldecoder(codec)(MARK_UNDECODABLE)
        for chunk in _joined(start[begin:], chunks):
            yield in_utf8(decoder.decode(chunk))
        yield in_utf8(decoder.decode(b"", True))

    def _chunks(self, keep: bool) -> Iterator[bytes]:
        source = self._source
        if not isinstance(source, StreamSource):
            with_ranges = source

            def chunks() -> Iterator[bytes]:
                with with_ranges.open(self._options.crossings) as reader:
                    yield from map(bytes, reader.chunks())

            return chunks()
        if not source.is_once:
            return source.chunks()
        if self._buffered is None:
            self._buffered = _BufferedChunks(source.chunks(), self.name)
        return self._buffered.chunks(keep)


class _BufferedChunks:
    """Chunks that can be read only once, and a temporary file with those that have been read."""

    def __init__(self, rest: Iterator[bytes], name: str) -> None:
        self._rest, self._name = rest, name
        import tempfile  # seldom needed, and slow to import

        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._size = 0
        self._is_consumed = False

    def chunks(self, keep: bool) -> Iterator[bytes]:
        if self._is_consumed:
            raise SourceError(f"{self._name} can be read only once, and has been")
        self._is_consumed = not keep  # even if the file has all of it: whether it does depends on how far a thread was ahead
        at = 0
        while at < self._size:
            self._file.seek(at)
            chunk = self._file.read(min(CHUNK_BYTES, self._size - at))
            at += len(chunk)
            yield chunk
        for chunk in self._rest:
            if keep:
                self._file.seek(self._size)
                self._file.write(chunk)
                self._size += len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()


def _take(chunks: Iterator[bytes], min_bytes: int) -> bytes:
    """Return the first chunks, which have at least `min_bytes` bytes if the source does."""
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= min_bytes:
            break
    return start


def _joined(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
