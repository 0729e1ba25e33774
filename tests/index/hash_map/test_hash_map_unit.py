"""Shows the results of small batches on hash maps, sets and multimaps, written by hand."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import headrace
from headrace import HashMap, HashMultiMap, HashSet, OptionError


def test_the_last_of_equal_keys_wins() -> None:
    table = HashMap("int32", "int32")
    assert table.insert([4, 4, 9], [1, 2, 3]) == 2
    assert table.find([9, 4, 5]).values.tolist() == [3, 2, 0]
    assert table.insert([4], [7]) == 0
    assert table.replace([4, 5, 4], [8, 8, 9]).tolist() == [True, False, True]
    assert table.items().keys.tolist() == [4, 9]
    assert table.items().values.tolist() == [9, 3]


@pytest.mark.parametrize(("reduce", "expected"), [("first", 5), ("last", 7), ("sum", 15), ("min", 3), ("max", 7)])
def test_reductions(reduce: str, expected: int) -> None:
    table = HashMap("int64", "int32")
    table.insert([1], [5])
    assert table.upsert([1, 1], [3, 7], reduce=reduce) == 0
    assert table.find([1]).values.tolist() == [expected]


def test_sums_are_modulo_their_bits() -> None:
    table = HashMap("int32", "uint32")
    table.upsert([1, 1], np.array([2**32 - 1, 3], np.uint32), reduce="sum")
    assert table.find([1]).values.tolist() == [2]


def test_keys_are_equal_if_their_bits_are() -> None:
    table = HashMap("float64", "int32")
    assert table.insert([0.0, -0.0, np.nan, np.nan], [1, 2, 3, 4]) == 3
    assert table.find([-0.0, 0.0, np.nan]).values.tolist() == [2, 1, 4]


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "int64", "float32"])
def test_the_key_of_all_ones_is_a_key_as_others(dtype: str) -> None:
    ones = np.full(1, 0xFF, np.uint8).repeat(np.dtype(dtype).itemsize).view(dtype)
    table = HashMap(dtype, "int64")
    assert not table.contains(ones)[0]
    assert table.insert(ones, [5]) == 1
    assert table.find(ones).values.tolist() == [5]
    assert len(table) == 1
    assert table.erase(ones).tolist() == [True]
    assert len(table) == 0
    several = HashMultiMap(dtype, "int32")
    several.insert(ones.repeat(3), [2, 1, 2])
    assert several.find_all(ones).values.tolist() == [1, 2, 2]


def test_sets_and_their_memory() -> None:
    table = HashSet("int64")
    assert table.statistics().nbytes == 0
    assert table.insert(range(1000)) == 1000
    assert table.items().tolist() == list(range(1000))
    full = table.statistics()
    assert (full.size, full.nbytes) == (1000, full.capacity // 15 * (15 * 8 + 16))  # 15 slots have 16 bytes of tags
    assert full.utilisation == 8000 / full.nbytes
    table.erase(range(10, 1000))
    table.compact()
    assert table.statistics().nbytes < full.nbytes
    assert table.contains([9, 10]).tolist() == [True, False]
    table.clear()
    assert (len(table), table.statistics().nbytes) == (0, 0)


def test_multimaps_erase_the_smallest_value() -> None:
    table = HashMultiMap("int32", "float32")
    table.insert([1, 1, 1, 2], [3.0, -1.0, 2.0, 5.0])
    assert table.erase([1, 2, 2]).tolist() == [True, True, False]
    assert table.find_all([1, 2]).values.tolist() == [2.0, 3.0]
    assert table.erase_all([1, 1]).tolist() == [2, 0]
    assert len(table) == 0


def test_names_of_maps() -> None:
    assert repr(HashMap("int32", float)) == "<headrace.HashMap (int32, float64) on cpu, 0 pairs>"
    assert repr(HashSet("uint64")) == "<headrace.HashSet (uint64) on cpu, 0 keys>"
    assert repr(HashMultiMap(np.int64, "float32")) == "<headrace.HashMultiMap (int64, float32) on cpu, 0 pairs>"


def test_arrays_of_torch() -> None:
    torch = pytest.importorskip("torch")
    table = HashMap("int64", "float32")
    table.insert(torch.tensor([3, 1]), torch.tensor([0.5, 0.25]))
    found = table.find(torch.tensor([1, 2]))
    assert torch.equal(found.values, torch.tensor([0.25, 0.0]))
    assert found.found.tolist() == [True, False]


def test_one_key_is_looked_up_by_in() -> None:
    prices, keys, rows = headrace.HashMap("int64", "float64"), headrace.HashSet("int32"), headrace.HashMultiMap("int32", "int64")
    prices.insert([7, 3], [1.5, 2.0])
    keys.insert([7])
    rows.insert([7, 7], [0, 1])
    for found in (prices, keys, rows):
        assert 7 in found
        assert np.int32(4) not in found
        with pytest.raises(OptionError, match="key must be one key; contains takes arrays"):
            _ = [7] in found


def test_single_items_are_taken_as_arrays_of_one() -> None:
    prices, rows = headrace.HashMap("int64", "float64"), headrace.HashMultiMap("int32", "datetime64[D]")
    assert (prices.key_type, prices.value_type, headrace.HashSet("uint32").value_type) == ("<i8", "<f8", None)
    assert prices.insert(7, 1.5) == 1
    assert prices.insert(np.int64(8), np.float64(2.5)) == 1
    assert prices.find(7).values.tolist() == [1.5]
    assert prices.contains(np.int64(9)).tolist() == [False]
    rows.insert(1, "2026-11-27")
    assert rows.find_all(1).values.tolist() == [datetime.date(2026, 11, 27)]
    for wrong in (True, "7", 1.5):
        with pytest.raises(OptionError, match="key"):
            prices.find(wrong)


def test_lists_of_all_integers_that_a_type_has() -> None:
    for name, numbers in (("uint64", [2**64 - 1, 5, 2**63 + 1]), ("int64", [2**63 - 1, -(2**63), 2**53 + 1])):
        seen = headrace.HashSet(name)
        seen.insert(numbers)
        assert seen.items().tolist() == sorted(numbers)
        for wrong in (2**64, -(2**63) - 1):
            with pytest.raises(OptionError, match=f"keys has items that {name} does not have"):
                seen.contains([wrong])


def test_keys_of_several_columns_are_refused_with_what_to_use() -> None:
    with pytest.raises(OptionError, match="keys of several columns: a mapping from names to types"):
        headrace.HashMap(["string", "int64"], "int64")


@pytest.mark.parametrize(
    ("thing", "name", "advice"),
    [
        (headrace.HashMap("int64", "int64"), "get", r"map\.find\(keys\)"),
        (headrace.HashMap("int64", "int64"), "keys", r"map\.items\(\)\.keys"),
        (headrace.HashSet("int64"), "add", r"map\.insert\(keys\)"),
        (headrace.HashMultiMap("int64", "int64"), "get", r"map\.find_all\(keys\)"),
        (headrace.SortedMap("int64"), "irange", r"map\.range\(lows, highs\)"),
        (headrace.SortedMap("int64"), "compact", r"map\.cleanup\(\)"),
        (headrace.HashMap("int64", "int64"), "flush", r"map\.compact\(\)"),
        (headrace.HashMap("int64", "int64"), "nbytes", r"map\.statistics\(\)"),
        (headrace.HashMap("int64", "int64"), "find_all", r"headrace\.HashMultiMap"),
        (headrace.HashSet("int64"), "copy", r"map\.snapshot\(\)"),
        (headrace.HashMultiMap("int64", "int64"), "find", r"map\.find_all\(keys\)"),
        (headrace.Store(schema={"a": "int64"}), "to_pandas", r"store\.table\(\)\.to_pandas"),
    ],
)
def test_names_of_dictionaries_say_what_to_use(thing: object, name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=f"has no {name}: use {advice}"):
        getattr(thing, name)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        thing.no_such_name  # type: ignore[attr-defined]  # noqa: B018
