"""Tests the kernels of sorted maps in the fiber harness against NumPy and dictionaries, at the edges of tiles and turns."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from headrace import _native
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import CPU, Array
from headrace.index.sorted_map.gpu.launches import MapKernels, MergeTarget, sample_count
from headrace.index.sorted_map.gpu.tuning import SHORT_CODES, MergeTuning
from headrace.index.sorted_map.key_types import MapTypes
from headrace.index.sorted_map.levels import Level, Levels
from headrace.testing.fibers.launcher import FiberLauncher

pytestmark = pytest.mark.fibers

THREADS = 64
MERGE = MergeTuning(THREADS, 7, 64)
TILE = MERGE.threads * MERGE.items
ORDERS = ("forward", "reverse", "random")


@dataclass
class HostLevel:
    codes: Any
    values: Any
    tombstones: Any


def host_level(code: str, count: int, spread: int, seed: int) -> HostLevel:
    """Return a sorted level with equal codes, the extremes, and a third of tombstones."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, spread, count).astype(code)
    codes[random.integers(0, 9, count) == 0] = np.iinfo(code).max
    return HostLevel(np.sort(codes), random.integers(1, 1 << 30, count), (random.integers(0, 3, count) == 0).astype("u1"))


class Device:
    """Levels in the memory of a launcher."""

    def __init__(
        self,
        order: str,
        types: MapTypes,
        levels: list[HostLevel],
        *,
        is_clean: bool = False,
        has_fences: bool = False,
        has_filters: bool = False,
        guide_stride: int = 0,
    ) -> None:
        self.launcher = FiberLauncher(order, 7)
        self.kernels = MapKernels(self.launcher, types.key_width, threads=THREADS, merge=MERGE)
        self.rule = types.order.packed
        put = tuple(self._put(types, level, is_clean) for level in levels)
        self.levels = Levels(types, tuple(self._with_fences(level) for level in put) if has_fences else put)
        if has_filters:
            self.levels = replace(self.levels, levels=tuple(map(self._with_filter, self.levels.levels)))
        if guide_stride and len(put) > 1:
            self.levels = replace(self.levels, guide=self._guide(types, guide_stride))

    def array(self, items: Any) -> Array:
        """Copy items of NumPy."""
        buffer = self.launcher.put(items)
        return Array(buffer.address, len(items), items.dtype.str, CPU, "headrace", owner=buffer)

    def fetch(self, buffer: Any, dtype: str) -> Any:
        """Return the items of a buffer."""
        return self.launcher.fetch(buffer).view(dtype)

    def _with_fences(self, level: Level) -> Level:
        count, typestr = _native.map_fence_rows(level.count)[1], level.codes.typestr
        fences = self.launcher.allocate(count * level.codes.width)
        result = replace(level, fences=Array(fences.address, count, typestr, CPU, "headrace", owner=fences))
        self.kernels.launch("write_fences", count, (result.packed, count, fences))
        return result

    def _with_filter(self, level: Level) -> Level:
        words = self.launcher.allocate(_native.map_filter_words(level.count) * 8, fill=0)
        result = replace(level, filter=Array(words.address, words.nbytes // 8, "<u8", CPU, "headrace", owner=words))
        self.kernels.launch("write_filter", level.count, (result.packed,))
        return result

    def _guide(self, types: MapTypes, stride: int) -> Level:
        counts = [level.count for level in self.levels.levels]
        samples, row = sample_count(counts, stride), _native.map_guide_row(len(counts))
        codes = self.array(np.zeros(samples, types.code))
        positions = self.array(np.full(samples * row, 0xCBCBCBCB, "u4"))
        self.kernels.write_guide(self.levels.packed, counts, stride, (codes.owner, positions.owner))
        return self._with_fences(Level(codes, positions))

    def _put(self, types: MapTypes, level: HostLevel, is_clean: bool) -> Level:
        values = None if types.value is None else self.array(level.values.astype(types.value))
        return Level(self.array(level.codes), values, None if is_clean else self.array(level.tombstones), is_clean)


def expected_items(levels: list[HostLevel]) -> dict[int, int]:
    """Return the visible pairs of levels, newest first."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    for level in levels:
        for code, value, is_deleted in zip(level.codes.tolist(), level.values.tolist(), level.tombstones.tolist(), strict=True):
            if code not in seen and not is_deleted:
                found[code] = value
            seen.add(code)
    return found


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("key_type", ["u4", "u8"])
@pytest.mark.parametrize("order", ORDERS)
def test_merge(key_type: str, order: str) -> None:
    for number, sizes in enumerate(
        [
            (1, 1),
            (TILE - 1, 1),
            (3, TILE),
            (TILE // 2, TILE // 2 + 1),
            (5, 6, 20, 40, 2 * TILE),
            (1,) * 31 + (TILE + 3,),
            (TILE, 3 * TILE + 7, 0, 2),
        ]
    ):
        spread = (4, 1 << 31, 100)[number % 3]
        levels = [host_level(f"<{key_type}", size, spread, 10 * number + i) for i, size in enumerate(sizes) if size]
        types = MapTypes.of(key_type, ("u4", "f8", None)[number % 3])
        device, total = Device(order, types, levels), sum(sizes)
        codes = device.launcher.allocate(total * types.key_width)
        values = device.launcher.allocate(total * types.value_width) if types.value else None
        tombstones = device.launcher.allocate(total)
        device.kernels.merge(device.levels.packed, [len(level.codes) for level in levels], MergeTarget(codes, values, tombstones))
        joined = HostLevel(
            *(np.concatenate([getattr(level, name) for level in levels]) for name in ("codes", "values", "tombstones"))
        )
        expected = np.argsort(joined.codes, kind="stable")
        assert (device.fetch(codes, key_type) == joined.codes[expected]).all()
        assert (device.fetch(tombstones, "u1") == joined.tombstones[expected]).all()
        if types.value is not None:
            assert (device.fetch(values, types.value) == joined.values.astype(types.value)[expected]).all()


@pytest.mark.parametrize("spread", [3, 1 << 31])
@pytest.mark.parametrize("is_apart", [False, True])
def test_merge_of_many_tiles(spread: int, is_apart: bool) -> None:
    """Runs of equal codes across cuts, and levels whose items are all in a few tiles of the result."""
    sizes = (300, 40 * TILE, 41 * TILE + 9)
    levels = [host_level("<u4", size, spread, i) for i, size in enumerate(sizes)]
    if is_apart:
        levels[0].codes[:] = 2
        levels[1].codes[:] = np.sort(levels[1].codes >> 9)
    device, total = Device("random", MapTypes.of("u4", None), levels), sum(sizes)
    codes = device.launcher.allocate(total * 4)
    device.kernels.merge(device.levels.packed, sizes, MergeTarget(codes, None, None))
    assert (device.fetch(codes, "u4") == np.sort(np.concatenate([level.codes for level in levels]))).all()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("key_type", ["u4", "u8"])
@pytest.mark.parametrize("order", ORDERS)
def test_merge_of_visible_pairs(key_type: str, order: str) -> None:
    for number, sizes in enumerate(
        [
            (1,),
            (TILE,),
            (9 * TILE + 1,),
            (1, 1),
            (TILE - 1, 2 * TILE + 2),
            (5, 6, 20, 40, 2 * TILE),
            (1,) * 31 + (TILE + 3,),
            (300, 20 * TILE, 21 * TILE + 9),
        ]
    ):
        spread = (4, 1 << 31, 1000)[number % 3]
        levels = [host_level(f"<{key_type}", size, spread, 10 * number + i) for i, size in enumerate(sizes)]
        types = MapTypes.of(key_type, ("u4", "f8", None)[number % 3])
        device, pairs = Device(order, types, levels), expected_items(levels)
        codes = device.launcher.allocate(sum(sizes) * types.key_width)
        values = device.launcher.allocate(sum(sizes) * types.value_width) if types.value else None
        target = MergeTarget(codes, values, None)
        count = device.fetch(device.kernels.merge_visible(device.levels.packed, sizes, target), "u8")
        expected = sorted(pairs)
        assert count.tolist() == [len(expected)]
        assert device.fetch(codes, key_type)[: len(expected)].tolist() == expected
        if types.value is not None:
            given = np.array([pairs[code] for code in expected]).astype(types.value)
            assert (device.fetch(values, types.value)[: len(expected)] == given).all()


def test_no_pair_is_visible() -> None:
    levels = [HostLevel(np.repeat(np.arange(2, dtype="u4"), TILE), np.zeros(2 * TILE), np.ones(2 * TILE, "u1"))]
    levels.append(HostLevel(levels[0].codes, levels[0].values, np.zeros(2 * TILE, "u1")))
    device = Device("random", MapTypes.of("u4", None), levels)
    target = MergeTarget(device.launcher.allocate(16 * TILE), None, None)
    assert device.fetch(device.kernels.merge_visible(device.levels.packed, [2 * TILE] * 2, target), "u8").tolist() == [0]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("dtype", ["u4", "f4", "f8", "M8[s]"])
@pytest.mark.parametrize("order", ORDERS)
def test_reversed_batches(dtype: str, order: str) -> None:
    types = MapTypes.of(dtype, "u4")
    for count in (1, 4 * THREADS - 1, 4 * THREADS, 4 * THREADS + 1):
        device = Device(order, types, [])
        random = np.random.default_rng(count)
        keys = random.integers(-50, 50, count).astype("i8").astype(dtype)
        deletes, given = random.integers(0, 2, count).astype("u1"), random.integers(0, 99, count).astype("u4")
        for values, mask in ((given, deletes), (given, None), (None, None)):
            put = device.launcher.put
            codes, moved = device.launcher.allocate(count * types.key_width), device.launcher.allocate(count * 4)
            is_pairs = values is not None and mask is None
            statuses = None if is_pairs else device.launcher.allocate(count)
            inputs = (None if values is None else put(values), None if mask is None else put(mask))
            args = (put(keys), count, device.rule, *inputs, 4, codes, moved, statuses, 5)
            device.kernels.launch("reverse_batch", count, args)
            found = device.fetch(codes, types.code)
            bits = [types.order.equal_code(int(key)) for key in keys.view(types.code)]
            assert found.tolist() == bits[::-1]
            assert device.fetch(moved, "u4").tolist() == ([0] * count if values is None else values[::-1].tolist())
            if statuses is not None:
                expected = np.ones(count, "u1") if mask is None else 5 << 1 | mask[::-1]
                assert device.fetch(statuses, "u1").tolist() == expected.tolist()
            back = device.launcher.allocate(count * types.key_width)
            device.kernels.launch("keys_of_codes", count, (codes, count, device.rule, back))
            assert (device.fetch(back, dtype) == keys[::-1]).all()


@pytest.mark.parametrize("key_type", ["u4", "u8"])
def test_marks(key_type: str) -> None:
    for count, spread in ((1, 2), (4 * THREADS, 3), (4 * THREADS + 1, 40), (2000, 1 << 20)):
        level = host_level(f"<{key_type}", count, spread, count)
        device = Device("random", MapTypes.of(key_type, None), [level])
        arrays = device.levels.levels[0]
        marked = device.launcher.allocate(count, fill=0)
        mixed = np.random.default_rng(count).integers(0, 3, count).astype("u1")  # numbers of batches; 0 without pairs or deletes
        statuses = mixed << 1 | level.tombstones
        device.kernels.launch("mark_deleted", count, (arrays.codes.owner, count, device.launcher.put(statuses), marked))
        begins = np.flatnonzero(np.diff(level.codes, prepend=~level.codes[0]))
        expected = np.zeros(count, "u1")
        first = np.repeat(begins, np.diff(begins, append=count))
        deleted = np.flatnonzero(level.tombstones)
        is_of_first = (mixed[deleted] > 0) & (mixed[deleted] == mixed[first[deleted]])
        expected[np.where(is_of_first, first[deleted], deleted)] = 1
        assert device.fetch(marked, "u1").tolist() == expected.tolist()


@pytest.mark.parametrize("key_type", ["u4", "u8"])
def test_fences(key_type: str) -> None:
    """Ranks at the edges of nodes, and for the largest code, which rows are filled up with."""
    largest = np.iinfo(key_type).max
    for count in (1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4200):
        for last in (None, largest):
            codes = np.sort(np.random.default_rng(count).integers(0, 3 * count, count).astype(key_type))
            codes[-1:] = codes[-1] if last is None else last
            level = HostLevel(codes, codes, np.zeros(count, "u1"))
            device = Device("random", MapTypes.of(key_type, None), [level], is_clean=True, has_fences=True)
            keys = np.concatenate([codes, codes - 1, codes + 1, np.array([0, largest], key_type)])
            given, number = device.launcher.put(keys), len(keys)
            found, counts = device.launcher.allocate(number * 8), device.launcher.allocate(number * 8)
            packed, is_long = device.levels.packed, device.launcher.allocate(4, fill=0)
            device.kernels.launch("begin_ranges", number, (packed, given, number, device.rule, found))
            assert (device.fetch(found, "u8") == np.searchsorted(codes, keys)).all()
            args = (packed, device.launcher.put(keys * 0), given, number, device.rule, 1, counts, is_long)
            device.kernels.launch("count_ranges", number, args)
            assert (device.fetch(counts, "i8") == np.searchsorted(codes, keys, "right")).all()


@pytest.mark.parametrize(("key_type", "order"), [("u4", "forward"), ("u8", "reverse"), ("u4", "random"), ("u8", "random")])
def test_guides(key_type: str, order: str) -> None:
    """Codes and positions are those of a stable merge, with runs of equal codes within levels and across them."""
    types = MapTypes.of(key_type, None)
    for sizes, spread, stride in (((3, 40), 30, 4), ((100, 7, 300), 40, 8), ((5, 9, 33, 64, 200), 1 << 30, 2), ((1,) * 32, 9, 3)):
        levels = [host_level(f"<{key_type}", size, spread, i) for i, size in enumerate(sizes)]
        device = Device(order, types, levels, guide_stride=stride)
        guide = device.levels.guide
        assert guide is not None and guide.values is not None
        places = np.argsort(np.concatenate([level.codes for level in levels]), kind="stable")
        of = np.repeat(np.arange(len(sizes)), sizes)[places]
        at = np.concatenate([np.arange(size) for size in sizes])[places]
        before = np.stack([np.cumsum(of == i) - (of == i) for i in range(len(sizes))], 1)[at % stride == 0]
        codes = np.concatenate([level.codes for level in levels])[places][at % stride == 0]
        assert (device.fetch(guide.codes.owner, key_type) == codes).all()
        found = device.fetch(guide.values.owner, "u4").reshape(len(codes), -1)
        assert (found[:, : len(sizes)] == before).all()


@pytest.mark.parametrize("key_type", ["u4", "u8"])
def test_filters(key_type: str) -> None:
    """Each item sets four bits of a word for eight items, and few other keys pass."""
    for count in (1, 8, 9, 4 * THREADS, 4 * THREADS + 1, 3000):
        level = host_level(f"<{key_type}", count, 1 << 31, count)
        device = Device("random", MapTypes.of(key_type, None), [level], has_filters=True)
        written = device.levels.levels[0].filter
        assert written is not None and written.length == -(-count // 8)
        words = device.fetch(written.owner, "u8")
        hashes = mixed(np.unique(level.codes))
        expected, places = np.zeros(len(words), "u8"), (hashes >> 32) * np.uint64(len(words)) >> 32
        np.bitwise_or.at(expected, places, filter_bits(hashes))
        assert (words == expected).all()
        absent = mixed(np.random.default_rng(count).integers(1 << 31, 1 << 32, 4000).astype("u8"))
        passed = (filter_bits(absent) & ~words[(absent >> 32) * np.uint64(len(words)) >> 32]) == 0
        assert passed.mean() < 0.06


def mixed(codes: Any) -> Any:
    """Return the hash of codes, `mix_bits` of core/hash.hpp."""
    found = codes.astype("u8")
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        found = (found ^ found >> 33) * np.uint64(factor)
    return found ^ found >> 33


def filter_bits(hashes: Any) -> Any:
    """Return the bits of a filter's word that hashes select."""
    return np.bitwise_or.reduce([np.uint64(1) << (hashes >> shift & 63) for shift in (0, 6, 12, 18)])


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("aids", [{}, {"has_fences": True}, {"has_fences": True, "has_filters": True}, {"guide_stride": 4}])
@pytest.mark.parametrize("key_type", ["u4", "u8"])
@pytest.mark.parametrize("order", ORDERS)
def test_searches(key_type: str, order: str, aids: dict[str, Any]) -> None:
    types = MapTypes.of(key_type, "u8")
    for sizes in ((), (1,), (3, 10, 50), (60, 130, 700), (2, 3, 9, 20, 300)):
        levels = [host_level(f"<{key_type}", size, 200, i) for i, size in enumerate(sizes)]
        device, items = Device(order, types, levels, **aids), expected_items(levels)
        ascending = np.array(sorted(items), key_type)
        for count in (1, 4 * THREADS + 1):
            keys = np.random.default_rng(count).integers(0, 210, count).astype(key_type)
            keys[::5] = np.iinfo(key_type).max
            keys[32:] = np.sort(keys[32:])  # of most warps the keys ascend, which a guide serves
            values, mask = device.launcher.allocate(count * 8), device.launcher.allocate(count)
            args = (device.levels.packed, device.launcher.put(keys), count, device.rule, values, mask)
            device.kernels.launch("find_keys", count, args)
            assert device.fetch(values, "u8").tolist() == [items.get(key, 0) for key in keys.tolist()]
            assert device.fetch(mask, "u1").tolist() == [key in items for key in keys.tolist()]
            for options in ((0, 0), (0, 1), (1, 0), (1, 1)):
                found = device.launcher.allocate(count * types.key_width)
                args = (device.levels.packed, device.launcher.put(keys), count, device.rule)
                args = (*args, struct.pack("<2I", *options), found, values, mask)
                device.kernels.launch("find_neighbours", count, args)
                is_successor, is_inclusive = options
                places = np.searchsorted(ascending, keys, "right" if is_successor != is_inclusive else "left")
                places = places if is_successor else places - 1
                is_there = (places >= 0) & (places < len(ascending))
                expected = [int(ascending[place]) if there else 0 for place, there in zip(places, is_there, strict=True)]
                assert device.fetch(mask, "u1").tolist() == is_there.tolist()
                assert device.fetch(found, key_type).tolist() == expected
                wanted = [items[key] if there else 0 for key, there in zip(expected, is_there, strict=True)]
                assert device.fetch(values, "u8").tolist() == wanted


@pytest.mark.parametrize("key_type", ["u4", "u8"])
@pytest.mark.parametrize("is_clean", [False, True])
@pytest.mark.parametrize("aids", [{}, {"has_fences": True}, {"guide_stride": 8}])
def test_ranges(key_type: str, is_clean: bool, aids: dict[str, Any]) -> None:
    types = MapTypes.of(key_type, "u4")
    levels = [host_level(f"<{key_type}", size, 300, i) for i, size in enumerate((20, 60, 500))]
    items = expected_items(levels)
    ascending = np.array(sorted(items), key_type)
    clean = HostLevel(ascending, np.array([items[key] for key in ascending.tolist()]), np.zeros(len(items), "u1"))
    device = Device("random", types, [clean] if is_clean else levels, is_clean=is_clean, **aids)
    random = np.random.default_rng(1)
    for count in (1, THREADS, THREADS + 1):
        lows = random.integers(0, 300, count).astype(key_type)
        highs = lows + random.integers(0, 20, count).astype(key_type)
        highs[::7], lows[::9] = np.iinfo(key_type).max, 250
        given = device.launcher.put(lows), device.launcher.put(highs), count, device.rule
        counts, is_long = device.launcher.allocate(count * 8), device.launcher.allocate(4, fill=0)
        device.kernels.launch("count_ranges", count, (device.levels.packed, *given, 1 << 20, counts, is_long))
        begins, ends = np.searchsorted(ascending, lows), np.searchsorted(ascending, highs, "right")
        widths = np.where(lows <= highs, ends - begins, 0)
        assert device.fetch(counts, "i8").tolist() == widths.tolist()
        assert not device.fetch(is_long, "u4").any()
        offsets = np.concatenate([[0], np.cumsum(widths)])
        expected = [ascending[begin : begin + width] for begin, width in zip(begins, widths, strict=True)]
        flat = np.concatenate(expected).tolist()
        if device.levels.guide is not None:
            check_short_ranges(device, given, expected, items)
        keys, values = (
            device.launcher.allocate(int(offsets[-1]) * types.key_width),
            device.launcher.allocate(int(offsets[-1]) * 4),
        )
        placed = device.launcher.put(offsets)
        if is_clean:
            firsts = device.launcher.allocate(count * 8)
            device.kernels.launch("begin_ranges", count, (device.levels.packed, given[0], count, device.rule, firsts))
            args = (device.levels.packed, int(offsets[-1]), device.rule, firsts, count, placed, keys, values)
            device.kernels.launch("copy_clean_ranges", int(offsets[-1]), args)
        else:
            device.kernels.launch("copy_ranges", count, (device.levels.packed, *given, placed, keys, values))
        assert device.fetch(keys, key_type).tolist() == flat
        assert device.fetch(values, "u4").tolist() == [items[key] for key in flat]


def check_short_ranges(device: Any, given: Any, expected: list[Any], items: dict[int, int]) -> None:
    """Count and copy ranges in one walk, and check those of blocks whose pairs fit: other counts make the sum negative."""
    lows, highs, count, rule = given
    key_type, width = expected[0].dtype, expected[0].dtype.itemsize
    places = -(-count // THREADS) * THREADS * SHORT_CODES[width]
    counts, keys, values = (device.launcher.allocate(size) for size in (count * 8, places * width, places * 4))
    device.kernels.launch("gather_ranges", count, (device.levels.packed, lows, highs, count, rule, 1 << 20, counts, keys, values))
    found = device.fetch(counts, "i8")
    wanted = np.array([len(each) for each in expected])
    short = np.repeat(np.add.reduceat(wanted, range(0, count, THREADS)) <= THREADS * SHORT_CODES[width], THREADS)[:count]
    assert (found[~short] == -(1 << 36)).all()
    assert found[short].tolist() == wanted[short].tolist()
    offsets = np.concatenate([[0], np.cumsum(np.where(short, found, 0))])
    total, placed = int(offsets[-1]), device.launcher.put(offsets)
    to = device.launcher.allocate((total + 1) * width), device.launcher.allocate((total + 1) * 4)
    device.kernels.launch("copy_gathered", count, (count, placed, keys, values, 4, *to))
    flat = [key for each, is_short in zip(expected, short, strict=True) if is_short for key in each.tolist()]
    assert device.fetch(to[0], key_type)[:total].tolist() == flat
    assert device.fetch(to[1], "u4")[:total].tolist() == [items[key] for key in flat]


def test_long_walks_are_reported() -> None:
    level = HostLevel(np.arange(100, dtype="u4"), np.arange(100), np.ones(100, "u1"))
    device = Device("forward", MapTypes.of("u4", None), [level])
    for longest, is_reported in ((100, 0), (99, 1)):
        counts, is_long = device.launcher.allocate(8), device.launcher.allocate(4, fill=0)
        given = device.launcher.put(np.array([0], "u4")), device.launcher.put(np.array([200], "u4")), 1, device.rule
        device.kernels.launch("count_ranges", 1, (device.levels.packed, *given, longest, counts, is_long))
        assert device.fetch(is_long, "u4").tolist() == [is_reported]
        assert device.fetch(counts, "i8").tolist() == [-is_reported]
    assert KeyOrder.of("<u4").packed == device.rule
