"""Passes wrong keys to maps of texts, exhausts their memory, and changes one in several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet, MemoryLimitError, OptionError, UnsupportedDeviceError, read_csv


def test_wrong_keys() -> None:
    table = HashMap("string", "int64")
    table.insert(["a"], [1])
    for wrong in ([1], ["a", None], [b"a"], 7, np.arange(3), {"a": 1}):
        with pytest.raises(OptionError, match="keys"):
            table.find(wrong)
    with pytest.raises(OptionError, match="not valid Unicode"):
        table.insert(["\ud800"], [1])
    with pytest.raises(OptionError, match="keys are of type int64, and the map has texts"):
        table.find(read_csv(b"key\n1\n")["key"])
    with pytest.raises(OptionError, match="keys has nulls"):
        table.find(read_csv(b"key,n\n,1\nb,2\n", dtypes={"key": "string"}, null_values=[""])["key"])
    with pytest.raises(OptionError, match="values has 1 items for 2 keys"):
        table.insert(["a", "b"], [1])
    with pytest.raises(OptionError, match="key"):
        ["a"] in table  # noqa: B015
    with pytest.raises(OptionError, match="keys"):
        HashMap("int64", "int64").find(["a"])
    with pytest.raises(OptionError, match="value_type"):
        HashMap("int64", "string")
    with pytest.raises(UnsupportedDeviceError, match="kernels cannot use"):
        table.device_ref()
    assert table.items().keys.to_pylist() == ["a"]


def test_refused_memory_changes_nothing() -> None:
    table = HashMap("string", "int64", context=Context(memory_limit=200_000))
    table.insert(["a", "b"], [1, 2])
    for keys in ([str(number) for number in range(50_000)], ["x" * 300_000]):
        with pytest.raises(MemoryLimitError):
            table.insert(keys, np.arange(len(keys)))
        assert table.items().keys.to_pylist() == ["a", "b"]
        assert not table.contains(keys).any()
    table.compact()  # frees the texts that were numbered
    assert table.insert(["c"], [3]) == 1
    assert table.items().values.tolist() == [1, 2, 3]


def test_memory_of_erased_texts_is_freed() -> None:
    table = HashSet("string")
    table.insert([f"{number:0100}" for number in range(5000)])
    full = table.statistics().nbytes
    assert full > 500_000
    table.erase([f"{number:0100}" for number in range(1, 5000)])
    table.compact()
    assert table.statistics().nbytes < full / 20
    assert table.items().to_pylist() == [f"{0:0100}"]
    table.clear()
    assert table.statistics().nbytes == 0


def test_files_that_are_wrong(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    path = tmp_path / "map.arrow"
    described = {b"headrace.hash_map": b"HashMap string <i8 0"}
    for keys, message in (([1, 2], "keys are of type int64"), (["a", "a"], "equal keys"), (["a", None], "nulls")):
        content = arrow.table({"key": keys, "value": [1, 2]}).replace_schema_metadata(described)
        with arrow.ipc.new_file(str(path), content.schema) as writer:
            writer.write_table(content)
        with pytest.raises(OptionError, match=message):
            HashMap.load(path)
    table = HashMultiMap("string", "int64")
    table.insert(["a", "a"], [1, 1])
    table.save(path)
    assert HashMultiMap.load(path).count(["a"]).tolist() == [2]
    with pytest.raises(OptionError, match=r"was written by HashMultiMap\.save"):
        HashMap.load(path)


def test_threads_share_a_map() -> None:
    """Sums of several threads are all there, while another one compacts the map, which numbers its texts anew."""
    table = HashMap("string", "int64", context=Context(threads=1))
    keys = [f"key {number}" for number in range(400)]

    def add(thread: int) -> None:
        for _ in range(20):
            table.upsert(keys[thread * 50 :], [1] * len(keys[thread * 50 :]), reduce="sum")
            assert table.find(keys[200:]).found.all()

    def compact(_: int) -> None:
        for _ in range(20):
            table.erase(["absent"])
            table.compact()

    with ThreadPoolExecutor(5) as pool:
        for done in [*[pool.submit(add, thread) for thread in range(4)], pool.submit(compact, 0)]:
            done.result()
    assert table.find(keys).values.tolist() == [20 * (1 + min(number // 50, 3)) for number in range(400)]


@pytest.mark.gpu
def test_maps_of_texts_on_a_gpu_are_refused_with_what_to_use() -> None:
    context = Context(device="cuda")
    for make in (lambda: HashMap("string", "int64", context=context), lambda: HashMultiMap("string", "int64", context=context)):
        with pytest.raises(UnsupportedDeviceError, match=r"rows by texts on a GPU: Table\.lookup"):
            make()
