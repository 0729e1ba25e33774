"""Generates records of unusual layout: many columns, other separators, comments, faults, short records, malformed quotes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.read.shapes import numbers
from bench.read.shapes.columns import WORDS, chosen, fixed, joined
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
