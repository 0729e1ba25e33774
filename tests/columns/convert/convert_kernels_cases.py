"""Draws tables of every type, and compares the results of the conversion kernels with the CPU's columns."""

from __future__ import annotations

import random

TEXTS: dict[str, list[bytes]] = {
    "bool": [b"true", b"false", b"True", b"FALSE"],
    "int8": [b"0", b"7", b"-8", b"127", b"-128", b"+5", b"007", b"0x1f"],
    "int16": [b"0", b"32767", b"-32768", b"1234", b"0X7fff"],
    "int32": [b"2147483647", b"-2147483648", b"12", b"99999999", b"0000000000000000000012"],
    "int64": [b"9223372036854775807", b"-9223372036854775808", b"1", b"1234567890123456", b"12345678901234567"],
    "uint8": [b"0", b"255", b"-0", b"17"],
    "uint16": [b"65535", b"1", b"0xffff"],
    "uint32": [b"4294967295", b"10", b"123456789"],
    "uint64": [b"18446744073709551615", b"3", b"0xffffffffffffffff"],
    "float32": [
        b"0.1",
        b"1e10",
        b"-2.5",
        b"3",
        b"16777217",
        b"1.00000017881393432617187499",
        b"nan",
        b"-inf",
        b".5",
        b"5.",
        b"12.75",
    ],
    "float64": [
        b"0.1",
        b"-73.993896",
        b"40.750111",
        b"1e-320",
        b"123456789012345678",
        b"2.2250738585072011e-308",
        b"9007199254740993",
        b"9007199254740992.5",
        b"+1.5E+3",
        b"Infinity",
        b"1" * 70 + b"." + b"3" * 40,
        b"17.5",
        b"0",
    ],
    "date32": [b"1970-01-01", b"2019-12-31", b"2000-02-29", b"0000-03-01", b"9999-12-31"],
    "timestamp[s]": [b"2019-01-31 23:59:58", b"1969-12-31T00:00:00", b"2019-01-31", b"2019-01-31 10:20"],
    "timestamp[us]": [b"2019-01-31 23:59:58.123456", b"2019-01-31 23:59:58"],
    "timestamp[ns, UTC]": [b"2019-01-31 23:59:58.123456789+02:00", b"2019-01-31 23:59:58", b"2019-01-31T23:59:58Z"],
    "timestamp[s, Europe/Berlin]": [b"2019-01-31 23:59:58", b"2019-03-31 02:30:00", b"2019-07-01 12:00:00+02:00"],
    "time32[s]": [b"23:59:58", b"00:00", b"12:30:15"],
    "time64[us]": [b"23:59:58.5", b"01:02:03", b"12:00:00.123456"],
    "duration[ms]": [b"P1DT2H", b"26:00:00", b"-1 days +23:59:59", b"PT0.5S"],
    "decimal128(12, 2)": [b"12.5", b"-0.05", b"9999999999.99", b"1e3", b"7"],
    "decimal128(38, 10)": [b"1234567890123456789012345678.0123456789", b"0.1", b"-5"],
    "string": [b"", b"x", b"some text", b"NULL", "grün €".encode(), b"a" * 63, b"b" * 64, b"c" * 65, b"d" * 300],
    "large_string": [b"", b"y", b"other text here"],
    "binary": [b"\xff\x00\x01", b"", b"abc"],
    "null": [b"", b""],
}


JUNK = [
    b"",
    b"",
    b"x",
    b"-",
    b"+",
    b"1x",
    b"--1",
    b"300",
    b"1" * 30,
    b"2019-02-30",
    b"25:00:00",
    b"1.5",
    b"99999999999999999999",
    b" 1",
]


def table(
    rng: random.Random, types: list[str], rows: int, *, junk: float = 0.05, quoted: float = 0.0, line_end: bytes = b"\n"
) -> bytes:
    out = []
    for _ in range(rows):
        fields = []
        for type_ in types:
            text = rng.choice(JUNK) if rng.random() < junk else rng.choice(TEXTS[type_])
            if rng.random() < quoted:
                if type_ == "string" and rng.random() < 0.3:
                    text += rng.choice([b'"', b'a"b', b",", b"\n", b'""', b"\r\n"])
                text = b'"' + text.replace(b'"', b'""') + b'"'
            elif b'"' in text or b"," in text or b"\n" in text:
                text = text.replace(b'"', b"").replace(b",", b"").replace(b"\n", b"")
            fields.append(text)
        out.append(b",".join(fields))
    # A record of one empty field would be a blank line.
    out = [line or b"0" for line in out]
    return line_end.join(out) + (line_end if rng.random() < 0.7 else b"")
