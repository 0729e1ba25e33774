"""Uses one map in many threads, with keys that share a bucket, for long histories, and down to the last slab."""

from __future__ import annotations

import secrets
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import Context, HashMap, HashMultiMap, HashSet, MapOperation, MemoryLimitError
from tests.index.hash_map import array_history_cases
from tests.index.hash_map.history_cases import replay
from tests.index.hash_map.slab_hash_cases import UNLIMITED, FiberMap, LimitedLauncher


def keys_of_one_bucket(count: int) -> NDArray[np.uint64]:
    """Return keys whose hashes share the highest and the lowest bits, up to a carry.

    The hash is the xor of the halves of a product with the golden ratio. That of a large Fibonacci number is close to an integer.
    So multiples of the number times 2^12 have a product with 12 zeros in the low bits of both halves, and with few high bits.
    """
    return np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2971215073 << 12)


@pytest.mark.parametrize("seed", [0, 1])
def test_keys_of_one_bucket(seed: int) -> None:
    keys = keys_of_one_bucket(2000)
    table, several, alone = (
        HashMap("uint64", "int64", seed=seed),
        HashMultiMap("uint64", "int64", seed=seed),
        HashSet("uint64", seed=seed),
    )
    values = np.arange(2000)
    assert table.insert(keys, values) == alone.insert(keys) == 2000
    several.insert(keys, values)
    several.insert(keys, values)
    assert table.erase(keys[::2]).all()
    assert several.erase_all(keys[::2]).tolist() == [2] * 1000
    found = table.find(keys)
    assert (found.found == (values % 2 == 1)).all()
    assert (found.values == values * found.found).all()
    assert several.count(keys).tolist() == [0, 2] * 1000
    assert alone.contains(keys).all()
    assert not alone.contains(keys + np.uint64(1)).any()


