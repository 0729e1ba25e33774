"""Compares numbers of 1 to 25 digits, with exponents, signs and other marks, with Python's `float` and `Fraction`.

Blocks of rows are converted by the fast forms, so every table has several blocks. Texts that a form declines stand among others.
"""

from __future__ import annotations

import random
import re
import struct
from decimal import Decimal
from fractions import Fraction

import pytest

from headrace import Context, read_csv
from tests.isas import EACH_ISA
from tests.tiers import seeds

pytestmark = pytest.mark.isas

MAX_DIGITS = 25
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number_of_digits(rng: random.Random, digits: int) -> str:
    """Digits without a leading zero, often with runs of 0, 5 and 9, where carries and ties are."""
    drawn = "0123456789" if rng.random() < 0.6 else "005999"
    return rng.choice("123456789") + "".join(rng.choice(drawn) for _ in range(digits - 1))


def with_point(digits: str, place: int) -> str:
    """`digits` with a point before the last `place` of them: ("125", 2) -> "1.25", ("5", 3) -> "0.005"."""
    shown = digits.rjust(place + 1, "0")
    return f"{shown[: len(shown) - place]}.{shown[len(shown) - place :]}" if place else digits


def written(rows: list[str]) -> bytes:
    return "".join(f"{row}|x\n" for row in rows).encode()


def same_bits(found: list[float | None], expected: list[float]) -> None:
    packed = [None if value is None else struct.pack("<d", value) for value in found]
    assert packed == [struct.pack("<d", value) for value in expected]


