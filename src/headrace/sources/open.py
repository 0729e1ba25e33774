"""From what a caller has (a path, bytes, a file object) to a source that the native readers take."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from headrace import _native
from headrace.core.errors import OptionError, SourceError, shown
from headrace.core.quick import quick
from headrace.core.transfers import Crossings
from headrace.sources.compressed import COMPRESSIONS, decompressed, decompressed_beginning, recognised
from headrace.sources.encoding import TextEncoding, decoded, is_decoded_whole
from headrace.sources.on_gpu import host_view, is_on_gpu, text_on_gpu

if TYPE_CHECKING:
    from headrace.arrays.arrays import Array
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


class FileToOpen(Protocol):
    """A file that is opened by a ``with`` block: what `fsspec.open` gives."""

    full_name: str

    def open(self) -> object:
        """The file object."""

    def __enter__(self) -> Readable:
        """The file object."""

    def __exit__(self, *error: object) -> bool | None:
        """Close it."""


SourceLike = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable | FileToOpen
"""A path, bytes, or a file object, open or to be opened; at run time whatever lends its bytes will do (mmap, array, NumPy)."""


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
_BYTE_FORMATS = ("B", "b", "c")
_LONGEST_PATH = 4096
_NO_PATH = re.compile(rb"[\0\r\n]")


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
    if is_to_open(source):
        with opened_anew(source) as stream:
            yield _as_text(_peeked(stream, most), options, most)
    elif is_readable(source):
        yield _as_text(_peeked(source, most), options, most)
    else:
        with _open_bytes(source, options.crossings) as opened:
            yield _as_text(opened, options, most)


def is_readable(source: object) -> TypeGuard[Readable]:
    """Whether `source` is a file object that is open; a module or a class with a `read` is none.

    Raises
    ------
    OptionError
        It is one, and closed.
    """
    if not isinstance(source, Readable) or isinstance(source, type | ModuleType):
        return False
    if getattr(source, "closed", False) is True:
        raise OptionError("source is a file object that is closed; open it again, or pass its path")
    return True


def is_to_open(source: object) -> TypeGuard[FileToOpen]:
    """Whether `source` is a file object that has to be opened first."""
    # isinstance() with a protocol takes 20 us where it is none.
    if not (hasattr(source, "full_name") and hasattr(source, "__enter__") and hasattr(source, "open")):
        return False
    return not isinstance(source, Readable | type | ModuleType | str | os.PathLike)


def opened_anew(source: FileToOpen) -> AbstractContextManager[Readable]:
    """The file object, until the block ends. A copy of `source` opens it, so that it may be open several times."""
    return copy(source)


def name_of(stream: object) -> str:
    """What messages call a file object."""
    name = getattr(stream, "full_name", None) or getattr(stream, "name", None)
    return str(name or "<file object>")


def _peeked(stream: Readable, most: int) -> OpenSource:
    if not getattr(stream, "seekable", lambda: False)():
        raise OptionError("source cannot seek, so a look would use it up; read_csv(..., dialect='auto') reads it as a whole")
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
        yield from _open_path(checked_path(source, "source"))
    elif is_to_open(source):
        with opened_anew(source) as stream:
            content = _of_content(stream.read(), source)
        yield content
    elif is_readable(source):
        yield _of_content(source.read(), source)
    else:
        yield OpenSource(_native.Source.from_bytes(bytes_of(source)), "<bytes>")


def bytes_of(source: object) -> memoryview:
    """The bytes that `source` lends, which are the text.

    Raises
    ------
    OptionError
        It lends none, has gaps between them, has other items, or names a file.
    """
    kind = type(source).__name__
    try:
        view = memoryview(source)  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        raise OptionError(f"source must be a path, bytes or a file object, not {kind}") from None
    if view.format not in _BYTE_FORMATS:
        raise OptionError(f"source is {kind} with items of format {view.format!r}; a text is an array of bytes (uint8)")
    if not view.c_contiguous:
        raise OptionError("source must be contiguous; pass bytes(source)")
    if 0 < view.nbytes <= _LONGEST_PATH and _names_a_file(view.tobytes()):
        name = view.tobytes()
        raise OptionError(f"source is bytes that name the file {name!r}, and bytes are the text itself; pass os.fsdecode(source)")
    return view


def _names_a_file(text: bytes) -> bool:
    return not _NO_PATH.search(text) and os.path.isfile(text)


def checked_path(path: str | os.PathLike[str], name: str) -> str:
    """A path that the system can look for.

    Raises
    ------
    OptionError
        It is one of bytes, or holds a character that no path holds.
    """
    found = os.fspath(path)
    if not isinstance(found, str):
        raise OptionError(f"{name} must be a str path, not {shown(found)}; bytes would be taken for the text itself")
    try:
        valid = b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:
        valid = False
    if not valid:
        raise OptionError(f"{name} must be a path, and {shown(found)} holds a character that no path can hold")
    return found


def _of_gpu(source: object, crossings: Crossings) -> OpenSource:
    text = text_on_gpu(source)
    return _open_source(host_view(text, crossings), f"<{text.device}>", on_gpu=text)


def _of_content(content: object, stream: Readable | FileToOpen) -> OpenSource:
    name = name_of(stream)
    data = content.encode() if isinstance(content, str) else content
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SourceError(f"read() of {name} gave {shown(content)}, not bytes or text; is it a non-blocking stream?")
    return OpenSource(_native.Source.from_bytes(data), name, is_text=isinstance(content, str))


def is_sized(file: str | os.PathLike[str] | int) -> bool:
    """Whether this is a regular file whose size `stat` gives. A file of /proc gives 0 and is read to its end, as a pipe is."""
    found = os.stat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_size > 0:
        return stat.S_ISREG(found.st_mode)
    if isinstance(file, int):
        return not os.pread(file, 1, 0)
    with open(file, "rb") as opened:
        return not opened.read(1)


def _open_path(path: str) -> Iterator[OpenSource]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{path!r} is a directory; name a file in it")
        if is_sized(descriptor):
            yield OpenSource(_native.Source.from_file(descriptor, path), path)
        else:
            with os.fdopen(os.dup(descriptor), "rb") as stream:
                yield OpenSource(_native.Source.from_bytes(stream.read()), path)
    finally:
        os.close(descriptor)
