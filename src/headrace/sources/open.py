"""Opens a source: finds its kind, decompresses it, and determines the encoding, so that native readers can load it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from headrace import _native
from headrace.core.errors import SourceError
from headrace.core.fast_constructor import fast_constructor
from headrace.core.transfers import Crossings
from headrace.sources.compression.decompress import decompressed, decompressed_beginning
from headrace.sources.compression.formats import ALL_MARKS, COMPRESSIONS, MARK_BYTES, Compression, recognised
from headrace.sources.encoding.encoding import TEXT_MARKS, TextEncoding, decoded, is_decoded_whole
from headrace.sources.foreign_formats import FOREIGN_MARKS, check_is_text
from headrace.sources.kinds.file_object import FileToOpen, Readable
from headrace.sources.kinds.gpu_array import host_view, text_on_gpu
from headrace.sources.kinds.ranges import RangeReader
from headrace.sources.kinds.streams import Content, StreamSource
from headrace.sources.registry import AnySource, source_of

if TYPE_CHECKING:
    from headrace.arrays.arrays import Array
    from headrace.sources.encoding.decode_gpu import Decoded

SourceLike = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable | FileToOpen
"""A path, bytes, or a file object, open or to be opened. At run time any buffer is accepted (mmap, array, NumPy)."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source that is open for reading."""

    native: _native.Source  # the source for the native readers
    name: str  # name for messages: the path, or `"<bytes>"`
    begin: int = 0  # first byte of the text, after a byte-order mark
    held_bytes: int = 0  # bytes of text that are kept in memory for this source
    is_text: bool = False  # True if the source gave `str`, which needs no decoding
    codec: str = "utf-8"  # python's name of the codec of the bytes that `native.read` returns; the native readers decode them
    cut: bool = False  # True if the source has more text than is available here
    on_gpu: Array | None = None
    """The text in GPU memory, if it is there; `native` copies to the host the parts of it that are read."""
    decoded: Decoded | None = None  # the map from the text to the bytes of the source, if the text was decoded on a GPU
    path: str | None = None  # path of the regular file that has exactly these bytes, if there is one
    identity: Hashable = None  # identity of the source (`RangeReader.identity`)

    @property
    def size(self) -> int:
        """Bytes of the source."""
        return self.native.size

    @property
    def is_in_gpu_memory(self) -> bool:
        """True if `native` reads the text in GPU memory: not if it was decompressed or decoded into host memory."""
        return self.on_gpu is not None and self.size == self.on_gpu.nbytes and not self.held_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Options for the conversion of a source's bytes to text in UTF-8."""

    compression: str | None = "infer"  # a name in `COMPRESSIONS`; `"infer"`; None for bytes that are not decompressed
    encoding: TextEncoding = field(default_factory=TextEncoding)
    memory_limit: int | None = None  # largest size of text kept in memory, in bytes; None for no limit
    isa: str = ""  # instruction set for decoding
    crossings: Crossings = field(default_factory=Crossings, compare=False)  # counts the bytes that are copied from a GPU


FOREIGN_STARTS = (*ALL_MARKS, *FOREIGN_MARKS, *TEXT_MARKS)
"""First bytes of compressed sources, of formats other than text, and of texts with a byte-order mark."""
_open_source = fast_constructor(OpenSource)


@contextmanager
def open_source(source: object, options: SourceOptions | None = None) -> Iterator[OpenSource]:
    """Open `source` until the block ends.

    A source with byte ranges (a regular file) is read in pieces and never mapped or kept whole. If it is compressed, its text is
    kept. Pipes, devices and file objects are read to their end first. A file object is read from its current position; text that
    it returns as `str` is not decoded again.

    Raise OptionError if `source` is not a source. Raise SourceError if it cannot be read: a directory, a zip archive of
    several files, truncated compressed bytes. A path that does not exist raises `FileNotFoundError`, as `open` does. Raise
    MemoryLimitError if it has to be read, decompressed or decoded into memory, and does not fit. Raise MissingDependencyError if
    a package that decompresses it is not installed.
    """
    options = options or SourceOptions()
    found = source_of(source)
    if isinstance(found, StreamSource):
        content = found.read_all(options.memory_limit)
        yield _as_text(_from_content(content, found.name, is_text=found.is_text), options)
    else:
        with found.open(options.crossings) as reader:
            yield _as_text(_from_reader(reader, found.name), options)


