"""Decides if single spaces separate columns or belong to values: ``name age city`` over ``Ann 30 Rome``, or ``1 234 567``.

A space is the weakest separator: it also stands in names, amounts, dates, telephone numbers and places. As many words in the
first record as fields below it are names of columns, except in these cases:

- The first record is a phrase, with a preposition between two words: ``amount in EUR``. It may also be shorter than the records
  below it, if they contain words. If each field is a value and the records have no known form, as ``1 2 3`` below
  ``item for sale``, the fields are columns.
- Each record below it is one telephone number, or one amount with a group that no number begins with, such as ``004``.

Another number of words names one column if each record below has a form with spaces in it: ``phone`` over ``030 555 1234``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from headrace.columns.infer.sniff_whole import PHONE
from headrace.structure.layout import Regularity, SampleLayout

IsValue = Callable[[bytes], bool]

_COLUMNS_OF_WORDS = 3
_RECORDS_OF_WORDS = 3  # least number of columns and of records of a table of words between single spaces
_RECORDS_JUDGED = 60
_MAX_VALUE_BYTES = 200

_NAME = re.compile(rb"[A-Za-z_\x80-\xff%#][\w\x80-\xff%#./()\[\]-]*")
_PHRASE = re.compile(
    rb"(?i:\b[\w\x80-\xff]{3,}\ (?:of|in|per|at|on|by|for|and|or|with|am|im|der|des|pro|je|und|oder|von|vom|zum|zur|f\xc3\xbcr"
    rb"|bei|du|de|des|en|par|et|au|aux|dans|pour|del|por|di|da|della)(?:\ (?:the|an?|der|die|das|la|les?|l[ao]s|el))?\ )"
    rb"(?!out\b)(?:[\w\x80-\xff]{3}|[A-Z]{2}\b|\d)"
)  # A preposition or conjunction between two words, as in `date of birth`. `time in out` and `word en de` name columns.
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_PHONES = re.compile(PHONE)
_AMOUNT = re.compile(rb"[-+]?\d{1,3}(?:\ \d{3})+(?:[.,]\d+)?")
_PADDED_GROUP = re.compile(rb"\ 0\d\d")
_DECIMAL = rb"[-+]?\d{1,3}(?:[.,]\d+)?"
_WITH_SPACES = re.compile(
    b"|".join(
        [
            _AMOUNT.pattern,
            rb"\(?0\d{1,5}\)?(?:\ \d{2,8}){1,4}",  # 030 555 1234
            rb"\d{1,2}\ \d{1,2}\ \d{4}|\d{4}\ [01]\d\ [0-3]\d",  # 31 1 2024
            rb"\d{4}(?:\ \d{4}){2,5}",  # 4111 1111 1111 1111
            _DECIMAL + rb"(?:\ \d{1,2}){0,2}\ [NSEW](?:\ " + _DECIMAL + rb"(?:\ \d{1,2}){0,2}\ [NSEW])?",  # 52.5 N 13.4 E
        ]
    )
)
_NAMED_FORMS = [
    (re.compile(rb"times?|clock|uhrzeit|zeit|heure|hora", re.IGNORECASE), re.compile(rb"(?:[01]?\d|2[0-4])(?:\ [0-5]\d){1,2}")),
    (
        re.compile(rb"coord(?:inate)?s?|positions?|locations?|points?|koordinaten|lat_?lon", re.IGNORECASE),
        re.compile(_DECIMAL + rb"\ " + _DECIMAL),
    ),
]  # names of one column, and the numbers with a space that are its values: `time` over `12 30`


def is_table_of_words(layout: SampleLayout, regular: Regularity, is_value: IsValue) -> bool:
    """Return whether words between single spaces are columns: ``name age city`` over ``Ann 30 Rome``.

    Every record then has the same three fields or more. A column of values is below a name that is none. The names are different
    words, and not the beginning of a sentence such as ``Best years``.
    """
    if layout.dialect.sep != b" " or regular.first or regular.width < _COLUMNS_OF_WORDS or layout.unclosed:
        return False
    if not _RECORDS_OF_WORDS <= len(layout.widths) == regular.steady:
        return False
    names = layout.fields(0)
    if len(set(names)) < len(names) or not all(_NAME.fullmatch(name) for name in names) or _is_sentence(names):
        return False
    rows = [layout.fields(record) for record in _judged(layout)]
    return all(map(all, rows)) and any(all(map(is_value, column)) for column in zip(*rows, strict=True))


def spaces_are_in_values(layout: SampleLayout, regular: Regularity, is_value: IsValue) -> bool:
    """Return whether the first record names one column, and the records below it are values with spaces in them."""
    if layout.dialect.sep != b" " or regular.first > 1 or len(layout.starts) < 2:
        return False
    words = layout.fields(0)
    if not all(words) or any(map(is_value, words)):
        return False
    title, rows = layout.record_text(0), [layout.record_text(record) for record in _judged(layout)]
    if any(len(text) > _MAX_VALUE_BYTES for text in (title, *rows)):  # a search for a phrase may take quadratic time
        return False
    if all(map(_PHONES.fullmatch, rows)):
        return True
    is_phrase = _PHRASE.search(title) is not None
    if is_phrase and len(words) == regular.width and not _are_names_over_values(layout, is_value):
        return _have_form(rows) or not all(is_value(field) for record in _judged(layout) for field in layout.fields(record))
    if is_phrase and len(words) < regular.width and all(map(_LETTER.search, rows)):
        return True
    if len(words) == regular.width:
        return all(map(_AMOUNT.fullmatch, rows)) and any(map(_PADDED_GROUP.search, rows))
    return any(
        all(map(form.fullmatch, rows))
        for form in (_WITH_SPACES, *(form for names, form in _NAMED_FORMS if names.fullmatch(words[-1])))
    )


def _have_form(rows: Sequence[bytes]) -> bool:
    """Return whether all rows have one of the forms with spaces, below any name."""
    return any(all(map(form.fullmatch, rows)) for form in (_WITH_SPACES, *(form for _, form in _NAMED_FORMS)))


def _are_names_over_values(layout: SampleLayout, is_value: IsValue) -> bool:
    """Return whether the second record has no value and the third one has: the first one is then a title above names."""
    return len(layout.starts) > 2 and not any(map(is_value, layout.fields(1))) and any(map(is_value, layout.fields(2)))


def _judged(layout: SampleLayout) -> range:
    return range(1, len(layout.widths), max(1, len(layout.widths) // _RECORDS_JUDGED))


def _is_sentence(words: Sequence[bytes]) -> bool:
    return words[0][:1].isupper() and all(word.islower() for word in words[1:])
