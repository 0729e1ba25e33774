"""Generates records of numbers, booleans and nulls."""

from __future__ import annotations

import numpy as np

from bench.read.shapes.columns import fixed, joined
from bench.read.shapes.shape import Random


def four_digits(random: Random, count: int) -> list[str]:
    """Return three columns of four digits."""
    return joined(*random.integers(1000, 10_000, (3, count)))


def one_digit(random: Random, count: int) -> list[str]:
    """Return one column of one digit."""
    return joined(random.integers(0, 10, count))


def small_negatives(random: Random, count: int) -> list[str]:
    """Return eight columns from -99 to 99."""
    return joined(*random.integers(-99, 100, (8, count)))


def eighteen_digits(random: Random, count: int) -> list[str]:
    """Return three columns of 18 digits, signs included."""
    return joined(*random.integers(10**17, 10**18, (3, count)) * random.choice([-1, 1], (3, count)))


def unsigned_hashes(random: Random, count: int) -> list[str]:
    """Return two columns of random 64-bit numbers, 20 digits at most."""
    return joined(*random.integers(2**63, 2**64, (2, count), np.uint64))


def mixed_magnitudes(random: Random, count: int) -> list[str]:
    """Return four columns of 1 to 18 digits, each length as frequent as the others."""
    return joined(*(10 ** random.uniform(0, 18, (4, count))).astype(np.int64))


def hexadecimal(random: Random, count: int) -> list[str]:
    """Return three columns such as 0x1f3a."""
    return joined(*([hex(value) for value in column] for column in random.integers(0, 2**40, (3, count)).tolist()))


def padded(random: Random, count: int) -> list[str]:
    """Return three columns with leading zeros or a plus sign."""
    zeros, plus, both = random.integers(0, 10**6, (3, count)).tolist()
    return joined([f"{v:08d}" for v in zeros], [f"+{v}" for v in plus], [f"+{v:07d}" for v in both])


def prices(random: Random, count: int, columns: int = 6) -> list[str]:
    """Return columns such as 123.45."""
    return joined(*(fixed(random.integers(100, 100_000, count), 2) for _ in range(columns)))


def unit_floats(random: Random, count: int) -> list[str]:
    """Return four columns such as 0.123456."""
    return joined(*(fixed(random.integers(0, 10**6, count), 6) for _ in range(4)))


def money(random: Random, count: int) -> list[str]:
    """Return four columns of up to ten digits before the point, signs included."""
    return joined(*(fixed(random.integers(-(10**9), 10**11, count), 2) for _ in range(4)))


def full_floats(random: Random, count: int) -> list[str]:
    """Return three columns of the shortest digits of random doubles, mostly 16 or 17."""
    return joined(*([repr(value) for value in column] for column in random.normal(0, 1000, (3, count)).tolist()))


def exponents(random: Random, count: int) -> list[str]:
    """Return four columns such as 1.234567e-05."""
    values = random.uniform(1, 10, (4, count)) * 10.0 ** random.integers(-30, 30, (4, count))
    return joined(*([f"{value:.6e}" for value in column] for column in values.tolist()))


def special_floats(random: Random, count: int) -> list[str]:
    """Return three columns of floats, of which one in ten is nan, inf or -inf."""
    columns = [fixed(random.integers(0, 10**6, count), 3) for _ in range(3)]
    words = random.choice(["nan", "inf", "-inf"], (3, count)).tolist()
    return joined(*(_replaced(random, *pair, 0.1) for pair in zip(columns, words, strict=True)))


def decimal_comma(random: Random, count: int) -> list[str]:
    """Return five columns such as 123,45, separated by semicolons."""
    columns = [[text.replace(".", ",") for text in fixed(random.integers(100, 10**7, count), 2)] for _ in range(5)]
    return joined(*columns, sep=";")


def thousands(random: Random, count: int) -> list[str]:
    """Return three columns such as 1,234,567, separated by semicolons."""
    return joined(*([f"{v:,}" for v in column] for column in random.integers(0, 10**9, (3, count)).tolist()), sep=";")


def booleans(random: Random, count: int) -> list[str]:
    """Return six columns of true and false."""
    return joined(*random.choice(["true", "false"], (6, count)).tolist())


def yes_and_no(random: Random, count: int) -> list[str]:
    """Return four columns of Y and N."""
    return joined(*random.choice(["Y", "N"], (4, count)).tolist())


def null_words(random: Random, count: int) -> list[str]:
    """Return five columns of numbers, of which NA replaces 30 %."""
    columns = [list(map(str, column)) for column in random.integers(0, 10**5, (5, count)).tolist()]
    return joined(*(_replaced(random, column, ["NA"] * count, 0.3) for column in columns))


def empty_fields(random: Random, count: int) -> list[str]:
    """Return twelve columns of numbers, of which half are empty."""
    columns = [list(map(str, column)) for column in random.integers(0, 1000, (12, count)).tolist()]
    return joined(*(_replaced(random, column, [""] * count, 0.5) for column in columns))


def _replaced(random: Random, texts: list[str], others: list[str], share: float) -> list[str]:
    chosen = (random.random(len(texts)) < share).tolist()
    return [other if is_other else text for text, other, is_other in zip(texts, others, chosen, strict=True)]


def flags(random: Random, count: int) -> list[str]:
    """Return 30 columns of 0 and 1."""
    return joined(*random.integers(0, 2, (30, count)))


def mostly_null(random: Random, count: int) -> list[str]:
    """Return five columns of up to four digits, NULL in 60 % of the fields."""
    return joined(*(_with_nulls(random, count, 0.6, "NULL") for _ in range(5)))


def missing_codes(random: Random, count: int) -> list[str]:
    """Return five columns of up to four digits, -999 in 30 % of the fields."""
    return joined(*(_with_nulls(random, count, 0.3, "-999") for _ in range(5)))


def _with_nulls(random: Random, count: int, share: float, null: str) -> list[str]:
    values = random.integers(0, 10_000, count).astype(str)
    return np.where(random.random(count) < share, null, values).tolist()
