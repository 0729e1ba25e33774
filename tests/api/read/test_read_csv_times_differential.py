"""Dates and timestamps through `read_csv` against `datetime`: every day there is, every form, every lane of the vector path."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from headrace import Context, Table, read_csv
from headrace.columns.traits import UNITS
from headrace.columns.types import parse_type
from headrace.testing.compare import raw_values
from headrace.testing.values import Misfit, Value, Words, parse
from tests.isas import EACH_ISA

TYPES = ["date32", *(f"timestamp[{unit}{zone}]" for unit in UNITS for zone in ("", ", UTC"))]
LANES = 8
ONE_COLUMN = {"header": True, "sep": ";", "skip_blank_lines": False, "quoted_null": True}
EPOCH = datetime.datetime(1970, 1, 1)


def read(data: bytes, isa: str, **options: object) -> Table:
    table = read_csv(data, context=Context(isa=isa, threads=2), **options)  # type: ignore[arg-type]
    table.report.check()
    return table


@cache
def parsed(text: str, type_name: str) -> Value | Misfit:
    return None if text in ("", "null") else parse(text.encode(), parse_type(type_name), Words())


def check(texts: Sequence[str], type_name: str, isa: str, quoting: str = "bare") -> None:
    quoted = {"bare": lambda i: False, "quoted": lambda i: True, "mixed": lambda i: i % 3 == 1}[quoting]
    data = "\n".join(["a", *(f'"{text}"' if quoted(i) else text for i, text in enumerate(texts))]).encode()
    table = read(data, isa, schema=[type_name], on_error="null", null_values="null", **ONE_COLUMN)
    found = [parsed(text, type_name) for text in texts]
    assert raw_values(table["a"]) == [None if isinstance(value, Misfit) else value for value in found]
    faults = [(i, value.value) for i, value in enumerate(found, 1) if isinstance(value, Misfit)]
    assert list(zip(table.rejects["record"], table.rejects["kind"], strict=True)) == faults


def days_from_year_0_to_9999(step: int) -> tuple[np.ndarray, bytes]:
    """Each `step`-th day, and a column of them."""
    days = np.arange(np.datetime64("0000-01-01"), np.datetime64("10000-01-01"))[::step]
    lines = np.datetime_as_string(days).astype("S10")
    return days, b"a\n" + b"\n".join(lines.tolist())


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_every_day_from_year_0_to_9999(step: int, isa: str) -> None:
    days, text = days_from_year_0_to_9999(step)
    column = read(text, isa)["a"]
    assert str(column.type) == "date32"
    assert np.array_equal(np.frombuffer(memoryview(column.values), np.int32), days.astype(np.int64).astype(np.int32))


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("year", ["0000", "0100", "0400", "1900", "1999", "2000", "2023", "2024", "2100", "9999"])
def test_every_month_and_day_of_two_digits(year: str, isa: str) -> None:
    """Days that there are not are faults: 00, the 30th of February, month 13."""
    texts = [f"{year}-{month:02}-{day:02}" for month in (*range(16), 19, 20, 99) for day in range(100)]
    check(texts, "date32", isa)
    check([f"{text} 00:00:00" for text in texts], "timestamp[us]", isa)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_every_second_of_a_day_and_what_is_none(isa: str) -> None:
    day = [f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in range(86400)]
    column = read(b"a\n" + "\n".join(f"2024-02-29T{time}" for time in day).encode(), isa)["a"]
    begin = (datetime.datetime(2024, 2, 29) - EPOCH) // datetime.timedelta(microseconds=1)
    assert raw_values(column) == [begin + second * 1_000_000 for second in range(86400)]
    numbers = (0, 5, 9, 23, 24, 29, 59, 60, 61, 99)
    check([f"1969-12-31 {h:02}:{m:02}:{s:02}" for h in numbers for m in numbers for s in numbers], "timestamp[s]", isa)


PLAIN = ["2024-02-29 23:59:58", "1969-12-31T23:59:59", "2000-01-01 00:00:00"]
ODD = [
    "",
    "null",
    "2024-02-29",
    "2023-02-29",
    "2024-2-29",
    "2024-02-29 ",
    " 2024-02-29",
    "2024/02/29",
    "2024/2/9",
    "2024-2-9 23:59",
    "2024/02/29T23:59:58.5",
    "2024/2/29 23:59:58+02:00",
    "2024/02-29",
    "2024-02/29",
    "2024-2-",
    "2024-2-029",
    "2024-002-29",
    "2024--29",
    "2024/2/30",
    "2024/2/9/",
    "20240229",
    "2024-02-29T",
    "2024-02-29 1",
]
ODD += [
    "2024-02-29 23",
    "2024-02-29 23:5",
    "2024-02-29 23:59",
    "2024-02-29t23:59:58",
    "2024-02-29_23:59:58",
    "2024-02-29  23:59:58",
    "24-02-29",
]
ODD += [
    "2024-02-29 23:59:58.",
    "2024-02-29 23:59:5",
    "2024-02-29 23:59:5x",
    "2024-02-29 23-59-58",
    "2024-02-29 23:59:58 ",
    "+2024-02-29",
    "12024-02-29",
]
ODD += [f"2024-02-29 23:59:58.{'123456789123'[:digits]}" for digits in range(1, 13)] + [
    "2024-02-29 23:59:58.000000000",
    "2024-02-29 23:59.5",
]
ODD += [
    f"2024-02-29T23:59:58.5{offset}"
    for offset in ("Z", "z", "+00", "-00", "+0530", "-05:30", "+23:59", "-23:59", "+24:00", "+05:60")
]
ODD += [
    f"2024-02-29T23:59:58{end}"
    for end in (
        "Z",
        ".Z",
        ".5x",
        ".x5Z",
        ".5ZZ",
        ".12Z4",
        ".123456Z",
        ".123456z",
        ".1234567Z",
        ".12345678Z",
        ".12:45",
        ".1+23Z",
        "Z.5",
    )
]
ODD += [
    f"2024-02-29T23:59:58{offset}"
    for offset in ("+5", "+053", "+05:3", "+05:300", "+05-30", "ZZ", "Z ", " Z", "UTC", "+", "+ab", " +05:30")
]
ODD += [
    "2024-02-29T23:59Z",
    "2024-02-29T23:59+05:30",
    "2024-02-29Z",
    "2024-02-29T23Z",
    "1970-01-01 00:00:00-00:01",
    "1970-01-01 00:00:00+00:01",
]
ODD += [
    "0000-01-01 00:00:00",
    "9999-12-31 23:59:59.999999999",
    "0000-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "1969-12-31 23:59:59.5",
]
ODD += [
    "1677-09-21 00:12:43.145224192",
    "1677-09-21 00:12:43.145224191",
    "2262-04-11 23:47:16.854775807",
    "2262-04-11 23:47:16.854775808",
]
ODD += [
    "1677-09-21 00:12:43",
    "1677-09-21 00:12:44",
    "2262-04-11 23:47:16",
    "2262-04-11 23:47:17",
    "1677-09-20",
    "1677-09-22",
    "2262-04-12",
    "2262-04-11",
]
ODD += [
    "२०२४-02-29",
    "2024-02-29 23:59:58\0",
    "2024-02-29\0",
    "2024-02-29 23:59:60",
    "2024-02-29 24:00:00",
    ":/24-02-29",
    "2024-02-/9",
    "2024-02-2:",
]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", ["bare", "quoted", "mixed"])
@pytest.mark.parametrize("type_name", TYPES)
def test_odd_texts_in_every_lane(type_name: str, isa: str, quoting: str) -> None:
    for usual in (PLAIN, [text[:10] for text in PLAIN], [text + ".25" for text in PLAIN], [text + ".123456Z" for text in PLAIN]):
        texts = []
        for text in ODD:
            for lane in range(LANES):
                texts += [*(usual * 3)[:lane], text, *(usual * 3)[lane + 1 : LANES]]
        for cut in (0, 3):
            check([*texts[cut:], *ODD, *ODD], type_name, isa, quoting)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("type_name", TYPES[1:])
def test_random_moments_of_every_form(type_name: str, isa: str) -> None:
    rng = random.Random(type_name)
    texts = []
    for _ in range(5003):
        year = rng.choice([rng.randint(1, 9999), rng.randint(1650, 2300), rng.randint(1960, 2030)])
        moment = datetime.datetime(
            year, rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59)
        )
        text = moment.isoformat(sep=rng.choice(["T", " "]), timespec=rng.choice(["minutes", "seconds", "seconds"]))
        if text.count(":") == 2 and rng.random() < 0.5:
            text += "." + "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 9))).replace("9", "0")
        if rng.random() < 0.3:
            sign, hours, minutes = rng.choice("+-"), rng.randint(0, 14), rng.choice([0, 30, 45])
            text += rng.choice(["Z", f"{sign}{hours:02}", f"{sign}{hours:02}{minutes:02}", f"{sign}{hours:02}:{minutes:02}"])
        texts.append(text)
    check(texts, type_name, isa, "mixed")


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("zone", ["", "Z", "+02:00", "-11:30"])
def test_pythons_own_isoformat(zone: str, isa: str) -> None:
    """Inferred, and as Python reads the same texts."""
    rng = random.Random(zone)
    texts = []
    for _ in range(3001):
        moment = EPOCH + datetime.timedelta(microseconds=rng.randint(-(6 * 10**16), 25 * 10**16))
        texts.append(
            moment.isoformat(sep=rng.choice("T "), timespec=rng.choice(["seconds", "milliseconds", "microseconds"])) + zone
        )
    column = read("\n".join(["a", *texts]).encode(), isa)["a"]
    assert str(column.type) == ("timestamp[us, UTC]" if zone else "timestamp[us]")
    expected = [datetime.datetime.fromisoformat(text) for text in texts]
    assert column.to_pylist() == [moment.astimezone(datetime.UTC) if zone else moment for moment in expected]
