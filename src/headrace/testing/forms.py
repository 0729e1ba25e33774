"""Normalises numbers and dates in other formats, with regular expressions and Python's datetime and zoneinfo."""

from __future__ import annotations

import calendar
import datetime
import re
import zoneinfo
from dataclasses import dataclass
from functools import cache

_CYCLE = 146097 * 86400  # seconds of 400 years, the period of the calendar

_DATE = re.compile(rb"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])")
_TIME = re.compile(rb"[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(.*)", re.DOTALL)
_OFFSET = re.compile(rb"([+-])([0-9]{2})(?::?([0-9]{2}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Formats of numbers and dates. `iso`: whether ISO 8601 precedes the date formats. `dates_before_numbers`: whether a text
    that is both a date and a number is a date.
    """

    decimal: bytes = b"."
    thousands: bytes | None = None
    formats: tuple[str, ...] = ()
    iso: bool = True
    dates_before_numbers: bool = False

    def plain(self, text: bytes) -> bytes:
        """Return a number with a decimal point and without marks of thousands; other text gives ``b"?"`` or stays no number."""
        decimal, thousands = re.escape(self.decimal), re.escape(self.thousands or b"")
        whole = rb"[0-9]*" if self.thousands is None else rb"[0-9]{1,3}(?:%b[0-9]{3})+|[0-9]*" % thousands
        found = re.fullmatch(rb"([+-]?)(%b)(?![0-9%b])(?:(%b)(.*))?(.*)" % (whole, thousands, decimal), text, re.DOTALL)
        if found is None:
            return b"?"
        sign, digits, mark, fraction, rest = found.groups()
        decimals = rest if mark is None else fraction
        if b"." in decimals:
            return b"?"
        digits = digits if self.thousands is None else digits.replace(self.thousands, b"")
        return b"".join((sign, digits, b"" if mark is None else b".", decimals))


USUAL = Forms()


@dataclass(frozen=True, slots=True)
class Moment:
    """Nanoseconds since 1970, in UTC if there is an offset; `digits`: digits of the fraction, None for a date."""

    nanoseconds: int
    digits: int | None = None
    has_offset: bool = False


def moment_of(text: bytes, forms: Forms) -> Moment | None:
    """Parse by ISO 8601 if that is allowed, else by the first format that matches."""
    found = _moment(text) if forms.iso else None
    for form in forms.formats:
        found = found or _formatted(text, form)
    return found


def _moment(text: bytes) -> Moment | None:
    date = _DATE.match(text)
    days = None if date is None else _days(int(date[1]), int(date[3]), int(date[4]))
    if date is None or days is None:
        return None
    if date.end() == len(text):
        return Moment(days * 86400 * 10**9)
    found = _TIME.fullmatch(text[date.end() :])
    if not found:
        return None
    hour, minute, second, fraction, offset = found.groups(default=b"")
    shift = _offset_minutes(offset)
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59 or shift is None:
        return None
    minutes = (days * 24 + int(hour)) * 60 + int(minute) - shift
    nanoseconds = (minutes * 60 + int(second or 0)) * 10**9 + int(fraction.ljust(9, b"0"))
    return Moment(nanoseconds, len(fraction), bool(offset))


def _offset_minutes(text: bytes) -> int | None:
    if text in (b"", b"Z", b"z"):
        return 0
    found = _OFFSET.fullmatch(text)
    if not found or int(found[2]) > 23 or int(found[3] or 0) > 59:
        return None
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    return -minutes if found[1] == b"-" else minutes


def _days(year: int, month: int, day: int) -> int | None:
    """Return the days since 1970; None if there is no such day. Year 0 is a leap year, 146097 days before the year 400."""
    try:
        ordinal = datetime.date(year or 400, month, day).toordinal()
    except ValueError:
        return None
    return ordinal - datetime.date(1970, 1, 1).toordinal() - (0 if year else 146097)


_MONTHS = {name: number for number, name in enumerate(calendar.month_name) if name}
_PARTS = {
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "m": "(?P<m>[0-9]{1,2})",
    "d": "(?P<d>[0-9]{1,2})",
    "e": " ?(?P<d>[0-9]{1,2})",
    "j": "(?P<j>[0-9]{1,3})",
    "B": f"(?P<B>(?i:{'|'.join(_MONTHS)}))",
    "b": f"(?P<B>(?i:{'|'.join(name[:3] for name in _MONTHS)}))",
    "H": "(?P<H>[0-9]{1,2})",
    "I": "(?P<I>[0-9]{1,2})",
    "p": "(?P<p>(?i:am|pm))",
    "M": "(?P<M>[0-9]{1,2})",
    "S": "(?P<S>[0-9]{1,2})",
    "f": "(?P<f>[0-9]{1,9})",
    "z": "(?P<z>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)",
    "Z": "(?P<z>(?i:UTC|GMT|Z))",
    "s": "(?P<s>-?[0-9]{1,18})",
}
_LONG = {"%T": "%H:%M:%S", "%R": "%H:%M", "%D": "%m/%d/%y", "%F": "%Y-%m-%d"}
_MAX_DIGITS = {"{1,2}": "{2}", "{1,3}": "{3}"}


@cache
def _pattern(form: str) -> re.Pattern[bytes]:
    """Return a format as a regular expression. A number that a digit follows has its full width."""
    form = re.sub("%[TRDF]", lambda found: _LONG[found[0]], form)
    tokens = re.findall("%.|.", form, re.DOTALL)
    parts = []
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        part = _PARTS[token[1]] if len(token) == 2 and token != "%%" else re.escape(token[-1])
        if after[:1].isdigit() or (after[:1] == "%" and after[1] in "YymdejHIMSfs"):
            part = re.sub(r"\{1,[23]\}", lambda found: _MAX_DIGITS[found[0]], part)
        parts.append(part)
    return re.compile("".join(parts).encode(), re.DOTALL)


def _formatted(text: bytes, form: str) -> Moment | None:
    found = _pattern(form).fullmatch(text)
    if found is None:
        return None
    part = {name: value.decode() for name, value in found.groupdict().items()}
    fraction = part.get("f", "")
    below = int(fraction.ljust(9, "0"))
    if "s" in part:
        sign = -1 if part["s"].startswith("-") else 1
        return Moment(sign * (abs(int(part["s"])) * 10**9 + below), len(fraction), has_offset=True)
    days, second = _day_of(part), _second_of(part)
    shift = _offset_minutes(b"Z" if part.get("z", "").isalpha() else part.get("z", "").encode())
    if days is None or second is None or shift is None:
        return None
    has_time = any(letter in part for letter in "HIz")
    nanoseconds = (days * 86400 + second - shift * 60) * 10**9 + below
    return Moment(nanoseconds, len(fraction) if has_time else None, "z" in part)


def _day_of(part: dict[str, str]) -> int | None:
    """Return the days since 1970. Years of two digits mean 1969 to 2068."""
    year = int(part["Y"]) if "Y" in part else 1969 + (int(part["y"]) - 69) % 100
    if "j" in part:
        first, last = _days(year, 1, 1), _days(year, 12, 31)
        assert first is not None and last is not None
        days = first + int(part["j"]) - 1
        return days if first <= days <= last else None
    names = [number for name, number in _MONTHS.items() if name[:3].lower() == part.get("B", "")[:3].lower()]
    month = names[0] if "B" in part else int(part["m"])
    return _days(year, month, int(part["d"]))


def _second_of(part: dict[str, str]) -> int | None:
    """Return the second of the day. 12 AM is midnight, 12 PM noon."""
    hour, minute, second = (int(part.get(letter, 0)) for letter in "HMS")
    if "I" in part:
        hour = int(part["I"])
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if part["p"].lower() == "pm" else 0)
    return (hour * 60 + minute) * 60 + second if hour <= 23 and minute <= 59 and second <= 59 else None


def instant_of(moment: Moment, tz: str) -> Moment | None:
    """Return a local time in UTC; None if it is skipped or ambiguous. Years outside `datetime` are shifted by 400 or 800."""
    zone = datetime.datetime.strptime(tz, "%z").tzinfo if tz[0] in "+-" else zoneinfo.ZoneInfo(tz)
    seconds, below = divmod(moment.nanoseconds, 10**9)
    cycles = 1 if seconds < -61_000_000_000 else -1 if seconds > 250_000_000_000 else 0
    local = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds + cycles * _CYCLE)
    instants = [local.replace(tzinfo=zone, fold=fold).astimezone(datetime.UTC) for fold in (0, 1)]
    # A time that the clocks skipped comes back as another one.
    shown = [instant for instant in instants if instant.astimezone(zone).replace(tzinfo=None) == local]
    if len(set(shown)) != 1:
        return None
    utc = (shown[0] - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(seconds=1)
    return Moment((utc - cycles * _CYCLE) * 10**9 + below, moment.digits, has_offset=True)
