"""Tests the kernels of dictionaries in the fiber harness against NumPy, at the edges of tiles, words and blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.key_order import KeyOrder
from headrace.store.dictionary.dictionaries import merge_dictionaries
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.gpu.launches import (
    CodeTable,
    DeviceCodes,
    DeviceNumbers,
    DeviceTexts,
    DictionaryKernels,
)
from headrace.store.dictionary.gpu.tuning import MergeTile, Translation
from headrace.store.dictionary.merge_gpu import merge_with, merged_in_slices
from headrace.testing.fibers.launcher import FiberLauncher
from tests.store.dictionary.dictionary_cases import check, column_of, packed, random_values, raw_values

pytestmark = pytest.mark.fibers

THREADS = 64
TILE = 8 * THREADS
ORDERS = ("forward", "reverse", "random")


class Device:
    """A launcher with the kernels, and copies to and from its memory."""

    def __init__(self, order: str, *, values: int = 8, groups: int = 1) -> None:
        self.launcher = FiberLauncher(order, 7)
        self.kernels = DictionaryKernels(
            self.launcher,
            tiles=dict.fromkeys((1, 2, 4, 8), MergeTile(THREADS, values)),
            text_tile=MergeTile(THREADS, 8),
            translation=Translation(THREADS, groups),
        )

    def numbers(self, items: Any) -> DeviceNumbers:
        return DeviceNumbers(self.launcher.put(items), len(items))

    def texts(self, texts: list[bytes]) -> DeviceTexts:
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        return DeviceTexts(self.launcher.put(offsets), self.launcher.put(b"".join(texts)), len(texts))

    def fetch(self, buffer: Any, dtype: str, count: int) -> Any:
        return self.launcher.fetch(buffer).view(dtype)[:count]

    def codes(self, codes: list[int], bits: int, table: CodeTable, validity: Any = None) -> DeviceCodes:
        bitmap = None if validity is None else self.launcher.put(np.packbits(validity, bitorder="little"))
        return DeviceCodes(self.launcher.put(packed(codes, bits)), len(codes), bitmap, table)


def cases(tile: int, largest: int) -> list[tuple[Any, Any]]:
    """Return pairs of ascending integers below `largest`: interleaved, all old, all new, disjoint, empty."""
    found = []
    sizes = (1, 1), (tile - 1, 1), (tile // 2, tile // 2), (tile + 1, tile - 1), (2 * tile + 5, 3)
    for old, new in np.minimum(sizes, largest // 3).tolist():
        low = np.arange(old) * 2
        found += [(low, np.arange(new) * 3), (low, low[:new]), (low, low[-1] + 1 + np.arange(new))]
        found.append((new + low[: old // 2], np.arange(new)))
    return [*found, (low, low[:0]), (low[:0], low), (low[:0], low[:0])]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize(("dtype", "thread_values"), [("u1", 8), ("i2", 15), ("u4", 8), ("i8", 7)])
@pytest.mark.parametrize("order", ORDERS)
def test_merge_of_numbers(dtype: str, thread_values: int, order: str) -> None:
    rule = KeyOrder.of(np.dtype(dtype).str, total_order=True).packed
    shift = -100 if dtype[0] == "i" else 0
    for given in cases(thread_values * THREADS, min(np.iinfo(dtype).max, 1 << 20)):
        main, delta = ((items + shift).astype(dtype) for items in given)
        device = Device(order, values=thread_values)
        merged = device.kernels.merge_numbers(device.numbers(main), device.numbers(delta), rule)
        expected = np.union1d(main, delta)
        assert merged.dictionary.count == len(expected)
        assert (device.fetch(merged.dictionary.values, dtype, len(expected)) == expected).all()
        for codes, old in ((merged.main_codes, main), (merged.delta_codes, delta)):
            assert (device.fetch(codes, "u4", len(old)) == np.searchsorted(expected, old)).all()


@pytest.mark.parametrize("dtype", ["u1", "i2", "u8"])
@pytest.mark.parametrize("order", ORDERS)
def test_merge_of_the_highest_values(dtype: str, order: str) -> None:
    """The code of the highest value has all bits, as what a thread reads after the end of a tile."""
    rule, top = KeyOrder.of(np.dtype(dtype).str, total_order=True).packed, np.iinfo(dtype).max
    for count in (1, 2, 100, 200):
        low, high = np.arange(count, dtype=dtype), (top - np.arange(count, dtype=dtype))[::-1]
        for main, delta in ((low, high), (high, low), (high, high), (high[:-1], high), (low[:0], high), (high, high[-1:])):
            device = Device(order, values=7)
            merged = device.kernels.merge_numbers(device.numbers(main), device.numbers(delta), rule)
            expected = np.union1d(main, delta)
            assert (device.fetch(merged.dictionary.values, dtype, merged.dictionary.count) == expected).all()
            assert device.fetch(merged.main_codes, "u4", len(main)).tolist() == np.searchsorted(expected, main).tolist()
            assert device.fetch(merged.delta_codes, "u4", len(delta)).tolist() == np.searchsorted(expected, delta).tolist()


def test_merge_of_floats() -> None:
    """-0.0 and 0.0 are two values, and so are NaN of different bits; the order is IEEE 754's totalOrder."""
    ascending = [0xFFC00001, 0xFFC00000, 0xFF800000, 0x80000001, 0x80000000, 0, 1, 0x7F800000, 0x7FC00000, 0x7FC00001]
    main, delta = (np.array(ascending[begin::step], "u4") for begin, step in ((0, 2), (0, 3)))
    device = Device("random")
    rule = KeyOrder("float", 32, total_order=True).packed
    merged = device.kernels.merge_numbers(device.numbers(main), device.numbers(delta), rule)
    expected = [bits for bits in ascending if bits in main or bits in delta]
    assert device.fetch(merged.dictionary.values, "u4", merged.dictionary.count).tolist() == expected
    assert device.fetch(merged.delta_codes, "u4", len(delta)).tolist() == [expected.index(bits) for bits in delta]


