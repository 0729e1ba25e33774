"""Builds texts and patterns for the tests of searches, and their expected positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def expected(text: bytes, pattern: bytes, overlapping: bool) -> list[int]:
    """Return the positions by a loop over ``bytes.find``."""
    found, position = [], text.find(pattern)
    while position >= 0:
        found.append(position)
        position = text.find(pattern, position + (1 if overlapping else len(pattern)))
    return found


def symbols(count: int, size: int, seed: int = 0) -> np.ndarray:
    """Return random bytes of an alphabet of `count` letters, or of all bytes."""
    random = np.random.default_rng([count, size, seed])
    return random.integers(0, count, size, np.uint8) + np.uint8(ord("A") if count <= 26 else 0)


def planted(text: np.ndarray, pattern: bytes, places: Iterator[int] | list[int]) -> bytes:
    """Return the text with the pattern at the places where it fits."""
    text = text.copy()
    for place in places:
        if 0 <= place <= text.size - len(pattern):
            text[place : place + len(pattern)] = np.frombuffer(pattern, np.uint8)
    return text.tobytes()


def expected_hits(text: bytes, patterns: list[bytes]) -> list[tuple[int, int]]:
    """Return position and pattern of all hits by loops over ``bytes.find``."""
    return sorted((at, i) for i, pattern in enumerate(patterns) for at in expected(text, pattern, True))


def set_cases(seed: int, size: int) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield texts with patterns of each shape of window: pieces of the text, other ones, equal ones, and common prefixes."""
    random = np.random.default_rng([seed, size])
    for letters, shortest in ((26, 1), (26, 2), (256, 3), (26, 4), (4, 5), (4, 7), (4, 8), (2, 10), (2, 11), (4, 19), (256, 19)):
        text = symbols(letters, size, seed).tobytes()
        begins = random.integers(0, size, 40)
        patterns = [text[begin : begin + shortest + int(random.integers(0, 30))] for begin in begins]
        patterns += [symbols(letters, shortest, int(begin)).tobytes() for begin in begins[:10]]
        patterns += [patterns[0], text[:shortest], text[-shortest:], text[: shortest + 9], text[-shortest - 9 :]]
        yield text, [pattern for pattern in patterns if len(pattern) >= shortest]