def same_value(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return struct.pack("<d", found) == struct.pack("<d", expected)


def floats_of(texts: list[str], isa: str, kind: str | None, **options: object) -> list[float | None]:
    schema = [kind, "string"] if kind else None
    table = read_csv(written(texts), sep="|", header=False, schema=schema, context=Context(isa=isa, threads=1), **options)
    assert str(table.schema["column_1"]) == (kind or "float64")
    return table["column_1"].to_pylist()


def nearest_single(text: str) -> float:
    """The nearest float32 by exact arithmetic, ties to even; infinity beyond the largest."""
    exact = abs(Fraction(text))
    sign = -1.0 if text[0] == "-" else 1.0
    if exact == 0:
        return sign * 0.0
    low, high = 0, 0x7F800000  # floats in order of their bits; infinity stands for 2^128
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if single(middle) <= exact else (low, middle)
    below, above = exact - single(low), single(high) - exact
    bits = low if below < above or (below == above and low % 2 == 0) else high
    return sign * struct.unpack("<f", struct.pack("<I", bits))[0]


def single(bits: int) -> Fraction:
    """The value of a float32 of these bits; 2^128 for infinity."""
    exponent, fraction = bits >> 23, bits & 0x7FFFFF
    return Fraction(fraction | (0x800000 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 150)


def texts_of_all_lengths(rng: random.Random, rounds: int) -> list[str]:
    texts = []
    for _ in range(rounds):
        for digits in range(1, MAX_DIGITS + 1):
            text = with_point(number_of_digits(rng, digits), rng.randint(0, digits + 3))
            texts += [text if "." in text else text + ".0", "-" + with_point(number_of_digits(rng, digits), 1)]
    return texts


def texts_of_all_exponents(rng: random.Random, exponents: range) -> list[str]:
    texts = []
    for exponent in exponents:
        digits = rng.randint(1, MAX_DIGITS)
        mantissa = with_point(number_of_digits(rng, digits), rng.randint(0, digits - 1))
        texts.append(f"{rng.choice(['', '-'])}{mantissa}{rng.choice('eE')}{exponent:{rng.choice(['', '+', '03', '+04'])}d}")
    return texts


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("kind", ["float64", None])
def test_decimals_of_every_length(kind: str | None, isa: str) -> None:
    texts = texts_of_all_lengths(random.Random(1), 60)
    same_bits(floats_of(texts, isa, kind), [float(text) for text in texts])


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("kind", ["float64", None])
def test_every_exponent(kind: str | None, isa: str) -> None:
    """From below the smallest subnormal to the largest power of which all mantissas are finite."""
    rng = random.Random(2)
    texts = [text for _ in range(3) for text in texts_of_all_exponents(rng, range(-370, 284))]
    same_bits(floats_of(texts, isa, kind), [float(text) for text in texts])


@pytest.mark.long
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("seed", range(5))
def test_many_decimals_and_exponents(seed: int, isa: str) -> None:
    rng = random.Random(seed)
    texts = texts_of_all_lengths(rng, 2000) + [t for _ in range(100) for t in texts_of_all_exponents(rng, range(-370, 284))]
    rng.shuffle(texts)
    same_bits(floats_of(texts, isa, "float64"), [float(text) for text in texts])


def nearly_numbers(rng: random.Random, count: int) -> list[str]:
    """Numbers of up to 26 bytes with an exponent or without, of which one byte in some is dropped, doubled or another."""
    texts = []
    for _ in range(count):
        digits = rng.randint(1, 20)
        text = rng.choice(["", "", "-"]) + with_point(number_of_digits(rng, digits), rng.choice([0, rng.randint(0, digits)]))
        if rng.random() < 0.6:
            text += rng.choice("eE") + rng.choice(["", "-", "+"]) + str(rng.randint(0, 330)).zfill(rng.choice([1, 2, 3, 5]))
        if rng.random() < 0.5:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["", text[at] * 2, rng.choice("0159.-+eE/:")]) + text[at + 1 :]
        texts.append(text)
    return texts


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("seed", seeds(50))
def test_texts_that_are_nearly_numbers(seed: int, quote: str, isa: str) -> None:
    """Fast forms take what is a number and no other text, wherever its point and its exponent are."""
    texts = nearly_numbers(random.Random(seed), 200_000 if seed >= 10 else 4000)
    data = "".join(f"{quote}{text}{quote}|x\n" for text in texts).encode()
    options = {"sep": "|", "header": False, "schema": ["float64", "string"], "on_error": "null"}
    found = read_csv(data, context=Context(isa=isa, threads=1), **options)["column_1"].to_pylist()
    values = [float(text) if NUMBER.fullmatch(text) else None for text in texts]
    expected = [None if value is None or abs(value) == float("inf") else value for value in values]
    wrong = [(text, one, other) for text, one, other in zip(texts, found, expected, strict=True) if not same_value(one, other)]
    assert wrong == []


@pytest.mark.parametrize("isa", EACH_ISA)
def test_single_precision_is_rounded_once(isa: str) -> None:
    rng = random.Random(3)
    texts = texts_of_all_lengths(rng, 4) + texts_of_all_exponents(rng, range(-70, 14))
    same_bits(floats_of(texts, isa, "float32"), [nearest_single(text) for text in texts])


@pytest.mark.parametrize("isa", EACH_ISA)
def test_ties_of_up_to_19_digits(isa: str) -> None:
    """Texts half way between two doubles, and one unit of their last digit to either side: integers, fractions and exponents."""
    rng = random.Random(4)
    texts = []
    for _ in range(300):
        odd = rng.randrange(2**53 + 1, 2**54, 2)
        tie = odd << rng.randint(0, 8)
        texts += [f"{tie + near}.0" for near in (-1, 0, 1)]
        half = rng.randrange(2**52, 2**53)
        texts += [f"{half}.{digits}" for digits in ("5", "49", "50", "51")]
        texts += [f"{odd * 5**shift}e-{shift}" for shift in (1, 2, 3)]
        quarter = rng.randrange(2**51, 2**52)
        texts += [f"{quarter}.25", f"{quarter}.750", f"-{quarter}.2499", f"{quarter}.7501"]
    same_bits(floats_of(texts, isa, "float64"), [float(text) for text in texts])
    same_bits(floats_of(texts, isa, None), [float(text) for text in texts])


@pytest.mark.parametrize("isa", EACH_ISA)
def test_other_marks(isa: str) -> None:
    """A decimal comma, groups of digits, `+` and leading zeros, on numbers of every length."""
    rng = random.Random(5)
    texts = texts_of_all_lengths(rng, 10)
    expected = [float(text) for text in texts]
    comma = [text.replace(".", ",") for text in texts]
    same_bits(floats_of(comma, isa, "float64", decimal=","), expected)
    same_bits(floats_of(comma, isa, None, decimal=","), expected)
    grouped = [f"{Decimal(text):,f}" for text in texts]
    same_bits(floats_of(grouped, isa, "float64", thousands=","), expected)
    signed = ["+" + text for text in texts if text[0] != "-"]
    same_bits(floats_of(signed, isa, "float64"), [float(text) for text in signed])
    padded = [text.replace("-", "-000") if text[0] == "-" else "00" + text for text in texts]
    same_bits(floats_of(padded, isa, "float64"), expected)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_integers_of_every_length(kind: str, isa: str) -> None:
    rng = random.Random(6)
    low, high = (-(2**63), 2**63 - 1) if kind == "int64" else (0, 2**64 - 1)
    texts = [str(near + edge) for edge in (low, high, 10**16, 10**17, 10**19) for near in (-1, 0, 1)]
    for _ in range(40):
        for digits in range(1, MAX_DIGITS + 1):
            text = number_of_digits(rng, digits)
            texts += [text, "-" + text, "+" + text, text.zfill(24), text[:-1] + "x"]
    table = read_csv(
        written(texts), sep="|", header=False, schema=[kind, "string"], on_error="null", context=Context(isa=isa, threads=1)
    )
    values = [int(text) if "x" not in text else None for text in texts]
    expected = [value if value is not None and low <= value <= high else None for value in values]
    assert table["column_1"].to_pylist() == expected
    assert len(table.rejects) == expected.count(None)


@pytest.mark.parametrize("isa", EACH_ISA)
def test_fixed_decimals_of_every_length(isa: str) -> None:
    rng = random.Random(7)
    texts = [*texts_of_all_lengths(rng, 10), *texts_of_all_exponents(rng, range(-30, 20))]
    table = read_csv(
        written(texts),
        sep="|",
        header=False,
        schema=["decimal128(24, 6)", "string"],
        on_error="null",
        context=Context(isa=isa, threads=1),
    )
    scaled = [Fraction(text) * 10**6 for text in texts]
    expected = [Decimal(int(value)).scaleb(-6) if value.denominator == 1 and abs(value) < 10**24 else None for value in scaled]
    assert table["column_1"].to_pylist() == expected


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("null", ["1e5", "+5", "1.5E-3", "-"])
def test_null_texts_that_look_like_numbers(null: str, isa: str) -> None:
    texts = ["1.5", null, "2e3"] * 100
    table = read_csv(
        written(texts),
        sep="|",
        header=False,
        schema=["float64", "string"],
        null_values=[null],
        context=Context(isa=isa, threads=1),
    )
    assert table["column_1"].to_pylist() == [1.5, None, 2000.0] * 100


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("123456789012345678901", "string"), ("1234567890123456789012.5", "float64"), ("+1.5", "float64"), ("+1e5", "float64"),
        ("+1234567", "string"), ("1e+-0001", "string"), ("12345678e-+0001", "string"),
        ("00.123456789012345678", "string"), ("1e", "string"), ("1e+", "string"), ("1e5.0", "string"), ("1.5.5e1", "string"),
        (".e5", "string"), (".5e5", "float64"), ("5.e5", "float64"), ("1e00000000000000000005", "float64"), ("1e400", "string"),
        ("123456789012345678", "float64"), ("18446744073709551615", "string"), ("1-5", "string"), ("e5", "string"),
    ],
)  # fmt: skip
def test_kinds_among_floats(text: str, kind: str, isa: str) -> None:
    """The sample makes the column one of floats; the text follows the sample."""
    rows = ["1.5"] * 100_000 + [text] + ["2.5"] * 100
    table = read_csv(written(rows), sep="|", header=False, context=Context(isa=isa, threads=1))
    assert str(table.schema["column_1"]) == kind
    assert table["column_1"].to_pylist()[100_000] == (text if kind == "string" else float(text))
