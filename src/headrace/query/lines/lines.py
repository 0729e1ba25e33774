"""Cuts files into blocks of whole lines, and selects the lines in which a pattern occurs or a regular expression matches."""

from __future__ import annotations

import io
import mmap
import os

from headrace import _native
from headrace.core.errors import OptionError
from headrace.query.find.pattern.pattern import Pattern
from headrace.sources.compression.formats import ALL_MARKS, MARK_BYTES
from headrace.sources.encoding.marks import WIDE_MARKS
from headrace.sources.foreign_formats import FOREIGN_MARKS, check_is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from headrace.query.lines.line_expression import LineExpression

BLOCK_BYTES = min(_native.hardware_threads() << 21, 16 << 20)
"""Bytes of a block: few for each thread, so that lines with hits are in a cache when they are copied."""
FEW_BYTES = 1 << 18  # bytes of a block if the first selected lines end the search
_READ_BYTES = 1 << 16  # bytes of a file up to which it is read, because a map takes longer
_MARKS = (*ALL_MARKS, *WIDE_MARKS)


class LongLine:
    """A block that is one line: `text`."""

    __slots__ = ("text",)

    def __init__(self, text: memoryview) -> None:
        self.text = text


def blocks_of(source: Any, block_bytes: int = BLOCK_BYTES) -> Iterator[memoryview | LongLine]:
    """Yield a source in blocks of whole lines, decompressed and in UTF-8 if a byte-order mark names another encoding.

    Large files of UTF-8 that are not compressed are mapped and not copied. A block of a pipe has the lines that are ready, and is
    valid until the next one.

    `source`: path or binary file object.
    `block_bytes`: bytes of a block, about. A line is never cut, and the last one may have no line end.
    """
    if isinstance(source, str | os.PathLike) and os.path.isfile(source):
        content = _content(source)
        start = content[:MARK_BYTES]
        if not start.startswith(_MARKS):
            check_is_text(start, os.fspath(source))
            yield from _cut(content, block_bytes)
            return
    elif _is_plain_stream(source):
        yield from _stream_blocks(source, block_bytes)
        return
    # These take time to import, and plain text does not need them.
    from headrace.sources.open import SourceOptions
    from headrace.sources.registry import source_of
    from headrace.sources.text_chunks import TextChunks

    pending: list[bytes] = []
    size = 0
    for chunk in TextChunks(source_of(source), SourceOptions(), always_utf8=True).make():
        cut = chunk.rfind(b"\n") + 1 if size + len(chunk) >= block_bytes else 0
        if cut:
            yield memoryview(b"".join([*pending, chunk[:cut]]))
            pending, size = [], 0
        pending.append(chunk[cut:])
        size += len(chunk) - cut
    if size:
        yield memoryview(b"".join(pending))


def _is_plain_stream(source: Any) -> bool:
    """Return whether a file object reads a file descriptor, such as that of a pipe, and its text is plain by its first bytes."""
    is_descriptor = isinstance(source, io.BufferedReader) and isinstance(source.raw, io.FileIO)
    return is_descriptor and not _may_be_marked(source.peek(MARK_BYTES))


def _may_be_marked(start: bytes) -> bool:
    """Return whether a text may need to be decompressed, decoded or refused, by its first bytes; a short start may be a part."""
    marks = (*_MARKS, *FOREIGN_MARKS)
    return start.startswith(marks) or (len(start) < MARK_BYTES and any(mark.startswith(start) for mark in marks))


def _stream_blocks(stream: io.BufferedReader, block_bytes: int) -> Iterator[memoryview]:
    """Yield the whole lines that can be read without waiting, up to a block; so lines of a slow pipe appear as they come."""
    from select import select  # takes time to import

    start = stream.read1(len(stream.peek()))
    buffer = bytearray(max(block_bytes, len(start)))
    size, searched, is_read = len(start), 0, False
    buffer[:size] = start
    while not is_read:
        while size < len(buffer) and select([stream], [], [], 0 if size > searched else None)[0]:
            with memoryview(buffer) as whole:
                got = stream.raw.readinto(whole[size:])
            is_read = got == 0
            if is_read:
                break
            size += got or 0
        cut = size if is_read else buffer.rfind(b"\n", searched, size) + 1
        if cut:
            yield memoryview(buffer)[:cut]
            rest = buffer[cut:size]
            if len(buffer) > block_bytes:
                buffer = bytearray(max(block_bytes, 2 * len(rest)))
            size = len(rest)
            buffer[:size] = rest
        elif size == len(buffer):
            buffer = buffer + bytes(size)  # the last block is not moved
        searched = size


