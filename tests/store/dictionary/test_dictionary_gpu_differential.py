"""Compares encoding and merges on a GPU with those on the CPU, to the bit."""

from __future__ import annotations

import pytest

from headrace import Context, dictionary
from headrace.store.dictionary.dictionaries import NUMBER_METHODS, TEXT_METHODS
from headrace.store.dictionary.items import is_text
from tests.store.dictionary.dictionary_cases import (
    NUMBER_TYPES,
    TEXT_TYPES,
    TIME_TYPES,
    check,
    column_of,
    random_values,
    raw_values,
)

pytestmark = pytest.mark.gpu

GPU = Context(device="cuda")


@pytest.mark.parametrize("type_name", [*NUMBER_TYPES, *TIME_TYPES, *TEXT_TYPES, "decimal128(38, 2)"])
def test_merge(type_name: str) -> None:
    for old, new, distinct in ((0, 0, 1), (0, 9, 5), (9, 0, 5), (5000, 900, 700), (900, 40_000, 30_000)):
        main, delta = random_values(type_name, old, distinct, 1), random_values(type_name, new, distinct, 2)
        main = [None if i % 5 == 1 else value for i, value in enumerate(main)]
        for method in ("sort", "hash"):
            encoded = dictionary.encode(column_of(type_name, main), method=method, context=GPU)
            check(encoded, type_name, main)
        check(dictionary.merge(encoded, column_of(type_name, delta), context=GPU), type_name, main + delta)


@pytest.mark.parametrize("type_name", ["int8", "uint32", "float64", "string"])
def test_methods(type_name: str) -> None:
    parts = [dictionary.encode(column_of(type_name, random_values(type_name, 20_000, 9000, i))).dictionary for i in (1, 2)]
    expected = dictionary.merge_dictionaries(*parts)
    for method in TEXT_METHODS if is_text(parts[0].type) else NUMBER_METHODS:
        merged = dictionary.merge_dictionaries(*parts, method=method, context=GPU)
        assert raw_values(merged.dictionary) == raw_values(expected.dictionary)
        for ours, other, part in zip(merged[1:], expected[1:], parts, strict=True):
            assert ours[: len(part)].tolist() == other[: len(part)].tolist()
