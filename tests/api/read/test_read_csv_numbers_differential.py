"""Numbers through `read_csv` against Python's own: every lane of the vector path, its remainder, quoted or not."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from headrace import Column, Context, Table, read_csv
from headrace.columns.types import parse_type
from headrace.testing.compare import comparable, raw_values
from headrace.testing.values import Misfit, Value, Words, nearest_float32, parse
from tests.isas import EACH_ISA

QUOTING = ["bare", "quoted", "mixed"]
LANES = 8
ONE_COLUMN = {"header": True, "sep": ";", "skip_blank_lines": False, "quoted_null": True}


def read(data: bytes | memoryview, isa: str, **options: object) -> Table:
    table = read_csv(data, context=Context(isa=isa, threads=2), **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def written(texts: Sequence[str], quoting: str) -> memoryview:
    """Return one column without a last line end. The digits after its last byte do not belong to it."""
    quoted = {"bare": lambda i: False, "quoted": lambda i: True, "mixed": lambda i: i % 3 == 1}[quoting]
    data = "\n".join(["head", *(f'"{text}"' if quoted(i) else text for i, text in enumerate(texts))]).encode()
    return memoryview(data + b"7777777777777777")[: len(data)]


@cache
def parsed(text: str, type_name: str) -> Value | Misfit:
    return None if text in ("", "null") else parse(text.encode(), parse_type(type_name), Words())


def check(texts: Sequence[str], type_name: str, isa: str, quoting: str) -> None:
    """Every text is a value or a fault, as Python has it."""
    type_ = parse_type(type_name)
    table = read(written(texts, quoting), isa, schema={"head": type_name}, on_error="null", null_values="null", **ONE_COLUMN)
    found = [parsed(text, type_name) for text in texts]
    expected = [None if isinstance(value, Misfit) else comparable(value, type_.bits) for value in found]
    assert raw_values(table["head"]) == expected
    faults = [(i, value.value) for i, value in enumerate(found, 1) if isinstance(value, Misfit)]
    assert list(zip(table.rejects["record"], table.rejects["kind"], strict=True)) == faults


def in_every_lane(odd: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Each odd text at each place modulo 8 among usual ones, and all the odd ones side by side."""
    texts: list[str] = []
    for text in odd:
        for lane in range(LANES):
            group = [usual[i % len(usual)] for i in range(LANES)]
            group[lane] = text
            texts += group
    return texts + list(odd) * 2


INT_TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
ODD_INTS = [
    "",
    "-",
    "+",
    "+1",
    "--1",
    "-0",
    "00",
    "007",
    "-007",
    "1 ",
    " 1",
    "1.",
    "1.0",
    "1e3",
    "0x1",
    "1_0",
    "٣",
    "1\0",
    "/",
    ":",
    "a",
]
ODD_INTS += [
    "0" * 30 + "7",
    "9" * 30,
    "-" + "9" * 30,
    "1" * 16,
    "1" * 17,
    "1" * 8,
    "1" * 9,
    "12345678x",
    "x12345678",
    "1234567812345678x",
]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("type_name", INT_TYPES)
def test_integers_at_every_border(type_name: str, isa: str, quoting: str) -> None:
    """The least and the greatest value of every type and of every number of digits, and their neighbours."""
    borders = {sign * 2**bits + near for bits in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1) for near in (-2, -1, 0, 1)}
    borders |= {sign * 10**digits + near for digits in range(21) for sign in (1, -1) for near in (-1, 0, 1)}
    odd = [str(value) for value in sorted(borders)] + ODD_INTS
    for usual in (["12", "-7", "null"], ["9", "", "127"]):
        texts = in_every_lane(odd, usual)
        for cut in (0, 5):
            check(texts[cut:], type_name, isa, quoting)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("type_name", INT_TYPES)
def test_random_integers_of_every_length(type_name: str, isa: str) -> None:
    rng = random.Random(type_name)
    texts = [rng.choice(["", "", "-"]) + str(rng.randrange(10 ** rng.randint(1, 22))) for _ in range(20_003)]
    check(texts, type_name, isa, "mixed")


