"""Tests that kernels, the CPU and plain Python evaluate expressions alike."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import key
from headrace.core.errors import OptionError
from headrace.testing import fibers
from tests.arrange.bucket.expression_cases import CASES
from tests.tiers import seeds

KEYS = np.concatenate([np.random.default_rng(1).integers(0, 2**32, 3000, dtype="u4"), np.array([0, 1, 2**31, 2**32 - 1], "u4")])

OPERATORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "//": operator.floordiv, "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_expression(name: str) -> None:
    expression, plain = CASES[name]
    places = np.array([plain(k) for k in KEYS.tolist()])
    expected = np.bincount(places[places < 256], minlength=256)
    np.testing.assert_array_equal(headrace.bucket_counts(KEYS, bucket=expression), expected)
    defines = {"HR_KEY": "u32", "HR_THREADS": 64, "HR_ROWS": 2, "HR_BUCKET": expression.as_c()}
    result = np.zeros(256, "u8")
    args = [KEYS, len(KEYS), result, 256, 1, bytes(16)]
    fibers.program(source="arrange/histogram/histogram.cu", defines=defines).launch("histogram", 2, 64, args, shared=257 * 4)
    np.testing.assert_array_equal(result, expected)


def drawn(random: np.random.Generator, depth: int) -> tuple[Any, Any]:
    """Return an expression and the same function in plain Python."""
    if depth == 0:
        return key, lambda k: k
    symbol = random.choice(["+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>"])
    work = OPERATORS[symbol]
    left, of_left = drawn(random, depth - 1)
    number = int(random.choice([random.integers(1, 32), random.integers(1, 2**32), 1, 2**32 - 1, 2**31]))
    if symbol in {"<<", ">>"}:
        number = number % 32
    if symbol in {"//", "%", "<<", ">>"} or random.integers(2):
        return work(left, number), lambda k: work(of_left(k), number) % 2**32
    if random.integers(2):
        return work(number, left), lambda k: work(number, of_left(k)) % 2**32
    right, of_right = drawn(random, int(random.integers(depth)))
    return work(left, right), lambda k: work(of_left(k), of_right(k)) % 2**32


@pytest.mark.parametrize("seed", seeds(40))
def test_drawn_expressions(seed: int) -> None:
    random = np.random.default_rng(seed)
    expression, plain = drawn(random, int(random.integers(1, 7)))
    expression, places = expression % 60_013, [plain(k) % 60_013 for k in KEYS.tolist()]
    for threads in (1, 2):
        keys = np.tile(KEYS, 100) if threads == 2 else KEYS
        result = headrace.bucket_counts(keys, 50_000, bucket=expression, context=headrace.Context(threads=threads))
        expected = np.bincount(places, minlength=60_013)[:50_000] * (len(keys) // len(KEYS))
        np.testing.assert_array_equal(result, expected)


def test_as_deep_as_can_be() -> None:
    expression = key + 1 - key * 3 + 5
    for _ in range(97):
        expression = key - expression  # all keys wait on the stack
    places = np.array([int(expression.of(k)) for k in KEYS.tolist()])
    expected = np.bincount(places[places < 65536], minlength=65536)
    np.testing.assert_array_equal(headrace.bucket_counts(KEYS, 65536, bucket=expression), expected)


def split_by(dtype: str, expression: Any) -> Any:
    return headrace.multisplit(np.zeros(3, dtype), headrace.buckets.computed(9, expression))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: key >> 64, "from 0 to 63"),
        (lambda: key >> key, "from 0 to 63"),
        (lambda: key % 0, "positive number"),
        (lambda: key + "1", "integers or finite floats"),
        (lambda: key + math.inf, "integers or finite floats"),
        (lambda: (key + 1).low, "not an expression of it"),
        (lambda: headrace.bucket_counts(KEYS, bucket=key >> 32), "from 0 to 31"),
        (lambda: headrace.bucket_counts(KEYS, bucket=key + 1.5), "integers from 0"),
        (lambda: headrace.bucket_counts(KEYS, bucket=key + -1), "integers from 0"),
        (lambda: headrace.bucket_counts(KEYS, bucket=key / 2), "for floats"),
        (lambda: split_by("u8", key >> 64), "from 0 to 63"),
        (lambda: split_by("i4", key + 2**31), "integers from -2"),
        (lambda: split_by("f4", key % 3), "for integers"),
        (lambda: split_by("f8", key & 3), "combines comparisons"),
        (lambda: split_by("f4", key + 1e300), "finite in that type"),
        (lambda: split_by("f8", key.low), "part of keys of 16 bytes"),
        (lambda: split_by("V16", key + 1), "key.low and key.high"),
        (lambda: headrace.bucket_counts(KEYS, bucket=lambda k: k), "built from headrace.key"),
        (lambda: headrace.bucket_counts(KEYS.view("i4"), bucket=key), "uint32 keys"),
        (lambda: headrace.bucket_counts(KEYS, range=(0, 999), bucket=key), "pass one of them"),
    ],
)
def test_misuse(build, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        build()
