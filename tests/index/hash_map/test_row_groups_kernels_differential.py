"""Finds equal rows of tables in the fiber harness and on the CPU, also if most hashes collide."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import Context, Table
from headrace.arrange.partition_rows.rows import row_hashes
from headrace.arrange.sort.gpu.sort import Sorters
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING
from headrace.index.hash_map.gpu.tables.row_groups import DeviceRows, RowGroups
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.row_groups import HASH_BITS, HashedRows, first_rows, matching_rows
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import check_same, fetched, on_fibers
from tests.index.hash_map.row_cases import NAMES, table_of

pytestmark = pytest.mark.fibers

ROWS = 150
EDGES = (0, 1, 31, 32, 33, 511, 512, 513)


def rows_of(launcher: FiberLauncher, table: Table, names: list[str], bits: int = HASH_BITS) -> DeviceRows:
    """Return the rows of a table in the harness. `bits`: bits of the hashes that are used."""
    columns = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    rows = DeviceRows.of(launcher, columns, names)
    hashes = launcher.fetch(rows.hashes).view(np.uint64) >> np.uint64(HASH_BITS - bits)
    return replace(rows, hashes=launcher.put(hashes))


def groups_of(launcher: FiberLauncher, rows: int) -> RowGroups:
    """Return groups with small blocks."""
    return RowGroups(launcher, rows, tuning=SlabTuning(threads=64, block_rows=96), threads=64)


def numbers_of(launcher: FiberLauncher, buffer: Any, dtype: str) -> NDArray[Any]:
    """Return the numbers in a buffer."""
    return launcher.fetch(buffer).view(dtype)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("64-*", "1-s-random", "1-sfb-*")
@pytest.mark.parametrize("order", ["random", "forward", "reverse"])
@pytest.mark.parametrize("names", NAMES, ids="".join)
@pytest.mark.parametrize("bits", [HASH_BITS, 1])
def test_first_rows(names: list[str], bits: int, order: str) -> None:
    for part in (table_of(1, ROWS), table_of(1, ROWS)[3:100]):
        launcher = FiberLauncher(order, 5)
        expected = first_rows(HashedRows.of(part.columns, names, Context()))
        found = groups_of(launcher, len(part)).first_rows(rows_of(launcher, part, names, bits))
        assert numbers_of(launcher, found, "u4").tolist() == expected.tolist()


@pytest.mark.long_except("64-*-dictionary", "64-s-*", "2-sfb-string_view")
@pytest.mark.parametrize("encode", ["none", "string_view", "dictionary"])
@pytest.mark.parametrize("names", NAMES, ids="".join)
@pytest.mark.parametrize("bits", [HASH_BITS, 2])
def test_matching_rows(names: list[str], bits: int, encode: str) -> None:
    table, other = table_of(2, ROWS), table_of(3, 30, encode=encode)[1:]
    launcher = FiberLauncher("random", 6)
    expected = matching_rows(*(HashedRows.of(part.columns, names, Context()) for part in (table, other)))
    rows, others = (rows_of(launcher, part, names, bits) for part in (table, other))
    found = groups_of(launcher, ROWS).matching_rows(rows, others)
    assert numbers_of(launcher, found, "i8").tolist() == expected.tolist()


@pytest.mark.parametrize("encode", ["none", "string_view", "dictionary"])
def test_distinct_and_counted_rows(encode: str) -> None:
    table, names = table_of(4, 600, encode=encode)[7:], ["s", "i"]
    launcher = FiberLauncher("random", 7)
    columns = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    groups, rows = groups_of(launcher, len(table)), rows_of(launcher, table, names)
    firsts = groups.first_rows(rows)
    distinct, expected = groups.distinct(firsts, rows.count).columns(columns), table.unique(names)
    for name, column in expected.columns.items():
        check_same(fetched(distinct[name]), column)
    sorters = Sorters(launcher, HARNESS_TUNING, lambda: launcher.allocate(16, fill=0))
    taker, counts = groups.counted(firsts, rows.count, sorters)
    wanted = table.value_counts(names)
    for name in names:
        check_same(fetched(taker.columns({name: columns[name]})[name]), wanted[name])
    assert numbers_of(launcher, counts, "i8").tolist() == wanted["count"].to_pylist()


@pytest.mark.parametrize("encode", ["none", "string_view", "dictionary"])
def test_hashes_by_the_secret_of_the_process(encode: str) -> None:
    """They are those of the host, so that no rows can be chosen whose hashes are equal."""
    table, launcher = table_of(9, ROWS, encode=encode)[5:], FiberLauncher("forward")
    columns = {name: on_fibers(launcher, column) for name, column in table.columns.items()}
    for names in NAMES:
        found = numbers_of(launcher, DeviceRows.of(launcher, columns, names).hashes, "u8")
        assert np.array_equal(found, row_hashes(table.columns, names, Context(), by_secret=True))
        assert not np.array_equal(found, row_hashes(table.columns, names, Context()))


def test_numbers_of_rows_around_edges() -> None:
    """All rows are distinct, all are equal, or there are a few values; the counts are those of Python."""
    random = np.random.default_rng(8)
    for count in EDGES:
        for span in (1, 5, 10 * count + 1):
            values = random.integers(0, span, count).tolist()
            table = headrace.read_csv("\n".join(["n", *map(str, values)]).encode(), header=True, dtypes={"n": "int16"})
            launcher = FiberLauncher("random", count)
            groups, rows = groups_of(launcher, count), rows_of(launcher, table, ["n"])
            sorters = Sorters(launcher, HARNESS_TUNING, lambda launcher=launcher: launcher.allocate(16, fill=0))
            taker, counts = groups.counted(groups.first_rows(rows), count, sorters)
            firsts = numbers_of(launcher, taker.rows, "u4").tolist()
            found = list(zip([values[row] for row in firsts], numbers_of(launcher, counts, "u8").tolist(), strict=True))
            assert found == Counter(values).most_common()
            assert firsts == [values.index(value) for value, _ in found]


def test_no_rows_and_nulls() -> None:
    table = headrace.read_csv(b"a,b\n1,\n1,\n,\n2,\n")
    launcher = FiberLauncher()
    groups, rows, none = groups_of(launcher, 4), rows_of(launcher, table, ["b", "a"]), rows_of(launcher, table[:0], ["b", "a"])
    assert numbers_of(launcher, groups.first_rows(rows), "u4").tolist() == [0, 0, 2, 3]
    assert numbers_of(launcher, groups.matching_rows(rows, none), "i8").tolist() == [-1] * 4
    assert numbers_of(launcher, groups.matching_rows(none, rows), "i8").tolist() == []
    assert numbers_of(launcher, groups.matching_rows(rows, rows), "i8").tolist() == [-1] * 4
    only = rows_of(launcher, table, ["a"])
    assert numbers_of(launcher, groups.matching_rows(only, only), "i8").tolist() == [0, 0, -1, 3]


def test_memory_grows_for_rows_of_one_value() -> None:
    """A map of 20 keys in a table of one bucket with lists of one slab: the table grows."""
    table = headrace.read_csv(b"n\n" + b"\n".join(b"%d" % (i % 40) for i in range(120)))
    launcher = FiberLauncher("random", 9)
    tight = RowGroups(
        launcher, 120, tuning=SlabTuning(threads=64, block_rows=96, load=20.0, max_load=20.0, list_slabs=0), threads=64
    )
    found = numbers_of(launcher, tight.first_rows(rows_of(launcher, table, ["n"])), "u4")
    assert found.tolist() == [i % 40 for i in range(120)]
