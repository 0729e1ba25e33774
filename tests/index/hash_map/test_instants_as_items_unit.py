"""Hash maps, sets and multimaps whose keys and values are instants and durations."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import HashMap, HashMultiMap, HashSet, OptionError, SortedMap

TEXT = b"at,on\n2024-01-31 10:00:00,2024-01-31\n2024-01-30 10:00:00,2024-01-30\n2024-01-31 10:00:00,2024-01-31\n"
TEN = datetime.datetime(2024, 1, 31, 10)


@pytest.mark.parametrize(
    "key_type",
    ["timestamp[us]", "datetime64[us]", "<M8[us]", np.dtype("M8[us]"), pa.timestamp("us"), pl.Datetime("us"), "column"],
)
def test_columns_of_timestamps_are_keys(key_type: Any) -> None:
    at = headrace.read_csv(TEXT)["at"]
    table = HashMap(at.type if key_type == "column" else key_type, "int64")
    assert table.upsert(at, [1, 10, 100], reduce="sum") == 2
    keys, values = table.items()
    assert keys.dtype == "M8[us]"
    assert keys.tolist() == [TEN - datetime.timedelta(days=1), TEN]
    assert values.tolist() == [10, 101]
    assert table.find(["2024-01-31T10:00", TEN, datetime.date(2024, 1, 31)]).values.tolist() == [101, 101, 0]
    assert TEN in table
    assert table.erase(at[1:2]).tolist() == [True]
    assert repr(table) == "<headrace.HashMap (datetime64[us], int64) on cpu, 1 pairs>"


def test_dates_and_series_and_empty_lists() -> None:
    days = HashSet("date32")
    assert days.insert(headrace.read_csv(TEXT)["on"]) == 2
    assert days.items().tolist() == [datetime.date(2024, 1, 30), datetime.date(2024, 1, 31)]
    assert days.insert([]) == 0
    assert days.insert(np.array(["2024-02-01", "NaT"], "M8[D]")) == 2
    assert days.items().astype(str).tolist() == ["NaT", "2024-01-30", "2024-01-31", "2024-02-01"]
    times = HashSet("datetime64[ns]")
    series = pd.Series(pd.to_datetime(["2024-01-31", "2024-01-30"])).astype("datetime64[ns]")
    assert times.insert(series) == 2
    assert times.contains(pl.Series(series.to_numpy())).tolist() == [True, True]


def test_values_are_the_last_instants() -> None:
    seen = HashMap("int32", "timestamp[s]")
    seen.upsert([7, 7, 8], np.array(["2024-01-02", "2024-01-01", "1969-12-31"], "M8[s]"), reduce="max")
    found = seen.find([7, 8, 9])
    assert found.values.astype(str).tolist() == ["2024-01-02T00:00:00", "1969-12-31T00:00:00", "1970-01-01T00:00:00"]
    assert found.found.tolist() == [True, True, False]
    spent = HashMap("int32", "duration[ms]")
    spent.upsert([1, 1], [datetime.timedelta(seconds=2), datetime.timedelta(milliseconds=-5)], reduce="sum")
    assert spent.items().values.tolist() == [datetime.timedelta(milliseconds=1995)]


def test_multimaps_order_values_by_time() -> None:
    visits = HashMultiMap("int32", "datetime64[D]")
    visits.insert([1, 1, 2], np.array(["2024-01-02", "1969-12-31", "2024-01-01"], "M8[D]"))
    assert visits.find_all([1]).values.astype(str).tolist() == ["1969-12-31", "2024-01-02"]
    assert visits.erase([1]).tolist() == [True]
    assert visits.items().values.astype(str).tolist() == ["2024-01-02", "2024-01-01"]


@pytest.mark.parametrize("unit", ["h", "D", "s", "us"])
def test_files_keep_the_types(tmp_path: Path, unit: str) -> None:
    table = HashMap(f"datetime64[{unit}]", f"timedelta64[{unit}]")
    table.insert(np.array([3, -1], f"M8[{unit}]"), np.array([5, 6], f"m8[{unit}]"))
    table.save(tmp_path / "map.arrow")
    keys, values = HashMap.load(tmp_path / "map.arrow").items()
    assert (keys.dtype, values.dtype) == (f"M8[{unit}]", f"m8[{unit}]")
    assert (keys.view("i8").tolist(), values.view("i8").tolist()) == ([-1, 3], [6, 5])


@pytest.mark.parametrize("unit", ["h", "D", "s", "us"])
def test_files_keep_nat(tmp_path: Path, unit: str) -> None:
    items, path = np.array(["NaT", 3], f"m8[{unit}]"), tmp_path / "map.arrow"
    table = HashMap({"at": f"datetime64[{unit}]", "for": f"timedelta64[{unit}]"}, f"timedelta64[{unit}]")
    table.insert({"at": items.view(f"M8[{unit}]"), "for": items}, items)
    table.save(path)
    keys, values = HashMap.load(path).items()
    assert (keys["at"].dtype, keys["for"].dtype, values.dtype) == (f"M8[{unit}]", f"m8[{unit}]", f"m8[{unit}]")
    assert [found.astype(str).tolist()[0] for found in (keys["at"], keys["for"], values)] == ["NaT"] * 3
    ordered = SortedMap(f"datetime64[{unit}]", f"timedelta64[{unit}]")
    ordered.insert(items.view(f"M8[{unit}]"), items)
    ordered.save(path)
    keys, values = SortedMap.load(path).items()
    assert (keys.view("i8").tolist(), values.view("i8").tolist()) == ([3, -(1 << 63)], [3, -(1 << 63)])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (np.zeros(1, "M8[ns]"), r"keys are of type datetime64\[ns\], and the map has datetime64\[us\]"),
        (np.zeros(1, "i8"), r"keys are of type int64, and the map has datetime64\[us\]"),
        ([datetime.datetime(2024, 1, 31, tzinfo=datetime.UTC)], "keys have a time zone"),
        (["yesterday"], "keys have texts other than dates and times"),
        ([datetime.timedelta(1)], "which the map has"),
        ([1], "which the map has"),
        (np.zeros((1, 1), "M8[us]"), "keys must be an array of one dimension"),
    ],
    ids=str,
)
def test_other_items_are_errors(keys: Any, message: str) -> None:
    table = HashSet("timestamp[us]")
    with pytest.raises(OptionError, match=message):
        table.insert(keys)
    assert len(table) == 0


@pytest.mark.parametrize("key_type", ["datetime64", "timedelta64", "M8[", "decimal128(5, 2)", "binary", None])
def test_types_that_no_map_has(key_type: Any) -> None:
    with pytest.raises(OptionError, match="key_type"):
        HashSet(key_type)
