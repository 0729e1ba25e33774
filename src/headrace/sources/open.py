"""From what a caller has (a path, bytes, a file object) to a source that the native readers take."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from headrace import _native
from headrace.core.errors import OptionError, SourceError
from headrace.core.gpu.crossings import Crossings
from headrace.core.quick import quick
from headrace.sources.compressed import COMPRESSIONS, decompressed, decompressed_beginning, recognised
from headrace.sources.encoding import TextEncoding, decoded, is_decoded_whole
from headrace.sources.on_gpu import host_view, is_on_gpu, text_on_gpu

if TYPE_CHECKING:
    from headrace.core.arrays import Array
    from headrace.sources.decode_gpu import Decoded

FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1\x15": "Parquet; read it with a reader of Parquet",
}
"""How files begin that are no text, and what to do with them."""
_FOREIGN_MARKS = tuple(FOREIGN)
_START_BYTES = 10
"""So many bytes tell what a source is: compressed by whom, another format, text in which encoding."""


@runtime_checkable
class Readable(Protocol):
    """A file object: what `open`, `io.BytesIO` or a socket's `makefile` give."""

    def read(self) -> bytes | str:
        """All that is left."""


SourceLike = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable
"""A path, bytes, or a file object; at run time whatever lends its bytes will do (mmap, array, NumPy)."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source that is open for reading.

    Parameters
    ----------
    native
        What the native readers take.
    name
        For messages: the path, or ``"<bytes>"``.
    begin
        First byte of the text, behind a byte-order mark.
    held
        Bytes of text that are held in memory for this source's sake.
    is_text
        Whether it came as text and not as bytes.
    codec
        Python's name of the codec that `native.read` gives bytes in; the native readers decode it.
    cut
        Whether more follows that is not here.
    on_gpu
        The text where it lies, if that is a GPU; `native` copies what is read of it.
    decoded
        Where the text is what was made of a source on a GPU: the way back to that source's bytes.
    """

    native: _native.Source
    name: str
    begin: int = 0
    held: int = 0
    is_text: bool = False
    codec: str = "utf-8"
    cut: bool = False
    on_gpu: Array | None = None
    decoded: Decoded | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.native.size

    @property
    def is_far(self) -> bool:
        """Whether the text lies on a GPU as `native` gives it: not if it had to be decompressed or decoded into memory."""
        return self.on_gpu is not None and self.size == self.on_gpu.nbytes and not self.held


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What is to be done to a source's bytes before they are text in UTF-8; `memory_limit` holds for text kept in memory.

    `compression` is a name of `COMPRESSIONS`, ``"infer"``, or None for bytes that are to be taken as they are; what is
    copied from a GPU is counted in `crossings`.
    """

    compression: str | None = "infer"
    encoding: TextEncoding = field(default_factory=TextEncoding)
    memory_limit: int | None = None
    isa: str = ""
    crossings: Crossings = field(default_factory=Crossings, compare=False)


_open_source = quick(OpenSource)


def open_source(source: object, options: SourceOptions | None = None) -> AbstractContextManager[OpenSource]:
    """Open `source` until the block ends.

    A regular file is read in pieces, never mapped and never held whole, unless it is compressed: then its text is held. Pipes,
    devices and file objects are read to their end first. A file object is read from where it stands; what it gives as text is
    not decoded again.

    Raises
    ------
    OptionError
        `source` is none of these.
    SourceError
        It cannot be read: a directory, say, a zip archive, or compressed bytes that break off. What is not there
        raises `FileNotFoundError` as `open` does.
    MemoryLimitError
        It has to be decompressed or decoded into memory, and does not fit.
    MissingDependencyError
        A package that it is decompressed with is not installed.
    """
    options = options or SourceOptions()
    if is_on_gpu(source):
        return nullcontext(_as_text(_of_gpu(source, options.crossings), options))
    return _open_on_host(source, options)


@contextmanager
def _open_on_host(source: object, options: SourceOptions) -> Iterator[OpenSource]:
    with _open_bytes(source, options.crossings) as opened:
        yield _as_text(opened, options)


@contextmanager
def open_beginning(source: object, options: SourceOptions, most: int) -> Iterator[OpenSource]:
    """Open `source` for a look at it, at a cost that does not grow with its size.

    Of a file object, of compressed bytes and of a text that has to be decoded as a whole there are only `most` bytes; a file
    object stands afterwards where it stood. A regular file is all there, and not read yet. Pipes and devices that a path
    names are read to their end.

    Raises
    ------
    OptionError
        As `open_source`; or a file object cannot seek.
    SourceError, MissingDependencyError
        As `open_source`.
    """
    if isinstance(source, Readable):
        yield _as_text(_peeked(source, most), options, most)
    else:
        with _open_bytes(source, options.crossings) as opened:
            yield _as_text(opened, options, most)


def _peeked(stream: Readable, most: int) -> OpenSource:
    if not getattr(stream, "seekable", lambda: False)():
        raise OptionError("a look would use up a stream that cannot seek; read_csv(..., dialect='auto') reads it as a whole")
    place = stream.tell()  # type: ignore[attr-defined]
    try:
        content = stream.read(most)  # type: ignore[call-arg]
    finally:
        stream.seek(place)  # type: ignore[attr-defined]
    opened = _of_content(content, stream)
    return replace(opened, cut=len(content) >= most)


def _as_text(opened: OpenSource, options: SourceOptions, most: int | None = None) -> OpenSource:
    """`opened` decompressed and to be decoded, or its first `most` bytes where either takes memory."""
    start = opened.native.read(0, _START_BYTES)
    if not opened.is_text:
        opened, start = _decompressed(opened, start, options, most)
        if start.startswith(_FOREIGN_MARKS):
            what = next(what for mark, what in FOREIGN.items() if start.startswith(mark))
            raise SourceError(f"{opened.name} is {what}")
    encoding = TextEncoding() if opened.is_text else options.encoding
    codec, begin = encoding.of_text(start[:4])
    if codec == "utf-8":
        return opened if begin == opened.begin else replace(opened, begin=begin)
    if most is not None and opened.size > most and is_decoded_whole(codec):
        opened = replace(opened, native=_native.Source.from_bytes(opened.native.read(0, most)), cut=True)
    text = decoded(opened.native, encoding, isa=options.isa, memory_limit=options.memory_limit)
    return replace(opened, native=text.native, begin=text.begin, held=text.held or opened.held, codec=text.codec)


def _decompressed(opened: OpenSource, start: bytes, options: SourceOptions, most: int | None) -> tuple[OpenSource, bytes]:
    """The source without its compression, and how it begins then."""
    form = recognised(start)
    if options.compression is None:
        if form is not None:
            raise SourceError(f"{opened.name} is {form.name}; pass compression='infer'")
        return opened, start
    if options.compression != "infer":
        form = COMPRESSIONS[options.compression]
    if form is None:
        return opened, start
    text: Any
    cut = opened.cut
    if most is not None:
        text, whole = decompressed_beginning(opened.native, form, opened.name, most)
        cut = not whole
    else:
        text = decompressed(opened.native, form, opened.name, options.memory_limit)
    native = _native.Source.from_bytes(text)
    return replace(opened, native=native, held=len(text), cut=cut), native.read(0, _START_BYTES)


@contextmanager
def _open_bytes(source: object, crossings: Crossings) -> Iterator[OpenSource]:
    if is_on_gpu(source):
        yield _of_gpu(source, crossings)
    elif isinstance(source, str | os.PathLike):
        yield from _open_path(os.fspath(source))
    elif isinstance(source, Readable):
        yield _of_content(source.read(), source)
    else:
        try:
            view = memoryview(source)  # type: ignore[arg-type]
        except TypeError:
            kind = type(source).__name__
            raise OptionError(f"source must be a path, bytes or a file object, not {kind}") from None
        if not view.c_contiguous:
            raise OptionError("source must be contiguous; pass bytes(source)")
        yield OpenSource(_native.Source.from_bytes(view), "<bytes>")


def _of_gpu(source: object, crossings: Crossings) -> OpenSource:
    text = text_on_gpu(source)
    return _open_source(host_view(text, crossings), f"<{text.device}>", on_gpu=text)


def _of_content(content: object, stream: Readable) -> OpenSource:
    name = str(getattr(stream, "name", None) or "<file object>")
    data = content.encode() if isinstance(content, str) else content
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SourceError(f"read() of {name} gave {content!r}, not bytes or text; is it a non-blocking stream?")
    return OpenSource(_native.Source.from_bytes(data), name, is_text=isinstance(content, str))


def _open_path(path: str) -> Iterator[OpenSource]:
    if not isinstance(path, str):
        raise OptionError(f"source must be a str path, not {path!r}; bytes would be taken for the text itself")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{path!r} is a directory; name a file in it")
        if stat.S_ISREG(mode):
            yield OpenSource(_native.Source.from_file(descriptor, path), path)
        else:
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                yield OpenSource(_native.Source.from_bytes(stream.read()), path)
    finally:
        os.close(descriptor)