ODD_FLOATS = [
    ".",
    "-.",
    "+.5",
    "-.5",
    ".5",
    "5.",
    "-5.",
    "1e",
    "1e+",
    "1e-",
    "e5",
    ".e5",
    "1e5",
    "1E5",
    "1e+05",
    "1.5e-3",
    "-0",
    "-0.0",
    "0.0",
]
ODD_FLOATS += [
    "00.5",
    "-00.5",
    "1..2",
    "1.2.3",
    "1,5",
    " 1.5",
    "1.5 ",
    "1.5x",
    "x1.5",
    "--1.5",
    "1.-5",
    "nan",
    "NaN",
    "-nan",
    "+nan",
    "nanx",
    "-nan(0x1)",
    "sNaN(0x400000)",
]
ODD_FLOATS += [
    "inf",
    "-inf",
    "+INF",
    "Infinity",
    "-infinity",
    "infinit",
    "1e308",
    "1.8e308",
    "1e309",
    "-1e309",
    "1e-323",
    "2e-324",
    "3e-324",
]
ODD_FLOATS += [
    "1e99999999999999999999",
    "-1e-99999999999999999999",
    "0e99999999999999999999",
    "1" * 400,
    "0." + "0" * 400 + "1",
    "0x1p3",
    "1_0.5",
    "",
]
ODD_FLOATS += [
    "4503599627370496.5",
    "4503599627370497.5",
    "9007199254740993",
    "9007199254740993.0000000000000000000000000000001",
    "1.7976931348623158e308",
]
ODD_FLOATS += [
    "2.2250738585072011e-308",
    "123456789012345.6",
    "1234567890123456.7",
    "0.000000000000001",
    "8.5",
    "16777217",
    "16777219",
    "33554433.0",
]
ODD_FLOATS += [
    "3.4028235677973366e38",
    "3.40282356779733661637539395e38",
    "7.006492321624085e-46",
    "7.006492321624086e-46",
    "1.1754943157898259e-38",
]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_odd_floats_in_every_lane(type_name: str, isa: str, quoting: str) -> None:
    for usual in (["1.5", "-73.993896", "null"], ["0.1", "", "1234567.12345678"]):
        texts = in_every_lane(ODD_FLOATS, usual)
        for cut in (0, 3):
            check(texts[cut:], type_name, isa, quoting)


def random_decimals(rng: random.Random, count: int) -> list[str]:
    """1 to 40 digits, a point anywhere or nowhere, perhaps an exponent; and plain short ones, which the vector path takes."""
    texts = []
    for _ in range(count):
        plain = rng.random() < 0.5
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 17 if plain else 40)))
        point = rng.randint(0, len(digits))
        text = digits if rng.random() < 0.2 else f"{digits[:point]}.{digits[point:]}"
        if not plain and rng.random() < 0.7:
            text += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randint(0, rng.choice([5, 50, 330])))
        texts.append(rng.choice(["", "-"]) + text)
    return texts


@pytest.mark.parametrize("isa", EACH_ISA)
def test_random_doubles_are_pythons(isa: str) -> None:
    check(random_decimals(random.Random(1), 60_005), "float64", isa, "mixed")


@pytest.mark.parametrize("isa", EACH_ISA)
def test_random_floats_are_rounded_once(isa: str) -> None:
    check(random_decimals(random.Random(2), 15_005), "float32", isa, "bare")


