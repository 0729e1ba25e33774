"""Finds values that a wrong separator would split: times, dates, addresses, links, telephone numbers.

A field that is a whole value outweighs its parts: ``12:30:15`` is one time, not three integers between colons. The forms are
textual; a column type for them need not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MAX_SEARCHED_BYTES = 4096  # maximum bytes of a record that are searched

_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]{0,6}"
_TIME = rb"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:\ ?[AaPp][Mm]\b)?"
_DATE = rb"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_DATE_OF_LOGS = rb"\d{1,2}/" + _MONTH + rb"/\d{4}:\d\d:\d\d:\d\d(?:\ [-+]\d{4})?"
_DAY = rb"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?\ )?"
_DATE_OF_C = _MONTH + rb"\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\ \d{4}"
_DAY_FIRST, _MONTH_FIRST = rb"\d{1,2}\.?[\ -]" + _MONTH + rb"\.?[\ -]\d{4}", _MONTH + rb"\ \d{1,2},?\ \d{4}"
_DATE_IN_WORDS = _DAY + rb"(?:" + b"|".join([_DATE_OF_C, _DAY_FIRST, _MONTH_FIRST]) + rb")"
_STAMP = _DATE_OF_LOGS + rb"|(?:" + _DATE + rb"|" + _DATE_IN_WORDS + rb")(?:[T\ ]" + _TIME + rb"(?:\ ?(?:Z|[-+]\d\d:?\d\d))?)?"
_HOST = rb"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?"
_GROUP = rb"[0-9A-Fa-f]{1,4}"
_HOST_OF_VERSION_6 = (
    rb"(?=[0-9A-Fa-f:]*[0-9A-Fa-f]{3})"  # else 1::2 is one
    rb"(?:(?:" + _GROUP + rb":){7}" + _GROUP + rb"|(?:" + _GROUP + rb":){1,6}(?::" + _GROUP + rb"){1,6})"
)
_CARD = rb"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
_MAIL = rb"[^\s@,;:|\"'<>]+@[\w-]+(?:\.[\w-]+)+"
PHONE = rb"\+(?=(?:[\ ()-]{0,2}\d){7,15}(?!\d))\d{1,3}(?:[\ -]\(?\d{1,8}\)?){2,6}"
"""An international telephone number in groups: ``+49 30 1234``."""
_AMOUNT = rb"(?:\d{1,3}(?:\ \d{3})+,\d\d?(?!\d)|\d+[.,]\d\d?\ ?(?:EUR|USD|GBP|CHF|\xe2\x82\xac|%))"
_LINK = rb"[A-Za-z][A-Za-z0-9+.-]*://[^\s,;|\"'<>]+"
_STREET = (
    rb"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Square|Sq|Court|Ct|Place|Pl|Highway|Hwy|Terrace)\.?"
)
_POSTAL = rb"\d{1,5}[A-Za-z]?\ (?:[\w.'\x80-\xff-]+\ ){1,4}" + _STREET + rb"(?:,\ ?[\w.'\x80-\xff\ -]+){1,4}"

_WHOLE = re.compile(b"|".join([_STAMP, _TIME, _CARD, _HOST_OF_VERSION_6, _HOST, _LINK, _MAIL, _POSTAL, PHONE]))


def _between_edges(*forms: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w.:/@-])(?:" + b"|".join(forms) + rb")(?![\w:@-]|[.]\w)")


_WITH_COLONS = _between_edges(_STAMP, _TIME, _CARD, _HOST_OF_VERSION_6, _HOST, _LINK)
_OF_LINKS = _between_edges(_LINK, _MAIL)
_TEARING = {
    b":": _WITH_COLONS,
    b"::": _WITH_COLONS,
    b" ": _between_edges(_STAMP, _TIME, _POSTAL, PHONE, _AMOUNT),
    b",": _between_edges(_DATE_IN_WORDS, _POSTAL, _AMOUNT),
} | dict.fromkeys((b"~", b"!", b"*", b"&", b"$", b"@", b"=", b"+", b"#"), _OF_LINKS)
"""Forms that may contain a separator."""


def is_whole(text: bytes) -> bool:
    """Return whether a text is a time, a date, an address, a link or a telephone number, and nothing more."""
    return _WHOLE.fullmatch(text) is not None


def tearing_forms(sep: bytes, quote: bytes | None) -> list[re.Pattern[bytes]]:
    """Return the forms that a dialect may split: values that contain its separator; without quotes also quoted text."""
    forms = [_TEARING[sep]] if sep in _TEARING else []
    if quote is None:
        edge = re.escape(sep)
        forms.append(re.compile(rb"(?:(?<=" + edge + rb')|\A)"[^"]+"(?=' + edge + rb"|\Z)"))
    return forms


def torn_fields(record: bytes, ends: Sequence[int], gap: int, forms: Iterable[re.Pattern[bytes]]) -> set[int]:
    """Return the indexes of the fields that are parts of a whole value.

    `ends`: end of each field but the last, in bytes from the record's begin.
    `gap`: length of the separator, in bytes.
    `forms`: result of `tearing_forms`.
    """
    spans = [whole.span() for form in forms for whole in form.finditer(record, 0, _MAX_SEARCHED_BYTES)]
    torn: set[int] = set()
    for start, stop in spans:
        for field, end in enumerate(ends):
            if start < end and end + gap <= stop:
                torn |= {field, field + 1}
    return torn
