"""Tests the order of columns with nulls and bools by the GPU's kernels under the fiber harness, against the sorts of the CPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headrace
from headrace.arrange.gather.moved_items import RowNumbers
from headrace.arrange.gather.take import take_rows
from headrace.arrange.gather.take_gpu import Taker
from headrace.arrange.sort.arguments import INDEX_TYPES, KeysOptions
from headrace.arrange.sort.column_sort import code_of
from headrace.arrange.sort.gpu.column_sort import ColumnSorter
from headrace.arrange.sort.gpu.null_partition import RowClasses
from headrace.arrange.sort.gpu.row_tuning import NullPartitionTuning
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.columns.column import Column
from headrace.core.errors import OptionError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import check_same, fetched, on_fibers
from tests.arrange.sort.sort_columns_cases import SHARES, TYPES, column_of, uncounted

pytestmark = pytest.mark.fibers

TUNING = NullPartitionTuning(32, 3)
"""Tiles of 1,024 rows, chunks of several from 3,073 rows on."""
EDGES = [0, 1, 33, 1024, 1025, 3073]


class Harness:
    """A column in the harness's memory, and its sorter."""

    def __init__(self, column: Column, options: KeysOptions, strategy: str | None = None, how=("random", 0)) -> None:
        self.launcher = FiberLauncher(*how)
        sorters = Sorters(self.launcher, HARNESS_TUNING, lambda: self.launcher.allocate(16, fill=0))
        given = on_fibers(self.launcher, column)
        self.sorter = ColumnSorter(sorters, given, f"<{code_of(column)}", options, strategy=strategy, tuning=TUNING)

    def places(self, options: KeysOptions):
        return self.sorter.argsort().array.view(INDEX_TYPES[options.dtype])


def check(column: Column, *, descending: bool = False, nulls: str = "last", given: Column | None = None, **more) -> None:
    options = KeysOptions(descending, False, nulls)
    order = {"descending": descending, "nulls": nulls}
    given = column if given is None else given
    check_same(fetched(Harness(given, options, **more).sorter.sort()), headrace.sort(column, **order))
    np.testing.assert_array_equal(Harness(given, options, **more).places(options), headrace.argsort(column, **order))
    assert Harness(given, options, **more).sorter.is_sorted() == headrace.is_sorted(column, **order)


@pytest.mark.long_except("first-*")
@pytest.mark.parametrize("name", list(TYPES))
@pytest.mark.parametrize("nulls", ["first", "last"])
def test_types(name: str, nulls: str) -> None:
    for descending in (False, True):
        check(column_of(name, 700, "half", 13), descending=descending, nulls=nulls)


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("name", ["bool", "int16"])
@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("share", SHARES)
def test_edges_of_words_tiles_and_chunks(name: str, nulls: str, share: str) -> None:
    for count in EDGES:
        check(column_of(name, count, share, 5 * count % 17), nulls=nulls)


@pytest.mark.parametrize("nulls", ["first", "last"])
def test_bools_without_a_bitmap(nulls: str) -> None:
    for count in EDGES:
        for descending in (False, True):
            check(column_of("bool", count, None, count % 9), descending=descending, nulls=nulls)


@pytest.mark.parametrize("offset", range(0, 41, 3))
def test_bits_from_any_place(offset: int) -> None:
    for name in ("bool", "float32"):
        check(column_of(name, 150, "half", offset), descending=True, nulls="first")


@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("name", ["bool", "uint32"])
def test_order_is_seen(name: str, nulls: str) -> None:
    """Sorted rows, and rows that are sorted except for one row, at each edge."""
    for count in (2, 33, 1025, 3100):
        for share in SHARES:
            found = headrace.sort(column_of(name, count, share), nulls=nulls)
            options = KeysOptions(False, False, nulls)
            assert Harness(uncounted(found), options).sorter.is_sorted()
            rows = np.arange(count)
            for at in {0, 31, 1023, count - 2} & set(range(count - 1)):
                rows[[at, at + 1]] = rows[[at + 1, at]]
                swapped = take_rows(found, rows)
                expected = headrace.is_sorted(swapped, nulls=nulls)
                assert Harness(uncounted(swapped), options).sorter.is_sorted() == expected
                rows[[at, at + 1]] = rows[[at + 1, at]]


@pytest.mark.long_except("bool", "int32")
@pytest.mark.parametrize("name", ["bool", "int32", "int64"])
def test_nulls_that_nobody_has_counted(name: str) -> None:
    for share in ("none", "few", "all"):
        for nulls in ("first", "last"):
            column = column_of(name, 1500, share, 3)
            check(column, nulls=nulls, given=uncounted(column))


