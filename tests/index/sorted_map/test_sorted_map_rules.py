"""Tests the semantics of batches: the rules of Ashkiani's section 4.3.1, and those that replace undefined cases."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace
from headrace import Context, OptionError, SortedMap


def items(found: SortedMap) -> dict[int, int]:
    keys, values = found.items()
    return dict(zip(keys.tolist(), values.tolist(), strict=True))


@pytest.fixture
def ages() -> SortedMap:
    result = SortedMap("i8", "i8", cleanup_at=None)
    result.insert([1, 2, 3], [10, 20, 30])
    return result


def test_the_newest_batch_wins(ages: SortedMap) -> None:
    ages.insert([2], [21])
    ages.insert([2, 4], [22, 40])
    assert items(ages) == {1: 10, 2: 22, 3: 30, 4: 40}


def test_the_last_of_equal_keys_in_a_batch_wins(ages: SortedMap) -> None:
    ages.insert([5, 5, 1, 5], [50, 51, 11, 52])
    assert items(ages) == {1: 11, 2: 20, 3: 30, 5: 52}


@pytest.mark.parametrize("deletes", [[True, False], [False, True]])
def test_insert_and_delete_in_one_batch_delete(ages: SortedMap, deletes: list[bool]) -> None:
    ages.update([2, 2], [21, 22], deletes=deletes)
    assert items(ages) == {1: 10, 3: 30}


def test_repeated_deletes_and_deletes_of_absent_keys(ages: SortedMap) -> None:
    ages.erase([3, 3, 7])
    ages.erase([3, 7])
    assert items(ages) == {1: 10, 2: 20}
    assert ages.find([3, 7]).mask.tolist() == [False, False]


def test_insert_after_delete(ages: SortedMap) -> None:
    ages.erase([2])
    assert 2 not in ages
    ages.insert([2], [22])
    assert items(ages) == {1: 10, 2: 22, 3: 30}


def test_ranges_include_both_ends(ages: SortedMap) -> None:
    assert ages.count([1, 2, 3, 0], [1, 3, 1, 9]).tolist() == [1, 2, 0, 3]


def test_neighbours_skip_deleted_keys() -> None:
    keys = SortedMap("u8", cleanup_at=None)
    keys.insert(np.arange(0, 100, 10, dtype="u8"))
    keys.erase(np.arange(20, 80, 10, dtype="u8"))
    assert keys.successor([10]).keys.tolist() == [80]
    assert keys.predecessor([80]).keys.tolist() == [10]
    assert keys.successor([90]).mask.tolist() == keys.predecessor([0]).mask.tolist() == [False]


def test_extreme_keys_are_keys() -> None:
    for dtype in ("u4", "i4", "u8", "i8"):
        limits = np.iinfo(dtype)
        found = SortedMap(dtype, "i8", cleanup_at=None)
        found.insert([limits.max, limits.min], [2, 1])
        found.erase([limits.max])
        assert found.max() == found.min() == (limits.min, 1)
        found.insert([limits.max], [3])
        found.cleanup()
        assert items(found) == {limits.min: 1, limits.max: 3}
        assert found.count([limits.min], [limits.max]).tolist() == [2]


def test_cleanup_of_nothing_but_tombstones(ages: SortedMap) -> None:
    ages.erase([1, 2, 3, 4])
    ages.cleanup()
    assert ages.level_sizes == ()
    assert len(ages) == 0
    assert ages.min() is ages.max() is None
    assert ages.range([0], [9]).keys.tolist() == []
    ages.insert([4], [40])
    assert items(ages) == {4: 40}


def test_cleanup_by_policy() -> None:
    found = SortedMap("i8", "i8", cleanup_at=3)
    keys = np.arange(100)
    for number in range(50):
        found.insert(keys, keys + number)
        assert sum(found.level_sizes) <= 300
    assert items(found) == {key: key + 49 for key in range(100)}


def test_cleanup_changes_no_answer(ages: SortedMap) -> None:
    ages.update([2, 5], [0, 50], deletes=[True, False])
    before = ages.find([1, 2, 3, 4, 5]), ages.range([0, 2], [9, 3])
    ages.cleanup()
    after = ages.find([1, 2, 3, 4, 5]), ages.range([0, 2], [9, 3])
    for one, other in zip(before, after, strict=True):
        assert [part.tolist() for part in one] == [part.tolist() for part in other]


def test_counts_of_many_long_ranges_merge_the_levels() -> None:
    keys = np.arange(3000, dtype="u4")
    lows, highs = np.zeros(100, "u4"), np.arange(2900, 3000, dtype="u4")
    for limit, sizes in ((None, (3000,)), (1 << 30, (100, 3000))):
        found = SortedMap("u4", cleanup_at=None, context=Context(memory_limit=limit))
        found.insert(keys)
        found.insert(keys[:100])
        assert found.count(lows[:2], highs[:2]).tolist() == [2901, 2902]
        assert found.level_sizes == (100, 3000)
        assert found.count(lows, highs).tolist() == list(range(2901, 3001))
        assert found.level_sizes == sizes


def test_snapshots_keep_their_items(ages: SortedMap) -> None:
    before = ages.snapshot()
    ages.update([1, 9], [0, 90], deletes=[True, False])
    ages.cleanup()
    assert before.items().keys.tolist() == [1, 2, 3]
    assert ages.items().keys.tolist() == [2, 3, 9]


def test_a_cleared_map_is_as_new(ages: SortedMap) -> None:
    ages.insert([8, 9], [80, 90])
    before = ages.snapshot()
    assert repr(before) == "<headrace.MapSnapshot (<i8, <i8) on cpu, 5 items in 2 levels>"
    ages.insert([7], [70])
    ages.insert([6], [60])
    assert ages.contains([9, 10]).tolist() == [True, False]
    ages.clear()
    assert (len(ages), ages.level_sizes, ages.contains([9]).tolist()) == (0, (), [False])
    assert before.contains([9]).tolist() == [True]
    ages.insert([5], [50])
    assert ages.items().values.tolist() == [50]


def test_floats_have_one_zero_and_one_nan() -> None:
    found = SortedMap("f8", "i8")
    found.insert([-0.0, np.nan, 1.5], [1, 2, 3])
    found.insert(np.array([0xFFF8000000000001], "u8").view("f8"), [5])
    assert found.find([0.0, -0.0, np.nan, -1.5]).values.tolist() == [1, 1, 5, 0]
    keys, values = found.items()
    assert keys.view("u8").tolist() == np.array([0.0, 1.5, np.nan]).view("u8").tolist()
    assert values.tolist() == [1, 3, 5]


def test_batches_of_any_size_keep_levels_few() -> None:
    found = SortedMap("u4", cleanup_at=None)
    for number in range(500):
        found.insert(np.arange(number % 37 + 1, dtype="u4"))
        sizes = found.level_sizes
        assert all(size > sum(sizes[:i]) for i, size in enumerate(sizes))


def test_maps_of_instants_take_types_of_columns_and_moments_of_python() -> None:
    at = headrace.read_csv(b"at\n2024-01-31 10:00:00\n2024-01-30 10:00:00\n")["at"]
    for key_type in (at.type, "timestamp[us]", pa.timestamp("us"), "datetime64[us]"):
        found = SortedMap(key_type)
        found.insert(at)
        assert found.items().keys.dtype == "M8[us]"
        assert found.count(["2024-01-30T10:00"], [datetime.date(2024, 1, 31)]).tolist() == [1]
        assert found.find([datetime.datetime(2024, 1, 31, 10), "2024-01-31"]).mask.tolist() == [True, False]
        assert "2024-01-30 10:00" in found
    exact = SortedMap("datetime64[ns]")
    exact.insert([pd.Timestamp("2024-01-31T10:00:00.000000001")])
    assert exact.items().keys.view("i8").tolist() == [1706695200000000001]
    spans = SortedMap("duration[s]")
    spans.insert([datetime.timedelta(hours=1), datetime.timedelta(0)])
    assert spans.items().keys.tolist() == [datetime.timedelta(0), datetime.timedelta(hours=1)]
    wrong = [
        ([datetime.datetime(2024, 1, 31, tzinfo=datetime.UTC)], "keys have a time zone; pass instants in UTC"),
        (["yesterday"], "keys have texts other than dates and times"),
        ([datetime.timedelta(1)], "which the map has"),
        ([np.datetime64("2024-01-31T10:00:00.000000001")], "which the map has"),
    ]
    for keys, message in wrong:
        with pytest.raises(OptionError, match=message):
            SortedMap("datetime64[us]").insert(keys)
    with pytest.raises(OptionError, match="key_type must be"):
        SortedMap("string")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([datetime.date(9999, 12, 31)], "which the map has"),
        (["9999-12-31"], "which the map has"),
        ([np.datetime64("9999-12-31")], "which the map has"),
        ([datetime.date(9999, 12, 31), pd.Timestamp(1)], "cannot hold"),
        ([datetime.timedelta(1), datetime.date(2024, 1, 31)], "cannot hold"),
        (["9999-12-31T00:00:00.000000001"], "keys have texts other than"),
        (["2024-13-01"], "keys have texts other than"),
        (["None"], "keys have texts other than"),
    ],
)
def test_moments_that_a_map_of_nanoseconds_cannot_hold_are_errors(keys: list[object], message: str) -> None:
    found = SortedMap("datetime64[ns]")
    with pytest.raises(OptionError, match=message):
        found.insert(keys)
    assert len(found) == 0


def test_missing_moments_are_keys_of_any_unit() -> None:
    found = SortedMap("datetime64[us]")
    found.insert([pd.NaT, datetime.date(2024, 1, 31)])
    assert found.items().keys.astype("M8[D]").astype(str).tolist() == ["2024-01-31", "NaT"]
