"""Lists texts of values in all forms: usual and rare ones, and texts that are no value."""

from __future__ import annotations

import random
import struct

FLOATS = [
    "0.1", "-73.993896", "1e5", "1E+05", "-1.5e-3", "1e-320", "4.9e-324", "2.2250738585072011e-308", "1e400", "1e", "e5", "1e+",
    "12345678901234567890", "1234567890123456789012", "0.00001234567890123456", "0.30000000000000004", "1.7976931348623157e+308",
    "9007199254740993", "9007199254740992.5", "1.2.3", "5.", ".5", ".", "-", "+2.5", "00.5", "nan", "-NaN", "+inf", "Infinity",
    "-infinity", "infinit", "1e5.5", "0x1f", "1e00005", "123456789.123456789e-0012", "0.000000000000000000000012345678901234",
]  # fmt: skip


INTEGERS = [
    "0", "7", "-8", "127", "128", "65536", "99999999", "100000000", "-2147483648", "2147483648", "123456789012345678", "-0",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
    "+5", "007", "00000000000000000000012", "0x1f", "-0X7fff", "0xffffffffffffffff", "0x", "1e3", "1.0", "12a", "--1",
]  # fmt: skip


MOMENTS = [
    "2019-01-31", "2019-01-31 23:59", "2019-01-31 23:59:58", "2019-01-31T23:59:58.5", "2019-01-31 23:59:58.123456",
    "2019-01-31 23:59:58.123456789", "2019-01-31 23:59:58.1234567890", "2019-01-31 23:59:58Z", "2019-01-31T23:59:58.25z",
    "2019-01-31 23:59+02", "2019-01-31 23:59:58+0230", "2019-01-31 23:59:58.123-11:45", "2019-01-31 23:59:58+24:00",
    "2019-01-31 23:59:58+02:3", "2019-02-29", "0000-01-01", "1066-10-14 00:00:00", "1969-12-31 23:59:59.999999", "2262-04-12",
    "2019-01-31 24:00:00", "2019-01-31 23:60", "2019-01-31 23:59:58.", "2019-01-31 23:59:58 ", "2019-1-31", "2019-01-31t01:02",
    "2019/01/31", "2019/1/3 23:59", "2019-1-3T23:59:58.5+02", "2019/01-31", "2019/13/1", "2019-1-031",
]  # fmt: skip


TIMES = [
    "00:00", "23:59:58", "23:59:58.5", "23:59:58.123456", "23:59:58.123456789", "24:00:00", "23:59:58.", "1:02:03", "23:59:5",
    "-00:00:01", "P1DT2H", "1 day 2:03:04", "26:00:00", "23:59:58.1234567890",
]  # fmt: skip


WORDS = ["true", "false", "True", "FALSE", "NA", "N/A", "null", "yes", "no", "undefined", "t", "", "truefalse", "1", "0"]


DATES = {
    "%m/%d/%Y %I:%M:%S %p": [
        "01/31/2019 11:59:58 PM",
        "01/31/2019 12:00:00 am",
        "1/31/2019 1:00:00 PM",
        "01/31/2019 00:00:00 AM",
    ],
    "%d %b %Y": ["31 Jan 2019", "29 FEB 2000", "29 Feb 2001", "01 may 1999", "1 Jun 2019", "31 Xyz 2019", "31 January 2019"],
    "%H:%M %d.%m.%y": ["11:59 31.01.69", "13:00 31.01.68", "00:30 01.01.00", "24:00 01.12.99"],
    "%Y%m%d": ["20190131", "20190229", "2019013", "201901311"],
    "%Y-%m-%dT%H:%M:%S.%f%z": ["2019-01-31T23:59:58.25+02:00", "2019-01-31T23:59:58Z", "2019-01-31T23:59:58.123456789-0330"],
    "%d. %B %Y": ["31. January 2019", "1. may 2020"],
}
"""Texts of formats: those of fixed width and others."""


def random_floats(rng: random.Random, count: int) -> list[str]:
    """Draw floats of any size, as their shortest texts."""
    values = (struct.unpack("<d", rng.randbytes(8))[0] for _ in range(count))
    return [repr(value) if rng.random() < 0.5 else repr(rng.uniform(-1e6, 1e6)) for value in values]


def mixed(rng: random.Random, texts: list[str], count: int) -> list[str]:
    """Draw `count` of the texts; most of them are plain ones, which come first."""
    return [rng.choice(texts[:3]) if rng.random() < 0.4 else rng.choice(texts) for _ in range(count)]


def grouped(text: str) -> str:
    """Return the text with points between thousands and a decimal comma."""
    head, _, tail = text.partition(".")
    sign = head[: len(head) - len(head.lstrip("+-"))]
    digits = head[len(sign) :]
    groups = [digits[max(at - 3, 0) : at] for at in range(len(digits), 0, -3)][::-1]
    return sign + ".".join(groups) + ("," + tail if tail else "")
