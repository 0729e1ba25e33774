"""The files of a scan: those that can be read anywhere, and those whose text comes in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.api.options.csv_options import CsvOptions
from headrace.api.read.file_parts import SourceFile
from headrace.columns.header import LOOK_BYTES
from headrace.columns.records.data_range import Beginning, find_beginning
from headrace.core.errors import EmptyInputError
from headrace.sources.kept_text import KeptText, StoredText, Text
from headrace.sources.open import OpenSource, SourceLike, SourceOptions
from headrace.sources.pieces import Pieces, comes_in_order
from headrace.sources.reopen import Keeping
from headrace.sources.windows import ForwardText, TextWindows, WholeText
from headrace.structure.survey import record_begin

_LOOK_BYTES = 1 << 20
_WHOLE = 1 << 62


class ScannedFile(SourceFile):
    """A file any part of which can be read."""

    comes_in_order = False

    def look_at(self, options: CsvOptions) -> None:
        """There is nothing to hold."""

    @contextmanager
    def windows(self, options: CsvOptions, *, keep: bool = False) -> Iterator[TextWindows]:
        """Its text."""
        with self.opened() as source:
            yield WholeText(source)

    def text(self, source: OpenSource, end: int, options: CsvOptions, *, keep: bool = False) -> Text:
        """Its text up to byte `end`, for who sends it on part by part; `source` is what `opened` gave."""
        return StoredText(source, end)

    def close(self) -> None:
        """There is nothing to do."""


class OrderedFile(ScannedFile):
    """A file whose text has to be made from its front. Its beginning is held."""

    comes_in_order = True

    def __init__(self, number: int, source: SourceLike, options: SourceOptions) -> None:
        self._pieces = Pieces(source, options)
        self.name = self._pieces.name if not self._pieces.name.startswith("<bytes") or number == 1 else f"<source {number}>"
        self.size = _WHOLE
        self.beginning = Beginning(begin=0, lines=0, first=None)
        self._start: OpenSource | None = None

    @contextmanager
    def windows(self, options: CsvOptions, *, keep: bool = False) -> Iterator[TextWindows]:
        """Its text, from the beginning; `keep`: it will be read again."""
        text = ForwardText(self._pieces, options.context.isa, options.context.thread_count, keep=keep)
        try:
            yield text
        finally:
            text.close()

    def text(self, source: OpenSource, end: int, options: CsvOptions, *, keep: bool = False) -> Text:
        """Its text, from the beginning; `keep`: it will be read again."""
        return KeptText(self._pieces, options.context.isa, options.context.thread_count, keep=keep)

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """Its beginning, as far as it has been looked at."""
        if self._start is None:
            raise ValueError("nobody has looked at the file")
        yield self._start

    def look_at(self, options: CsvOptions) -> None:
        """Hold so much of the beginning as the header and the first record behind it take."""
        size = _LOOK_BYTES
        with self.windows(options, keep=True) as text:
            while True:
                window = text.window(0, size)
                if window.is_last or _shows_data(window.source, options):
                    break
                size *= 2
        self._start = window.source

    def look(self, options: CsvOptions) -> None:
        """Find the first record."""
        self.look_at(options)
        super().look(options)
        self.size = _WHOLE

    def close(self) -> None:
        """Let go of what was kept."""
        self._pieces.close()


class HeldFile(ScannedFile):
    """A file whose text comes in order, and is held as a whole."""

    def __init__(self, file: OrderedFile, options: CsvOptions) -> None:
        with file.windows(options) as text:
            self._text = text.window(0, _WHOLE).source
        self.name = file.name
        self.size = self._text.size
        self.beginning = file.beginning
        self.device = None

    @contextmanager
    def opened(self) -> Iterator[OpenSource]:
        """Its text."""
        yield self._text


def _shows_data(source: OpenSource, options: CsvOptions) -> bool:
    """Whether a record behind those that are no data has its end here."""
    try:
        found = find_beginning(source, options.dialect, options.extent, options.context)
    except EmptyInputError:
        return False
    if found.first is not None and source.size < found.first.begin + LOOK_BYTES:
        return False  # the records below it may decide whether it is a header
    before = found.leading + 2 + options.extent.skip_rows_after_header
    return record_begin(source, options.dialect, found.begin, before, options.context) < source.size


def scanned_file(number: int, source: SourceLike, options: CsvOptions, keeping: Keeping) -> ScannedFile:
    """One of the sources. What needs a look at the whole text first (a footer, the widest record, malformed quotes) holds a text
    that comes in order in memory, as `read_csv` does.
    """
    if not _needs_all(options) and comes_in_order(source, options.source):
        return OrderedFile(number, source, options.source)
    return ScannedFile(number, source, options.source, keeping)


def held_if_needed(file: ScannedFile, options: CsvOptions) -> ScannedFile:
    """Hold a text that comes in order if options that were proposed after a look at it need all of it."""
    return HeldFile(file, options) if isinstance(file, OrderedFile) and _needs_all(options) else file


def _needs_all(options: CsvOptions) -> bool:
    return bool(options.extent.skip_footer or options.extent.widest or options.dialect.lenient_quotes)
