"""Tests distinct values and their codes against NumPy and Python, at the edges of the shares and buckets of threads."""

from __future__ import annotations

import numpy as np
import pytest

from headrace import dictionary
from headrace.core.context import Context
from headrace.store.dictionary.distinct import METHODS, distinct_values
from tests.store.dictionary.dictionary_cases import column_of, raw_values

SHARE = 1 << 16
"""Least number of items of a thread's share."""
CONTEXTS = [Context(threads=threads) for threads in (1, 2, 5)]


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "i8"])
def test_numbers(dtype: str) -> None:
    for count, distinct in ((1, 1), (SHARE, 9), (2 * SHARE - 1, 900), (2 * SHARE + 1, 70_000)):
        random = np.random.default_rng(count)
        pool = (random.integers(-(1 << 62), 1 << 62, distinct) >> 37).astype(dtype)
        items = pool[random.integers(0, distinct, count)]
        expected, codes = np.unique(items, return_inverse=True)
        for method in METHODS:
            for context in CONTEXTS:
                found = distinct_values(items, method=method, context=context)
                assert (found.values.to_numpy() == expected).all()
                assert found.codes.dtype == np.uint32
                assert (found.codes == codes).all()
                encoded = dictionary.encode(items, method=method, context=context)
                assert (dictionary.unpack(encoded.words, encoded.bits, count) == codes).all()


def texts_of(kind: str, count: int) -> list[bytes]:
    """Return distinct and repeated texts of a kind."""
    random = np.random.default_rng(count)
    numbers = random.integers(0, max(count, 1), count).tolist()
    if kind == "long prefixes":
        return [b"https://example.com/" + b"a" * (number % 40) + b"%d" % number for number in numbers]
    if kind == "zeros":  # texts that differ in the number of zeros at their ends
        return [b"\0" * (number % 23) + b"x" * (number % 2) + b"\0" * (number % 19) for number in numbers]
    if kind == "prefixes of each other":
        return [b"abcdefgh" * (number % 60) + b"abcdefgh"[: number % 8] for number in numbers]
    if kind == "one bucket":  # nearly all texts are between two neighbours of a sample
        return [b"m%07d" % number if number % 50 else bytes([number % 256]) for number in numbers]
    return [bytes(random.integers(0, 256, number % 20).astype(np.uint8)) for number in numbers]


@pytest.mark.parametrize("kind", ["long prefixes", "zeros", "prefixes of each other", "one bucket", "random"])
def test_texts(kind: str) -> None:
    for count in (0, 1, 12, 13, 4095, 4097, 30_000):
        texts = texts_of(kind, count)
        column = column_of("binary", texts)
        expected = sorted(set(texts))
        places = {text: place for place, text in enumerate(expected)}
        for context in CONTEXTS:
            found = distinct_values(column, context=context)
            assert found.values.to_pylist() == expected
            assert found.codes.tolist() == [places[text] for text in texts]


def test_long_common_prefixes() -> None:
    """Texts whose first 100 KB are equal are sorted without recursion, and each prefix is read once."""
    prefix = b"a" * 100_000
    texts = [prefix + b"%03d" % (number * 37 % 100) for number in range(100)]
    column = column_of("binary", texts)
    for context in CONTEXTS:
        assert distinct_values(column, context=context).values.to_pylist() == sorted(texts)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8"])
@pytest.mark.parametrize("threads", [1, 2])
def test_mostly_distinct_numbers(dtype: str, threads: int) -> None:
    """A sample shows that a hash table would not fit, and the numbers are sorted, in several pieces."""
    random = np.random.default_rng(threads)
    numbers = random.integers(0, 256, (200_000, np.dtype(dtype).itemsize), np.uint8).view(dtype)[:, 0]
    found = dictionary.distinct_values(numbers, context=Context(threads=threads))
    expected = dictionary.distinct_values(numbers, method="hash", context=Context(threads=threads))
    assert raw_values(found.values) == raw_values(expected.values)
    assert (found.codes == expected.codes).all()
    values = np.frombuffer(memoryview(found.values.values), numbers.dtype)
    assert (values[found.codes].view(np.uint8) == numbers.view(np.uint8)).all()
