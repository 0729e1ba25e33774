"""Describes the reasons for a proposal, and the lines that it leaves out, as lines of text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from headrace.columns.column import Column
from headrace.columns.infer.sniff import POINT, Marks, RankedDialect, is_typed
from headrace.columns.infer.sniff_table import TableBegin
from headrace.columns.plan.value_forms import NULL_WORDS
from headrace.core.errors import counted
from headrace.core.lazy import LazyAttribute
from headrace.structure.dialect import MALFORMED_QUOTES_ARE_TEXT, Dialect
from headrace.structure.layout import agreement_of
from headrace.structure.sample import Sample, line_end_pattern

_SHOWN = 60
_LINES_SHOWN = 3
_EQUAL = 1e-6
_CLOSE = 0.02
VALUES_JUDGED = 200  # values of a column that are looked at
COLUMNS_JUDGED = 10_000  # columns whose values are looked at: a sample may have 250,000


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The facts that led to a proposal."""

    sample: Sample  # the text
    ranked: list[RankedDialect]  # the dialects that read it, the best one first
    begin: TableBegin  # the beginning of the best dialect's table
    preamble: int  # number of lines of the sample before the table
    lines: int  # number of lines before the sample, which the caller left out
    policies: Mapping[str, str]  # the proposed policies for records of another width
    fault: str  # the reason why the proposal cannot read the sample; empty if it can
    may_repair: bool  # True if lenient quotes may be proposed

    @LazyAttribute
    def _line_begins(self) -> list[int]:
        pattern = line_end_pattern(self.ranked[0].dialect.lineterminator)
        return [0, *(end.end() for end in pattern.finditer(self.sample.text))]

    def skipped(self) -> list[tuple[int, str]]:
        """Return number and text of each line of the sample that is preamble, comment or footer."""
        best = self.ranked[0].layout
        comments = [line for line in map(self._line_of, best.comments) if line >= self.preamble]
        lines = [*range(self.preamble), *comments, *map(self._line_of, best.starts[len(best.starts) - self.begin.footer :])]
        return [(self.lines + line + 1, self._line(line)) for line in lines]

    @property
    def _records(self) -> range:
        """The records of the table, with those of the names."""
        return range(self.begin.first, len(self.ranked[0].layout.starts) - self.begin.footer)

    def _line_of(self, start: int) -> int:
        return bisect_right(self._line_begins, start) - 1

    def _line(self, index: int) -> str:
        begins = [*self._line_begins[index : index + 2], len(self.sample.text)]
        return _shown(self.sample.text[begins[0] : min(begins[1], begins[0] + 4 * _SHOWN)].rstrip(b"\r\n"))

    @LazyAttribute
    def _windows(self) -> list[tuple[float, bool]]:
        best = self.ranked[0]
        last = len(self.sample.windows) - 1
        found = (
            agreement_of(window, best.dialect, best.regularity.width, ends=self.sample.ends and place == last)
            for place, window in enumerate(self.sample.windows)
        )
        return [one for one in found if one is not None]

    @property
    def repairs_windows(self) -> bool:
        """True if quotes are malformed only further on, so that lenient quotes are proposed."""
        dialect = self.ranked[0].dialect
        may_repair = self.may_repair and dialect.double_quote and not dialect.keeps_strays
        is_valid = may_repair and dialect.allows(**MALFORMED_QUOTES_ARE_TEXT)
        return is_valid and any(malformed for _, malformed in self._windows)

    def agreements(self) -> list[float]:
        """Return the share of regular records: of the beginning, then of each window that holds a record."""
        best = self.ranked[0]
        steady = [record for record in self._records if best.layout.widths[record] == best.regularity.width]
        well = sum(record not in best.layout.malformed for record in steady)
        return [well / len(self._records), *(share for share, _ in self._windows)]

    def lines_to_read(self) -> Iterator[str]:
        """Yield the lines of the evidence."""
        yield from self._regularity()
        yield from self._rival()
        yield f"header={self.begin.header}: {self.begin.reason}"
        yield from self._left_out()
        yield from self._other_widths()
        yield from self._malformed()

    def _regularity(self) -> Iterator[str]:
        best, widths = self.ranked[0], self.ranked[0].layout.widths
        width, records = best.regularity.width, len(self._records)
        steady = sum(widths[record] == width for record in self._records)
        part = "the whole text" if self.sample.whole else "the beginning"
        yield f"{steady:_} of {records:_} records have {counted(width, 'field')}; {part}, {len(self.sample.text):_} bytes"
        odd = [record for record in self._records if widths[record] != width]
        for record in odd[:_LINES_SHOWN]:
            line = self.lines + bisect_right(self._line_begins, best.layout.starts[record])
            yield f"  line {line} has {counted(widths[record], 'field')}: {_shown(best.layout.record_text(record))!r}"
        if self._windows:
            worst = min(share for share, _ in self._windows)
            held = "holds" if worst > 0.99 else "does not hold everywhere"
            yield f"{held} further on: {counted(len(self._windows), 'window')}, {worst:.1%} of the records in the worst"
        elif self.sample.windows:
            yield f"unknown further on: {counted(len(self.sample.windows), 'window')} without a whole record"

    def _rival(self) -> Iterator[str]:
        best = self.ranked[0]
        left_out = "" if best.weight == 1 else f" x {best.weight} for lines left out that another reads"
        yield f"score {best.score:.3f} = {best.regularity.score:.3f} for structure x {best.type_score:.3f} for values{left_out}"
        # A rival with the same separator is listed only if its score is close.
        close = (other for other in self.ranked[1:] if other.dialect.sep != best.dialect.sep or best.score - other.score < _CLOSE)
        for other in islice(close, 1):
            equal = "; as good, but less usual" if best.score - other.score < _EQUAL else ""
            yield f"next: {_differences(other.dialect, best.dialect)} with {other.score:.3f}{equal}"

    def _left_out(self) -> Iterator[str]:
        skipped = self.skipped()
        comments = len(skipped) - self.preamble - self.begin.footer
        if self.preamble:
            yield f"skip_rows={self.lines + self.preamble} leaves out {counted(self.preamble, 'line')}"
        if comments:
            prefix = (self.ranked[0].dialect.comment or b"").decode("utf-8", "backslashreplace")
            yield f"comment={prefix!r} leaves out {counted(comments, 'line')} of the sample"
        if self.begin.footer:
            yield f"skip_footer={self.begin.footer} leaves out {counted(self.begin.footer, 'record')} at the end"
        shown = [*skipped[: self.preamble][:_LINES_SHOWN], *skipped[self.preamble :][:_LINES_SHOWN]]
        yield from (f"  line {number}: {text!r}" for number, text in shown)

    def _other_widths(self) -> Iterator[str]:
        reasons = {
            "null": "fields that a record lacks are null",
            "widen": "most records have more fields than there are names",
            "truncate": "fields beyond the last column go to the rejects",
        }
        yield from (f"{name}={policy!r}: {reasons[policy]}" for name, policy in self.policies.items())

    def _malformed(self) -> Iterator[str]:
        layout = self.ranked[0].layout
        records = sorted(record for record in layout.malformed if record in self._records)
        if records:
            yield f"{counted(len(records), 'record')} with malformed quotes, first: {_shown(layout.record_text(records[0]))!r}"
        if layout.unclosed:
            yield "a quote is never closed"
        if self.repairs_windows:
            dialect = self.ranked[0].dialect
            yield f"{_differences(replace(dialect, **MALFORMED_QUOTES_ARE_TEXT), dialect)}: quotes are malformed further on"
        if self.fault:
            yield f"the proposal does not read its sample: {self.fault}"


