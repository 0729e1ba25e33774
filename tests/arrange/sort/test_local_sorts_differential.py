"""Blocks that sort parts in one pass (bin_sort.cu) under the fiber harness, against NumPy, part by part."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import MovedColumn, SortArrays
from headrace.arrange.sort.gpu.msd.local_sorts import BETWEEN, TARGET, bin_sort_entry, local_sort_shape
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

SHAPES = [BinSortTuning(32, 3, 1), BinSortTuning(64, 8, 1), BinSortTuning(32, 18, 2)]
LARGE = BinSortTuning(64, 18, 1)
KINDS = ["uniform", "equal", "few", "crowded", "mixed", "cluster", "low", "ends"]


def drawn(kind: str, count: int, low: int, first: int, last: int) -> Any:
    """Keys of digits `first` to `last` above `low` bits, as numbers of 64 bits."""
    random = np.random.default_rng(zlib.crc32(f"{kind} {count} {low} {first}".encode()))
    digits = random.integers(first, last + 1, count, np.uint64) << np.uint64(low)
    whole = random.integers(0, 1 << low, count, np.uint64, endpoint=False)
    some = {
        "uniform": whole,
        "equal": whole * np.uint64(0) + np.uint64(5),
        "few": random.choice(whole[:3], count),
        "crowded": np.where(np.arange(count) % 9 == 0, whole, random.integers(0, 7, count, np.uint64)),
        "mixed": random.choice(whole[: count // 9 + 1] >> np.uint64(3), count),
        "cluster": np.where(np.arange(count) % 9 == 0, whole, random.integers(0, 200, count, np.uint64)),
        "low": random.integers(0, min(1 << low, 40), count, np.uint64),
        "ends": random.choice(np.array([0, (1 << low) - 1], np.uint64), count),
    }[kind]
    if kind == "equal":
        digits[:] = first << low
    return digits | some


def parts_of(kind: str, sizes: list[int], width: int) -> tuple[Any, Any]:
    """Keys side by side, and a record for each part, as buckets.hpp has them: of one digit, or of several neighbours."""
    keys, records, begin = [], [], 0
    low = 8 * width - 16
    for number, size in enumerate(sizes):
        first, last = (number * 37 % 200, number * 37 % 200) if number % 2 == 0 else (16, 16 + number % 23)
        bits = low if first == last else low + 8
        prefix = np.uint64((0xA5 + number) << (low + 8))
        keys.append(prefix | drawn(kind, size, low, first, last))
        records.append((begin, size, bits | low << 8 | first << 16 | last << 24, BETWEEN if number % 3 else TARGET))
        begin += size
    return np.concatenate(keys).astype(f"u{width}"), np.array(records, np.uint32)


def sort_parts(tuning: BinSortTuning, keys: Any, records: Any, values: Any, how: tuple[str, int]) -> tuple[Any, Any, list[int]]:
    """Return keys, values, and the begins of declined buckets."""
    launcher, width = FiberLauncher(*how), keys.itemsize
    placed = [launcher.put(keys), launcher.put(keys)]  # between, and target: each has all parts
    moved = [MovedColumn(None, placed[1], placed[0], width)]
    if values is not None:
        moved.append(MovedColumn(None, launcher.put(values), launcher.put(values), values.itemsize))
    given = KeyType(width, KeyOrder.of(f"<u{width}").packed)
    lists, left = launcher.put(records), launcher.allocate(records.nbytes)
    counts = launcher.put(np.array([len(records), 0], np.uint32))
    packed = struct.pack("<2Q2q4I", lists.address, counts.address, 0, 1, 0, 0, 0, 0)
    args = packed, given.rule, SortArrays(moved[0], moved[1:]).packed, 1, left, BufferSlice(counts, 4)
    launcher.launch(bin_sort_entry(len(given.rule)), local_sort_shape(tuning, given, 2, has_values=values is not None), args)
    number = int(counts.array.view("u4")[1])
    begins = left.array.view("u4").reshape(-1, 4)[:number, 0].tolist()
    return moved[0].target.array.view(keys.dtype), values is not None and moved[1].target.array.view(values.dtype), begins


@pytest.mark.long_except("*items=3*-4-*")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("value", ["", "u1", "u4", "u8", "c16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_parts_are_in_order_and_stable_or_left(shape: BinSortTuning, kind: str, width: int, value: str) -> None:
    most = shape.keys
    sizes = [1, 2, most, most - 1, most // 2, most // 2 + 1, 33 if most > 33 else 3, most * 3 // 4]
    keys, records = parts_of(kind, sizes, width)
    values = np.arange(len(keys)).astype(value) if value else None
    for how in (("forward", 0), ("random", len(value))):
        found, moved, left = sort_parts(shape, keys, records, values, how)
        assert kind != "uniform" or (width == 4 and value) or not left
        assert kind != "crowded" or most < 300 or bool(left) == bool(value)
        assert kind != "cluster" or most < 300 or width == 4 or left
        for begin, size, _, _ in records.tolist():
            own = slice(begin, begin + size)
            if begin in left:
                continue
            order = np.argsort(keys[own], kind="stable")
            np.testing.assert_array_equal(found[own], keys[own][order])
            if value:
                np.testing.assert_array_equal(moved[own], values[own][order])


@pytest.mark.long_except("*8-u8*")
@pytest.mark.parametrize(("width", "value"), [(4, ""), (4, "u4"), (8, ""), (8, "u8")])
def test_largest_buckets_of_many_keys(width: int, value: str) -> None:
    """Blocks of 1,024 threads sort buckets of every size up to their bound."""
    row = SortTuning().msd_of(width)
    assert row is not None
    assert row.many is not None
    shape = row.many.pairs if value else row.many.keys_only
    keys, records = parts_of("uniform", [shape.keys, shape.keys // 2 + 1], width)
    values = np.arange(len(keys)).astype(value) if value else None
    found, moved, left = sort_parts(shape, keys, records, values, ("random", 2))
    assert not left
    order = np.concatenate(
        [np.argsort(keys[begin : begin + size], kind="stable") + begin for begin, size, _, _ in records.tolist()]
    )
    np.testing.assert_array_equal(found, keys[order])
    if values is not None:
        np.testing.assert_array_equal(moved, values[order])


@pytest.mark.long_except("4-*")
@pytest.mark.parametrize("kind", ["equal", "few", "low", "ends"])
@pytest.mark.parametrize("width", [4, 8])
def test_keys_alone_of_few_values_are_not_left(kind: str, width: int) -> None:
    """If each value has a bin of its own, any number of equal keys is in order."""
    shape = LARGE
    keys, records = parts_of(kind, [shape.keys, 300], width)
    left = sort_parts(shape, keys, records[:1], None, ("random", 1))[2]
    assert not left or kind in {"few", "ends"}


def test_values_as_many_as_bins_are_told_apart() -> None:
    """768 words of two bins, and six digits of 256. A step is a bin, except two parts in 3 of 2**-32, so two values share one."""
    keys = np.array([1, 0, 1535, 768, 769, 767, 1534, 1, 0], np.uint32)
    records = np.array([(0, len(keys), 16 | 8 << 8 | 5 << 24, BETWEEN)], np.uint32)
    found, _, left = sort_parts(LARGE, keys, records, None, ("forward", 0))
    assert not left
    np.testing.assert_array_equal(found, np.sort(keys))
