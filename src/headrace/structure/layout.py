"""Reads a sample with one dialect and scores how regular its records are.

The idea is that of van den Burg, Nazabal and Sutton, "Wrangling messy CSV files by detecting row and type patterns" (Data Min.
Knowl. Disc. 33, 2019), section 4.1: the right dialect gives rows of few different shapes with many fields. The score is a
different one: it tolerates ragged rows, and it knows lines before the table (the preamble) and after it (the footer).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, compress

from headrace import _native
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.candidates import RARE_SEPARATORS
from headrace.structure.dialect import Dialect
from headrace.structure.find import find_structure

_LONGEST_CUT = 64 << 10  # Bytes. If the last record of a cut sample is longer, its quote is assumed never to close.
_LONGEST_IN_WINDOW = 4 << 10  # the same for a window
_MAX_PREAMBLE = 50
_MAX_FOOTER = 5
_WIDTHS_TRIED = 4
_WORD = re.compile(rb"[A-Za-z\x80-\xff]{2}")
_TABLE_TO_PREAMBLE = 2
"""Least ratio of table records to preceding lines with a separator. Below it, those lines are ragged records, not a preamble."""
_EVEN = 0.9
"""Least share of records of the steady width. Below it, lines before the first such record may be ragged records, too."""

SINGLE_GAIN = 0.55  # value of one column. w columns are worth w / (w + 1), so two are worth more than one

REPAIRED = 0.25  # weight of a malformed quote that lenient quotes repair

NO_QUOTES = 0.95  # factor for a dialect without quotes if the text has quotes: later fields may need them

WEAK_SEPARATORS = {b" ": 0.75, b":": 0.8, b"::": 0.8} | {bytes([byte]): 0.8 for byte in RARE_SEPARATORS}
"""Separators that also occur in ordinary text, and the factor for a split at them."""


@dataclass(frozen=True, slots=True)
class SampleLayout:
    """Records of a sample, without comments and without the record that the sample cuts."""

    dialect: Dialect
    text: bytes  # the sample and the dialect that it was read with
    starts: list[int]
    widths: list[int]  # first byte and number of fields of each record
    firsts: list[int]
    ends: list[int]  # index into `ends` of each record's first field; end of each field, without its separator
    comments: list[int]  # first bytes of the comment lines
    malformed: frozenset[int]  # indices of records with malformed quotes
    unclosed: bool  # the text ends inside quotes, and not because the sample is cut
    is_cut: bool = False  # True if more text follows the sample

    def fields(self, record: int) -> list[bytes]:
        """Return the bytes of a record's fields, including quotes."""
        first, gap = self.firsts[record], len(self.dialect.sep)
        ends = self.ends[first : first + self.widths[record]]
        return [
            self.text[start:end] for start, end in zip([self.starts[record], *(end + gap for end in ends)], ends, strict=False)
        ]

    def record_text(self, record: int) -> bytes:
        """Return the bytes of a record without its line end."""
        return self.text[self.starts[record] : self.ends[self.firsts[record] + self.widths[record] - 1]]


def lay_out(text: bytes, dialect: Dialect, *, whole: bool = True, longest_cut: int = _LONGEST_CUT) -> SampleLayout:
    """Find the records of `text`. If it is not `whole`, the last record is left out unless it is the only one.

    `longest_cut`: if that record is at least this long, in bytes, its quote is assumed never to close.
    """
    source = OpenSource(_native.Source.from_bytes(text), "<sample>")
    found = find_structure(source, dialect, context=Context(threads=1))
    firsts = list(accumulate(found.field_counts, initial=0))[:-1]
    starts, widths, comments = found.record_starts, found.field_counts, []
    if any(found.comments):
        comments = list(compress(starts, found.comments))
        data = [not comment for comment in found.comments]
        starts, widths, firsts = (list(compress(several, data)) for several in (starts, widths, firsts))
    cut = not whole and len(starts) > 1
    unclosed = found.unclosed_quote and not (cut and len(text) - starts[-1] < longest_cut)
    end = starts[-1] if cut else len(text)
    if cut:
        del starts[-1], widths[-1], firsts[-1]
    malformed = {bisect_right(starts, stray) - 1 for stray in found.strays if stray < end}
    return SampleLayout(
        dialect, text, starts, widths, firsts, found.field_ends, comments, frozenset(malformed), unclosed, not whole
    )


