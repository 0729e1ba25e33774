"""Compares sorted maps on a GPU with those on the CPU, to the bit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from headrace import Context, DeviceArray, MemoryLimitError, SortedMap, UnsupportedDeviceError
from tests.index.sorted_map.map_cases import KEY_TYPES, hard_keys, random_batch

pytestmark = pytest.mark.gpu


def on_host(found: Any) -> Any:
    """Return results with arrays of NumPy."""
    if isinstance(found, (tuple, list)):
        return [on_host(part) for part in found]
    if hasattr(found, "to_numpy"):
        return found.to_numpy()
    return found.get() if hasattr(found, "get") else found


def same(ours: Any, expected: Any) -> None:
    for one, other in zip(on_host(ours), on_host(expected), strict=True):
        assert (one is None) == (other is None)
        assert one is None or np.asarray(one).tobytes() == np.asarray(other).tobytes()


def check(ours: Any, expected: Any, queries: Any) -> None:
    same(ours.find(queries), expected.find(queries))
    lows, highs = queries[: len(queries) // 2], queries[-(len(queries) // 2) :]
    same([ours.count(lows, highs)], [expected.count(lows, highs)])
    same(ours.range(lows, highs), expected.range(lows, highs))
    for inclusive in (False, True):
        same(ours.successor(queries, inclusive=inclusive), expected.successor(queries, inclusive=inclusive))
        same(ours.predecessor(queries, inclusive=inclusive), expected.predecessor(queries, inclusive=inclusive))
    for one, other in ((ours.min(), expected.min()), (ours.max(), expected.max())):
        assert repr(one) == repr(other)


@pytest.mark.parametrize("dtype", KEY_TYPES)
def test_histories(dtype: str) -> None:
    ours = SortedMap(dtype, "i8", cleanup_at=None, context=Context(device="cuda"))
    expected = SortedMap(dtype, "i8", cleanup_at=None)
    for number in range(1, 24):
        batch = random_batch(dtype, 50, 600, number)
        before = ours.snapshot(), expected.snapshot()
        ours.update(*batch)
        expected.update(*batch)
        assert ours.level_sizes == expected.level_sizes
        if number in (1, 7, 15, 22):
            queries = hard_keys(dtype, 300, 600, 1000 + number)
            check(ours.snapshot(), expected.snapshot(), queries)  # long ranges merge the levels of what is read
            check(*before, queries)
    same(ours.items(), expected.items())
    check(ours, expected, hard_keys(dtype, 300, 600, 1))
    assert len(ours) == len(expected)


@pytest.mark.parametrize("value_type", [None, "u4", "f8"])
@pytest.mark.parametrize("key_type", ["u4", "i8"])
def test_large_levels(key_type: str, value_type: str | None) -> None:
    """Levels of several coarse cuts, with long runs of equal keys, and ranges that are too long for one thread."""
    random = np.random.default_rng(7)
    maps = [SortedMap(key_type, value_type, cleanup_at=None, context=Context(device=device)) for device in ("cuda", "cpu")]
    for size, spread in ((700_000, 1 << 30), (70_000, 3), (300_000, 1 << 30), (8193, 100_000)):
        keys = random.integers(0, spread, size).astype(key_type)
        values = None if value_type is None else random.integers(1, 1 << 30, size).astype(value_type)
        deletes = random.integers(0, 5, size) == 0
        for each in maps:
            each.update(keys, values, deletes)
            each.snapshot()  # so that the next batch is a level of its own
    queries = random.integers(0, 1 << 30, 20_000).astype(key_type)
    same(maps[0].find(queries), maps[1].find(queries))
    highs = queries + np.array(5000, key_type)  # short ranges by a guide: of up to a few dozen keys
    snapshots = [each.snapshot() for each in maps]
    same([snapshots[0].count(queries, highs)], [snapshots[1].count(queries, highs)])
    same(snapshots[0].range(queries, highs), snapshots[1].range(queries, highs))
    short = queries > 200_000  # one walk counts and copies ranges if all are short
    same(snapshots[0].range(queries[short], highs[short]), snapshots[1].range(queries[short], highs[short]))
    lows = np.sort(queries)[:200]
    for width in (1 << 12, 1 << 26):
        snapshots = [each.snapshot() for each in maps]
        same(
            snapshots[0].range(lows, lows + np.array(width, key_type)), snapshots[1].range(lows, lows + np.array(width, key_type))
        )
    same(maps[0].items(), maps[1].items())


@pytest.mark.parametrize("key_type", ["u4", "f8"])
def test_searches_that_merge_levels(key_type: str) -> None:
    """A few searches merge some levels, many all; keys, ranges and neighbours stay the same."""
    maps = [SortedMap(key_type, "i8", cleanup_at=1e9, context=Context(device=device)) for device in ("cuda", "cpu")]
    for number, size in enumerate((40_000, 18_000, 9_000, 4_100, 700)):
        batch = random_batch(key_type, size, 100_000, number)
        for each in maps:
            each.update(*batch)
            each.snapshot()  # so that the next batch is a level of its own
    counts = set()
    for count in (300, 4_000, 20_000, 200_000):
        queries = hard_keys(key_type, count, 100_000, count)
        same(maps[0].find(queries), maps[1].find(queries))
        counts.add(len(maps[0].level_sizes))
        check(maps[0].snapshot(), maps[1].snapshot(), queries[:300])
    assert {1, 5} <= counts
    same(maps[0].items(), maps[1].items())


@pytest.mark.parametrize("value_type", [None, "u4", "f8"])
def test_a_cleanup_frees_the_memory_of_stale_items(value_type: str | None) -> None:
    """Pairs of levels that are half stale or more are copied to memory of their size."""
    for batches in (2, 9):
        maps = [SortedMap("u4", value_type, cleanup_at=None, context=Context(device=each)) for each in ("cuda", "cpu")]
        keys = np.random.default_rng(batches).permutation(50_000).astype("u4")
        for each in maps:
            for number in range(batches):
                each.insert(keys, None if value_type is None else (keys + np.uint32(number)).astype(value_type))
                each.snapshot()
            each.cleanup()
        same(maps[0].items(), maps[1].items())
        (level,) = maps[0]._levels.levels  # its memory
        assert level.codes.owner.buffer.nbytes < level.nbytes + 1024


@pytest.mark.parametrize(("length", "values"), [(100, True), (4096, True), (4096, False)])
def test_updates_without_reads(length: int, values: bool) -> None:
    """Batches that wait for one sort, in two streams; launches are repeated for 4,096 keys. Arrays change after each call."""
    torch = pytest.importorskip("torch", reason="a peer")
    random, other = np.random.default_rng(length), torch.cuda.Stream()
    maps = [SortedMap("u4", "u4" if values else None, cleanup_at=None, context=Context(device=each)) for each in ("cuda", "cpu")]
    for number in range(1, 200):
        keys = random.integers(0, 20_000, length).astype("u4")
        batch = (keys, keys + np.uint32(number)) if values else (keys,)
        stream = other if number % 50 > 40 else torch.cuda.current_stream()
        stream.wait_stream(torch.cuda.default_stream())
        with torch.cuda.stream(stream):
            given = [torch.from_numpy(items).cuda() for items in batch]
            maps[0].insert(*given)
            for items in given:
                items.zero_()
        torch.cuda.default_stream().wait_stream(stream)
        maps[1].insert(*batch)
        for each in maps:
            if number % 60 == 0:
                each.erase(keys[: length // 2])
            if number % 11 == 0:
                each.update(*batch, deletes=keys % 3 == 0)
        if number % 30 == 7:
            queries = random.integers(0, 25_000, 3000).astype("u4")
            same(maps[0].find(queries), maps[1].find(queries))
    same(maps[0].items(), maps[1].items())


def test_threads_with_their_own_streams() -> None:
    """Each batch gives all keys one value, so a read that saw a part of a batch would see two values."""
    torch = pytest.importorskip("torch", reason="a peer")
    count, done = 20_000, threading.Event()
    found = SortedMap("i4", "i4", cleanup_at=2, context=Context(device="cuda"))
    keys = torch.randperm(count, device="cuda").int()
    found.insert(keys, torch.zeros_like(keys))
    torch.cuda.synchronize()

    def write() -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for number in range(1, 100):
                    found.insert(keys, torch.full_like(keys, number))
        finally:
            done.set()

    def read() -> None:
        latest = 0
        with torch.cuda.stream(torch.cuda.Stream()):
            while not done.is_set():
                items = torch.from_dlpack(found.snapshot().items().values)
                for values in (found.find(keys).values, found.range(keys.new_zeros(1), keys.new_full((1,), count)).values, items):
                    least, largest = values.min().item(), values.max().item()
                    assert len(values) == count and least == largest
                    if values is not items:  # which is older
                        assert least >= latest
                        latest = least

    with ThreadPoolExecutor(4) as pool:
        for ended in [pool.submit(work) for work in (read, read, read, write)]:
            ended.result(timeout=60)
    assert len(found) == count


def test_arrays_of_other_libraries() -> None:
    torch, cupy = pytest.importorskip("torch", reason="a peer"), pytest.importorskip("cupy", reason="a peer")
    keys = np.random.default_rng(1).permutation(5000)
    for module, make in ((torch, lambda items: torch.as_tensor(items, device="cuda")), (cupy, cupy.asarray)):
        found = SortedMap("i8", "i8")
        found.insert(make(keys), make(keys * 2))
        found.erase(make(keys[:100]))
        values, mask = found.find(make(keys[50:150]))
        assert type(values).__module__.partition(".")[0] == module.__name__
        assert values.tolist() == [0] * 50 + (keys[100:150] * 2).tolist()
        assert mask.tolist() == [False] * 50 + [True] * 50
        assert isinstance(found.items().keys, DeviceArray)
        with pytest.raises(UnsupportedDeviceError, match="the map lies on cuda"):
            found.find(keys)


def test_exhausted_memory_leaves_the_map_intact() -> None:
    found = SortedMap("u8", "u8", context=Context(device="cuda", memory_limit=1 << 20))
    found.insert(np.arange(10_000, dtype="u8"), np.arange(10_000, dtype="u8"))
    sizes = found.level_sizes
    with pytest.raises(MemoryLimitError):
        found.insert(np.arange(1_000_000, dtype="u8"), np.arange(1_000_000, dtype="u8"))
    assert found.level_sizes == sizes
    assert found.find([0, 9_999]).mask.to_numpy().all()
