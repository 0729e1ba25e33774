"""Lists texts of every kind that inference knows."""

from __future__ import annotations

from headrace.testing.values import Kind

SAMPLES = {
    Kind.EMPTY: b"",
    Kind.BOOL: b"true",
    Kind.NATURAL: b"9223372036854775807",
    Kind.NEGATIVE: b"-9223372036854775808",
    Kind.UINT64: b"9223372036854775808",
    Kind.FLOAT: b"1.5",
    Kind.DATE: b"2024-02-29",
    Kind.TIMESTAMP_US: b"2024-02-29 12:00:00.123456",
    Kind.TIMESTAMP_NS: b"2024-02-29 12:00:00.1234567",
    Kind.TIMESTAMP_US_UTC: b"2024-02-29 12:00:00+02:00",
    Kind.TIMESTAMP_NS_UTC: b"2024-02-29 12:00:00.123456789Z",
    Kind.TIME_US: b"12:30:15.123456",
    Kind.TIME_NS: b"12:30:15.1234567",
    Kind.DURATION_US: b"-1 days +23:59:59",
    Kind.DURATION_NS: b"P1DT0.1234567S",
    Kind.HEX: b"0x7FFFFFFFFFFFFFFF",
    Kind.HEX_UINT64: b"0X8000000000000000",
    Kind.TEXT: b"007",
}