@dataclass(frozen=True, slots=True)
class Regularity:
    """Score of how alike the records are."""

    width: int  # the steady width: the number of fields that explains most records
    first: int  # index of the first record of that width; the records before it are the preamble
    end: int  # index after the table's last record; the records after it are lines without a separator
    steady: int
    records: int  # number of records of that width, and of all records, from `first` to `end`
    score: float  # 0 to 1; the contribution of the structure to a dialect's score

    @property
    def agreement(self) -> float:
        """Share of the records after the preamble that have the steady width."""
        return self.steady / self.records if self.records else 0.0


def regularity(layout: SampleLayout) -> Regularity:
    """Return the width with the highest score."""
    if not layout.widths:
        return Regularity(1, 0, 0, 0, 0, 0.0)
    common = Counter(layout.widths).most_common(_WIDTHS_TRIED)
    # On a tie, the larger width.
    return max((_with_width(layout, width, count) for width, count in common), key=lambda found: (found.score, found.width))


def _with_width(layout: SampleLayout, width: int, steady: int) -> Regularity:
    widths, sep = layout.widths, layout.dialect.sep
    first = widths.index(width)
    if steady < 2 or first > _MAX_PREAMBLE or width == 1 or _are_ragged(widths, first, steady):
        first = 0
    end = _footer_begin(layout, width, steady)
    records = end - first
    even = (steady / records) ** 2
    if sep not in WEAK_SEPARATORS and width > 1:
        # Ragged rows still have separators: a,b,c then 1,2 then 1,2,3,4.
        even = 0.6 * even + 0.4 * (sum(other > 1 for other in widths[first:end]) / records) ** 2
    score = even * (SINGLE_GAIN if width == 1 else width / (width + 1) * WEAK_SEPARATORS.get(sep, 1.0))
    malformed = sum(first <= record < end for record in layout.malformed) / records
    score *= 1 - malformed * (REPAIRED if layout.dialect.keeps_strays else 1)
    score *= 1 - 0.02 * min(first + len(widths) - end, 5)
    if first > 2 * steady:
        score *= 0.5
    if layout.unclosed:
        score *= 0.5
    if layout.dialect.quote_char is None and b'"' in layout.text:
        score *= NO_QUOTES
    if sep in WEAK_SEPARATORS and records == 1:
        score *= 0.5
    return Regularity(width, first, end, steady, records, score)


def _footer_begin(layout: SampleLayout, width: int, steady: int) -> int:
    """Return the index of the footer: lines of words without a separator after a table. The end if there are many."""
    records = end = len(layout.widths)
    while width > 1 and end and layout.widths[end - 1] == 1 and _WORD.search(layout.record_text(end - 1)):
        end -= 1
    return end if records - end <= min(_MAX_FOOTER, steady) else records


def _are_ragged(widths: list[int], first: int, steady: int) -> bool:
    """Return whether the lines before `first` are records of a ragged table instead of a preamble.

    They are if they contain the separator, and the records after them are few or equally ragged.
    """
    separated = sum(width > 1 for width in widths[:first])
    records = len(widths) - first
    return separated > 0 and (records < _TABLE_TO_PREAMBLE * separated or steady < _EVEN * records)


def agreement_of(window: bytes, dialect: Dialect, width: int, *, ends: bool) -> tuple[float, bool] | None:
    """Return the share of a window's records with `width` fields, and whether quotes are malformed; None without a record.

    Whether a window begins inside quotes cannot be known from its bytes. So it is read both ways, and the better result counts.
    `ends`: the window ends the text, so its last record is whole.
    """
    ways = [window] if dialect.quote_char is None else [window, dialect.quote_char + window]
    found = []
    for text in ways:
        layout = lay_out(text, dialect, whole=ends, longest_cut=_LONGEST_IN_WINDOW)
        widths = layout.widths[1:]  # the first record is cut
        if widths:
            malformed = bool(layout.malformed) or layout.unclosed
            found.append((widths.count(width) / len(widths), malformed))
    return max(found, key=lambda one: (one[0], not one[1]), default=None)