@pytest.mark.parametrize("order", ORDERS)
def test_merge_of_texts(order: str) -> None:
    """Texts with long common prefixes, zeros at the end, and the empty text."""
    for old, new in cases(TILE, 1 << 20)[:12:3] + cases(TILE, 1 << 20)[-3:]:
        main, delta = (sorted({b"common prefix " * (i % 3) + b"%d" % i + b"\0" * (i % 2) for i in some}) for some in (old, new))
        delta = [b"", *delta] if delta else delta
        device = Device(order)
        merged = device.kernels.merge_texts(device.texts(main), device.texts(delta))
        expected = sorted({*main, *delta})
        texts = merged.dictionary
        offsets = device.fetch(texts.offsets, "i8", texts.count + 1).tolist()
        data = device.launcher.fetch(texts.data).tobytes()
        assert [data[begin:end] for begin, end in pairwise(offsets)] == expected
        assert texts.data.nbytes == sum(map(len, expected))
        for codes, some in ((merged.main_codes, main), (merged.delta_codes, delta)):
            assert device.fetch(codes, "u4", len(some)).tolist() == [expected.index(text) for text in some]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8, 13, 16, 17, 20, 31, 32])
@pytest.mark.parametrize("order", ORDERS)
def test_translation(bits: int, order: str) -> None:
    """Codes of all widths become wider ones and keep their width, with and without a table and nulls."""
    random = np.random.default_rng(bits)
    for count, new in ((1, 0), (0, 1), (31, 2), (64, 64), (65, 31), (16 * 32 * 2 + 5, 100)):
        device = Device(order, groups=1 + bits % 4)
        distinct = min(1 << bits, 3000)
        table = np.cumsum(random.integers(1, 3, distinct)).astype("u4")
        old, added = random.integers(0, distinct, count), random.integers(0, 2, new)
        there = random.integers(0, 3, count) > 0
        old[~there] = 0
        wide = max(int(table[-1]).bit_length(), bits)
        size = np.zeros(1 << max(distinct - 1, 0).bit_length(), "u4")
        size[:distinct] = table
        plain = CodeTable(device.launcher.put(size), bits)
        main = device.codes(old.tolist(), bits, plain, there if count else None)
        delta = device.codes(added.tolist(), 1, CodeTable(device.launcher.put(np.array([7, 1], "u4")), 1))
        expected = np.where(there, table[old], 0).tolist() + [[7, 1][code] for code in added]
        wide = max(wide, 3)
        assert device.launcher.fetch(device.kernels.translate(main, delta, wide)).tobytes() == packed(expected, wide)
        same = device.codes(old.tolist(), bits, CodeTable(None, bits))
        none = device.codes([], 0, CodeTable(None, 0))
        assert device.launcher.fetch(device.kernels.translate(same, none, bits)).tobytes() == packed(old.tolist(), bits)


