"""Texts of which some rows stay, for tests of the forms in which a load stores them."""

from __future__ import annotations

import random


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def rows_that_stay(words: list[str], seed: int, on_error: str, nulls: list[str]) -> tuple[str, list[str | None]]:
    """Return a text with columns `t` of words and `n` of integers, and the values of `t` in the rows without a fault."""
    rng = random.Random(seed)
    rows = [(rng.choice(words), rng.choice(["1", "22", "x"])) for _ in range(rng.choice([1, 63, 64, 500]))]
    write = rng.choice([str, quoted])
    text = "t,n\n" + "".join(f"{write(word)},{number}\n" for word, number in rows)
    kept = [word for word, number in rows if on_error == "null" or number != "x"]
    return text, [None if word in nulls and write is str else word for word in kept]
