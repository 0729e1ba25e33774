"""Hash maps, sets and multimaps with keys of several columns, by hand."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headrace import HashMap, HashMultiMap, HashSet, read_csv

SALES = {"year": "int32", "item": "string"}


def test_a_map_by_two_columns() -> None:
    sales = HashMap(SALES, "float64")
    assert sales.insert([(2024, "pear"), (-1, "fig"), (2024, "fig"), (2024, "pear")], [1.0, 2.0, 3.0, 4.0]) == 3
    found = sales.find([(2024, "pear"), (-1, "pear")])
    assert (found.values.tolist(), found.found.tolist()) == ([4.0, 0.0], [True, False])
    keys, values = sales.items()
    assert (keys["year"].tolist(), keys["item"].to_pylist(), values.tolist()) == (
        [-1, 2024, 2024],
        ["fig", "fig", "pear"],
        [2, 3, 4],
    )
    assert keys["year"].dtype == np.int32
    assert sales.insert(keys, values) == 0
    assert ((2024, "fig") in sales, (2023, "fig") in sales) == (True, False)
    assert sales.erase([(-1, "fig"), (-1, "fig")]).tolist() == [True, False]
    steps = sales.apply(["sum", "find"], [(2024, "fig"), (2024, "fig")], [0.5, 0.0])
    assert steps.values.tolist() == [3.0, 3.5]
    assert sales.key_type == {"year": "<i4", "item": "string"}
    assert repr(sales) == "<headrace.HashMap (year int32, item string, float64) on cpu, 2 pairs>"
    sales.clear()
    assert (sales.items().keys["year"].tolist(), sales.items().keys["item"].to_pylist()) == ([], [])
    assert sales.find([]).values.tolist() == []


def test_texts_that_join_alike_are_different_keys() -> None:
    pairs = [("a", "bc"), ("ab", "c"), ("", "abc"), ("a\0", ""), ("a", "\0"), ("a\0b", ""), ("\0\0", "\0"), ("\0", "\0\0")]
    seen = HashSet({"one": str, "two": str})
    assert seen.insert(pairs) == len(pairs)
    keys = seen.items()
    assert list(zip(keys["one"].to_pylist(), keys["two"].to_pylist(), strict=True)) == sorted(pairs)


def test_keys_are_ascending_in_the_order_of_each_type() -> None:
    days = [datetime(1999, 1, 1), datetime(2024, 1, 1)]
    rows = [(x, n, day) for x in (-float("inf"), -2.0, -0.0, 0.0, 1.5) for n in (0, 2**63, 2**64 - 1) for day in days]
    seen = HashSet({"x": "float32", "n": "uint64", "day": "timestamp[us]"})
    assert seen.insert([rows[i] for i in np.random.default_rng(1).permutation(len(rows))]) == len(rows)
    keys = seen.items()
    assert list(zip(keys["x"].tolist(), keys["n"].tolist(), keys["day"].tolist(), strict=True)) == rows
    assert np.signbit(keys["x"]).tolist() == [str(row[0])[0] == "-" for row in rows]


def test_a_multimap_by_two_columns() -> None:
    rows = HashMultiMap(SALES, "int64")
    rows.insert([(1, "b"), (1, "a"), (1, "b")], [5, 1, 2])
    assert rows.find_all([(1, "b"), (2, "b"), (1, "a")]).values.tolist() == [2, 5, 1]
    assert rows.count((1, "b")).tolist() == [2]
    assert rows.erase_all([(1, "b")]).tolist() == [2]
    assert (rows.items().keys["item"].to_pylist(), rows.items().values.tolist()) == (["a"], [1])


def test_keys_of_each_kind_of_container() -> None:
    table = read_csv(b"item,price,year\nfig,1,2023\npear,2,2024\n", dtypes={"item": "string", "year": "int32"})
    plain = {"year": np.array([2023, 2024], "<i4"), "item": ["fig", "pear"]}
    given: list[Any] = [table, plain, np.array([(2023, "fig"), (2024, "pear")], [("year", "<i4"), ("item", "U4")])]
    pandas, polars = pytest.importorskip("pandas", reason="frames"), pytest.importorskip("polars", reason="frames")
    arrow = pytest.importorskip("pyarrow", reason="tables of PyArrow")
    given += [pandas.DataFrame(plain), polars.DataFrame(plain), arrow.table(plain)]
    given += [read_csv(b"item,year\nfig,2023\npear,2024\n", dtypes={"item": "dictionary", "year": "int32"})]
    for keys in given:
        sales = HashMap(SALES, "int64")
        assert sales.insert(keys, [1, 2]) == 2
        assert sales.find([(2024, "pear"), (2023, "fig")]).values.tolist() == [2, 1]


def test_copies_and_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    table = HashMap({"item": "string", "at": "datetime64[m]", "a b": "float64"}, "int64")
    table.insert([("b", datetime(2024, 1, 1), 0.5), ("a", datetime(2023, 1, 1), -0.0)], [2, 1])
    before = table.snapshot()
    table.compact()
    table.insert([("c", datetime(2024, 1, 1), 0.5)], [3])
    assert (len(before), len(table)) == (2, 3)
    table.save(tmp_path / "map.arrow")
    again = HashMap.load(tmp_path / "map.arrow")
    assert again.key_type == table.key_type == {"item": "string", "at": "<M8[m]", "a b": "<f8"}
    for name, column in table.items().keys.items():
        assert list(again.items().keys[name]) == list(column)
    assert again.items().values.tolist() == [1, 2, 3]
    seen = HashSet({"value": "int32"})
    seen.insert([(4,), (-4,)])
    seen.save(tmp_path / "set.arrow")
    assert HashSet.load(tmp_path / "set.arrow").items()["value"].tolist() == [-4, 4]
