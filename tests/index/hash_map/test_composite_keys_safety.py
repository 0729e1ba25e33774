"""Passes wrong keys and files to maps with keys of several columns, and exhausts their memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headrace import Context, HashMap, HashSet, MemoryLimitError, OptionError, read_csv


def test_wrong_types() -> None:
    for wrong in ({}, {1: "int32"}, {"a": "int16"}, {"a": {"b": "int32"}}, {"a": None}):
        with pytest.raises(OptionError, match="key_type"):
            HashSet(wrong)
    with pytest.raises(OptionError, match="value_type"):
        HashMap("int32", {"a": "int32"})


def test_wrong_keys() -> None:
    table = HashMap({"n": "int32", "text": "string"}, "int64")
    table.insert([(1, "a")], [1])
    for wrong in (7, "a", None, [1, 2], [(1,)], [(1, "a", 2)], (1,), ["ab"], {"n": [1]}, np.arange(3), [[1, "a"]], {1}):
        with pytest.raises(OptionError, match="keys"):
            table.find(wrong)
    for rows, message in (
        ([(1, 2)], r"keys\['text'\] must be a text"),
        ([(1.5, "a")], r"keys\['n'\] has items that int32 does not have"),
        ([(1, None)], r"keys\['text'\] must be"),
        ([(1, "\ud800")], r"keys\['text'\] has a text that is not valid Unicode"),
        ({"n": [1, 2], "text": ["a"]}, r"keys\['text'\] has 1 items, and keys\['n'\] has 2"),
        ({"n": np.arange(2), "text": ["a", "b"]}, r"keys\['n'\] are of type int64, and the map has int32"),
        (read_csv(b"n,text\n1,a\n,b\n", dtypes={"n": "int32"}), "null"),
        (read_csv(b"n,text\n1,a\n2,\n", dtypes={"n": "int32", "text": "string"}, null_values=[""]), "nulls"),
        (read_csv(b"n,other\n1,a\n", dtypes={"n": "int32"}), "text"),
    ):
        with pytest.raises(OptionError, match=message):
            table.find(rows)
    assert table.items().values.tolist() == [1]


def test_refused_memory_changes_nothing() -> None:
    table = HashMap({"n": "int32", "text": "string"}, "int64", context=Context(memory_limit=200_000))
    table.insert([(1, "a")], [1])
    before = table.statistics().nbytes
    for _ in range(3):
        with pytest.raises(MemoryLimitError):
            table.insert([(number, str(number)) for number in range(20_000)], np.arange(20_000))
        assert (len(table), (1, "a") in table, (5, "5") in table) == (1, True, False)
    assert table.statistics().nbytes < 200_000 >= before
    assert table.insert([(2, "b")], [2]) == 1


def test_files_that_are_wrong(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Arrow files need PyArrow")
    path = tmp_path / "map.arrow"
    for columns, types, message in (
        ({"key.a": [1, 2]}, "<i4,<i4", "1 columns of keys have 2 types"),
        ({"key.a": [1, 2], "key.b": ["a", "b"]}, "<i8,<i8", "which no map has"),
        ({"key.a": [1, 1], "key.b": ["a", "a"]}, "<i8,string", "equal keys"),
        ({"key.a": [1, 2], "other": ["a", "b"]}, "<i8,string", "it has the columns key.a, other, value"),
        ({"key.a": [1, 2], "key.b": ["a", None]}, "<i8,string", "nulls"),
        ({"key.a": [1, 2]}, "nothing", "key_type"),
        ({}, "", "it has the columns value"),
    ):
        content = arrow.table({**columns, "value": [1, 2]}).replace_schema_metadata(
            {b"headrace.hash_map": f"HashMap {types} <i8 0".encode()}
        )
        with arrow.ipc.new_file(str(path), content.schema) as writer:
            writer.write_table(content)
        with pytest.raises(OptionError, match=message):
            HashMap.load(path)