@pytest.mark.parametrize("share", ["few", "all"])
def test_who_waits(share: str) -> None:
    for name in ("bool", "int32"):
        column, options = column_of(name, 300, share), KeysOptions(False, False, "last")
        for given, waits in ((column, 0), (uncounted(column), 1)):
            harness = Harness(given, options)
            harness.sorter.sort()
            assert harness.launcher.waits == waits
            harness = Harness(given, options)
            harness.sorter.argsort()
            assert harness.launcher.waits == (0 if name == "bool" else waits)


@pytest.mark.parametrize("dtype", list(INDEX_TYPES))
def test_places_of_any_type(dtype: str) -> None:
    for name in ("bool", "uint8", "float64"):
        for nulls in ("first", "last"):
            options = KeysOptions(True, False, nulls, dtype=dtype)
            column = column_of(name, 800, "half", 1)
            found = Harness(column, options).places(options)
            np.testing.assert_array_equal(found, headrace.argsort(column, descending=True, nulls=nulls, dtype=dtype))


def test_equal_values_keep_their_order() -> None:
    for kind in ("few", "rising"):
        for count in (100, 500, 1500):
            check(column_of("int32", count, "half", 7, kind=kind), descending=True)
            check(column_of("uint8", count, "few", kind=kind), nulls="first")


def test_total_order() -> None:
    column, options = column_of("float32", 600, "half", 2), KeysOptions(False, True, "last")
    check_same(fetched(Harness(column, options).sorter.sort()), headrace.sort(column, total_order=True))
    np.testing.assert_array_equal(Harness(column, options).places(options), headrace.argsort(column, total_order=True))


def test_the_first_of_bools() -> None:
    for k in (0, 1, 33, 400, 1500):
        for largest in (False, True):
            column = column_of("bool", 1500, None, 5)
            keys, places = Harness(column, KeysOptions(largest, False, "last")).sorter.first_of_bools(k)
            expected = headrace.top_k(column, k, largest=largest)
            check_same(fetched(keys), expected.keys)
            np.testing.assert_array_equal(places.array.view("i8"), expected.indices)


def test_strategies() -> None:
    column, options = column_of("uint32", 1500, "few"), KeysOptions(False, False, "last")
    for strategy in ("digits", "hybrid"):
        check_same(fetched(Harness(column, options, strategy).sorter.sort()), headrace.sort(column))
    with pytest.raises(OptionError, match="does not keep the order of equal keys"):
        Harness(column, options, "hybrid").sorter.argsort()
    unstable = options._replace(stable=False)
    places = Harness(column, unstable, "hybrid").places(unstable)
    check_same(take_rows(column, places), headrace.sort_pairs(column, places).keys)
    with pytest.raises(OptionError, match="'hybrid' is for keys of 4 and 8 bytes, not for bools"):
        Harness(column_of("bool", 3, None), options, "hybrid")


@pytest.mark.parametrize("how", [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)])
def test_interleavings(how: tuple[str, int]) -> None:
    for name in ("bool", "int32"):
        check(column_of(name, 3300, "half", 9), how=how)


@pytest.mark.parametrize(("count", "tuning"), [(9000, NullPartitionTuning(64, 2)), (33 * 1024 + 5, NullPartitionTuning(32, 40))])
def test_classes_by_other_shapes(count: int, tuning: NullPartitionTuning) -> None:
    """Several warps to a block, and more chunks than a block has threads: rows go where a stable sort by class puts them."""
    column = column_of("bool", count, "half", 3)
    launcher = FiberLauncher()
    rows = RowClasses(launcher, on_fibers(launcher, column), nulls_first=False, descending=False, tuning=tuning)
    places = launcher.allocate(count * 4)
    rows.split(None, RowNumbers(places, 4))
    values, rank = column.to_pylist(), {False: 0, True: 1, None: 2}
    assert places.array.view("u4").tolist() == sorted(range(count), key=lambda row: rank[values[row]])


def test_all_rows_are_taken_without_a_wait() -> None:
    """Columns whose nulls are counted have the same number of them afterwards."""
    launcher = FiberLauncher()
    column = column_of("int32", 200, "half", 3)
    rows = np.random.default_rng(1).permutation(200)
    taker = Taker(launcher, launcher.put(rows.astype("u4")), 200, 4)
    expected = take_rows(column, rows)
    given = {"a": on_fibers(launcher, column)}
    check_same(fetched(taker.columns(given, are_all=True)["a"]), expected)
    assert launcher.waits == 0
    given["b"] = replace(given["a"], null_count=-1)
    check_same(fetched(taker.columns(given, are_all=True)["b"]), expected)
    assert launcher.waits == 1