def _content(path: str | os.PathLike[str]) -> mmap.mmap | bytes:
    """Map a file. A small one is read, and one that cannot be mapped, such as those below /proc, whose size is 0."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if size > _READ_BYTES:
            try:
                return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):
                size = 0
        parts = [os.read(descriptor, size or _READ_BYTES)]
        while parts[-1] and len(parts[0]) != size:
            parts.append(os.read(descriptor, _READ_BYTES))
        return parts[0] if len(parts) == 1 else b"".join(parts)
    finally:
        os.close(descriptor)


def _cut(whole: mmap.mmap | bytes, block_bytes: int) -> Iterator[memoryview | LongLine]:
    view, begin = memoryview(whole), 0
    while begin < len(whole):
        cut = _native.block_end(whole, begin, block_bytes, _native.hardware_threads())
        block = view[begin:cut]
        yield block if len(block) <= block_bytes else LongLine(block)
        begin = cut


class LineOutput:
    """The lines that `LineSearch` writes, and their form; the values are given by name.

    `is_inverted`: whether lines without a hit are selected.
    `only_matching`: whether each hit is written as a line of its own, instead of its line; hits do not overlap.
    `is_numbered`: whether lines begin with their number, from 1 on.
    `before`, `after`: number of lines before and after a selected one that are written.
    `is_grouped`: whether a separator is written between lines that do not follow each other.
    `max_count`: maximum number of selected lines; None for no limit. Later lines are as if they were not selected.
    `mark`, `unmark`: texts before and after each hit in a selected line; empty for none.
    """

    is_inverted: bool = False
    only_matching: bool = False
    is_numbered: bool = False
    before: int = 0
    after: int = 0
    is_grouped: bool = False
    max_count: int | None = None
    mark: bytes = b""
    unmark: bytes = b""

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            getattr(self, name)  # raises for a name that is none of these
            setattr(self, name, value)


class LineSearch:
    """Selects lines of files, whose blocks it gets in order.

    `wanted`: pattern without a line end, or an expression. `output`: the lines to write.
    `are_listed`: whether paths of small files are of regular files, as the lists of their folders say.
    """

    __slots__ = ("_native", "_small_files")

    def __init__(self, wanted: Pattern | LineExpression, output: LineOutput, *, are_listed: bool = False) -> None:
        options = _native.LineOptions(b"", output.mark, output.unmark)
        for name in ("is_inverted", "only_matching", "is_numbered", "before", "after", "is_grouped"):
            setattr(options, name, getattr(output, name))
        if output.max_count is not None:
            options.max_count = output.max_count
        selector = _native.LineSelector(wanted.native) if isinstance(wanted, Pattern) else wanted.selector
        threads = _native.hardware_threads()
        try:
            self._native = _native.LineSearch(selector, options, threads)
            self._small_files = _native.SmallFiles(selector, options, [*_MARKS, *FOREIGN_MARKS], are_listed, threads)
        except ValueError as error:
            raise OptionError(f"isa: {error}") from None

    def counted(self, paths: list[bytes]) -> list[int | None]:
        """Return the numbers of selected lines of small files, which are searched on several threads; None for other files."""
        return self._small_files.count(paths)

    def written(self, paths: list[bytes], names: list[bytes]) -> list[bytes | None]:
        """Return the lines to write for small files, which begin with the names; None for other files.

        The output has no lines near selected ones.
        """
        return self._small_files.write(paths, names)

    def begin_file(self, name: bytes) -> None:
        """Begin the next file. Its lines begin with the name, and ``:`` for a selected line, ``-`` for one near it.

        An empty name is not written. The first selected line follows a separator if output has lines near them, and lines of
        another file were written before.
        """
        self._native.begin_file(name)

    def count(self, block: memoryview | LongLine) -> int:
        """Return the number of selected lines of a block."""
        return self._native.count(block.text, True) if isinstance(block, LongLine) else self._native.count(block, False)

    def write(self, block: memoryview | LongLine) -> memoryview:
        """Return the lines to write for a block: selected ones and those near them, in order, and separators.

        They are valid until the next call.
        """
        return self._native.write(block.text, True) if isinstance(block, LongLine) else self._native.write(block, False)

    @property
    def is_done(self) -> bool:
        """True if later blocks cannot change the output, since the maximum number of lines is selected."""
        return self._native.is_done

    @property
    def has_selected(self) -> bool:
        """True if a line of the file was selected in the blocks that were written."""
        return self._native.has_selected
