"""Tests tables: their parts, their slices, their exports, and the message when a package is missing."""

from __future__ import annotations

import datetime
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import MissingDependencyError, OptionError, Table
from headrace.columns.types import DataType

TEXT = b"id,name,score,day\n1,ann,0.5,2024-02-29\n2,,,\n3,cy,2.5,1969-12-31\n"
DAY = [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)]


@pytest.fixture
def table():
    return headrace.read_csv(TEXT)


def test_table_says_what_it_holds(table):
    assert (table.num_rows, table.num_columns, len(table)) == (3, 4, 3)
    assert table.column_names == ["id", "name", "score", "day"] == list(table) == list(table.columns)
    assert list(table.schema.items()) == [
        ("id", DataType("int64")),
        ("name", DataType("string")),
        ("score", DataType("float64")),
        ("day", DataType("date32")),
    ]


def test_columns_are_found_by_name_and_position(table):
    assert table["name"].to_pylist() == ["ann", None, "cy"]
    assert table[0] is table["id"] and table[-1] is table["day"] and table[np.int64(2)] is table["score"]


def test_unknown_name_is_a_key_error_with_the_nearest(table):
    with pytest.raises(KeyError, match=r"unknown column 'nam'; did you mean 'name'\?"):
        table["nam"]


@pytest.mark.parametrize("position", [4, -5])
def test_position_outside_is_an_index_error(table, position):
    with pytest.raises(IndexError, match=f"^column {position} of a table with 4 columns$"):
        table[position]


@pytest.mark.parametrize("key", [None, 1.0, True, ("id",), b"id"])
def test_key_of_another_kind_is_a_type_error(table, key):
    with pytest.raises(TypeError, match="a column's name, its position, a list of them or a slice of rows"):
        table[key]


def test_slice_is_a_table_on_the_same_memory(table):
    part = table[1:]
    assert part.to_pydict() == {"id": [2, 3], "name": [None, "cy"], "score": [None, 2.5], "day": DAY[1:]}
    assert part["id"].values is table["id"].values
    assert part[1:].to_pydict()["id"] == [3] and table[2:5].num_rows == 1 and table[5:2].num_rows == 0
    with pytest.raises(ValueError, match="step 1, not -1"):
        table[::-1]


def test_a_report_that_another_thread_creates_meanwhile():
    """The attribute is replaced between two reads of it."""
    report = headrace.read_csv(b"a\n1\n").report

    class Raced(Table):
        reads = 0

        @property
        def _report(self):
            Raced.reads += 1
            return (lambda: report) if Raced.reads < 3 else report

        @_report.setter
        def _report(self, value):
            pass

    assert Raced({}, report=report).report is report


def test_slice_has_neither_rejects_nor_report(table):
    assert len(table[:1].rejects) == 0
    with pytest.raises(AttributeError, match="has a report"):
        table[:1].report  # noqa: B018  the access is the test


def test_table_cannot_be_changed(table):
    with pytest.raises(AttributeError):
        table.extra = 1
    with pytest.raises(TypeError):
        table.columns["id"] = table["name"]
    with pytest.raises(TypeError):
        table.schema["id"] = DataType("int8")


def test_columns_of_a_table_have_one_length(table):
    with pytest.raises(OptionError, match=r"one length, not \[2, 3\]"):
        Table({"a": table["id"], "b": table["id"][1:]})


def test_table_of_nothing():
    empty = Table({})
    assert (len(empty), empty.num_columns, empty.column_names, empty.to_pydict()) == (0, 0, [], {})
    assert repr(empty) == "shape: (0, 0)"


def test_rejects_are_a_table():
    read = headrace.read_csv(b"a\n1\nx\n", dtypes={"a": "int64"}, on_error="reject")
    assert read.to_pydict() == {"a": [1]}
    assert read.rejects["kind"].to_pylist() == ["type"] and read.rejects.to_arrow().num_rows == 1


def test_to_arrow(table):
    arrow = table.to_arrow()
    assert isinstance(arrow, pa.Table)
    assert arrow.to_pydict() == {"id": [1, 2, 3], "name": ["ann", None, "cy"], "score": [0.5, None, 2.5], "day": DAY}


def test_to_polars(table):
    frame = table.to_polars()
    assert frame.schema == {"id": pl.Int64, "name": pl.String, "score": pl.Float64, "day": pl.Date}
    assert frame.rows() == [(1, "ann", 0.5, DAY[0]), (2, None, None, None), (3, "cy", 2.5, DAY[2])]


def test_to_pandas(table):
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame) and list(frame["id"]) == [1, 2, 3] and list(frame["day"]) == DAY
    assert frame["name"].isna().tolist() == [False, True, False] == frame["score"].isna().tolist()