def midpoints(bits: int, rng: random.Random, count: int) -> list[str]:
    """Decimals half way between two neighbouring floats, written out, and a hair to either side."""
    texts = []
    while len(texts) < count:
        raw = rng.getrandbits(bits - 1)
        if bits == 32:
            low, high = struct.unpack("ff", struct.pack("II", raw, raw + 1))
        else:
            low, high = struct.unpack("dd", struct.pack("QQ", raw, raw + 1))
        if not np.isfinite([low, high]).all() or not 1e-25 < low < 1e25:
            continue
        exact = (Fraction(low) + Fraction(high)) / 2
        scale = exact.denominator.bit_length() - 1
        digits = str(exact.numerator * 5**scale)
        shown = digits.rjust(scale + 1, "0")
        text = shown[: len(shown) - scale] + "." + shown[len(shown) - scale :]
        texts += [text, text + "0000001", text[:-1] + "4999999"] if text[-1] == "5" else [text, text + "0000001"]
    return texts


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("bits", [32, 64])
def test_midpoints_go_to_even(bits: int, isa: str) -> None:
    check(midpoints(bits, random.Random(bits), 3000), f"float{bits}", isa, "bare")


def test_the_reference_rounds_float32_once() -> None:
    """NumPy goes through the double, and is wrong by one unit."""
    text = "1.00000017881393432617187499"
    assert nearest_float32(text, float(text)) == float(np.nextafter(np.float32(1), np.float32(2)))
    assert np.float32(float(text)) != nearest_float32(text, float(text))
    exact = random.Random(3)
    for _ in range(2000):
        value = struct.unpack("f", struct.pack("I", exact.getrandbits(31)))[0]
        if np.isfinite(value):
            assert nearest_float32(repr(value), value) == value


@pytest.mark.parametrize("isa", EACH_ISA)
def test_shortest_texts_come_back(isa: str) -> None:
    rng = np.random.default_rng(4)
    doubles = rng.integers(0, 2**64, 30_000, dtype=np.uint64).view(np.float64)
    doubles = np.concatenate([doubles[np.isfinite(doubles)], np.round(rng.random(5000) * 1000, 3)])
    text = "\n".join(["head", *map(repr, doubles.tolist())]).encode()
    assert np.array_equal(read(text, isa)["head"].to_numpy().view(np.uint64), doubles.view(np.uint64))


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("type_name", ["int64", "float64", "float32", "uint8"])
def test_columns_of_every_length_up_to_40(type_name: str, isa: str) -> None:
    for rows in range(41):
        texts = [str(i % 128) for i in range(rows)]
        for end in ("", "\n"):
            data = "\n".join(["head", *texts]).encode() + end.encode()
            column = read(data, isa, schema=[type_name], header=True)["head"]
            assert column.to_pylist() == [i % 128 for i in range(rows)]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(("first", "last"), [("1", "x"), ("x", "1")])
def test_neighbours_of_a_number_do_not_leak_into_it(first: str, last: str, isa: str) -> None:
    """Digits directly before and after a field, in records of every length."""
    for size in range(1, 20):
        number = "1234567890123456789"[:size]
        rows = [f"{first * 9},{number},{last * 9}" for _ in range(19)]
        table = read("\n".join(["a,b,c", *rows]).encode(), isa, dtypes={"a": "string", "c": "string", "b": "int64"}, header=True)
        assert table["b"].to_pylist() == [int(number)] * 19
        quoted = [f'{first * 9},"{number}",{last * 9}' for _ in range(19)]
        found: Column = read("\n".join(["a,b,c", *quoted]).encode(), isa, dtypes={"b": "float64"}, header=True)["b"]
        assert found.to_pylist() == [float(number)] * 19


@pytest.mark.parametrize("isa", EACH_ISA)
def test_nulls_that_look_like_numbers(isa: str) -> None:
    """-999 is null if an option makes it null, not if it is quoted, and 0-999 never."""
    rows = ["-999", "0", '"-999"', "-99", "-9990", "-999.0"] * 5
    table = read("\n".join(["a", *rows]).encode(), isa, null_values="-999", dtypes={"a": "float64"})
    assert table["a"].to_pylist() == [None, 0.0, -999.0, -99.0, -9990.0, -999.0] * 5
    table = read("\n".join(["a", *rows]).encode(), isa, null_values="-999", quoted_null=True)
    assert table["a"].to_pylist() == [None, 0.0, None, -99.0, -9990.0, -999.0] * 5