def open_on_gpu(source: object, options: SourceOptions) -> OpenSource:
    """Open an array in GPU memory (`headrace.sources.kinds.gpu_array.is_on_gpu`), which needs no closing.

    Raises as `open_source` does.
    """
    text = text_on_gpu(source)
    return _as_text(_open_source(host_view(text, options.crossings), f"<{text.device}>", on_gpu=text), options)


@contextmanager
def open_beginning(source: object, options: SourceOptions, max_bytes: int) -> Iterator[OpenSource]:
    """Open `source` to look at its beginning, at a cost that does not grow with its size.

    Only the first `max_bytes` bytes are available of a file object, of compressed bytes and of text that has to be decoded as a
    whole. A file object keeps its position. A source with byte ranges is available as a whole, and not read yet. Pipes and
    devices that a path names are read to their end.
    """
    found = source_of(source)
    if isinstance(found, StreamSource):
        content, cut = found.peek(max_bytes)
        yield _as_text(replace(_from_content(content, found.name), cut=cut), options, max_bytes)
    else:
        with found.open(options.crossings) as reader:
            yield _as_text(_from_reader(reader, found.name), options, max_bytes)


def comes_in_order(source: AnySource, options: SourceOptions) -> bool:
    """Return whether the text of `source` has to be made from its beginning.

    That is so for a stream, for compressed bytes, and for a codec that decodes only from the beginning.

    Raise SourceError or OSError if the source cannot be read.
    """
    if isinstance(source, StreamSource):
        return True
    with source.open(options.crossings) as reader:
        if reader.on_gpu is not None:
            return False
        start = reader.native.read(0, MARK_BYTES)
    if options.compression is not None and (options.compression != "infer" or recognised(start) is not None):
        return True
    return is_decoded_whole(options.encoding.of_text(start[:4])[0])


def compression_of(start: bytes, options: SourceOptions, name: str) -> Compression | None:
    """Return the format of a source that begins with `start`; None if it is not compressed.

    Raise SourceError if it is compressed, and the options say that it is not; or it is a file that is not text.
    """
    found = recognised(start)
    if options.compression is None and found is not None:
        raise SourceError(f"{name} is {found.name}; pass compression='infer'")
    if options.compression not in (None, "infer"):
        found = COMPRESSIONS[options.compression]
    if found is None:
        check_is_text(start, name)
    return found


def _from_reader(reader: RangeReader, name: str) -> OpenSource:
    return _open_source(reader.native, name, on_gpu=reader.on_gpu, path=reader.path, identity=reader.identity())


def _from_content(content: Content, name: str, *, is_text: bool = False) -> OpenSource:
    """Return content as a source. `is_text`: whether bytes are text that a file object gave as `str`."""
    data = content.encode() if isinstance(content, str) else content
    return _open_source(_native.Source.from_bytes(data), name, is_text=is_text or isinstance(content, str))


def _as_text(opened: OpenSource, options: SourceOptions, max_bytes: int | None = None) -> OpenSource:
    """Return `opened` decompressed and with its encoding; only its first `max_bytes` bytes where that takes memory."""
    start = opened.native.read(0, MARK_BYTES)
    if not opened.is_text and (form := compression_of(start, options, opened.name)) is not None:
        opened = _decompressed(opened, form, options, max_bytes)
        start = opened.native.read(0, MARK_BYTES)
        check_is_text(start, opened.name)
    encoding = TextEncoding() if opened.is_text else options.encoding
    codec, begin = encoding.of_text(start[:4])
    if codec == "utf-8":
        return opened if begin == opened.begin else replace(opened, begin=begin)
    if max_bytes is not None and opened.size > max_bytes and is_decoded_whole(codec):
        opened = replace(opened, native=_native.Source.from_bytes(opened.native.read(0, max_bytes)), path=None, cut=True)
    text = decoded(opened.native, encoding, isa=options.isa, memory_limit=options.memory_limit)
    path = opened.path if text.native is opened.native else None
    held_bytes = text.held or opened.held_bytes
    return replace(opened, native=text.native, begin=text.begin, held_bytes=held_bytes, codec=text.codec, path=path)


def _decompressed(opened: OpenSource, form: Compression, options: SourceOptions, max_bytes: int | None) -> OpenSource:
    text: Any
    cut = opened.cut
    if max_bytes is not None:
        text, whole = decompressed_beginning(opened.native, form, opened.name, max_bytes)
        cut = not whole
    else:
        text = decompressed(opened.native, form, opened.name, options.memory_limit)
    return replace(opened, native=_native.Source.from_bytes(text), held_bytes=len(text), cut=cut, path=None)
