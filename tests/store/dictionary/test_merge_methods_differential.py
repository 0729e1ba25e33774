"""Tests that all ways to merge dictionaries give the expected dictionary and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.context import Context
from headrace.store.dictionary.dictionaries import NUMBER_METHODS, TEXT_METHODS, merge_dictionaries
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.gpu.launches import DeviceNumbers
from headrace.store.dictionary.paper.slices import merge_by_slices
from headrace.store.dictionary.paper.slices_gpu import merge_slices
from headrace.testing.fibers.launcher import FiberLauncher
from tests.store.dictionary.dictionary_cases import (
    NUMBER_TYPES,
    TEXT_TYPES,
    TIME_TYPES,
    column_of,
    expected,
    random_values,
    raw_values,
)

ONE, TWO = Context(threads=1), Context(threads=2)


def check_methods(type_name: str, methods: tuple[str, ...], seed: int) -> None:
    for old, new, distinct in ((0, 0, 1), (0, 9, 5), (9, 0, 5), (1, 1, 1), (300, 90, 200), (90, 300, 2000)):
        main, delta = (
            encode(column_of(type_name, random_values(type_name, count, distinct, seed + count))).dictionary
            for count in (old, new)
        )
        values = raw_values(main), raw_values(delta)
        joined, codes = expected(type_name, values[0] + values[1])
        for method in methods:
            merged = merge_dictionaries(main, delta, method=method, context=TWO)
            assert raw_values(merged.dictionary) == joined
            assert merged.main_codes[: len(main)].tolist() == codes[: len(main)]
            assert merged.delta_codes[: len(delta)].tolist() == codes[len(main) :]
            assert not merged.main_codes[len(main) :].any()


@pytest.mark.parametrize("type_name", [*NUMBER_TYPES, *TIME_TYPES])
def test_methods_for_numbers(type_name: str) -> None:
    check_methods(type_name, NUMBER_METHODS, 3)


@pytest.mark.parametrize("type_name", [*TEXT_TYPES, "decimal128(38, 2)"])
def test_methods_for_texts(type_name: str) -> None:
    check_methods(type_name, TEXT_METHODS, 4)


def nested_texts(seed: int) -> list[bytes]:
    """Return texts that share prefixes of many lengths, with zeros, and texts that are prefixes of others."""
    random = np.random.default_rng(seed)
    parts = [b"https://example.com/", b"abcdefgh", b"a", b"\0", b"\0\0\0\0\0\0\0\0", b"\xff", b"item 0041"]
    chosen = random.integers(0, len(parts), (6000, 6)), random.integers(0, 7, 6000)
    texts = {b"".join(parts[i] for i in row[:count]) for row, count in zip(*chosen, strict=True)}
    return sorted(texts | {b"x" * count for count in range(seed % 2, 300, 2)})


@pytest.mark.parametrize("type_name", ["binary", "large_binary"])
def test_texts_with_nested_prefixes(type_name: str) -> None:
    values = nested_texts(1), nested_texts(2)
    assert min(map(len, values)) > 2500  # both together are more than a piece of the merge
    joined = sorted({*values[0], *values[1]})
    codes = {text: code for code, text in enumerate(joined)}
    for context in (ONE, TWO):
        merged = merge_dictionaries(*(column_of(type_name, part) for part in values), context=context)
        assert raw_values(merged.dictionary) == joined
        for table, part in zip((merged.main_codes, merged.delta_codes), values, strict=True):
            assert table[: len(part)].tolist() == [codes[text] for text in part]
    both = encode(column_of(type_name, [*values[1], *values[0]]), context=TWO)
    assert raw_values(both.dictionary) == joined


def pairs() -> list[tuple[Any, Any]]:
    """Return dictionaries that the paper's printed borders lose values of, one slice with all of delta, and empty ones."""
    even = np.arange(0, 400, 2)
    return [
        (np.array([10, 20, 30, 40]), np.array([1, 2, 15, 20, 25, 33, 40, 50])),
        (even, even[3:90] + 1),
        (even, np.arange(399, 1000)),
        (even + 700, even),
        (even, np.arange(5, 390)),
        (even, even[:0]),
        (even[:0], even),
        (even[:1], even),
    ]


@pytest.mark.parametrize("slices", [1, 2, 3, 7, 16, 200, 1000])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_slices(slices: int, dtype: str) -> None:
    for given in pairs():
        main, delta = (part.astype(dtype) for part in given)
        joined = np.union1d(main, delta)
        for context in (ONE, TWO):
            found = merge_by_slices(main, delta, context, slices)
            assert found.values.tolist() == joined.tolist()
            assert (found.main_codes == np.searchsorted(joined, main)).all()
            assert (found.delta_codes == np.searchsorted(joined, delta)).all()


@pytest.mark.covering(default=2)
@pytest.mark.fibers
@pytest.mark.parametrize("has_begins", [False, True])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("order", ["forward", "random"])
def test_slices_on_gpu(order: str, dtype: str, has_begins: bool) -> None:
    rule = KeyOrder.of(np.dtype(dtype).str).packed
    for given in pairs():
        main, delta = (part.astype(dtype) for part in given)
        joined = np.union1d(main, delta)
        for slices in (1, 31, 64):
            launcher = FiberLauncher(order, 3)
            old, new = (DeviceNumbers(launcher.put(part), len(part)) for part in (main, delta))
            merged = merge_slices(launcher, old, new, rule, slices=slices, has_begins=has_begins, threads=32)
            assert launcher.fetch(merged.dictionary.values).view(dtype)[: merged.dictionary.count].tolist() == joined.tolist()
            assert (launcher.fetch(merged.main_codes).view("u4") == np.searchsorted(joined, main)).all()
            assert (launcher.fetch(merged.delta_codes).view("u4") == np.searchsorted(joined, delta)).all()
