"""Replays random histories on maps of a GPU and of the CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import Context, HashMap, HashMultiMap, HashSet, MemoryLimitError, OptionError
from headrace.arrays.device_array import DeviceArray
from headrace.index.hash_map.device_map import DeviceMap
from headrace.index.hash_map.gpu.tuning import SLAB_TUNING
from tests.index.hash_map.hash_map_cases import MULTI_NAMES, NAMES, PAIRS, History, MapOracle, MultiMapOracle, bits_of, numbers_of

pytestmark = pytest.mark.gpu

BATCHES = (1, 31, 1000, 100_000)


def on_host(items: Any) -> NDArray[Any]:
    """Return an array of a GPU as one of NumPy."""
    return items if isinstance(items, np.ndarray) else items.to_numpy()


def check_same(one: HashMap, other: HashMap, keys: NDArray[Any]) -> None:
    """Compare all answers of two maps."""
    for ours, expected in zip(one.find(keys), other.find(keys), strict=True):
        assert on_host(ours).tobytes() == expected.tobytes()
    for ours, expected in zip(one.items(), other.items(), strict=True):
        assert on_host(ours).tobytes() == expected.tobytes()
    assert len(one) == len(other)


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_map_histories(key: str, value: str) -> None:
    random = np.random.default_rng(9)
    one, other = HashMap(key, value, context=Context(device="cuda")), HashMap(key, value)
    reductions = ["last", "first", "sum", "min", "max"]
    for step in range(14):
        count = int(random.choice(BATCHES))
        keys, values = numbers_of(key, random, count, span=60_000), numbers_of(value, random, count)
        reduce = reductions[step % len(reductions)]
        assert one.upsert(keys, values, reduce=reduce) == other.upsert(keys, values, reduce=reduce)
        assert on_host(one.replace(keys[::3], values[::3])).tolist() == other.replace(keys[::3], values[::3]).tolist()
        assert on_host(one.erase(keys[::4])).tolist() == other.erase(keys[::4]).tolist()
        check_same(one, other, keys)
    one.compact()
    check_same(one, other, keys)
    one.clear()
    assert len(one) == 0
    assert not on_host(one.contains(keys)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduce", ["sum", "min", "max"])
def test_floats_are_reduced_in_order(reduce: str, dtype: str) -> None:
    """Sums have the bits of additions one by one. One key has a third of all rows."""
    random = np.random.default_rng(11)
    one, sums = HashMap("int64", dtype, context=Context(device="cuda")), dict[int, Any]()
    for count in (1000, 200_000, 777):
        keys, values = random.integers(0, 5000, count), (random.standard_normal(count) * 1e3).astype(dtype)
        keys[random.random(count) < 0.3] = 17
        one.upsert(keys, values, reduce=reduce)
        for key, value in zip(keys.tolist(), values, strict=True):
            held = sums.get(key, value)
            sums[key] = (
                value if key not in sums else held + value if reduce == "sum" else getattr(np, f"{reduce}imum")(held, value)
            )
    found = [on_host(part) for part in one.items()]
    assert found[0].tolist() == sorted(sums)
    assert found[1].tobytes() == np.array([sums[key] for key in sorted(sums)], dtype).tobytes()


@pytest.mark.parametrize("key", ["uint32", "int64"])
def test_set_histories(key: str) -> None:
    random = np.random.default_rng(10)
    one, other = HashSet(key, context=Context(device="cuda")), HashSet(key)
    for _ in range(8):
        keys = numbers_of(key, random, int(random.choice(BATCHES)), span=60_000)
        assert one.insert(keys) == other.insert(keys)
        assert on_host(one.erase(keys[::4])).tolist() == other.erase(keys[::4]).tolist()
        assert on_host(one.contains(keys)).tolist() == other.contains(keys).tolist()
    assert bits_of(on_host(one.items())) == bits_of(other.items())


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_multimap_histories(key: str, value: str) -> None:
    random = np.random.default_rng(12)
    one, other = HashMultiMap(key, value, context=Context(device="cuda")), HashMultiMap(key, value)
    for step in range(6):
        count = int(random.choice(BATCHES))
        keys, values = numbers_of(key, random, count, span=3000), numbers_of(value, random, count)
        one.insert(keys, values)
        other.insert(keys, values)
        if step % 2:
            few = keys[: count // 3 + 1]
            assert on_host(one.erase_all(few)).tolist() == other.erase_all(few).tolist()
        else:
            few = keys[: count // 3 + 1]
            assert on_host(one.erase(few)).tolist() == other.erase(few).tolist()
        some = keys[:500]
        for ours, expected in zip(one.find_all(some), other.find_all(some), strict=True):
            assert on_host(ours).tobytes() == expected.tobytes()
        assert on_host(one.count(keys)).tolist() == other.count(keys).tolist()
        assert on_host(one.contains(keys)).tolist() == other.contains(keys).tolist()
        assert (len(one), one.key_count) == (len(other), other.key_count)
    one.compact()
    for ours, expected in zip(one.items(), other.items(), strict=True):
        assert on_host(ours).tobytes() == expected.tobytes()
    one.clear()
    assert len(one) == 0
    assert on_host(one.find_all(keys[:1]).offsets).tolist() == [0, 0]


def test_one_key_with_many_values() -> None:
    one = HashMultiMap("int32", "int64", context=Context(device="cuda"))
    one.insert(np.zeros(300_000, "i4"), np.arange(300_000)[::-1])
    assert on_host(one.find_all([0]).values).tolist() == list(range(300_000))
    assert on_host(one.erase_all([0, 0])).tolist() == [300_000, 0]


@pytest.mark.parametrize("order", ["sequential", "any"])
@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_mixed_operations(key: str, value: str, order: str) -> None:
    random = np.random.default_rng(13)
    one, oracle = HashMap(key, value, context=Context(device="cuda"), seed=random.integers(0, 1 << 62)), MapOracle()
    for count in (1, 31, 1000, 30_000):
        keys, values = numbers_of(key, random, count, span=5000), numbers_of(value, random, count)
        kinds = random.integers(0, len(NAMES), count).astype(np.uint8)
        names = [NAMES[kind] for kind in kinds]
        before = dict(oracle.pairs)
        given = kinds if count > 31 else DeviceArray.from_host(kinds, "cuda")
        found = one.apply(given, keys, values, order=order)
        held, flags = bits_of(on_host(found.values)), on_host(found.found).tolist()
        items = [bits_of(on_host(part)) for part in one.items()]
        after = list(zip(*items, strict=True))
        if order == "sequential":
            assert (held, flags) == oracle.apply(names, keys, values)
        else:
            History(names, keys, values, held, flags).check_linearised(before, after)
            bits = np.array(items[1], f"u{values.itemsize}").view(values.dtype)
            oracle.pairs = dict(zip(items[0], bits, strict=True))
        assert sorted(after) == oracle.items(value)


@pytest.mark.parametrize("order", ["sequential", "any"])
@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_an_unknown_operation_changes_nothing(order: str, place: str) -> None:
    context = Context(device="cuda")
    keys, kinds = np.arange(1000, dtype="i4"), np.full(1000, 1, np.uint8)
    table, seen = HashMap("int32", "int32", context=context), HashSet("int32", context=context)
    for wrong, message in (
        (10, "has the number 10; those of headrace.MapOperation"),
        (5, "has 'sum', which a set does not have"),
    ):
        kinds[777] = wrong
        given = kinds if place == "cpu" else DeviceArray.from_host(kinds, "cuda")
        with pytest.raises(OptionError, match=message):
            seen.apply(given, keys, order=order)
        if wrong == 10:
            with pytest.raises(OptionError, match=message):
                table.apply(given, keys, keys, order=order)
    assert len(table) == len(seen) == 0


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_mixed_operations_on_multimaps(key: str, value: str) -> None:
    random = np.random.default_rng(15)
    one, oracle = HashMultiMap(key, value, context=Context(device="cuda")), MultiMapOracle()
    for count in (1, 31, 1000, 30_000, 0):
        keys, values = numbers_of(key, random, count, span=5000), numbers_of(value, random, count)
        names = random.choice(MULTI_NAMES, count).tolist()
        firsts, counts = map(on_host, one.apply(names, keys, values, order=str(random.choice(["sequential", "any"]))))
        assert (bits_of(firsts), counts.tolist()) == oracle.apply(names, keys, values)
        items = [bits_of(on_host(part)) for part in one.items()]
        assert sorted(zip(*items, strict=True)) == oracle.pairs(value)
        assert len(one) == len(items[0])


def test_snapshots_and_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    one = HashMap("int64", "int32", context=Context(device="cuda"), seed=99)
    keys = np.arange(50_000)
    one.insert(keys, keys.astype("i4"))
    before = one.snapshot()
    one.erase(keys[::2])
    assert (len(before), len(one)) == (50_000, 25_000)
    assert on_host(before.contains(keys)).all()
    one.save(tmp_path / "map.arrow")
    check_same(one, HashMap.load(tmp_path / "map.arrow"), keys)
    again = HashMap.load(tmp_path / "map.arrow", context=Context(device="cuda"))
    check_same(again, HashMap.load(tmp_path / "map.arrow"), keys)


def test_many_keys_and_few() -> None:
    """Millions of distinct keys, then millions of rows of few keys: the most and the least contention."""
    random = np.random.default_rng(11)
    one, other = HashMap("int64", "int64", context=Context(device="cuda")), HashMap("int64", "int64")
    keys, values = random.permutation(2_000_000) * 7919, np.arange(2_000_000)
    assert one.insert(keys, values) == other.insert(keys, values) == 2_000_000
    check_same(one, other, keys)
    few = keys[:3][random.integers(0, 3, 1_000_000)]
    for reduce in ("last", "sum", "max", "first"):
        assert one.upsert(few, values[:1_000_000], reduce=reduce) == 0
        other.upsert(few, values[:1_000_000], reduce=reduce)
        check_same(one, other, keys[:1000])
    statistics = one.statistics()
    assert statistics.slabs is not None
    assert statistics.max_chain is not None
    assert statistics.max_chain < 20


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_large_first_batches(key: str, value: str) -> None:
    """Lists are built from the batch, except for the last one, in which most rows have one key."""
    random = np.random.default_rng(14)
    tuning = replace(SLAB_TUNING, build=replace(SLAB_TUNING.build, min_rows=1 << 17))
    reductions = ["last", "first", "sum", "min", "max"] if value[0] != "f" else ["last", "first"]
    for number, reduce in enumerate([*reductions, "last"]):
        one, other = HashMap(key, value, context=Context(device="cuda")), HashMap(key, value)
        one._backend = DeviceMap(one._types, one._context, 0, tuning)
        count = 1 << 18 | 77 * number
        keys, values = numbers_of(key, random, count, span=1 << (16, 18, 30)[number % 3]), numbers_of(value, random, count)
        if number == len(reductions):
            keys[count // 3 :] = keys[0]
        assert one.upsert(keys, values, reduce=reduce) == other.upsert(keys, values, reduce=reduce)
        check_same(one, other, keys)
        one.insert(keys[:9] + keys[9:18], values[:9])  # grows by moved lists later
        other.insert(keys[:9] + keys[9:18], values[:9])
        more = numbers_of(key, random, count, span=1 << 30)
        assert one.upsert(more, values, reduce="first") == other.upsert(more, values, reduce="first")
        check_same(one, other, keys)


@pytest.mark.parametrize("bits", [8, 12])
@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_ordered_batches(key: str, value: str, bits: int) -> None:
    """From the second batch on, the passes that order the rows are replayed."""
    random = np.random.default_rng(bits)
    tuning = replace(SLAB_TUNING, order_bits=bits, order_rows=1 << 16, order_slabs=1)
    one, other = HashMap(key, value, context=Context(device="cuda")), HashMap(key, value)
    one._backend = DeviceMap(one._types, one._context, 0, tuning)
    reductions = ["last", "first", "sum", "min", "last"] if value[0] != "f" else ["last", "first", "last", "first"]
    for number, reduce in enumerate(reductions):
        keys, values = numbers_of(key, random, 1 << 17, span=1 << (14, 17, 30)[number % 3]), numbers_of(value, random, 1 << 17)
        assert one.upsert(keys, values, reduce=reduce) == other.upsert(keys, values, reduce=reduce)
        check_same(one, other, keys)


def test_growth_in_steps() -> None:
    """A map of 380,000 keys begins to grow at a load of 0.72, and takes several batches for it."""
    random = np.random.default_rng(17)
    one, other = HashMap("int32", "uint32", context=Context(device="cuda")), HashMap("int32", "uint32")
    capacities = set()
    for step in range(48):
        keys, values = random.integers(0, 10**8, (2, 3000 if step else 380_000)).astype("i4")
        values = values.view("u4")
        assert one.insert(keys, values) == other.insert(keys, values)
        assert on_host(one.erase(keys[::9])).tolist() == other.erase(keys[::9]).tolist()
        assert on_host(one.replace(keys[::5], values[1::5])).tolist() == other.replace(keys[::5], values[1::5]).tolist()
        capacities.add(one.statistics().capacity)
    check_same(one, other, keys)
    first, second = sorted(capacities)
    assert second == 2 * first


def test_calls_in_turns_on_several_streams() -> None:
    """The map's work moves between the default stream, a stream of the caller, and the GPU's own stream."""
    torch = pytest.importorskip("torch")
    one, count = HashMap("int32", "int32", context=Context(device="cuda")), 3000
    numbers = np.arange(count, dtype="i4")
    on_card = torch.arange(count, dtype=torch.int32, device="cuda")
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.default_stream())
    for step in range(12):
        keys = on_card + count * step
        assert one.insert(keys, on_card) == count  # default stream
        found = one.find(numbers + np.int32(count * step))  # own stream
        assert on_host(found.values).tobytes() == numbers.tobytes()
        with torch.cuda.stream(other):
            later = on_card + count * step
            assert one.find(later).found.all()
            assert one.insert(later[:1000], on_card[:1000] + step) == 0
        assert one.find(keys).values[:1000].tolist() == (numbers[:1000] + step).tolist()
        assert one.insert(keys[:700], on_card[:700]) == 0
    assert len(one.snapshot()) == len(one) == 12 * count


def test_memory_limit() -> None:
    one = HashMap("int32", "int32", context=Context(device="cuda", memory_limit=4_000_000))
    keys = np.arange(5_000_000, dtype="i4")
    one.insert(keys[:10_000], keys[:10_000])
    with pytest.raises(MemoryLimitError):
        one.insert(keys, keys + 1)
    assert len(one) == 10_000
    assert (on_host(one.find(keys[:10_000]).values) == keys[:10_000]).all()


def test_refused_calls() -> None:
    one = HashMap("int32", "float32", context=Context(device="cuda"))
    torch = pytest.importorskip("torch")
    with pytest.raises(OptionError, match="arrays lie on cuda and cpu"):
        HashMap("int32", "int32").find(torch.zeros(3, dtype=torch.int32, device="cuda"))
    found = one.find(torch.zeros(3, dtype=torch.int32, device="cuda"))
    assert found.values.device.type == "cuda"
    assert found.found.tolist() == [False] * 3


def test_instants_and_durations() -> None:
    random = np.random.default_rng(12)
    keys, values = random.integers(-500, 500, 5000).astype("M8[us]"), random.integers(-9, 9, 5000).astype("m8[ms]")
    one, other = (HashMap("timestamp[us]", "duration[ms]", context=Context(device=device)) for device in ("cuda", "cpu"))
    for reduce in ("last", "sum", "min", "max"):
        assert one.upsert(keys, values, reduce=reduce) == other.upsert(keys, values, reduce=reduce)
        check_same(one, other, keys)
    assert on_host(one.items().keys).dtype == "M8[us]"
    several, expected = (HashMultiMap("date32", "timestamp[us]", context=Context(device=device)) for device in ("cuda", "cpu"))
    days = keys.astype("i8").astype("M8[D]")
    for table in (several, expected):
        table.insert(days, keys)
        table.erase_all(days[:9])
    for ours, theirs in zip(several.find_all(days), expected.find_all(days), strict=True):
        assert on_host(ours).tolist() == theirs.tolist()
