"""Tests formats as steps, invalid formats, and zones as pieces of local time."""

from __future__ import annotations

import datetime

import pytest

import headrace
from headrace import OptionError
from headrace.columns.date_format import date_options, parse_date_format
from headrace.columns.types import DataType, parse_type
from headrace.columns.zone import local_times, zone_named


@pytest.mark.parametrize(
    ("form", "steps"),
    [
        ("%d/%m/%Y", b"d\1%/m\1%/Y\4"),
        ("%Y%m%d", b"Y\4m\2d\1"),
        ("%d%m1%Y", b"d\2m\2%1Y\4"),
        ("%F", b"Y\4%-m\1%-d\1"),
        ("%D", b"m\1%/d\1%/y\2"),
        ("%Y%j", b"Y\4j\1"),
        ("%s.%f", b"s\0%.f\0"),
        ("%b%e%%%Y", b"b\0_\0d\1%%Y\4"),
        ("%yé%j", b"y\2%\xc3%\xa9j\1"),
        ("%F %T", b"Y\4%-m\1%-d\1% H\1%:M\1%:S\1"),
    ],
)
def test_steps(form: str, steps: bytes) -> None:
    """A number has all its digits where digits follow."""
    assert parse_date_format(form).steps == steps


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("%Q", "unknown directive of date_format '%Q' '%Q'"),
        ("%Y-%m-%d %", "unknown directive"),
        ("%Y-%m-%N", "%N"),
        ("%d/%m", "no year"),
        ("", "no year"),
        ("%Y", "no month and day"),
        ("%Y-%m", "has %m, but no day"),
        ("%Y-%d", "has %d, but no month"),
        ("%Y-%y-%m-%d", "gives the year twice: %Y and %y"),
        ("%Y-%m-%b-%d", "gives the month twice: %m and %b"),
        ("%Y-%j-%d", "%d has no place beside it"),
        ("%s %Y", "%Y has no place beside it"),
        ("%F %H %p", "%I and %p go together"),
        ("%F %I", "%I and %p go together"),
        ("%F %M", "has %M, but no hour"),
        ("%F %H:%S", "has %S, but no minute"),
        ("%F %H:%M.%f", "has %f, but no second"),
        ("%F%z", "has %z, but no hour"),
        ("%T.%f%Y%m%d", "digits follow %f"),
        ("%H%z%F", "digits follow %z"),
        ("%s0", "digits follow %s"),
        ("\ud800%F", "UTF-8 cannot write"),
    ],
)
def test_what_is_no_format(form: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_date_format(form)
    assert message in str(caught.value) and "date_format" in str(caught.value)


@pytest.mark.parametrize(
    ("form", "may"),
    [
        ("%Y%m%d", True),
        ("%s", True),
        ("%d.%m%Y", True),
        ("%Y.%j", True),
        ("%d0%m0%Y", True),
        ("%d.%m,%Y", True),
        ("%d.%m.%Y", False),
        ("%Y-%m-%d", False),
        ("%d %m %y", False),
        ("%d/%m/%Y", False),
        ("%d %b %Y", False),
    ],
)
def test_whether_a_number_may_have_the_format(form: str, may: bool) -> None:
    assert parse_date_format(form).may_be_number is may


def test_options() -> None:
    assert date_options(None, dayfirst=False).shared.formats == ()
    assert len(date_options(None, dayfirst=True).shared.formats) == 3
    assert date_options(None, dayfirst=True).shared.iso_first
    several = date_options(["%d/%m/%Y", "%F"], dayfirst=True).shared
    assert len(several.formats) == 2 and not several.iso_first and not several.before_numbers
    own = date_options({"a": "%F", 1: ("%D", "%F")}, dayfirst=True)
    assert own.shared.iso_first and own.of_columns["a"].before_numbers and not own.of_columns[1].iso_first
    for bad in (5, b"%F", [5], [], {"a": 5}, {"a": []}, {"%F"}):
        with pytest.raises(OptionError, match="date_format"):
            date_options(bad, dayfirst=False)


def test_pieces_of_a_fixed_offset() -> None:
    times = local_times("-05:30")
    assert (times.offsets, len(times.begins), len(times.ends)) == ((-19800,), 1, 1)
    assert times.begins[0] < -(10**12) and times.ends[0] > 10**12


def test_pieces_of_berlin() -> None:
    """In 2024 the clocks skipped 02:00 to 03:00 on the 31st of March and showed it twice on the 27th of October."""
    times = local_times("Europe/Berlin")
    spring = int(datetime.datetime(2024, 3, 31, 2, tzinfo=datetime.UTC).timestamp())
    autumn = int(datetime.datetime(2024, 10, 27, 2, tzinfo=datetime.UTC).timestamp())
    at = times.ends.index(spring)
    assert times.begins[at + 1] == spring + 3600 and times.offsets[at : at + 3] == (3600, 7200, 3600)
    assert times.ends[at + 1] == autumn and times.begins[at + 2] == autumn + 3600


@pytest.mark.parametrize(
    "name", ["Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kolkata", "Antarctica/Troll", "+02:00"]
)
def test_pieces_are_in_order(name: str) -> None:
    times = local_times(name)
    edges = [edge for piece in zip(times.begins, times.ends, strict=True) for edge in piece]
    assert edges == sorted(edges) and len(times.offsets) == len(times.begins)


@pytest.mark.parametrize("name", ["Europe/Bonn", "", "../UTC", "/etc/passwd", "Europe", "+25:00", "+2:00", "02:00", "a\0b", "é"])
def test_what_is_no_zone(name: str) -> None:
    with pytest.raises(OptionError, match="unknown time zone"):
        zone_named(name)


@pytest.mark.parametrize(
    "text",
    [
        "timestamp[us, Europe/Berlin]",
        "timestamp[us, tz=Europe/Berlin]",
        "Datetime(time_unit='us', time_zone='Europe/Berlin')",
        "datetime64[us, Europe/Berlin]",
    ],
)
def test_types_with_a_zone(text: str) -> None:
    parsed = parse_type(text)
    assert parsed == DataType("timestamp", "us", "Europe/Berlin")
    assert str(parsed) == "timestamp[us, Europe/Berlin]" and parse_type(str(parsed)) == parsed
    assert parsed.arrow_format == "tsu:Europe/Berlin"


def test_types_of_others() -> None:
    import polars as pl
    import pyarrow as pa

    assert str(parse_type(pa.timestamp("ms", "America/New_York"))) == "timestamp[ms, America/New_York]"
    assert str(parse_type(pl.Datetime("us", "Asia/Tokyo"))) == "timestamp[us, Asia/Tokyo]"
    assert str(parse_type("timestamp[s, utc]")) == "timestamp[s, UTC]"
    assert str(parse_type("timestamp[s, +05:30]")) == "timestamp[s, +05:30]"


def test_a_letter_between_the_digits_is_no_part_of_a_number():
    assert parse_date_format("%Y%m%d%H%M%S").may_be_number
    assert not parse_date_format("%Y%m%dT%H%M%S").may_be_number


def test_dayfirst_takes_dates_with_and_without_each_part_of_a_time():
    steps = [form.steps.count(b"?\x00") for form in date_options(None, True).shared.formats]
    assert steps == [3, 3, 3]
    table = headrace.read_csv(b"31/01/2024\n31/01/2024 10:30\n31.01.2024 10:30:15.5\n", dayfirst=True, header=False)
    assert [str(value) for value in table["column_1"].to_pylist()] == [
        "2024-01-31 00:00:00",
        "2024-01-31 10:30:00",
        "2024-01-31 10:30:15.500000",
    ]
