"""Tests convert.cu under the fiber harness on columns of a guessed type: the kinds that the type does not
hold, with their first places.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from headrace.columns.types import parse_type
from headrace.testing.convert_fibers import FORWARD, Guess, ThreadOrder, convert
from headrace.testing.values import Kind, Misfit, Words, classify, join, parse, type_of_kind
from tests.columns.load.load_gpu_cases import SHAPE

pytestmark = pytest.mark.fibers

UNFIT = 18
SHAPES = [
    SHAPE.convert("unquoted"),
    SHAPE.convert("quoted"),
]
ORDERS = [FORWARD, ThreadOrder("reverse", 0), ThreadOrder("random", 1)]


def kind_texts(kind: Kind) -> list[bytes]:
    """Return texts of a kind, and of the kinds it is often mixed with."""
    return {
        Kind.NATURAL: [b"0", b"12", b"123456789", b"1234567890123456"],
        Kind.NEGATIVE: [b"-1", b"-123456789012", b"7"],
        Kind.FLOAT: [b"0.5", b"-12.25", b"17", b"1e3", b"123456.789"],
        Kind.DATE: [b"2019-01-31", b"2000-02-29"],
        Kind.TIMESTAMP_US: [b"2019-01-31 23:59:58", b"2019-01-31T00:00:00.5", b"2019-01-31"],
        Kind.TIMESTAMP_US_UTC: [b"2019-01-31 23:59:58Z", b"2019-01-31T00:00:00+02:00"],
        Kind.TIMESTAMP_NS: [b"2019-01-31 23:59:58.123456789", b"1066-10-14 00:00:00", b"2019-01-31"],
        Kind.TIME_US: [b"12:30:15", b"23:59:59.5"],
        Kind.DURATION_US: [b"P1DT2H", b"1 day 2:03:04"],
        Kind.HEX: [b"0x1f", b"0XFF"],
        Kind.BOOL: [b"true", b"False"],
        Kind.UINT64: [b"18446744073709551615", b"5"],
        Kind.EMPTY: [b""],
    }[kind]


OTHERS = [
    b"", b"x", b"007", b"+1", b"-", b"1.5", b"2019-01-31", b"12:30:15", b"0x1f", b"-5", b"true", b"-01.5", b"-00", b"+1.5",
    b"+1234567", b"12:30", b"2019/1/31", b"2019-1-31 12:30",
]  # fmt: skip


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "guess", [k for k in Kind if k not in (Kind.TEXT, Kind.TIMESTAMP_NS_UTC, Kind.TIME_NS, Kind.DURATION_NS, Kind.HEX_UINT64)]
)
def test_first_occurrences_of_kinds(guess: Kind, seed: int) -> None:
    rng = random.Random(100 * seed + guess)
    shape, order = rng.choice(SHAPES), rng.choice(ORDERS)
    fields = [rng.choice(OTHERS) if rng.random() < 0.06 * seed else rng.choice(kind_texts(guess)) for _ in range(200)]
    data = b"".join(b"%s,%d\n" % (field, row) for row, field in enumerate(fields))
    settled = guess is not Kind.EMPTY
    type_ = type_of_kind(guess) if settled else parse_type("string")
    options = {"header": False, "dtypes": {1: "int64"}}
    found = convert(data, options=options, guesses={0: Guess(int(guess), str(type_))}, shape=shape, skew=seed, order=order)
    words, expected, values, at = Words(), {}, [], 0
    for row, field in enumerate(fields):
        kind = classify(field, words) if field else Kind.EMPTY
        value = None if kind is Kind.EMPTY or not settled else parse(field, type_, words)
        holds = settled and type_of_kind(join(guess, kind)) == type_of_kind(guess)
        if kind is not Kind.EMPTY and (not holds or isinstance(value, Misfit)):
            expected.setdefault(UNFIT if holds else int(kind), (at, row))
            value = None
        values.append(value)
        at += len(field) + len(b",%d\n" % row)
    assert found.sightings[0] == expected
    valid = np.unpackbits(found.columns[0]["validity"].view(np.uint8), bitorder="little")[: len(fields)]
    assert [bool(bit) for bit in valid] == [value is not None for value in values]
    if type_.bits == 64 and settled:
        code = {"int64": "i8", "uint64": "u8", "float64": "f8"}.get(type_.name, "i8")
        own = found.columns[0]["values"].view(code)
        assert own.tobytes() == np.array([value or 0 for value in values], code).tobytes()
