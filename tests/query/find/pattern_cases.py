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
