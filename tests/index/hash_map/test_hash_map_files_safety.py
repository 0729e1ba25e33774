"""Saves hash maps to Arrow files, and loads files that are wrong; copies maps; sets seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headrace import Context, HashMap, HashMultiMap, HashSet, MemoryLimitError, OptionError, SortedMap
from tests.index.hash_map.hash_map_cases import PAIRS, numbers_of


def bytes_of(table: Any) -> list[bytes]:
    """Return the items of a map or set."""
    found = table.items()
    return [part.tobytes() for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize(("key", "value"), PAIRS)
def test_saved_maps_are_loaded(key: str, value: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    random, path = np.random.default_rng(1), tmp_path / "map.arrow"
    keys, values = numbers_of(key, random, 3000, span=100_000), numbers_of(value, random, 3000)
    for table in (HashMap(key, value, seed=5), HashMultiMap(key, value), HashSet(key, seed=2**64 - 1)):
        columns = (keys,) if isinstance(table, HashSet) else (keys, values)
        type(table).save(table, path)
        assert len(type(table).load(path)) == 0
        type(table).insert(table, *columns)  # type: ignore[arg-type]
        table.save(path)
        again = type(table).load(path, context=Context(threads=2))
        assert bytes_of(again) == bytes_of(table)
        assert repr(again) == repr(table)
        again.save(tmp_path / "again.arrow")
        assert (tmp_path / "again.arrow").read_bytes() == path.read_bytes()


def test_files_that_are_wrong(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    path = tmp_path / "map.arrow"
    with pytest.raises(OSError, match=r"map\.arrow"):
        HashMap.load(path)
    path.write_bytes(b"no file")
    with pytest.raises(OptionError, match="is no Arrow file"):
        HashMap.load(path)
    ordered = SortedMap("i8")
    ordered.insert([1])
    ordered.save(path)
    with pytest.raises(OptionError, match=r"is no file of HashSet\.save"):
        HashSet.load(path)
    several = HashMultiMap("int64", "int64")
    several.insert([1, 1], [2, 3])
    several.save(path)
    with pytest.raises(OptionError, match=r"was written by HashMultiMap\.save: load it by headrace\.HashMultiMap\.load"):
        HashMap.load(path)
    with arrow.OSFile(str(path), "rb") as source:
        table = arrow.ipc.open_file(source).read_all()
    for words, message in (
        ("HashMap <i8 <i8 0", "has equal keys"),
        ("HashMap <i8 <i8 -1", "a description that no map has written: HashMap <i8 <i8 -1"),
        ("HashMap", "a description that no map has written"),
        ("HashMap <i8 <i4 0", "values are of type int64, and the map has int32"),
        ("HashMap <i8 <i3 0", "value_type"),
    ):
        renamed = table.replace_schema_metadata({"headrace.hash_map": words})
        with arrow.OSFile(str(path), "wb") as sink, arrow.ipc.new_file(sink, renamed.schema) as writer:
            writer.write_table(renamed)
        with pytest.raises(OptionError, match=message):
            HashMap.load(path)


def test_snapshots_do_not_change() -> None:
    random = np.random.default_rng(2)
    table, several = HashMap("int64", "float64", seed=9), HashMultiMap("int32", "int64")
    for _ in range(10):
        keys, values = random.integers(0, 500, 300), random.standard_normal(300)
        copies = table.snapshot(), several.snapshot()
        before = bytes_of(table), bytes_of(several)
        table.upsert(keys, values, reduce="sum")
        several.insert(keys.astype("i4"), keys)
        table.erase(keys[:90])
        several.erase_all(keys[:30].astype("i4"))
        assert (bytes_of(copies[0]), bytes_of(copies[1])) == before
        after = bytes_of(table), bytes_of(several)
        copies[0].clear()
        copies[1].insert(keys.astype("i4"), keys)
        assert (bytes_of(table), bytes_of(several)) == after
    keys_alone = HashSet("int32")
    keys_alone.insert([1, -1])
    assert keys_alone.snapshot().items().tolist() == [-1, 1]


def test_a_snapshot_without_memory() -> None:
    table = HashMap("int64", "int64", context=Context(memory_limit=800_000))
    table.insert(np.arange(20_000), np.arange(20_000))
    before = bytes_of(table)
    with pytest.raises(MemoryLimitError):
        table.snapshot()
    assert bytes_of(table) == before


@pytest.mark.parametrize("key", ["int32", "int64"])
def test_answers_do_not_depend_on_the_seed(key: str) -> None:
    random = np.random.default_rng(3)
    keys, values = numbers_of(key, random, 5000, span=3000), np.arange(5000)
    results = []
    for seed in (0, 1, 2**63 + 5):
        table, several = HashMap(key, "int64", seed=seed), HashMultiMap(key, "int64", seed=seed)
        several.insert(keys, values)
        added = table.upsert(keys, values, reduce="sum"), table.erase(keys[::7]).tobytes(), table.find(keys).values.tobytes()
        results.append((added, bytes_of(table), bytes_of(several), several.find_all(keys).values.tobytes()))
    assert results[0] == results[1] == results[2]
    with pytest.raises(OptionError, match="seed"):
        HashMap("int32", "int32", seed=-1)
