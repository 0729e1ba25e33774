"""Formats columns of values as text, and joins them to records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bench.read.shapes.shape import Random

WORDS = [
    "the", "food", "was", "great", "and", "service", "a", "bit", "slow", "we", "will", "be", "back", "for", "sure", "really",
    "nice", "place", "to", "sit", "outside", "river", "stone", "paper", "light", "copper", "winter", "morning", "letter",
    "garden", "window", "bridge", "station", "harbour", "valley", "mountain", "forest", "engine", "signal", "matter",
    "number",
]  # fmt: skip


def texts_of(column: Any) -> Iterable[str]:
    """Return a column's values as texts."""
    return map(str, column.tolist()) if isinstance(column, np.ndarray) else column


def joined(*columns: Any, sep: str = ",") -> list[str]:
    """Return records of columns, which are arrays or lists of texts."""
    return [sep.join(row) for row in zip(*map(texts_of, columns), strict=True)]


def fixed(values: Any, digits: int) -> list[str]:
    """Return integers with a decimal point before their last `digits` digits: 12345 is 123.45.

    Examples
    --------
    >>> fixed(np.array([12345, -5]), 2)
    ['123.45', '-0.05']
    """
    unit = 10**digits
    return [f"{'-' * (v < 0)}{abs(v) // unit}.{abs(v) % unit:0{digits}d}" for v in values.tolist()]


def chosen(random: Random, words: list[str], count: int) -> list[str]:
    """Return `count` of the words."""
    return [words[i] for i in random.integers(0, len(words), count).tolist()]


def phrases(random: Random, lengths: Any, words: list[str] = WORDS) -> list[str]:
    """Return texts of random words, one for each length in words."""
    ends = np.cumsum(lengths)
    picked = chosen(random, words, int(ends[-1]))
    return [" ".join(picked[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


def quoted(texts: Iterable[str]) -> list[str]:
    """Return texts in quotes, quotes in them doubled."""
    return ['"' + text.replace('"', '""') + '"' for text in texts]


def hex_texts(random: Random, count: int, digits: int) -> list[str]:
    """Return texts of lower-case hexadecimal digits."""
    text = random.bytes(count * digits // 2).hex()
    return [text[i : i + digits] for i in range(0, count * digits, digits)]
