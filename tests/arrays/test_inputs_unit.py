"""Tests conversions of arguments to arrays."""

from __future__ import annotations

import datetime
import subprocess
import sys
from array import array
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import OptionError
from headrace.arrays.arrays import CPU, plain_array
from headrace.arrays.inputs import named_type, plain, wider_type

pd = pytest.importorskip("pandas", reason="pandas is optional")
pl = pytest.importorskip("polars", reason="Polars is optional")
pa = pytest.importorskip("pyarrow", reason="PyArrow is optional")


def test_items_at_odd_addresses_are_copied() -> None:
    """Compilers may read several items at once from addresses that they take for aligned."""
    keys = np.frombuffer(b"?" + np.arange(9, dtype="i8").tobytes(), np.uint8)[1:].view("i8")
    assert not keys.flags.aligned
    assert plain_array(keys, "<i8", CPU) is None
    assert plain(keys).flags.aligned
    assert plain(keys).tolist() == headrace.sort(keys).tolist() == list(range(9))
    one = headrace.HashMap("int64", "int64")
    one.insert(keys, keys)
    assert one.find(keys).values.tolist() == list(range(9))


@pytest.mark.parametrize(
    "keys",
    [
        [3, 1, 2], (3, 1, 2), np.array([3, 0, 1, 0, 2])[::2], np.array([2, 1, 3])[::-1], np.array([3, 1, 2], ">i8"),
        pd.Series([3, 1, 2]), pd.Series([3, 1, 2], dtype="Int64"), pd.Series([3, 1, 2], dtype="int32[pyarrow]"),
        pd.Index([3, 1, 2]),
        pl.Series([3, 1, 2]), pa.array([3, 1, 2]), pa.chunked_array([[3], [1, 2]]),
        array("q", [3, 1, 2]), memoryview(array("i", [3, 1, 2])), memoryview(array("d", [3, 0, 1, 0, 2]))[::2],
    ],
    ids=lambda keys: type(keys).__module__ + str(getattr(keys, "dtype", "")),
)  # fmt: skip
def test_forms_of_one_array(keys: object) -> None:
    assert headrace.sort(keys).tolist() == [1, 2, 3]
    assert headrace.argsort(keys).tolist() == [1, 2, 0]
    assert headrace.reduce(keys, "max").tolist() == [3]
    assert headrace.scan(keys).tolist() == [3, 4, 6]
    assert headrace.select(keys, [True, False, True]).tolist() == [3, 2]
    assert headrace.top_k(keys, 1).keys.tolist() == [3]
    assert headrace.unique(keys).tolist() == [1, 2, 3]
    assert not headrace.is_sorted(keys)


@pytest.mark.parametrize(
    "keys",
    [[1, None], pd.Series([1, None], dtype="Int64"), pl.Series([1, None]), pa.array([1, None])],
    ids=lambda keys: str(type(keys)),
)
def test_nulls_are_refused(keys: object) -> None:
    for call in (headrace.sort, headrace.unique, headrace.reduce, headrace.histogram):
        with pytest.raises(OptionError, match="has nulls; fill them or drop them first"):
            call(keys)


def test_spellings_of_types() -> None:
    for dtype in (np.int32, "int32", "i4", "<i4", np.dtype(">i4"), pa.int32(), pl.Int32):
        assert named_type(dtype) == "int32"
    assert [named_type(each) for each in (float, bool, pa.float64(), pl.Float32, pa.float32())] == [
        "float64", "bool", "float64", "float32", "float32",
    ]  # fmt: skip
    for dtype in ("word", "U3", None, 7):
        with pytest.raises(OptionError, match="dtype must be a type of numbers"):
            named_type(dtype)
    assert wider_type(np.zeros(1, "u8"), np.zeros(1, "i8")) == "float64" and wider_type(np.zeros(1), np.zeros(1)) is None


def test_kinds_and_types_of_sums() -> None:
    assert headrace.argsort([3, 1], kind="quicksort", dtype=np.uint32).dtype == np.uint32
    assert headrace.sort([3, 1], kind="stable", stable=None).tolist() == [1, 3]
    with pytest.raises(OptionError, match="unknown kind"):
        headrace.sort([3, 1], kind="bogosort")
    assert headrace.reduce(np.array([200, 100], "u1")).tolist() == [300]
    assert headrace.reduce(np.full(10, 0.1, "f4"), dtype="float64").dtype == np.float64
    assert headrace.reduce(np.full(5000, 1, "f2")).tolist() == [5000] and headrace.scan(np.ones(3, "f2")).dtype == np.float16
    assert headrace.reduce(np.array([3, -4], "i1"), "min").dtype == np.int8
    assert headrace.cumulative_sum(np.array([2**31 - 1, 1], "i4")).tolist() == [2**31 - 1, 2**31]
    assert headrace.cumsum([[1, 2], [3, 4]], axis=0).tolist() == [[1, 2], [4, 6]]


@pytest.mark.parametrize(
    "shape", [(3, 2000), pytest.param((3, 20_000), marks=pytest.mark.long), (70, 3), (0, 4), (4, 0), (2, 3, 4)], ids=str
)
def test_lines(shape: tuple[int, ...]) -> None:
    grid = np.random.default_rng(1).standard_normal(shape).astype("f4")
    for axis in (None, *range(-len(shape), len(shape))):
        np.testing.assert_array_equal(headrace.sort(grid, axis), np.sort(grid, axis))
        np.testing.assert_array_equal(headrace.argsort(grid, axis), np.argsort(grid, axis, kind="stable"))
        if axis is not None and shape[axis] > 1:
            top = headrace.top_k(grid, 2, axis=axis)
            np.testing.assert_array_equal(top.keys, np.flip(np.sort(grid, axis), axis).take([0, 1], axis))
            np.testing.assert_array_equal(np.take_along_axis(grid, top.indices, axis), top.keys)
    with pytest.raises(OptionError, match="axis must be an integer from"):
        headrace.sort(grid, len(shape))


