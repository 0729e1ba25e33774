"""Hash maps, sets and multimaps of texts, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headrace import HashMap, HashMultiMap, HashSet, read_csv


def test_a_map_of_texts() -> None:
    prices = HashMap("string", "float64")
    assert prices.insert(["pear", "fig", "pear", ""], [1.0, 2.0, 3.0, 4.0]) == 3
    found = prices.find(["pear", "plum"])
    assert (found.values.tolist(), found.found.tolist()) == ([3.0, 0.0], [True, False])
    assert prices.upsert(["fig", "plum"], [0.5, 9.0], reduce="sum") == 1
    assert prices.replace(["fig", "kiwi"], [7.0, 8.0]).tolist() == [True, False]
    assert prices.erase(["pear", "pear", "kiwi"]).tolist() == [True, False, False]
    items = prices.items()
    assert items.keys.to_pylist() == ["", "fig", "plum"]
    assert items.values.tolist() == [4.0, 7.0, 9.0]
    assert (len(prices), prices.key_type, "fig" in prices, "pear" in prices) == (3, "string", True, False)
    assert repr(prices) == "<headrace.HashMap (string, float64) on cpu, 3 pairs>"
    steps = prices.apply(["find", "insert", "sum", "erase", "find"], ["a"] * 5, [0, 1, 2, 0, 0])
    assert (steps.values.tolist(), steps.found.tolist()) == ([0, 0, 1, 3, 0], [False, False, True, True, False])
    prices.clear()
    assert (len(prices), prices.contains(["fig"]).tolist(), prices.items().keys.to_pylist()) == (0, [False], [])


def test_spellings_of_the_type() -> None:
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for spelled in (str, "str", "String", "utf8", np.dtype("U5"), arrow.string(), arrow.large_string(), polars.String):
        assert HashSet(spelled).key_type == "string"


def test_a_set_of_texts() -> None:
    seen = HashSet(str)
    assert seen.insert(["b", "ä", "b"]) == 2
    assert seen.items().to_pylist() == ["b", "ä"]
    assert seen.apply(["erase", "find", "insert"], ["b", "b", "c"]).tolist() == [True, False, False]
    assert seen.contains(["ä", "b", "c"]).tolist() == [True, False, True]


def test_a_multimap_of_texts() -> None:
    rows = HashMultiMap("string", "int64")
    rows.insert(["b", "a", "b"], [5, 1, 2])
    found = rows.find_all(["b", "c", "a"])
    assert (found.offsets.tolist(), found.values.tolist()) == ([0, 2, 2, 3], [2, 5, 1])
    assert rows.count("b").tolist() == [2]
    assert rows.erase(["b"]).tolist() == [True]
    assert (rows.items().keys.to_pylist(), rows.items().values.tolist(), rows.key_count) == (["a", "b"], [1, 5], 2)
    assert rows.apply(["insert", "count"], ["c", "c"], [4, 0]).counts.tolist() == [0, 1]
    assert rows.erase_all(["c", "b"]).tolist() == [1, 1]


def test_keys_of_each_kind_of_container() -> None:
    text = b'key\na\nlonger than a view\n""\n'
    column, *others = (read_csv(text, dtypes={"key": kind})["key"] for kind in ("string", "string_view", "dictionary"))
    given: list[Any] = [column, *others, column.to_pylist(), np.array(column.to_pylist()), np.array(column.to_pylist(), object)]
    arrow = pytest.importorskip("pyarrow", reason="arrays of PyArrow")
    given += [arrow.array(column.to_pylist()), arrow.array(column.to_pylist(), "large_string")]
    given += [arrow.array(column.to_pylist()).dictionary_encode(), arrow.array(["x", *column.to_pylist()])[1:]]
    for keys in given:
        table = HashMap("string", "int32")
        table.insert(keys, [1, 2, 3])
        assert table.find(column).values.tolist() == [1, 2, 3]
    assert HashMap("string", "int32").find("a").found.tolist() == [False]


def test_copies_and_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    table = HashMap("string", "int64")
    table.insert(["b", "a"], [2, 1])
    before = table.snapshot()
    table.insert(["c"], [3])
    assert (before.items().keys.to_pylist(), before.contains(["c"]).tolist()) == (["a", "b"], [False])
    before.insert(["d"], [4])
    assert table.find(["c", "d"]).values.tolist() == [3, 0]
    table.save(tmp_path / "map.arrow")
    again = HashMap.load(tmp_path / "map.arrow")
    assert (again.items().keys.to_pylist(), again.items().values.tolist()) == (["a", "b", "c"], [1, 2, 3])
    assert again.key_type == "string"