@pytest.mark.parametrize("type_name", ["int8", "uint16", "float64"])
def test_slices_of_narrow_numbers(type_name: str) -> None:
    """The paper's slices have kernels for 4 and 8 bytes; narrower numbers are widened."""
    main, delta = (encode(column_of(type_name, random_values(type_name, 90, 60, seed))).dictionary for seed in (1, 2))
    device = Device("forward")
    merged, dictionary = merged_in_slices(device.launcher, main, delta, slices=32)
    expected = merge_dictionaries(main, delta)
    assert raw_values(dictionary) == raw_values(expected.dictionary)
    assert device.fetch(merged.main_codes, "u4", len(main)).tolist() == expected.main_codes[: len(main)].tolist()
    assert device.fetch(merged.delta_codes, "u4", len(delta)).tolist() == expected.delta_codes[: len(delta)].tolist()


@pytest.mark.parametrize("largest_gap", [1, 2, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_counts_and_bits(largest_gap: int, order: str) -> None:
    """Tables with gaps of one and more new codes, at the edges of blocks."""
    random = np.random.default_rng(largest_gap)
    for bits, distinct in ((0, 1), (3, 7), (6, 64), (7, 65), (8, 200), (8, 256)):
        device = Device(order)
        table = np.cumsum(random.integers(1, largest_gap + 1, distinct)).astype("u4") + 3
        size = np.zeros(1 << bits, "u4")
        size[:distinct] = table
        codes = random.integers(0, distinct, 3000)
        on_chip = device.kernels.on_chip(CodeTable(device.launcher.put(size), bits), distinct)
        assert on_chip.blocks is not None
        main = device.codes(codes.tolist(), bits, on_chip)
        none = device.codes([], 0, CodeTable(None, 0))
        wide = int(table[-1]).bit_length()
        assert device.launcher.fetch(device.kernels.translate(main, none, wide)).tobytes() == packed(table[codes].tolist(), wide)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("type_name", ["int16", "uint32", "float64", "bool", "timestamp[us, UTC]", "decimal128(38, 2)", "string"])
@pytest.mark.parametrize("order", ORDERS)
def test_columns_in_slices(type_name: str, order: str) -> None:
    """Slices of 64 and more rows, with the border of main and delta inside, at the begin and at the end of a slice."""
    for number, (old, new) in enumerate([(0, 0), (0, 70), (70, 0), (64, 64), (130, 200), (300, 5)]):
        main, delta = (random_values(type_name, count, 90, number + count) for count in (old, new))
        main = [None if i % 7 == 3 else value for i, value in enumerate(main)]
        for slice_rows in (64, 192):
            device = Device(order)
            columns = (encode(column_of(type_name, values)) for values in (main, delta))
            merged = merge_with(device.kernels, device.launcher, *columns, slice_rows=slice_rows)
            check(merged, type_name, main + delta)