@pytest.mark.parametrize(
    "call", [headrace.sort, headrace.unique, headrace.cumsum, headrace.reduce, headrace.HashSet("int64").insert]
)
def test_tables_and_columns_that_are_no_array(call: Any) -> None:
    for table in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})):
        with pytest.raises(OptionError, match="is a table, a DataFrame; pass one of its columns"):
            call(table)
    with pytest.raises(OptionError, match=r"string; .* can be"):
        call(headrace.read_csv(b"a\nx\n")["a"])


def test_columns_with_nulls() -> None:
    column = headrace.read_csv(b"a,b\n1,\n,2\n")["a"]
    for call in (headrace.unique, headrace.cumsum, headrace.HashSet("int64").insert, headrace.SortedMap("int64").insert):
        with pytest.raises(OptionError, match="has nulls; fill them or drop them first"):
            call(column)


def test_instants_of_pandas_with_a_zone_are_those_of_polars() -> None:
    texts = ["2024-01-02T03:00:00+01:00", "2024-01-01T03:00:00+01:00"]
    of_pandas = pd.to_datetime(pd.Series(texts)).dt.as_unit("us")
    of_polars = pl.Series(texts).str.to_datetime(time_unit="us")
    assert headrace.sort(of_pandas).tolist() == headrace.sort(of_polars).tolist()
    with_a_null = pd.concat([of_pandas, pd.Series([pd.NaT], dtype=of_pandas.dtype)])
    assert headrace.sort(with_a_null).tolist()[-1] is None


def test_lists_of_dates_and_times_of_python() -> None:
    days = [datetime.date(2024, 1, 2), datetime.date(2023, 1, 1), datetime.date(2024, 1, 2)]
    assert headrace.unique(days).tolist() == [days[1], days[0]]
    assert headrace.argsort(tuple(days)).tolist() == [1, 0, 2]
    times = [datetime.datetime(2024, 1, 2, 3), datetime.datetime(2024, 1, 2)]
    assert headrace.sort(times).tolist() == times[::-1]
    at = headrace.read_csv(b"at\n2024-01-02 00:00:00\n2024-01-03 00:00:00\n")["at"]
    assert headrace.searchsorted(at, times).tolist() == [1, 0]
    assert headrace.sort([datetime.timedelta(2), datetime.timedelta(1)]).tolist() == [
        datetime.timedelta(1),
        datetime.timedelta(2),
    ]
    exact = headrace.sort([pd.Timestamp(5), pd.Timestamp(1)])
    assert exact.view("i8").tolist() == [1, 5]
    with pytest.raises(OptionError, match="have a time zone; pass instants in UTC without one"):
        headrace.sort([datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)])
    for wrong in ([days[0], 1], [datetime.time(1)], [days[0], "x"]):
        with pytest.raises(OptionError):
            headrace.sort(wrong)


def test_an_array_without_a_dimension() -> None:
    with pytest.raises(OptionError, match="items must have one dimension or more, not 0"):
        headrace.take(np.array(3), [0])


@pytest.mark.parametrize("name", ["at", "day", "time", "span", "flag"])
def test_columns_of_times_and_bools_are_their_arrays_of_numpy(name: str) -> None:
    text = (
        b"at,day,time,span,flag\n2024-01-31 10:00:00,2024-01-02,12:31,1 days 00:00:01,true\n"
        b"2024-01-30 10:00:00,2024-01-01,12:30,1 days 00:00:00,false\n2024-01-31 10:00:00,2024-01-02,12:31,1 days 00:00:01,true\n"
    )
    column = headrace.read_csv(text, dtypes={"time": "time32[s]"})[name]
    array = column.to_numpy()
    found, counts = headrace.unique(column, return_counts=True)
    assert found.dtype == array.dtype
    assert found.tolist() == np.unique(array).tolist()
    assert counts.tolist() == [1, 2]
    assert headrace.take(column, [2, 0]).tolist() == array[[2, 0]].tolist()
    assert headrace.searchsorted(found, column).tolist() == [1, 0, 1]
    assert headrace.select(column, [True, False, False]).tolist() == array[:1].tolist()


@pytest.mark.parametrize(
    "call",
    [
        headrace.cumsum,
        headrace.histogram,
        headrace.bucket_counts,
        lambda keys: headrace.multisplit(keys, headrace.buckets.modulo(2)),
        headrace.HashSet("int64").insert,
        headrace.SortedMap("int64").insert,
    ],
)
def test_instants_are_no_integers_and_the_error_says_how_to_pass_them(call: Any) -> None:
    column = headrace.read_csv(b"at\n2024-01-31 10:00:00\n2024-01-30 10:00:00\n")["at"]
    for keys in (column, column.to_numpy()):
        with pytest.raises(OptionError, match=r"view\('int64'\) of a NumPy array gives the integers of datetime64\[us\]"):
            call(keys)
    call(column.to_numpy().view("int64"))


def test_types_of_python_need_no_numpy() -> None:
    code = "import sys, headrace; print(headrace.HashMap('int32', float), 'numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "<headrace.HashMap (int32, float64) on cpu, 0 pairs> False\n"
