"""What speaks for a proposal, and what it would leave out, in lines to read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from headrace.columns.column import Column
from headrace.columns.infer.sniff import Judged, is_typed
from headrace.columns.infer.sniff_header import TableBegin
from headrace.structure.dialect import Dialect
from headrace.structure.layout import agreement_of
from headrace.structure.sample import LINE_END, Sample

_SHOWN = 60
_LINES_SHOWN = 3
_EQUAL = 1e-6
_CLOSE = 0.02
_VALUES_JUDGED = 200
_NULL_WORDS = frozenset(["NA", "N/A", "n/a", "na", "NULL", "null", "Null", "None", "none", "nan", "NaN", "\\N", "-", "?", "."])


@dataclass(frozen=True, kw_only=True)
class Witness:
    """Whoever saw how a proposal came about.

    Parameters
    ----------
    sample, ranked, begin
        The text, the dialects that read it from the best on, and where the best one's table begins.
    preamble
        Lines of the sample in front of it.
    lines
        Lines in front of the sample, which the caller left out.
    """

    sample: Sample
    ranked: list[Judged]
    begin: TableBegin
    preamble: int
    lines: int

    @cached_property
    def _line_begins(self) -> list[int]:
        return [0, *(end.end() for end in LINE_END.finditer(self.sample.text))]

    def skipped(self) -> list[tuple[int, str]]:
        """Number and text of each line of the sample that is preamble or comment."""
        best = self.ranked[0].layout
        comments = [bisect_right(self._line_begins, start) - 1 for start in best.comments]
        lines = [*range(self.preamble), *(line for line in comments if line >= self.preamble)]
        return [(self.lines + line + 1, self._line(line)) for line in lines]

    def _line(self, index: int) -> str:
        begins = [*self._line_begins[index : index + 2], len(self.sample.text)]
        return _shown(self.sample.text[begins[0] : min(begins[1], begins[0] + 4 * _SHOWN)].rstrip(b"\r\n"))

    @cached_property
    def _windows(self) -> list[float]:
        best = self.ranked[0]
        shares = (agreement_of(window, best.dialect, best.regularity.width) for window in self.sample.windows)
        return [share for share in shares if share is not None]

    def agreements(self) -> list[float]:
        """Of the beginning, then of each window that holds a record."""
        best = self.ranked[0]
        steady = [i for i in range(self.begin.first, len(best.layout.starts)) if best.layout.widths[i] == best.regularity.width]
        well = sum(i not in best.layout.malformed for i in steady)
        return [well / (len(best.layout.starts) - self.begin.first), *self._windows]

    def lines_to_read(self) -> Iterator[str]:
        """The evidence."""
        yield from self._regularity()
        yield from self._rival()
        yield f"header={self.begin.header}: {self.begin.reason}"
        yield from self._left_out()
        yield from self._malformed()

    def _regularity(self) -> Iterator[str]:
        best, widths = self.ranked[0], self.ranked[0].layout.widths
        width, records = best.regularity.width, len(widths) - self.begin.first
        steady = widths[self.begin.first :].count(width)
        part = "the whole text" if self.sample.whole else "the beginning"
        yield f"{steady:_} of {records:_} records have {_counted(width, 'field')}; {part}, {len(self.sample.text):_} bytes"
        odd = [i for i in range(self.begin.first, len(widths)) if widths[i] != width]
        for record in odd[:_LINES_SHOWN]:
            line = self.lines + bisect_right(self._line_begins, best.layout.starts[record])
            yield f"  line {line} has {_counted(widths[record], 'field')}: {_shown(best.layout.record_text(record))!r}"
        if self._windows:
            worst = min(self._windows)
            held = "holds" if worst > 0.99 else "does not hold everywhere"
            yield f"{held} further on: {_counted(len(self._windows), 'window')}, {worst:.1%} of the records in the worst"
        elif self.sample.windows:
            yield f"nothing is known further on: {_counted(len(self.sample.windows), 'window')} without a whole record"

    def _rival(self) -> Iterator[str]:
        best = self.ranked[0]
        yield f"score {best.score:.3f} = {best.regularity.score:.3f} for structure x {best.type_score:.3f} for values"
        # A rival with the same separator is worth a word only where it was close.
        close = (other for other in self.ranked[1:] if other.dialect.sep != best.dialect.sep or best.score - other.score < _CLOSE)
        for other in islice(close, 1):
            equal = "; as good, but less usual" if best.score - other.score < _EQUAL else ""
            yield f"next: {_differences(other.dialect, best.dialect)} with {other.score:.3f}{equal}"

    def _left_out(self) -> Iterator[str]:
        skipped = self.skipped()
        comments = len(skipped) - self.preamble
        if self.preamble:
            yield f"skip_rows={self.lines + self.preamble} leaves out {_counted(self.preamble, 'line')}"
        if comments:
            prefix = (self.ranked[0].dialect.comment or b"").decode("utf-8", "backslashreplace")
            yield f"comment={prefix!r} leaves out {_counted(comments, 'line')} of the sample"
        shown = [*skipped[: self.preamble][:_LINES_SHOWN], *skipped[self.preamble :][:_LINES_SHOWN]]
        yield from (f"  line {number}: {text!r}" for number, text in shown)

    def _malformed(self) -> Iterator[str]:
        layout = self.ranked[0].layout
        records = sorted(record for record in layout.malformed if self.begin.first <= record < len(layout.starts))
        if records:
            yield f"{_counted(len(records), 'record')} with malformed quotes, first: {_shown(layout.record_text(records[0]))!r}"
        if layout.unclosed:
            yield "a quote is never closed"


def _differences(one: Dialect, other: Dialect) -> str:
    """The options in which `one` differs from `other`, e.g. ``sep=';'``."""
    names = {"quote": "quote_char", "escape": "escape_char", "line_end": "lineterminator", "lenient": "lenient_quotes"}
    values = {name: (getattr(one, name), getattr(other, name)) for name in Dialect.__slots__}
    shown = {
        name: first.decode("utf-8", "backslashreplace") if isinstance(first, bytes) else first
        for name, (first, second) in values.items()
        if first != second
    }
    return ", ".join(f"{names.get(name, name)}={value!r}" for name, value in shown.items())


def null_words(column: Column) -> tuple[str, ...]:
    """The words without which a column of text would be one of values, e.g. ``NA`` among numbers."""
    if not column.type.is_string:
        return ()
    values = [value for value in column[:_VALUES_JUDGED] if value is not None]
    words = {value for value in values if value in _NULL_WORDS}
    others = [value for value in values if value not in words]
    if words and others and all(is_typed(value.encode()) for value in others):
        return tuple(sorted(words))
    return ()


def null_evidence(found: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Which columns are text for the sake of such words."""
    for name, words in islice(found.items(), _LINES_SHOWN):
        yield f"{name!r} is text only for the sake of {', '.join(map(repr, words))}; see null_values"


def _counted(count: int, what: str) -> str:
    return f"{count:_} {what}" + ("" if count == 1 else "s")


def _shown(text: bytes) -> str:
    shown = text[: 4 * _SHOWN].decode("utf-8", "backslashreplace")
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
