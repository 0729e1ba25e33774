"""Passes wrong keys to maps of texts, exhausts their memory, and changes one in several threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet, MemoryLimitError, OptionError, UnsupportedDeviceError, read_csv
from headrace.index.hash_map.text_map import NumberedPairs, TextMap


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
    assert table.insert(["c"], [3]) == 1
    assert table.items().values.tolist() == [1, 2, 3]


def test_refused_updates_leave_no_texts() -> None:
    """Texts that are numbered before the map of numbers refuses its part take the space of later ones otherwise."""
    names = HashMap("string", "float64", context=Context(memory_limit=600_000))
    names.insert(["first"], [0])
    refused = 0
    for begin in range(0, 400_000, 400):
        try:
            names.insert([f"{number:x}" for number in range(begin, begin + 400)], np.ones(400))
        except MemoryLimitError:
            refused += 1
    assert refused > 900
    size = len(names)
    assert size == 1 + 400 * (1000 - refused)
    names.erase(names.items().keys)
    names.compact()
    again = HashMap("string", "float64", context=Context(memory_limit=600_000))
    again.insert([f"{number:x}" for number in range(size - 1)], np.ones(size - 1))
    assert names.statistics().nbytes < again.statistics().nbytes


def test_compact_without_memory_for_a_second_map() -> None:
    table = HashMap("string", "int64", context=Context(memory_limit=2_100_000))
    keys = [f"{number:0200}" for number in range(2800)]
    table.insert(keys, np.arange(2800))
    full = table.statistics().nbytes
    assert full > 600_000
    gone = keys[::20]
    table.erase(gone)
    table.compact()
    assert table.statistics().nbytes < full - 15_000
    assert table.find(keys).values.tolist() == [0 if number % 20 == 0 else number for number in range(2800)]
    assert table.insert(gone[:9], np.arange(9)) == 9
    assert table.items().keys.to_pylist() == sorted([*gone[:9], *(key for key in keys if key not in gone)])


def test_items_while_compact_removes_texts() -> None:
    texts = [f"a text of more bytes with number {number}" for number in range(3000)]
    first = HashMap("string", "int64")
    first.insert(texts, range(3000))
    table = HashMap("string", "int64", context=Context(memory_limit=first.statistics().nbytes * 5 // 4))  # no second map
    table.insert(texts, range(3000))
    stop, interval = threading.Event(), sys.getswitchinterval()

    def read() -> None:
        while not stop.is_set():
            keys, values = table.items()
            assert keys.to_pylist() == sorted(texts[number] for number in values.tolist())

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as pool:
            reads = [pool.submit(read) for _ in range(2)]
            for _ in range(200):
                table.erase(texts[10:])
                table.compact()
                table.insert(texts, range(3000))
            stop.set()
            for one in reads:
                one.result()
    finally:
        stop.set()
        sys.setswitchinterval(interval)


def test_a_forked_child_changes_a_map_that_a_thread_was_changing() -> None:
    program = """
import os, sys, threading
from headrace import HashMap
table = HashMap("string", "int64")
table.insert(["a"], [1])
held, go_on = threading.Event(), threading.Event()
def hold():
    with table._backend._lock:
        held.set()
        go_on.wait(60)
thread = threading.Thread(target=hold)
thread.start()
held.wait(60)
child = os.fork()
if child == 0:
    table.insert(["b"], [2])
    os._exit(0 if table.find(["a", "b"]).values.tolist() == [1, 2] else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
go_on.set()
thread.join()
sys.exit(code)
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=False).returncode == 0


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


def test_clear_frees_memory_before_it_allocates() -> None:
    """There may be no memory for two maps."""
    steps: list[str] = []

    def make() -> Any:
        steps.append("allocate")
        return NumberedPairs(cast("Any", None), cast("Any", SimpleNamespace(clear=lambda: steps.append("free"))))

    TextMap(make).clear()
    assert steps == ["allocate", "free", "allocate"]
