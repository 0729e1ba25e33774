"""Compares distinct rows, their counts and matching rows of tables on a GPU with those on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import Context, MemoryLimitError, OptionError, Table
from tests.arrange.columns_cases import check_same
from tests.index.hash_map.row_cases import NAMES, table_of

pytestmark = pytest.mark.gpu


def check_tables(found: Table, expected: Table) -> None:
    """Compare all columns of a table on a GPU."""
    assert found.device.kind == "cuda"
    assert found.column_names == expected.column_names
    for name, column in expected.columns.items():
        check_same(found[name].to("cpu"), column)


@pytest.mark.parametrize("encode", ["none", "string_view", "dictionary"])
@pytest.mark.parametrize("names", NAMES, ids="".join)
def test_tables(names: list[str], encode: str) -> None:
    for part in (slice(0, 3000), slice(7, 2011), slice(5, 5)):
        table, other = table_of(5, 3000, encode=encode)[part], table_of(6, 300)[2:]
        given, theirs = table.to("cuda"), other.to("cuda")
        table = given.to("cpu")  # a copy of views has only the texts that they refer to
        check_tables(given.unique(names), table.unique(names))
        check_tables(given.value_counts(names), table.value_counts(names))
        found = given.lookup(theirs, names)
        assert found.to_numpy().tolist() == table.lookup(other, names).tolist()


def test_many_rows() -> None:
    random = np.random.default_rng(4)
    for span in (3, 50_000, 1 << 40):
        numbers = random.integers(0, span, 400_000)
        table = headrace.read_csv(b"n\n" + "\n".join(map(str, numbers.tolist())).encode())
        given = table.to("cuda")
        check_tables(given.unique(), table.unique())
        check_tables(given.value_counts(), table.value_counts())
        founds, expected = given.value_counts(), table.value_counts()
        assert (given.lookup(founds, "n").to_numpy() == table.lookup(expected, "n")).all()


def test_a_join_stays_on_the_gpu() -> None:
    orders = headrace.read_csv(b"city,n\nRome,1\nParis,2\nOslo,3\nRome,4\n").to("cuda")
    cities = headrace.read_csv(b"city,founded\nOslo,1048\nRome,-753\n").to("cuda")
    places = orders.lookup(cities, "city")
    assert places.to_numpy().tolist() == [1, -1, 0, 1]
    assert headrace.take(cities["founded"], orders[:1].lookup(cities, "city")).to_numpy().tolist() == [-753]


def test_errors() -> None:
    table = headrace.read_csv(b"n\n" + b"\n".join(b"%d" % n for n in range(5000)))
    with pytest.raises(OptionError, match="columns lie on cpu and cuda"):
        table.to("cuda").lookup(table, "n")
    with pytest.raises(MemoryLimitError):
        table.to("cuda").unique(context=Context(memory_limit=10_000))
