"""Defines the files of a scan: those with byte ranges, and those whose text comes in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import SourceFile
from headrace.columns.header import LOOK_BYTES
from headrace.columns.records.data_range import DataStart, find_data_start
from headrace.core.errors import EmptyInputError, MemoryLimitError
from headrace.sources.open import OpenSource, SourceLike, comes_in_order
from headrace.sources.registry import AnySource, source_of
from headrace.sources.reopen import SharedResources
from headrace.sources.stream import TextStream
from headrace.sources.text_chunks import TextChunks
from headrace.structure.survey import record_begin

_LOOK_BYTES = 1 << 20
_UNBOUNDED = 1 << 62


class ScannedFile(SourceFile):
    """A file with byte ranges."""

    comes_in_order = False

    def look_at(self, options: CsvOptions) -> None:
        """Prepare for `opened`: nothing needs to be held."""

    def text(self, source: OpenSource, end: int, options: CsvOptions, *, keep: bool = False) -> TextStream:
        """Return the text up to byte `end`.

        `source`: the source that `opened` gave. `keep`: whether the text will be read again.
        """
        return TextStream(source, end=end)

    def close(self) -> None:
        """Release resources of the file. It has none."""


class OrderedFile(ScannedFile):
    """A file whose text is made from its beginning. The beginning is held."""

    comes_in_order = True

    def __init__(self, number: int, source: AnySource, options: CsvOptions) -> None:
        self._chunks = TextChunks(source, options.source)
        self.name = source.name if not source.name.startswith("<bytes") or number == 1 else f"<source {number}>"
        self.size = _UNBOUNDED
        self.beginning = DataStart(begin=0, lines=0, first=None)
        self._start: OpenSource | None = None

    def stream(self, options: CsvOptions, *, keep: bool = False) -> TextStream:
        """Return the text from its beginning; `keep`: whether it will be read again."""
        return TextStream(self._chunks, isa=options.context.isa, threads=options.context.thread_count, keep=keep)

    def text(self, source: OpenSource, end: int, options: CsvOptions, *, keep: bool = False) -> TextStream:
        """Same as `ScannedFile.text`."""
        return self.stream(options, keep=keep)

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """Return the beginning, as far as `look_at` has read."""
        if self._start is None:
            raise ValueError("look_at has not been called for the file")
        yield self._start

    def look_at(self, options: CsvOptions) -> None:
        """Hold the beginning up to the end of the first record after the header."""
        size = _LOOK_BYTES
        with closing(self.stream(options, keep=True)) as text:
            while True:
                window = text.window(0, size)
                if window.is_last or _shows_data(window.source, options):
                    break
                check_held(size, options, self.name)
                size *= 2
        self._start = window.source

    def look(self, options: CsvOptions) -> None:
        """Find the first record."""
        self.look_at(options)
        super().look(options)
        self.size = _UNBOUNDED

    def close(self) -> None:
        """Release what was kept for further readings."""
        self._chunks.close()


class HeldFile(ScannedFile):
    """A file whose text comes in order and is held as a whole."""

    def __init__(self, file: OrderedFile, options: CsvOptions) -> None:
        limit = options.context.memory_limit
        with closing(file.stream(options)) as text:
            window = text.window(0, _UNBOUNDED if limit is None else limit)
        if not window.is_last:
            check_held(window.source.size, options, file.name)
        self._text = window.source
        self.name = file.name
        self.size = self._text.size
        self.beginning = file.beginning
        self.device = None

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """Return the text."""
        yield self._text


def check_held(nbytes: int, options: CsvOptions, name: str) -> None:
    """Raise MemoryLimitError if the bytes of a text that a scan must hold at once exceed the limit, and more are needed."""
    limit = options.context.memory_limit
    if limit is not None and nbytes >= limit:
        raise MemoryLimitError(
            f"a long record, or an option such as skip_footer, needs more than memory_limit = {limit} bytes of {name} at once"
        )


def _shows_data(source: OpenSource, options: CsvOptions) -> bool:
    """Return whether the first record of data ends inside `source`."""
    try:
        found = find_data_start(source, options.dialect, options.extent, options.context)
    except EmptyInputError:
        return False
    if found.first is not None and source.size < found.first.begin + LOOK_BYTES:
        return False  # the records after it may decide whether it is a header
    before_data = found.leading + 2 + options.extent.skip_rows_after_header
    return record_begin(source, options.dialect, found.begin, before_data, options.context) < source.size


def scanned_file(number: int, given: SourceLike, options: CsvOptions, keeping: SharedResources) -> ScannedFile:
    """Return source `number` of a scan as a file.

    Some options (a footer, the widest record, lenient quotes) need a look at the whole text first. With them, a text that comes
    in order is held in memory, as `read_csv` does.
    """
    if not _needs_whole_text(options):
        source = source_of(given)
        if comes_in_order(source, options.source):
            return OrderedFile(number, source, options)
    return ScannedFile(number, given, options.source, keeping)


def held_if_needed(file: ScannedFile, options: CsvOptions) -> ScannedFile:
    """Return `file`, held as a whole if its text comes in order and `options` need the whole text."""
    return HeldFile(file, options) if isinstance(file, OrderedFile) and _needs_whole_text(options) else file


def _needs_whole_text(options: CsvOptions) -> bool:
    return bool(options.extent.skip_footer or options.extent.widest or options.dialect.looks_ahead)
