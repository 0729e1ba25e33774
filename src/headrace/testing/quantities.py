"""Parses times of day, durations and decimals with regular expressions and Python's integers and decimals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Context, Decimal

SECOND = 10**9  # in nanoseconds, the unit of all results

OUT_OF_REACH = 10**100  # represents a duration with a number of more than 64 bits; it exceeds every type

_CLOCK_PART = rb"([0-9]+):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?"
_TIME_OF_DAY = re.compile(rb"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?")
_CLOCK = re.compile(rb"(-?)" + _CLOCK_PART)
_DAYS = re.compile(rb"(-?)([0-9]+) days?(?:,? ([+-]?)" + _CLOCK_PART + rb")?")
_ISO = re.compile(
    rb"(-?)P(?:([0-9]+)W)?(?:([0-9]+)D)?"
    rb"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\.([0-9]{1,9}))?S)?)?"
)
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_LARGEST_EXPONENT = 10**6
_MANY_DIGITS = Context(prec=10**6)


def time_of_day(text: bytes) -> int | None:
    """Return the nanoseconds since midnight of HH:MM[:SS[.f]]; None for other text.

    >>> time_of_day(b"00:01:00.5")
    60500000000
    """
    found = _TIME_OF_DAY.fullmatch(text)
    if not found:
        return None
    hour, minute, second, fraction = found.groups(default=b"0")
    return (int(hour) * 60 + int(minute)) * 60 * SECOND + int(second) * SECOND + _nanoseconds(fraction)


def duration(text: bytes) -> int | None:
    """Return the nanoseconds of a duration in ISO 8601 or as days and a clock; None for other text.

    >>> duration(b"-1 day, 23:59:59") == duration(b"-PT1S") == -SECOND
    True
    """
    if (found := _ISO.fullmatch(text)) and any(found.groups()[1:]):
        sign, weeks, days, hours, minutes, seconds, fraction = found.groups(default=b"0")
        parts = {604800: weeks, 86400: days, 3600: hours, 60: minutes, 1: seconds}
        return _total(sign, parts, fraction)
    if found := _CLOCK.fullmatch(text):
        return _clock(*found.groups(default=b"0"))
    if found := _DAYS.fullmatch(text):
        sign, days, *clock = found.groups(default=b"0")
        whole, rest = _total(sign, {86400: days}, b"0"), _clock(*clock)
        return OUT_OF_REACH if OUT_OF_REACH in (whole, rest) else whole + rest
    return None


def is_plain_duration(text: bytes) -> bool:
    """Return whether a duration might be a time of day or words: it is a clock without days, or days without a clock."""
    return _CLOCK.fullmatch(text) is not None or text.endswith((b"day", b"days"))


def decimal_digits(text: bytes, scale: int) -> tuple[int, int] | None:
    """Return a decimal times 10^scale as (digits, exponent) without trailing zero digits; None for other text.

    >>> decimal_digits(b"-12.50", 3)
    (-125, 2)
    """
    found = _DECIMAL.fullmatch(text)
    if not found:
        return None
    exponent = found[1] or b"0"
    mantissa = text if found[1] is None else text[: found.start(1) - 1]
    value = Decimal(mantissa.decode()).normalize(_MANY_DIGITS)
    if value == 0:
        return 0, 0
    significant = exponent.lstrip(b"+-0") or b"0"
    moved = int(significant) if len(significant) < 8 else _LARGEST_EXPONENT
    moved = -moved if exponent.startswith(b"-") else moved
    sign, digits, point = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number, int(point) + moved + scale


def _clock(sign: bytes, hours: bytes, minutes: bytes, seconds: bytes, fraction: bytes) -> int:
    return _total(sign, {3600: hours, 60: minutes, 1: seconds}, fraction)


def _total(sign: bytes, parts: Mapping[int, bytes], fraction: bytes) -> int:
    """Return the sum of the counts, by their unit in seconds, and the fraction."""
    total = _nanoseconds(fraction)
    for seconds, count in parts.items():
        significant = count.lstrip(b"0") or b"0"
        if len(significant) > 20 or int(significant) >= 2**64:
            return OUT_OF_REACH
        total += int(significant) * seconds * SECOND
    return -total if sign == b"-" else total


def _nanoseconds(fraction: bytes) -> int:
    return int(fraction.ljust(9, b"0"))
