"""Decides whether the first record of a text holds the names of its columns.

The fields of the first record are compared with the fields below them. Text over numbers is a name; a number over numbers may be
either. A record that could be both is taken for a header, as pandas, Polars and PyArrow do. A wrong name is visible in the table,
whereas a row of names changes the types of all columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from headrace import _native
from headrace.columns.date_format import DateForms
from headrace.columns.native_columns import type_named
from headrace.columns.traits import FAMILIES, TRAITS

RECORDS_BELOW, RECORDS_BELOW_VALUES = 100, 20
"""Number of records below the first one that are compared with it. The second number applies if the first record has only values,
since then no text can recur.
"""
LOOK_BYTES = 128 << 10  # bytes from the first record on that are searched for those records
_FIELDS_CLASSIFIED = 20  # fields of each column that are classified
_SHOWN = 40
_NUMBERS = re.compile(rb"[0-9]+")

_TEXT, _BOOLEAN = FAMILIES["string"].noun, FAMILIES["bool"].noun


@dataclass(frozen=True, slots=True)
class HeaderDecision:
    """Decision whether the first record holds the names."""

    is_header: bool  # the decision
    reason: str  # the reason, in words
    inferred: bool = True  # True if the reader decided; otherwise an option did
    in_doubt: bool = False  # True if the evidence for names is only the absence of evidence against them

    def __str__(self) -> str:
        return f"the first record is taken for {'the header' if self.is_header else 'data'}: {self.reason}"

    @property
    def advice(self) -> str:
        """Describe the decision as a hint in an error; empty if an option decided."""
        return f"; {self}; pass header={not self.is_header} if it is not" if self.inferred else ""


@dataclass(frozen=True, slots=True)
class FieldKinds:
    """The options that say what the text of a field means."""

    marks: tuple[int, int | None] = (ord("."), None)
    dates: DateForms = field(default_factory=DateForms)  # marks and date formats of `ValueOptions`
    words: frozenset[bytes] = frozenset({b"true", b"True", b"TRUE", b"false", b"False", b"FALSE"})  # texts of bools
    nulls: frozenset[bytes] = frozenset({b""})  # texts that mean null, in any column

    def families(self, texts: Sequence[bytes]) -> list[str]:
        """Return the family of values of each field, such as ``"a number"``; ``"text"`` if it is not a value."""
        types = _native.implied_types(texts, self.marks, self.dates)
        return [_BOOLEAN if text in self.words else _noun(name) for text, name in zip(texts, types, strict=True)]

    def records_to_compare(self, first: Sequence[bytes]) -> int:
        """Return the number of records below a first record to compare it with; 0 if it has no value."""
        families = set(self.families([text for text in first if text]))
        if families <= {_TEXT}:
            return 0
        return RECORDS_BELOW if _TEXT in families else RECORDS_BELOW_VALUES


def _noun(type_name: str) -> str:
    return FAMILIES[TRAITS[type_named(type_name).name].family].noun


class _Verdict(Enum):
    """Evidence of one column."""

    NONE = 0
    VALUE = 1  # a value over values of its family
    NAME = 2  # the field cannot belong to its column
    EITHER = 3
    REPEATED = 4  # text that recurs below it, possibly with another number: p1 over p2


def decide_header(first: Sequence[bytes], below: Sequence[Sequence[bytes]], kinds: FieldKinds) -> HeaderDecision:
    """Compare the first record with those below it.

    `first`: its fields.
    `below`: the fields of the records below it; not used if the first record has no value.
    `kinds`: options for the meaning of a field's text.
    """
    families = kinds.families(first)
    filled = [family for text, family in zip(first, families, strict=True) if text]
    if not filled:
        return HeaderDecision(False, "it is empty")
    if set(filled) == {_TEXT}:
        return HeaderDecision(True, "none of its fields is a number, a date or another value", in_doubt=True)
    rows = [row for row in below if tuple(row) != tuple(first)]
    if not rows:
        text = next((text for text, family in zip(first, families, strict=True) if text and family == _TEXT), None)
        if text is None:
            return HeaderDecision(False, "all its fields are values, and there is no record below it to compare with")
        why = f"it holds the text {_shown(text)}, and there is no record below it to compare with"
        return HeaderDecision(True, why, in_doubt=True)
    verdicts: dict[_Verdict, str] = {}
    for place, text in enumerate(first):
        column = [row[place] for row in rows if place < len(row) and row[place] not in kinds.nulls]
        verdict, reason = _compared(text, families[place], column, kinds)
        if verdict is _Verdict.NAME:
            return HeaderDecision(True, reason)
        verdicts.setdefault(verdict, reason)
    values = [text for text, family in zip(first, families, strict=True) if text and family != _TEXT]
    return _weighed(first, rows, verdicts, values)


def _compared(text: bytes, family: str, column: Sequence[bytes], kinds: FieldKinds) -> tuple[_Verdict, str]:
    """Compare a field with the fields below it. Returns the evidence and its reason in words."""
    if not text or text in kinds.nulls:
        return _Verdict.NONE, ""
    pattern = _NUMBERS.sub(b"0", text)
    if family == _TEXT and (again := next((one for one in column if _NUMBERS.sub(b"0", one) == pattern), None)) is not None:
        same = "occurs again" if again == text else f"is {_shown(again)} except for its number"
        return _Verdict.REPEATED, f"the text {_shown(text)} {same} below it"
    families = kinds.families(column[:_FIELDS_CLASSIFIED])
    if not families:
        return (_Verdict.EITHER if family == _TEXT else _Verdict.NONE), f"{_shown(text)} has no value below it"
    usual, count = Counter(families).most_common(1)[0]  # of equally frequent families, the first one
    if family == _TEXT:
        usual = usual if 2 * count >= len(families) else _TEXT
    elif 2 * families.count(family) >= len(families):
        usual = family
    over = f"{_shown(text)} is {family} over {_shown(column[families.index(usual)] if usual in families else column[0])}"
    if usual == family:
        return (_Verdict.EITHER if family == _TEXT else _Verdict.VALUE), over
    return (_Verdict.EITHER if usual == _TEXT else _Verdict.NAME), over


def _weighed(
    first: Sequence[bytes], rows: Sequence[Sequence[bytes]], verdicts: dict[_Verdict, str], values: Sequence[bytes]
) -> HeaderDecision:
    """Decide if every field could belong to its column; `values` are those of the first record."""
    if _Verdict.VALUE in verdicts:
        if _Verdict.REPEATED in verdicts:
            return HeaderDecision(False, verdicts[_Verdict.REPEATED])
        text, count = Counter(values).most_common(1)[0]
        if count > 1:
            return HeaderDecision(False, f"it holds the value {_shown(text)} more than once, and names differ")
    if not first[0] and all(row and row[0] for row in rows):
        return HeaderDecision(True, "its first field is empty, as over a column of row labels")
    doubt = verdicts.get(_Verdict.EITHER) or verdicts.get(_Verdict.REPEATED)
    if doubt is None:
        like = verdicts.get(_Verdict.VALUE) or verdicts[_Verdict.NONE]
        return HeaderDecision(False, f"all its fields are values that could stand in their columns ({like})")
    return HeaderDecision(True, f"its fields could be names or values ({doubt}), and in doubt they are names", in_doubt=True)


def _shown(text: bytes) -> str:
    return repr(text[:_SHOWN].decode("utf-8", "backslashreplace"))
