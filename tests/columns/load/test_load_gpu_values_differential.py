"""Values of all forms mixed in one tile, on fibers and on the CPU: numbers, words, dates and times."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.faults.load_gpu_faults_cases import check
from tests.columns.load.value_forms_cases import (
    DATES,
    DURATIONS,
    FLOATS,
    INTEGERS,
    MOMENTS,
    TIMES,
    WORDS,
    grouped,
    mixed,
    random_floats,
)

pytestmark = pytest.mark.fibers

ROWS = 70


def table(columns: list[list[str]], *, quoted: float = 0, rng: random.Random) -> bytes:
    """Join columns to records; some fields are quoted."""
    lines = ("|".join(f'"{text}"' if rng.random() < quoted else text for text in row) for row in zip(*columns, strict=True))
    return ("\n".join(line or '""' for line in lines) + "\n").encode()


GIVEN: dict[str, tuple[list[str], list[str]]] = {
    "floats": (FLOATS, ["float64", "float32", "decimal128(30, 6)"]),
    "integers": (INTEGERS, ["int64", "uint64", "int8", "uint32", "decimal128(20, 0)"]),
    "moments": (MOMENTS, ["timestamp[us]", "timestamp[ns, UTC]", "date32", "timestamp[s, Europe/Berlin]", "timestamp[ms, UTC]"]),
    "times": (TIMES, ["time64[us]", "time32[s]", "duration[ms]", "time64[ns]"]),
    "durations": (DURATIONS, ["duration[s]", "duration[ms]", "duration[us]", "duration[ns]"]),
    "words": (WORDS, ["bool", "bool", "int64", "float64"]),
}
"""Texts, and types of the columns that have them."""


@pytest.mark.parametrize("quoted", [0, 0.3])
@pytest.mark.parametrize("name", GIVEN)
def test_given_types(name: str, quoted: float) -> None:
    rng = random.Random(name)
    texts, types = GIVEN[name]
    columns = [mixed(rng, texts, ROWS) for _ in types]
    if name == "floats":
        columns = [[rng.choice(pair) for pair in zip(column, random_floats(rng, ROWS), strict=True)] for column in columns]
    options: dict[str, Any] = {"null_values": ["", "NA", "undefined"], "quoted_null": quoted != 0}
    check(table(columns, quoted=quoted, rng=rng), sep="|", header=False, schema=types, on_error="null", **options)


@pytest.mark.parametrize("name", GIVEN)
def test_inferred_types(name: str) -> None:
    """The first fields decide the guess; later ones widen it."""
    rng = random.Random(name)
    texts = GIVEN[name][0]
    columns = [[texts[i]] * 60 + mixed(rng, texts[: 5 * i + 5], ROWS) for i in range(3)]
    columns.append(random_floats(rng, 60 + ROWS))
    check(table(columns, rng=rng), sep="|", header=False, null_values=["NA", "0x1f", "7"])


def test_inferred_durations_that_have_the_format_of_a_date() -> None:
    """The first fields are no dates, so the guess is a duration; a later text of both forms is a date."""
    texts = ["40 days 02:13:00"] * 60 + ["3 days 02:13:00", "41 days 02:13:00"] * 5
    check("\n".join(texts).encode(), sep="|", header=False, date_format="%d days %m:%H:%y")
    check("\n".join(texts).encode(), sep="|", header=False)


@pytest.mark.parametrize("words", [["true", "x"], ["7", "0.1", "2019-01-31"], ["nan", "-infinity", "inf"]])
@pytest.mark.parametrize("use", ["null_values", "true_values"])
def test_words_that_look_like_values(use: str, words: list[str]) -> None:
    rng = random.Random(str(words))
    columns = [mixed(rng, [*words, *texts[:6], "nan", "inf"], ROWS) for texts in (FLOATS, INTEGERS, MOMENTS, WORDS)]
    types = ["float64", "int64", "timestamp[us]", "bool"]
    check(table(columns, rng=rng), sep="|", header=False, schema=types, on_error="null", **{use: words})
    check(table(columns, rng=rng), sep="|", header=False, **{use: words})


@pytest.mark.parametrize("given", [True, False])
def test_decimal_comma_and_thousands(given: bool) -> None:
    rng = random.Random(given)
    numbers = [grouped(text) for text in (*FLOATS, *INTEGERS, "1234567.5", "-12345678", "123456789012345678.25")]
    odd = ["1.23", "1234.567", ".123", "1.234.", "1,5e3", "1.234,5E-2", "0.123.456", "12.345,", ",5"]
    columns = [mixed(rng, numbers + odd, ROWS) for _ in range(3)]
    options: dict[str, Any] = {"schema": ["float64", "int64", "decimal128(20, 3)"], "on_error": "null"} if given else {}
    check(table(columns, rng=rng), sep="|", header=False, decimal=",", thousands=".", **options)
    check(table(columns, rng=rng), sep="|", header=False, decimal=",", **options)


@pytest.mark.parametrize("date_format", DATES)
def test_date_formats(date_format: str) -> None:
    rng = random.Random(date_format)
    texts = [*DATES[date_format], *MOMENTS[:4]]
    columns = [mixed(rng, texts, ROWS) for _ in range(3)]
    types = ["timestamp[us]", "date32", "timestamp[ns, UTC]"]
    check(table(columns, rng=rng), sep="|", header=False, schema=types, on_error="null", date_format=date_format)
    check(table([[texts[0]] * ROWS, columns[0]], rng=rng), sep="|", header=False, date_format=date_format)


def test_more_odd_fields_than_the_list_holds() -> None:
    """A tile has more fields that the rules must read than its list of them."""
    data = "".join("1_0\n" if row % 7 else f"{row}\n" for row in range(2000)).encode()
    check(data, header=False, schema=["int64"], on_error="null")


@pytest.mark.parametrize("long_records", ["reject", "truncate"])
def test_irregular_tiles(long_records: str) -> None:
    rng = random.Random(5)
    columns = [mixed(rng, texts, ROWS) for texts in (FLOATS, INTEGERS, MOMENTS, WORDS)]
    lines = table(columns, rng=rng).split(b"\n")
    for at in rng.sample(range(ROWS), 12):
        lines[at] = rng.choice([lines[at] + b"|7", lines[at].rpartition(b"|")[0], b"1.5|2", lines[at] + b"|||"])
    types = ["float64", "int64", "timestamp[us]", "bool"]
    check(
        b"\n".join(lines), sep="|", header=False, schema=types, on_error="null", short_records="null", long_records=long_records
    )
