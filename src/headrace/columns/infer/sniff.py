"""Ranks dialects for a sample: the regularity of its structure times how much its fields look like values.

The product of a pattern score and a type score is CleverCSV's idea (van den Burg, Nazabal and Sutton, Data Min. Knowl. Disc. 33,
2019). A wrong separator leaves fields such as ``1;2``, which look like no value. Three rules restrict the product:

- A whole value outweighs its parts. Fields that together form a time, a date, an address or a link count little
  (`sniff_whole.py`). The exception is a record of names above them that is split in the same way.
- A dialect that skips lines before the table counts half if another one reads every line into the same number of fields.
- A reading with malformed quotes is proposed only if no other one is left: lenient quotes, or none, read any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from headrace import _native
from headrace.columns.date_format import DateForms
from headrace.columns.infer.sniff_spaces import is_table_of_words, spaces_are_in_values
from headrace.columns.infer.sniff_whole import is_whole, tearing_forms, torn_fields
from headrace.structure.candidates import Fixed, candidates, variants
from headrace.structure.dialect import Dialect
from headrace.structure.layout import WEAK_SEPARATORS, Regularity, SampleLayout, lay_out, regularity
from headrace.structure.sample import Sample

_FIRST_LOOK_BYTES = 32 << 10
_LOOKED_AT_TWICE = 5  # number of candidates that are tried on the whole sample, after a first look at its begin
_FAR_BELOW = 0.3  # candidates after the second with less than this part of the best score are not tried again
_RECORDS_JUDGED = 60
_FIELDS_JUDGED = 600
_VARIED = 3  # number of the best dialects that are also tried with escapes and initial spaces
_EQUAL = 1e-9
_LINES_LEFT_OUT = 0.5  # weight of a dialect that skips lines, if another one reads them all
_LOOKS_LIKE_VALUES = 0.95
_LOOKS_LIKE_A_TABLE = 0.5
_TORN = 0.1
_LIST = 0.6

# Values by their appearance; a column type for them need not exist.
_VALUE = re.compile(
    rb"""(?x:
    \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4} (?:[T\ ]\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?)? (?:\ ?[AaPp][Mm])? (?:Z|[-+]\d\d:?\d\d)?  # dates
  | \d{1,2}:\d{1,2}(?::\d{1,2}(?:[.,]\d+)?)?(?:\ ?[AaPp][Mm])?                                    # 12:30, 12:30:05.5 pm
  | [-+(]?[$\xa3]?\d{1,3}(?:[,.'\ ]\d{3})+(?:[.,]\d+)?\)?%?                                         # 1,234,567.8
  | [-+]?[$]?\d+(?:[.,]\d*)?(?:[eE][-+]?\d+)?%?                                                   # 0012, +1,5, 12%
  | [A-Za-z][A-Za-z0-9+.-]*://\S+                                                                  # http://example.org
  | [^\s@,;|]+@[^\s@,;|]+\.\w+                                                                     # me@example.org
  | [0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}
  | \\N
    )"""
)
_TWO_NUMBERS = re.compile(rb"[-+]?\d+,\d+")
_DATES = DateForms()
_WORD = re.compile(rb"[A-Za-z\x80-\xff]")
_UNCLEAN = re.compile(rb"[;\t|\x00-\x1f]|(?<!\S),|,(?! )|\S:\S|\A['\"]|['\"]\Z")
_LISTED = re.compile(rb"[^\s,;|\"']+(?:([,;|])[^\s,;|\"']+)(?:\1[^\s,;|\"']+)*")


@dataclass(frozen=True, slots=True)
class RankedDialect:
    """A dialect and its evidence."""

    layout: SampleLayout
    regularity: Regularity  # structure of the sample in this dialect
    type_score: float
    """Mean worth of the inspected fields. A number, a date or the like counts 1, a word 0.9, a list 0.6. A field with a separator
    or quote left in it counts 0.3, a part of a whole value 0.1.
    """
    weight: float = 1.0  # 1, or 0.5 if it skips lines and another dialect reads them all

    @property
    def score(self) -> float:
        """The product of all evidence, 0 to 1."""
        return self.regularity.score * self.type_score * self.weight

    @property
    def reads_every_line(self) -> bool:
        """True if each line is a record of the same width, split by a usual separator or as a column of whole values."""
        regular, sep = self.regularity, self.dialect.sep
        if regular.first or not 1 < len(self.layout.widths) == regular.steady or self.layout.malformed or self.layout.unclosed:
            return False
        if regular.width == 1:
            return self.type_score >= _LOOKS_LIKE_VALUES
        return sep not in WEAK_SEPARATORS and self.type_score >= _LOOKS_LIKE_A_TABLE

    @property
    def is_malformed(self) -> bool:
        """True if a quote is malformed and is not repaired."""
        return not self.dialect.keeps_strays and (bool(self.layout.malformed) or self.layout.unclosed)

    @property
    def dialect(self) -> Dialect:
        """The dialect."""
        return self.layout.dialect


def judge(sample: Sample, fixed: Fixed) -> list[RankedDialect]:
    """Return dialects from the likeliest on; of equals the more usual one first. At least the best two are judged, not all.

    `sample`: the text. `fixed`: the known part of the dialect.
    """
    dialects = candidates(sample.text, fixed)
    if len(sample.text) <= _FIRST_LOOK_BYTES:
        return _with_variants(sample, _judge_all(sample, dialects), fixed, _VARIED)
    beginning = Sample(sample.text[:_FIRST_LOOK_BYTES], whole=False)
    ranked = _with_variants(beginning, _judge_all(beginning, dialects), fixed, _VARIED)
    near = [judged for judged in ranked[2:_LOOKED_AT_TWICE] if judged.score > _FAR_BELOW * ranked[0].score]
    ranked = _judge_all(sample, [judged.dialect for judged in (*ranked[:2], *near)])
    return _with_variants(sample, ranked, fixed, 1)


def _with_variants(sample: Sample, ranked: list[RankedDialect], fixed: Fixed, varied: int) -> list[RankedDialect]:
    """Return `ranked` with variants of the `varied` best, likeliest first; a variant may repair malformed quotes."""
    known = {judged.dialect for judged in ranked}
    best = sorted(ranked, key=lambda judged: -judged.score)[:varied]
    result = [
        dialect for judged in best for dialect in variants(sample.text, judged.dialect, fixed, malformed=judged.is_malformed)
    ]
    more = [dialect for dialect in dict.fromkeys(result) if dialect not in known]
    return _ranked([*ranked, *_judge_all(sample, more)])


def _ranked(several: list[RankedDialect]) -> list[RankedDialect]:
    """Sort from the likeliest on, dialects with malformed quotes last; of equals the earlier one first."""
    whole = any(judged.reads_every_line for judged in several)
    weighed = [replace(judged, weight=_LINES_LEFT_OUT) if whole and judged.regularity.first else judged for judged in several]
    return sorted(weighed, key=lambda judged: (judged.is_malformed, -round(judged.score / _EQUAL)))


def _judge_all(sample: Sample, dialects: list[Dialect]) -> list[RankedDialect]:
    found = []
    for dialect in dialects:
        layout = lay_out(sample.text, dialect, whole=sample.whole)
        regular = regularity(layout)
        if not _comments_are_records(layout, regular):
            found.append((layout, regular))
    judged: list[RankedDialect] = []
    best = second = 0.0
    for layout, regular in sorted(found, key=lambda pair: -pair[1].score):
        # No type score is above 1, so the rest cannot be better.
        if regular.score < second:
            break
        judged.append(RankedDialect(layout, regular, type_score(layout, regular)))
        if not judged[-1].is_malformed:
            best, second = sorted((best, second, judged[-1].score * (_LINES_LEFT_OUT if regular.first else 1)))[:0:-1]
    order = {dialect: place for place, dialect in enumerate(dialects)}
    return _ranked(sorted(judged, key=lambda one: order[one.dialect]))


def _comments_are_records(layout: SampleLayout, regular: Regularity) -> bool:
    """Return whether the lines that a comment prefix skips look like records: ``#id,name`` over ``1,x``.

    In a single column all lines look alike. There a comment must begin with a prefix and a space, and be rarer than data.
    """
    prefix = layout.dialect.comment
    if prefix is None:
        return False
    lines = [re.split(rb"[\r\n]", layout.text[start : start + 4096], maxsplit=1)[0] for start in layout.comments[:1000]]
    if not lines or not layout.starts:
        return True
    if regular.width == 1:
        marked = sum(line[len(prefix) :].startswith((b" ", b"!")) or line == prefix for line in lines)
        return marked < len(lines) or len(layout.comments) > len(layout.starts)
    alike = [line for line in lines if regular.width in _widths(line, layout.dialect)]
    return 2 * len(alike) >= len(lines)


def _widths(line: bytes, dialect: Dialect) -> set[int]:
    """Return the possible numbers of fields of a line, with and without the separators in quotes, for any dialect."""
    quote = re.escape(dialect.quote_char or b'"')
    return {text.count(dialect.sep) + 1 for text in (line, re.sub(quote + b".*?" + quote, b"", line))}


def type_score(layout: SampleLayout, regular: Regularity) -> float:
    """Return the mean worth of fields in records spread over the sample."""
    records = range(regular.first, regular.end)
    step = max(1, len(records) // _RECORDS_JUDGED)
    sole = regular.width == 1
    if not sole and spaces_are_in_values(layout, regular, is_value):
        return _TORN
    weak = layout.dialect.sep in WEAK_SEPARATORS and not sole and not is_table_of_words(layout, regular, is_value)
    # If a first record splits like the parts of whole values and is none itself, it names them: the split is intended.
    forms = [] if sole else tearing_forms(layout.dialect.sep, layout.dialect.quote_char)
    if regular.first == 0 and layout.widths[:1] == [regular.width] and not _torn(layout, 0, forms):
        forms = []
    total, count = 0.0, 0
    for record in records[::step]:
        torn = _torn(layout, record, forms) if forms else ()
        fields = [layout.record_text(record)] if sole else layout.fields(record)[: _FIELDS_JUDGED // 4]
        for place, field in enumerate(fields):
            total += _TORN if place in torn else _worth(field, layout.dialect, weak, sole)
            count += 1
        if count >= _FIELDS_JUDGED:
            break
    return total / count if count else 0.0


def _torn(layout: SampleLayout, record: int, forms: Sequence[re.Pattern[bytes]]) -> set[int]:
    """Return the fields of a record that are parts of a whole value."""
    first, start = layout.firsts[record], layout.starts[record]
    ends = layout.ends[first : first + min(layout.widths[record], _FIELDS_JUDGED // 4)]
    gap = len(layout.dialect.sep)
    return torn_fields(layout.text[start : ends[-1]], [end - start for end in ends[:-1]], gap, forms)


def _worth(field: bytes, dialect: Dialect, weak: bool, sole: bool) -> float:
    """Return the worth of one field.

    If the separator occurs in ordinary text (`weak`), a word proves nothing; nor does ``1,5`` in a `sole` column.
    """
    text = dialect.trimmed(field)
    quote = dialect.quote_char
    quoted = quote is not None and len(text) >= 2 and text.startswith(quote) and text.endswith(quote)
    text = text[1:-1] if quoted else text
    bare = text.strip(b" ")
    loss = 0.05 if bare != text and not quoted else 0.0
    if not bare:
        return 0.8 - loss
    if sole and not quoted and _TWO_NUMBERS.fullmatch(bare):
        return 0.3
    if is_value(bare):
        return 1.0 - loss
    if quoted:
        return 0.95
    if is_clean(bare):
        return (0.5 if weak else 0.9) - loss
    return _LIST - loss if not (sole or weak) and len(bare) <= 200 and _LISTED.fullmatch(bare) else 0.3


def is_clean(text: bytes) -> bool:
    """Return whether a text is made of words, without a separator or quote in it."""
    return len(text) <= 10_000 and _WORD.search(text) is not None and _UNCLEAN.search(text) is None


class Marks(NamedTuple):
    """The decimal point of numbers, and the mark between thousands."""

    decimal: str = "."
    thousands: str | None = None

    @property
    def codes(self) -> tuple[int, int | None]:
        """The marks as `ValueOptions` has them."""
        return ord(self.decimal), None if self.thousands is None else ord(self.thousands)


POINT = Marks()


def is_typed(text: bytes, marks: Marks = POINT) -> bool:
    """Return whether a column of only such texts has a type other than string, with these marks of numbers."""
    return _native.implied_types([text], marks.codes, _DATES) != ["string"]


def is_value(text: bytes) -> bool:
    """Return whether a text is a number, a date, a time, an address or the like, rather than words."""
    return is_typed(text) or (len(text) <= 200 and (_VALUE.fullmatch(text) is not None or is_whole(text)))