@pytest.mark.parametrize("make", [HashMap, HashMultiMap])
def test_keys_of_one_bucket_take_no_quadratic_time(make: type[HashMap | HashMultiMap]) -> None:
    """100,000 keys of one bucket took 2,000 times as long as others before tables placed such keys by a secret."""
    count = 100_000
    chosen, others = keys_of_one_bucket(count), np.random.default_rng(3).permutation(count).astype(np.uint64)

    def seconds(keys: NDArray[np.uint64]) -> float:
        table, values, began = make("uint64", "int64"), np.arange(count), time.process_time()
        table.insert(keys[: count // 2], values[: count // 2])
        copy = table.snapshot()
        copy.insert(keys[count // 2 :], values[count // 2 :])
        assert copy.contains(keys).all()
        assert not copy.contains(keys + np.uint64(1 << 50)).any()
        copy.compact()
        assert copy.erase(keys[1:]).all()
        used = time.process_time() - began
        assert [items.tolist() for items in copy.items()] == [keys[:1].tolist(), [0]]
        return used

    assert seconds(chosen) < 30 * min(seconds(others) for _ in range(3))


def test_random_keys_are_not_placed_by_a_secret() -> None:
    """Full tables have runs of more than 16 full groups by chance. A secret would give two equal maps two inner orders."""
    count = 900_000  # the first tables are full just before that, and have 1,024 groups
    keys = np.random.default_rng(2).permutation(count).astype(np.uint64)

    def inner_order() -> bytes:
        table = HashSet("uint64", context=Context(threads=1))
        for begin in range(0, count, 100_000):
            table.insert(keys[begin : begin + 100_000])
        found, _ = table._backend.items()
        return found.owner.tobytes()

    assert inner_order() == inner_order()


def test_a_value_of_many_is_erased_in_little_time() -> None:
    """The values of a key are sorted once, not searched for the smallest one by each erasure."""
    count, random = 200_000, np.random.default_rng(5)
    values = random.integers(-1000, 1 << 40, count)
    table = HashMultiMap("int32", "int64", context=Context(threads=1))
    began = time.process_time()
    table.insert(np.full(count, 7, np.int32), values)
    assert table.erase(np.full(count // 2, 7, np.int32)).all()
    left = np.sort(values)[count // 2 :]
    given = np.repeat(np.array([MapOperation.INSERT, MapOperation.FIND, MapOperation.ERASE], np.uint8), [1, 500, 500])
    found = table.apply(given, np.full(1001, 7, np.int32), np.full(1001, -5000))
    expected = np.concatenate([[0], np.full(500, -5000), [-5000], left[:499]])
    assert found.values.tolist() == expected.tolist()
    assert (table.find_all([7]).values == left[499:]).all()
    assert time.process_time() - began < 5  # half a second; each erasure by a search takes 20 seconds and more


@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_many_threads_are_whole(threads: int) -> None:
    """Each batch adds numbers whose sum is 0, to keys that all threads use. Every snapshot has that sum."""
    table = HashMap("int32", "int64", context=Context(threads=threads))
    kinds = np.full(400, MapOperation.SUM, np.uint8)

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        for step in range(25):
            amounts = random.integers(-1000, 1000, 200)
            keys = random.integers(0, 300, 400, dtype=np.int32)
            table.apply(kinds, keys, np.concatenate([amounts, -amounts]))
            own = np.arange(5, dtype=np.int32) - 10 * (number + 1)
            assert table.apply(["insert"] * 5, own, np.zeros(5, np.int64)).found.tolist() == [step > 0] * 5
            assert table.snapshot().items().values.sum() == 0

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(8)))
    assert table.items().values.sum() == 0
    assert len(table) == 300 + 8 * 5


@pytest.mark.parametrize("operations", [30_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_random_histories(operations: int) -> None:
    assert replay(operations, seed=operations, max_batch=operations // 10) >= operations


@pytest.mark.gpu
@pytest.mark.parametrize("operations", [1_000_000])
def test_random_histories_on_a_gpu(operations: int) -> None:
    assert replay(operations, seed=operations, device="cuda") >= operations


@pytest.mark.parametrize("types", [("int64", "int64"), ("int32", "float32")])
def test_random_histories_on_arrays(types: tuple[str, str]) -> None:
    assert array_history_cases.replay(1_000_000, 20261128, types, device="cpu") >= 1_000_000


@pytest.mark.gpu
@pytest.mark.long
@pytest.mark.parametrize("types", [("int64", "int64"), ("int32", "float32")])
def test_long_random_histories_on_a_gpu(types: tuple[str, str]) -> None:
    """Two halves of 10^8 operations."""
    pytest.importorskip("cupy")
    seed = secrets.randbits(62)
    sys.stdout.write(f"seed {seed}\n")
    assert array_history_cases.replay(50_000_000, seed, types, device="cuda") >= 50_000_000


@pytest.mark.fibers
@pytest.mark.parametrize("order", ["sequential", "any"])
def test_the_last_slab(order: str) -> None:
    """Two free slabs are used, and a third one is refused: nothing has changed then, and no slab is lost."""
    launcher = LimitedLauncher("random", 9)
    table = FiberMap.of((8, 8), launcher, UNLIMITED)
    bitmap = np.full(table.map.memory.bitmaps.nbytes // 4, 0xFFFFFFFF, np.uint32)
    bitmap[[3, 31]] = 0xFFFFFFEF, 0x7FFFFFFF
    bitmap[-1] = 0  # not all blocks are known to be full
    launcher.put(bitmap, table.map.memory.bitmaps)
    launcher.max_bytes = table.map.nbytes // 2
    keys = np.arange(22)
    kinds = np.full(22, MapOperation.INSERT, np.uint8)
    assert table.apply(kinds[:14], keys[:14], keys[:14].astype("u8"), order)[1] == [False] * 14
    before = table.items()
    assert table.map.chains(launcher) == (3, 2)  # the first slabs of both buckets, and one more
    with pytest.raises(MemoryLimitError):
        table.apply(kinds, keys, keys.astype("u8") + np.uint64(7), order)
    assert table.items() == before
    assert table.apply(kinds[:21], keys[:21], keys[:21].astype("u8"), order)[1] == [True] * 14 + [False] * 7
    assert table.map.chains(launcher) == (4, 3)
    launcher.max_bytes = 1 << 30
    assert table.apply(kinds, keys, keys.astype("u8"), order)[1] == [True] * 21 + [False]
    assert table.items() == [(key, key) for key in range(22)]
