"""Compares maps by texts and by rows on a GPU with those on the CPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import Context, HashMap, HashMultiMap, HashSet, MemoryLimitError, OptionError, UnsupportedDeviceError
from headrace.columns.column import Column

pytestmark = pytest.mark.gpu

CUDA = Context(device="cuda")
TYPES: dict[str, Any] = {
    "texts": "string",
    "rows": {"i": "int32", "s": "string", "x": "float64"},
    "numbers": {"i": "int32", "w": "int64"},
}


def keys_of(random: np.random.Generator, types: Any, count: int) -> Any:
    """Return texts of all lengths around a word, with bytes 0; or rows with these, zeros of both signs and large numbers."""
    numbers = random.integers(0, 900, count)
    texts = [("é\0" if number % 7 == 0 else "ab") * (number % 23) + str(number) for number in numbers.tolist()]
    if types == "string":
        return texts
    few = random.integers(-4, 4, count)
    columns = {"i": few.astype("i4"), "s": texts, "x": few * -0.0, "w": few.astype("i8") << 40}
    return {name: columns[name] for name in types}


def listed(result: Any) -> Any:
    """Return an answer in host memory as lists, whose texts show all bits of floats."""
    if isinstance(result, dict):
        return {name: listed(column) for name, column in result.items()}
    if isinstance(result, tuple):
        return [listed(part) for part in result]
    if isinstance(result, Column):
        return result.to_pylist()
    array = result.to_numpy() if hasattr(result, "to_numpy") else result
    return repr(array.tolist()) if hasattr(array, "tolist") else array


@pytest.mark.parametrize("value", ["int64", "float32"])
@pytest.mark.parametrize("name", TYPES)
def test_map_histories(name: str, value: str) -> None:
    random, types = np.random.default_rng(3), TYPES[name]
    ours, expected = HashMap(types, value, context=CUDA), HashMap(types, value)
    for step in range(14):
        keys = keys_of(random, types, int(random.choice([0, 1, 17, 300, 9000])))
        count = len(keys) if isinstance(keys, list) else len(keys["i"])
        values = random.integers(-1000, 1000, count).astype(value)
        operations = random.integers(0, 8, count).astype("u1")
        for table in (ours, expected):
            if step % 7 == 6:
                table.compact()
        calls: list[Any] = [
            lambda table: table.upsert(keys, values, reduce=("sum", "last", "min")[step % 3]),  # noqa: B023
            lambda table: table.erase(keys),  # noqa: B023
            lambda table: table.replace(keys, values),  # noqa: B023
            lambda table: table.apply(operations, keys, values),  # noqa: B023
        ]
        call = calls[(0, 3, 0, 2, 1)[step % 5]]
        assert listed(call(ours)) == listed(call(expected))
        assert listed(tuple(ours.find(keys))) == listed(tuple(expected.find(keys)))
        assert listed(ours.contains(keys)) == listed(expected.contains(keys))
        assert len(ours) == len(expected)
    assert listed(tuple(ours.items())) == listed(tuple(expected.items()))
    before = ours.snapshot()
    ours.clear()
    assert len(ours) == 0
    assert listed(tuple(before.items())) == listed(tuple(expected.items()))
    assert before.statistics().nbytes > 0


@pytest.mark.parametrize("name", TYPES)
def test_multimap_histories(name: str) -> None:
    random, types = np.random.default_rng(4), TYPES[name]
    ours, expected = HashMultiMap(types, "int64", context=CUDA), HashMultiMap(types, "int64")
    for step in range(6):
        keys, few = keys_of(random, types, 4000), keys_of(random, types, 300)
        values = random.integers(-50, 50, 4000)
        for table in (ours, expected):
            table.insert(keys, values)
            if step % 3 == 2:
                table.compact()
        assert listed(tuple(ours.find_all(few))) == listed(tuple(expected.find_all(few)))
        assert listed(ours.erase(few)) == listed(expected.erase(few))
        assert listed(ours.erase_all(few)) == listed(expected.erase_all(few))
        assert (len(ours), ours.key_count) == (len(expected), expected.key_count)
    assert listed(tuple(ours.items())) == listed(tuple(expected.items()))


@pytest.mark.parametrize("strings", ["plain", "view", "dictionary"])
def test_columns_on_the_gpu(strings: str) -> None:
    lines = [f"{number % 977},{number}" for number in range(20_000)]
    table = headrace.read_csv("\n".join(["k,n", *lines]).encode(), dtypes={"k": "string", "n": "int64"}, strings=strings)
    on_gpu, numbers = table.to("cuda"), table["n"].to_numpy()
    ours = HashMap("string", "int64", context=CUDA)
    assert ours.upsert(on_gpu["k"], numbers, reduce="min") == 977
    assert ours.find(on_gpu["k"][977:]).values.to_numpy().tolist() == (numbers[977:] % 977).tolist()
    rows = HashSet({"k": "string", "n": "int64"}, context=CUDA)
    assert rows.insert(on_gpu) == 20_000
    assert rows.contains(table).to_numpy().all()
    assert ours.items().keys.device.kind == "cuda"


def test_slices_of_columns_with_nulls() -> None:
    dtypes: Any = {"key": "string", "n": "int64"}
    table = headrace.read_csv(b"key,n\n,1\nb,2\nc,3\n,4\n", dtypes=dtypes, null_values=[""]).to("cuda")
    ours = HashMap("string", "int64", context=CUDA)
    assert ours.insert(table["key"].slice(1, 2), [2, 3]) == 2
    assert ours.contains(table["key"].slice(2, 1)).to_numpy().tolist() == [True]
    with pytest.raises(OptionError, match="keys has nulls"):
        ours.find(table["key"].slice(1, 3))


def test_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    types = {"s": "string", "at": "datetime64[m]", "x": "float64"}
    keys = {"s": ["b", "a", "b"], "at": np.array(["2024-01-01T00:01", "NaT", "2023-01-01"], "M8[m]"), "x": [-0.0, 0.0, 1.5]}
    expected = HashMap(types, "int32")
    expected.insert(keys, [1, 2, 3])
    expected.save(tmp_path / "cpu.arrow")
    ours = HashMap.load(tmp_path / "cpu.arrow", context=CUDA)
    ours.save(tmp_path / "gpu.arrow")
    again = HashMap.load(tmp_path / "gpu.arrow")
    assert listed(tuple(ours.items())) == listed(tuple(expected.items())) == listed(tuple(again.items()))


def test_refused_memory_changes_nothing() -> None:
    table = HashMap("string", "int64", context=Context(device="cuda", memory_limit=1_000_000))
    table.insert(["a", "b"], [1, 2])
    for keys in ([str(number) for number in range(50_000)], ["x" * 1_200_000]):
        with pytest.raises(MemoryLimitError):
            table.insert(keys, np.arange(len(keys)))
        assert table.items().keys.to_pylist() == ["a", "b"]
        assert table.contains(["1", "a", "50"]).to_numpy().tolist() == [False, True, False]
    assert table.insert(["c"], [3]) == 1


def test_results_do_not_take_the_memory_of_a_map() -> None:
    table = HashMap("string", "int64", context=Context(device="cuda", memory_limit=32_000_000))
    keys = [f"key {number}" for number in range(20_000)]
    table.insert(keys, np.arange(20_000))
    held = [table.items() for _ in range(150)]
    assert table.insert(["new"], [1]) == 1
    assert sorted(held[-1].keys.to_pylist()) == sorted(keys)


def test_threads_share_a_map() -> None:
    """Sums of several threads are all there, while another one compacts the map, which numbers its texts anew."""
    table = HashMap("string", "int64", context=CUDA)
    keys = [f"key {number}" for number in range(400)]

    def add(thread: int) -> None:
        for _ in range(10):
            table.upsert(keys[thread * 50 :], [1] * len(keys[thread * 50 :]), reduce="sum")
            assert table.find(keys[200:]).found.to_numpy().all()

    def compact(_: int) -> None:
        for _ in range(10):
            table.erase(["absent"])
            table.compact()

    with ThreadPoolExecutor(5) as pool:
        for done in [*[pool.submit(add, thread) for thread in range(4)], pool.submit(compact, 0)]:
            done.result()
    assert table.find(keys).values.to_numpy().tolist() == [10 * (1 + min(number // 50, 3)) for number in range(400)]


def test_errors() -> None:
    table = HashMap("string", "int64", context=CUDA)
    for wrong in ([1], ["a", None], 7):
        with pytest.raises(OptionError, match="keys"):
            table.find(wrong)
    with pytest.raises(OptionError, match="values has 1 items for 2 keys"):
        table.insert(["a", "b"], [1])
    with pytest.raises(UnsupportedDeviceError, match="kernels cannot use"):
        table.device_ref()
    on_gpu = headrace.read_csv(b"key\na\n").to("cuda")["key"]
    with pytest.raises(OptionError, match="keys are on cuda"):
        HashMap("string", "int64").find(on_gpu)
    with pytest.raises(OptionError, match=r"keys\['b'\] has 1 items"):
        HashSet({"a": "int32", "b": "string"}, context=CUDA).insert({"a": [1, 2], "b": ["x"]})