def test_to_duckdb(table):
    with duckdb.connect() as connection:
        connection.execute("create table other as select 2 as id")
        relation = table.to_duckdb(connection)
        assert relation.aggregate("sum(id), count(name)").fetchall() == [(6, 2)]
        assert connection.sql("select name from relation join other using (id)").fetchall() == [(None,)]
    assert table.to_duckdb().filter("id = 3").fetchall() == [(3, "cy", 2.5, DAY[2])]


def test_to_numpy(table):
    arrays = table.to_numpy()
    assert list(arrays) == table.column_names and arrays["id"].tolist() == [1, 2, 3]
    assert arrays["name"].tolist() == ["ann", None, "cy"] and np.isnan(arrays["score"]).tolist() == [False, True, False]


@pytest.mark.parametrize("method", ["to_arrow", "to_pandas", "to_polars", "to_duckdb", "to_numpy"])
def test_tables_without_rows_go_out_too(method):
    empty = headrace.read_csv(b"a,b\n", dtypes={"a": "int64"})
    out = getattr(empty, method)()
    assert list(out if method == "to_numpy" else out.columns) or method == "to_arrow"
    assert empty.num_rows == 0 and empty.column_names == ["a", "b"]


@pytest.mark.parametrize(
    ("method", "package", "extra"),
    [
        ("to_arrow", "pyarrow", "arrow"),
        ("to_pandas", "pandas", "pandas"),
        ("to_pandas", "pyarrow", "arrow"),
        ("to_polars", "polars", "polars"),
        ("to_duckdb", "duckdb", "duckdb"),
        ("to_numpy", "numpy", "numpy"),
    ],
)
def test_missing_package_is_named_with_its_extra(table, monkeypatch, method, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "headrace.columns.as_numpy", raising=False)
    with pytest.raises(MissingDependencyError, match=rf"needs {package}; install it with: pip install 'headrace\[{extra}\]'"):
        getattr(table, method)()


def test_package_that_is_broken_is_not_called_missing(table, monkeypatch, tmp_path):
    (tmp_path / "polars.py").write_text("import no_such_module_of_polars\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_polars"):
        table.to_polars()


def test_the_next_table_finds_the_memory_of_the_last() -> None:
    """Column by column: else a small column would take a large one's memory, and the large one would have to touch new pages."""
    text = b"a,b,c\n" + b"x,a longer text here,yz\n" * 200_000

    def addresses() -> list[int]:
        table = headrace.read_csv(text, threads=1)
        return [table[0].values.address, table["b"].values.address, table["c"].values.address]

    headrace.release_unused_memory()
    first = addresses()
    assert addresses() == first
    assert len(set(first)) == 3


def test_a_column_finds_its_memory_in_whatever_order_columns_were_let_go_of() -> None:
    text = b"a,b,c\n" + b"x,a longer text here,yz\n" * 200_000
    headrace.release_unused_memory()
    table = headrace.read_csv(text, threads=1)
    first = [column.values.address for column in table.columns.values()]
    columns = list(table.columns.values())
    del table
    while columns:
        columns.pop()  # the last one first
    table = headrace.read_csv(text, threads=1)
    assert [column.values.address for column in table.columns.values()] == first


def test_batches_share_no_memory_between_columns() -> None:
    """A scan after a whole read, whose memory is kept for reuse. If any region of the right size served any column, the long
    texts of a batch would get the pages of short ones. They would then touch new pages for each batch.
    """
    text = b"a,b\n" + (b"s" * 20 + b"," + b"l" * 60 + b"\n") * 400_000
    headrace.release_unused_memory()
    headrace.read_csv(text)

    def addresses() -> list[set[int]]:
        found: list[set[int]] = [set(), set()]
        for batch in headrace.scan_csv(text, batch_bytes=8 << 20).batches():
            for place, column in enumerate(batch.columns.values()):
                found[place].add(column.values.address)
        return found

    addresses()
    second, third = addresses(), addresses()
    assert second == third
    assert len(second[0] | second[1]) == len(second[0]) + len(second[1])


def test_mappings_of_columns_are_joined_copied_and_reversed():
    table = headrace.read_csv(b"a,b\n1,x\n")
    for named in (table.schema, table.columns):
        assert named | {"b": 1} == {"a": named["a"], "b": 1}
        assert {"b": 1} | named == {"b": named["b"], "a": named["a"]}
        assert list(reversed(named)) == ["b", "a"]
        assert type(named.copy()) is dict and named.copy() == dict(named)
        with pytest.raises(TypeError):
            named | [1]
