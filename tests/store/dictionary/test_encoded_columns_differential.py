"""Tests encoding, decoding and merging of columns of every type against Python's own sort and dictionaries."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.store.dictionary.decode import decode
from headrace.store.dictionary.dictionaries import merge_dictionaries
from headrace.store.dictionary.encode import encode, filtered, merge
from headrace.store.dictionary.merge_columns import merge_columns
from tests.store.dictionary.dictionary_cases import (
    DECIMAL,
    NUMBER_TYPES,
    SHORT_DECIMAL,
    TEXT_TYPES,
    TIME_TYPES,
    check,
    column_of,
    random_values,
    raw_values,
)

TYPES = (*NUMBER_TYPES, *TIME_TYPES, SHORT_DECIMAL, DECIMAL, *TEXT_TYPES)
ONE, TWO = Context(threads=1), Context(threads=2)


def with_nulls(values: list[Any], seed: int) -> list[Any]:
    is_null = np.random.default_rng(seed).integers(0, 4, len(values)) == 0
    return [None if null else value for value, null in zip(values, is_null.tolist(), strict=True)]


@pytest.mark.parametrize("type_name", TYPES)
def test_encode_and_decode(type_name: str) -> None:
    for number, (count, distinct) in enumerate([(0, 0), (1, 1), (63, 2), (64, 3), (65, 40), (900, 300)]):
        values = random_values(type_name, count, distinct, number)
        for given in (values, with_nulls(values, number), [None] * count):
            column = column_of(type_name, given)
            encoded = encode(column, context=TWO)
            check(encoded, type_name, given)
            assert raw_values(decode(encoded, context=TWO)) == given
            rows = np.random.default_rng(number).integers(0, max(count, 1), 7 if count else 0)
            assert raw_values(decode(encoded, rows)) == [given[row] for row in rows]


@pytest.mark.parametrize("type_name", TYPES)
def test_slices(type_name: str) -> None:
    values = with_nulls(random_values(type_name, 300, 90, 5), 5)
    column = column_of(type_name, values)
    for start, length in ((0, 0), (1, 299), (8, 64), (13, 201)):
        check(encode(column.slice(start, length)), type_name, values[start : start + length])


@pytest.mark.parametrize("type_name", [*NUMBER_TYPES, *TIME_TYPES])
def test_hash_equals_sort(type_name: str) -> None:
    for count, distinct in ((0, 0), (1, 1), (1000, 5), (1000, 700)):
        values = with_nulls(random_values(type_name, count, distinct, count), count)
        check(encode(column_of(type_name, values), method="hash"), type_name, values)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("context", [ONE, TWO], ids=["one", "two"])
def test_merge(type_name: str, context: Context) -> None:
    sizes = [(0, 0), (0, 9), (9, 0), (1, 1), (64, 64), (65, 3), (700, 300)]
    for number, (old, new) in enumerate(sizes):
        for distinct in (1, 5, 400):
            main = with_nulls(random_values(type_name, old, distinct, number), number)
            delta = random_values(type_name, new, distinct, number + 50)
            main, delta = (main, with_nulls(delta, 3)) if number % 2 else (random_values(type_name, old, distinct, 9), delta)
            encoded = encode(column_of(type_name, main), context=context)
            merged = merge(encoded, column_of(type_name, delta), context=context)
            check(merged, type_name, main + delta)
            again = merge(merged, encode(column_of(type_name, delta)), context=context)
            check(again, type_name, main + delta + delta)


@pytest.mark.parametrize("type_name", TYPES)
def test_surviving_rows(type_name: str) -> None:
    """Values that no surviving row has leave the dictionary, and codes get narrower."""
    main = with_nulls(random_values(type_name, 500, 400, 1), 1)
    delta = with_nulls(random_values(type_name, 120, 100, 2), 2)
    for share in (0, 1, 20, 100):
        keep = np.random.default_rng(share).integers(0, 100, 620) < share
        merged = merge(encode(column_of(type_name, main)), column_of(type_name, delta), keep, context=TWO)
        left = [value for value, is_kept in zip(main + delta, keep.tolist(), strict=True) if is_kept]
        check(merged, type_name, left)
        found = filtered(encode(column_of(type_name, main)), keep[:500])
        check(found, type_name, [value for value, is_kept in zip(main, keep.tolist(), strict=False) if is_kept])


@pytest.mark.parametrize("method", ["merge_path", "hash"])
def test_decimals_around_64_bits(method: str) -> None:
    """Those that 64 bits have are merged as numbers, unless the other dictionary has a wider one."""
    border = 1 << 63
    parts = [-border, -1, 0, border - 1], [-border - 1, 5], [border, 7], [-(10**37), 10**37]
    for old, new in itertools.product(parts, repeat=2):
        main, delta = (encode(column_of(DECIMAL, values)) for values in (old, new))
        check(main, DECIMAL, old)
        check(merge(main, column_of(DECIMAL, new)), DECIMAL, old + new)
        found = merge_dictionaries(main.dictionary, delta.dictionary, method=method)
        union = sorted({*old, *new})
        assert raw_values(found.dictionary) == union
        for table, values in ((found.main_codes, old), (found.delta_codes, new)):
            assert table[: len(values)].tolist() == [union.index(value) for value in sorted(values)]


@pytest.mark.parametrize("bits", range(1, 18))
def test_widths(bits: int) -> None:
    """A delta of one new value carries the dictionary over a power of two, and of none leaves the width."""
    old = np.random.default_rng(bits).permutation(1 << bits).astype(np.int32) * 2
    main = encode(column_of("int32", old.tolist()), context=TWO)
    assert main.bits == bits
    for delta in ([], [2], [3], [-1], [1 << 30], [3, 3, -5]):
        values = old.tolist() + delta
        merged = merge(main, column_of("int32", delta), context=TWO)
        distinct, codes = np.unique(values, return_inverse=True)
        assert merged.dictionary.to_pylist() == distinct.tolist()
        assert merged.bits == (len(distinct) - 1).bit_length()
        assert decode(merged).to_pylist() == values
        if bits < 10:
            check(merged, "int32", values)
        assert len(codes) == merged.length


def test_pieces_of_numbers() -> None:
    """Dictionaries around the edges of the pieces that threads merge: all new, all old, interleaved, disjoint."""
    piece = 1 << 13
    for old, new in ((piece, 1), (1, piece), (piece - 1, piece + 1), (3 * piece, 2 * piece + 5)):
        low = np.arange(old, dtype=np.int64) * 3
        deltas = {
            "interleaved": np.arange(new) * 3 + 1,
            "old": low[:new],
            "half": np.arange(new) * 2,
            "after": np.arange(new) + 3 * old,
            "before": np.arange(new) - new,
        }
        for delta in deltas.values():
            main = encode(numbers(low), context=ONE)
            for context in (ONE, TWO):
                merged = merge(main, numbers(delta), context=context)
                joined = np.concatenate([low, delta])
                assert (merged.dictionary.to_numpy() == np.unique(joined)).all()
                assert (decode(merged, context=context).to_numpy() == joined).all()


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 40_000])
@pytest.mark.parametrize("context", [ONE, TWO], ids=["one", "two"])
def test_codes_that_stay(rows: int, context: Context) -> None:
    """New values after all old ones, or none: the codes of main stay, with and without a new width and nulls."""
    random = np.random.default_rng(rows)
    for distinct, added in ((5, 0), (5, 3), (5, 9), (20_000, 5_000), (20_000, 20_000)):
        old = [None if i % 9 == 4 else item for i, item in enumerate(random.integers(0, distinct, rows).tolist())]
        new = random.integers(0, distinct + added, 300).tolist()
        merged = merge(encode(column_of("int64", old)), column_of("int64", new), context=context)
        check(merged, "int64", old + new)


def test_pieces_of_texts() -> None:
    """Texts with long common prefixes, around the edges of the pieces that threads merge."""
    piece = 1 << 12
    for old, new in ((piece, 1), (piece - 1, piece + 1), (2 * piece, piece + 5)):
        main = [b"common prefix, then " + str(3 * i).encode() for i in range(old)]
        delta = [b"common prefix, then " + str(2 * i).encode() for i in range(new)]
        encoded = encode(column_of("string", main), context=TWO)
        for context in (ONE, TWO):
            merged = merge(encoded, column_of("string", delta), context=context)
            assert raw_values(merged.dictionary) == sorted({*main, *delta})
            assert raw_values(decode(merged, context=context)) == main + delta


def numbers(items: Any) -> Column:
    return Column(DataType("int64"), len(items), 0, copy_of(np.ascontiguousarray(items, "<i8").tobytes()))


def test_columns_side_by_side() -> None:
    """Columns of several types, more and fewer than threads."""
    names = ("int8", "string", "float64", "decimal128(38, 2)", "bool")
    values = {name: (random_values(name, 400, 50, 1), random_values(name, 90, 70, 2)) for name in names}
    mains = {name: encode(column_of(name, old)) for name, (old, _) in values.items()}
    deltas = {name: column_of(name, new) for name, (_, new) in values.items()}
    keep = np.random.default_rng(1).integers(0, 2, 490).astype(bool)
    for threads in (1, 2, 8):
        merged = merge_columns(mains, deltas, context=Context(threads=threads))
        assert list(merged) == list(names)
        for name, (old, new) in values.items():
            check(merged[name], name, old + new)
        left = merge_columns(mains, deltas, keep, context=Context(threads=threads))
        assert {len(column) for column in left.values()} == {int(keep.sum())}


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float32", "float64"])
def test_arrays(dtype: str) -> None:
    """Arrays of NumPy are columns without nulls, also with gaps between their items."""
    items = np.random.default_rng(1).integers(0, 100, 300).astype(dtype)
    for given in (items, items[::2], items[:0]):
        encoded = merge(encode(given), items)
        assert (decode(encoded).to_numpy() == np.concatenate([given, items])).all()
        assert (encoded.dictionary.to_numpy() == np.unique(np.concatenate([given, items]))).all()
