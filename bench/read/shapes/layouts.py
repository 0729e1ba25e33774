"""Generates records of unusual layout: many columns, other separators, comments, faults, short records, malformed quotes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.read.shapes import dates, numbers
from bench.read.shapes.columns import WORDS, chosen, fixed, joined, phrases
from bench.read.shapes.shape import Lines, Random

SPARSE_COLUMNS = 300


def narrow(random: Random, count: int, sep: str = ",") -> list[str]:
    """Return a number, a word and a price."""
    parts = random.integers(0, 10**6, count), chosen(random, WORDS, count), fixed(random.integers(0, 10**5, count), 2)
    return joined(*parts, sep=sep)


def separated(sep: str) -> Lines:
    """Return a generator of `narrow` with another separator."""
    return lambda random, count: narrow(random, count, sep)


def integers(columns: int, high: int = 10**4) -> Lines:
    """Return a generator of many columns of integers."""
    return lambda random, count: joined(*random.integers(0, high, (columns, count)))


def prices(columns: int) -> Lines:
    """Return a generator of many columns of prices."""
    return lambda random, count: numbers.prices(random, count, columns)


def words(columns: int) -> Lines:
    """Return a generator of many columns of a word."""
    return lambda random, count: joined(*(chosen(random, WORDS, count) for _ in range(columns)))


def answers(random: Random, count: int) -> list[str]:
    """Return 100 columns of one of six answers, one of them empty."""
    return joined(*(chosen(random, ["Yes", "No", "", "Maybe", "1", "5"], count) for _ in range(100)))


def without_values(random: Random, count: int) -> list[str]:
    """Return eight empty fields."""
    return ["," * 7] * count


def bars(random: Random, count: int) -> list[str]:
    """Return a number, two words, a price and a date, separated by bars."""
    days = [f"{one:%Y-%m-%d}" for one in dates.moments(random, count)]
    texts = phrases(random, np.full(count, 2))
    return joined(random.integers(0, 10**6, count), texts, fixed(random.integers(0, 10**6, count), 2), days, sep="|")


def aligned(random: Random, count: int) -> list[str]:
    """Return `narrow` with fields of equal widths: numbers to the right, words to the left."""
    rows = (line.split(",") for line in narrow(random, count))
    return [f"{number:>8}, {word:<10}, {price:>8}" for number, word, price in rows]


def copied(random: Random, count: int) -> list[str]:
    """Return a number, two texts and a time as PostgreSQL's COPY writes them: a null in 30 %, a line break in 5 %."""
    is_null, is_broken = (random.random(count) < 0.3).tolist(), (random.random(count) < 0.05).tolist()
    names = ["\\N" if null else word for null, word in zip(is_null, chosen(random, WORDS, count), strict=True)]
    notes = phrases(random, random.integers(2, 6, count))
    notes = [note.replace(" ", "\\n", 1) if broken else note for broken, note in zip(is_broken, notes, strict=True)]
    times = [f"{one:%Y-%m-%d %H:%M:%S}" for one in dates.moments(random, count)]
    return joined(random.integers(0, 10**6, count), names, notes, times, sep="\t")


def quoted_comments(random: Random, count: int) -> list[str]:
    """Return a number, two quoted words and a price, with a comment that has a quote before every tenth record."""
    texts = [f'"{text}"' for text in phrases(random, np.full(count, 2))]
    lines = joined(random.integers(0, 10**6, count), texts, fixed(random.integers(0, 10**5, count), 2))
    return [line for i, one in enumerate(lines) for line in ([f'# part "{i}', one] if i % 10 == 0 else [one])]


def sparse(random: Random, count: int) -> list[str]:
    """Return a wide table of which 97 % is empty."""
    kept = random.random((count, SPARSE_COLUMNS)) < 0.03
    values = random.integers(1, 1000, (count, SPARSE_COLUMNS)).astype(str)
    return [",".join(row) for row in np.where(kept, values, "").tolist()]


def short_records(random: Random, count: int) -> list[str]:
    """Return three numbers, the last one missing with its separator in 5 % of the records."""
    lines = joined(*random.integers(0, 10**5, (3, count)))
    return _changed(random, lines, 0.05, lambda line: line.rpartition(",")[0])


def faults(share: float) -> Lines:
    """Return a generator of three numbers, of which the second is no number in a share of the records."""

    def lines(random: Random, count: int) -> list[str]:
        middle = _changed(random, list(map(str, random.integers(0, 10**6, count).tolist())), share, lambda _: "n/a")
        return joined(random.integers(0, 10**6, count), middle, fixed(random.integers(0, 10**6, count), 2))

    return lines


def stray_quotes(random: Random, count: int) -> list[str]:
    """Return a number and a quoted text, with a quote that is not doubled in 4 % of the records."""
    texts = [f'"{one} {two}"' for one, two in zip(chosen(random, WORDS, count), chosen(random, WORDS, count), strict=True)]
    return joined(random.integers(0, 10**6, count), _changed(random, texts, 0.04, lambda text: text.replace(" ", ' "', 1)))


def comments(random: Random, count: int) -> list[str]:
    """Return `narrow` with a comment line before every tenth record."""
    return [line for i, one in enumerate(narrow(random, count)) for line in ([f"# part {i}", one] if i % 10 == 0 else [one])]


def blank_lines(random: Random, count: int) -> list[str]:
    """Return `narrow` with an empty line before every tenth record."""
    return [line for i, one in enumerate(narrow(random, count)) for line in (["", one] if i % 10 == 0 else [one])]


def _changed(random: Random, texts: list[str], share: float, change: Callable[[str], str]) -> list[str]:
    is_changed = (random.random(len(texts)) < share).tolist()
    return [change(text) if wanted else text for text, wanted in zip(texts, is_changed, strict=True)]
