"""Texts that come in order, piece by piece: of file objects and pipes, decompressed, decoded."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from typing import Any

from headrace import _native
from headrace.core.errors import SourceError
from headrace.sources.compressed import COMPRESSIONS, decompressed_pieces, recognised
from headrace.sources.encoding import MARK_UNDECODABLE, TextEncoding, in_utf8, is_decoded_whole
from headrace.sources.on_gpu import is_on_gpu
from headrace.sources.open import (
    FOREIGN,
    FileToOpen,
    SourceOptions,
    bytes_of,
    checked_path,
    is_readable,
    is_sized,
    is_to_open,
    name_of,
    opened_anew,
)

_READ = 1 << 20
_START_BYTES = 10

Chunks = Callable[[], Iterator[bytes]]


class Pieces:
    """A source whose text comes in order, as often as it is asked for.

    What cannot be read a second time (a pipe, a file object that cannot seek) goes into a temporary file the first time, if
    `keep` says that there will be a second.

    Parameters
    ----------
    source
        As for `open_source`.
    options
        What is done to its bytes.

    Raises
    ------
    SourceError, FileNotFoundError
        It cannot be read.
    """

    def __init__(self, source: object, options: SourceOptions) -> None:
        self._options = options
        self._source = source
        self._kept: _Kept | None = None
        self._is_text = self._is_decoded = False
        self._place = 0
        self._once = False
        self.name = "<bytes>"
        if isinstance(source, str | os.PathLike):
            self.name = checked_path(source, "source")
            self._once = not is_sized(source)
        elif is_to_open(source):
            self.name = name_of(source)
            self._is_text = "b" not in str(getattr(source, "mode", "rb"))
        elif is_readable(source):
            self.name = name_of(source)
            self._once = not getattr(source, "seekable", lambda: False)()
            self._place = 0 if self._once else source.tell()  # type: ignore[attr-defined]

    def make(self, *, keep: bool = False) -> Iterator[bytes]:
        """The text from its beginning, in UTF-8 or in an encoding that the native readers decode.

        Raises
        ------
        SourceError
            It cannot be read a second time, or breaks off.
        """
        self._is_decoded = False
        chunks = self._chunks(keep)
        form, first, rest = _peeled(chunks, self._options, self.name, self._is_text)
        chunks = _behind(first, rest)
        if form is not None:
            chunks = decompressed_pieces(chunks, form, self.name)
        return self._decoded(chunks)

    def codec_of(self, start: bytes) -> tuple[str, int]:
        """The codec of the text that `make` gives and begins with `start`, and how many bytes its byte-order mark has."""
        if self._is_decoded:
            return "utf-8", 0
        return (TextEncoding() if self._is_text else self._options.encoding).of_text(start)

    def close(self) -> None:
        """Let go of a temporary file."""
        if self._kept is not None:
            self._kept.close()

    def _decoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        start = b""
        for chunk in chunks:
            start += chunk
            if len(start) >= 4:
                break
        codec, begin = self.codec_of(start)
        if not is_decoded_whole(codec):
            yield from _behind(start, chunks)
            return
        self._is_decoded = True
        decoder = codecs.getincrementaldecoder(codec)(MARK_UNDECODABLE)
        for chunk in _behind(start[begin:], chunks):
            yield in_utf8(decoder.decode(chunk))
        yield in_utf8(decoder.decode(b"", True))

    def _chunks(self, keep: bool) -> Iterator[bytes]:
        if not self._once:
            return self._own_chunks()
        if self._kept is None:
            self._kept = _Kept(self._own_chunks(), self.name)
        return self._kept.chunks(keep)

    def _own_chunks(self) -> Iterator[bytes]:
        source: Any = self._source
        if isinstance(source, str | os.PathLike):
            return _of_path(source, self.name)
        if is_to_open(source):
            return self._opened_chunks(source)
        if not is_readable(source):
            view = bytes_of(source).cast("B")
            return (bytes(view[at : at + _READ]) for at in range(0, len(view), _READ))
        if not self._once:
            source.seek(self._place)  # type: ignore[attr-defined]
        self._is_text = isinstance(source.read(0), str)  # type: ignore[call-arg]
        return _read_from(source, self.name)

    def _opened_chunks(self, source: FileToOpen) -> Iterator[bytes]:
        with opened_anew(source) as stream:
            yield from _read_from(stream, self.name)


def comes_in_order(source: object, options: SourceOptions) -> bool:
    """Whether the text of `source` has to be made from its front: it is compressed, a file object, a pipe, or in such a codec."""
    if is_on_gpu(source):
        return False
    if is_to_open(source) or is_readable(source):
        return True
    if isinstance(source, str | os.PathLike):
        if not is_sized(checked_path(source, "source")):
            return not os.path.isdir(source)
        with open(source, "rb") as file:
            start = file.read(_START_BYTES)
    else:
        start = bytes(bytes_of(source).cast("B")[:_START_BYTES])
    if options.compression is not None and (options.compression != "infer" or recognised(start) is not None):
        return True
    return is_decoded_whole(options.encoding.of_text(start[:4])[0])


def _of_path(path: str | os.PathLike[str], name: str) -> Iterator[bytes]:
    """A file's bytes by pread, so that one that is cut or changes is an error; what is no regular file is read to its end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not is_sized(descriptor):
            while chunk := os.read(descriptor, _READ):
                yield chunk
            return
        native = _native.Source.from_file(descriptor, name)
        for at in range(0, native.size, _READ):
            yield native.read(at, _READ)
        native.check_unchanged()
    except _native.SourceFailure as error:
        raise SourceError(str(error)) from None
    finally:
        os.close(descriptor)


def _read_from(stream: Any, name: str) -> Iterator[bytes]:
    while True:
        chunk = stream.read(_READ)
        if not isinstance(chunk, bytes | bytearray | memoryview | str):
            raise SourceError(f"read() of {name} gave {chunk!r}, not bytes or text; is it a non-blocking stream?")
        if not chunk:
            return
        yield chunk.encode() if isinstance(chunk, str) else bytes(chunk)


class _Kept:
    """What can be read only once, and what of it has been read so far, in a temporary file."""

    def __init__(self, rest: Iterator[bytes], name: str) -> None:
        self._rest, self._name = rest, name
        import tempfile  # seldom needed, and slow to import

        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._size = 0
        self._is_gone = False

    def chunks(self, keep: bool) -> Iterator[bytes]:
        if self._is_gone:
            raise SourceError(f"{self._name} can be read only once, and has been")
        self._is_gone = not keep  # even if all of it is kept: whether it is depends on how far a thread was ahead
        at = 0
        while at < self._size:
            self._file.seek(at)
            chunk = self._file.read(min(_READ, self._size - at))
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


def _peeled(chunks: Iterator[bytes], options: SourceOptions, name: str, is_text: bool) -> Any:
    """How the source is compressed, its first bytes, and the rest."""
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= _START_BYTES:
            break
    if is_text:
        return None, start, chunks
    found = recognised(start)
    if options.compression is None and found is not None:
        raise SourceError(f"{name} is {found.name}; pass compression='infer'")
    form = found if options.compression in (None, "infer") else COMPRESSIONS[options.compression]
    for mark, what in FOREIGN.items():
        if form is None and start.startswith(mark):
            raise SourceError(f"{name} is {what}")
    return form, start, chunks


def _behind(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