def _differences(one: Dialect, other: Dialect) -> str:
    """Return the options in which `one` differs from `other`, e.g. ``sep=';'``."""
    values = {name: (getattr(one, name), getattr(other, name)) for name in Dialect.names()}
    shown = {
        name: first.decode("utf-8", "backslashreplace") if isinstance(first, bytes) else first
        for name, (first, second) in values.items()
        if first != second
    }
    return ", ".join(f"{name}={value!r}" for name, value in shown.items())


def null_words(column: Column, marks: Marks = POINT) -> tuple[str, ...]:
    """Return the words that alone make a column of values a column of text, e.g. ``NA`` among numbers with these marks."""
    if not has_texts(column):
        return ()
    values = values_judged(column)
    words = {value for value in values if value.encode() in NULL_WORDS}
    others = [value for value in values if value not in words]
    if words and others and all(is_typed(value.encode(), marks) for value in others):
        return tuple(sorted(words))
    return ()


def has_texts(column: Column) -> bool:
    """Return whether a column has text; a sample may have 100,000 columns without a value."""
    return column.null_count < column.length and column.type.is_string


def values_judged(column: Column) -> list[str]:
    """Return the first values of a column of text, without nulls."""
    first = column if column.length <= VALUES_JUDGED else column[:VALUES_JUDGED]  # a slice takes longer than a few values
    return [value for value in first if value is not None]


def null_evidence(found: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield a line for each column that only such words make text."""
    for name, words in islice(found.items(), _LINES_SHOWN):
        yield f"{name!r} is text only because of {', '.join(map(repr, words))}; null_values='auto' makes them null"


def _shown(text: bytes) -> str:
    shown = text[: 4 * _SHOWN].decode("utf-8", "backslashreplace")
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
