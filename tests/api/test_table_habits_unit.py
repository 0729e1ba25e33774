"""Tests the methods of tables, columns and scans that users of data frames look for."""

from __future__ import annotations

import copy
import datetime
import io
import pickle
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import headrace
from headrace import DataType, OptionError, OutOfRangeError, Table, UnknownColumnError, read_csv, scan_csv
from headrace.export.files import write_parquet

TEXT = b"a,b,c\n1,x,1.5\n2,,2.5\n,z,\n"


@pytest.fixture
def table() -> Table:
    return read_csv(TEXT)


def test_shape_head_and_tail(table: Table) -> None:
    assert table.shape == (3, 3)
    assert Table({}).shape == (0, 0)
    for n in range(-4, 5):
        assert table.head(n)["a"].to_pylist() == [1, 2, None][:n]
        assert table.tail(n)["a"].to_pylist() == pl.Series([1, 2, None]).tail(n).to_list()
    assert (len(table.head()), len(table.tail())) == (3, 3)


def test_select_drop_and_rename(table: Table) -> None:
    assert table[["c", "a"]].column_names == ["c", "a"]
    assert table.select("c", 0).column_names == table.select(["c", 0]).column_names == ["c", "a"]
    assert table.select(-1).to_pydict() == {"c": [1.5, 2.5, None]}
    assert table.drop("a").column_names == table.drop(["a"]).column_names == ["b", "c"]
    assert table.drop("a", 1, 2).shape == (0, 0)
    assert table.rename({"a": "x", "b": "a"}).column_names == ["x", "a", "c"]
    assert table.rename(str.upper)["A"].to_pylist() == [1, 2, None]
    assert table.select("a")["a"] is table["a"]
    for refused in (lambda: table.select("d"), lambda: table.drop("d"), lambda: table.rename({"d": "e"})):
        with pytest.raises(UnknownColumnError):
            refused()
    with pytest.raises(OutOfRangeError):
        table[[3]]
    for refused in (lambda: table.select("a", 0), lambda: table.rename({"a": "b"}), lambda: table.rename(len)):
        with pytest.raises(OptionError):
            refused()


def test_rows_and_items(table: Table) -> None:
    assert list(table.iter_rows()) == [(1, "x", 1.5), (2, None, 2.5), (None, "z", None)]
    assert next(table.iter_rows(named=True)) == {"a": 1, "b": "x", "c": 1.5}
    assert [(name, len(column)) for name, column in table.items()] == [("a", 3), ("b", 3), ("c", 3)]
    many = read_csv(b"n\n" + b"".join(b"%d\n" % i for i in range(20_000)))
    assert [row for (row,) in many.iter_rows()] == list(range(20_000))


def test_equals(table: Table) -> None:
    assert table.equals(read_csv(TEXT))
    assert not table.equals(table.head(2))
    assert not table.equals(table.select("b", "a", "c"))
    assert not table.equals(read_csv(TEXT, dtypes={"a": "int32"}))
    assert not table.equals(read_csv(TEXT.replace(b"z", b"y")))
    floats = read_csv(b"x\nnan\n1\n\n", dtypes="float64")
    assert floats.equals(read_csv(b"x\nNaN\n1\n\n", dtypes="float64"))
    assert not floats.equals(read_csv(b"x\n\n1\nnan\n", dtypes="float64"))


def test_a_schema_equals_texts_and_types_of_other_libraries(table: Table) -> None:
    assert table.schema == {"a": "int64", "b": "string", "c": "double"}
    assert table.schema == {"a": int, "b": pa.string(), "c": pl.Float64}
    assert table.schema["a"] == np.dtype("i8")
    for other in ("int32", "no type", None, 5, object(), pa.int32(), b"int64"):
        assert table.schema["a"] != other
    assert {DataType("int64"): 1}["int64"] == 1  # type: ignore[index]
    assert hash(read_csv(b"t\n2024-01-01 00:00:00\n").schema["t"]) == hash("timestamp[us]")


FRAMES = {
    "pyarrow": lambda: pa.table({"i": [1, None], "s": ["é", "a long text with more than 12 bytes"]}),
    "batch": lambda: pa.record_batch({"i": [1, None], "s": ["é", "a long text with more than 12 bytes"]}),
    "polars": lambda: pl.DataFrame({"i": [1, None], "s": ["é", "a long text with more than 12 bytes"]}),
    "headrace": lambda: read_csv("i,s\n1,é\n,a long text with more than 12 bytes\n".encode()),
    "duckdb": lambda: duckdb.sql("from (values (1::bigint, 'é'), (null, 'a long text with more than 12 bytes')) t(i, s)"),
}


@pytest.mark.parametrize("library", FRAMES)
def test_from_arrow(library: str) -> None:
    table = Table.from_arrow(FRAMES[library]())
    assert table.to_pydict() == {"i": [1, None], "s": ["é", "a long text with more than 12 bytes"]}
    assert table.schema["i"] == "int64"


TYPES = {
    "bool": [True, None, False],
    "int8": [1, None, -3],
    "uint64": [2**64 - 1, None, 0],
    "float32": [1.5, None, 0.0],
    "double": [1.5, None, 0.0],
    "date32": [datetime.date(2020, 1, 2), None, datetime.date(1969, 1, 1)],
    "string": ["a", None, "ü"],
    "large_string": ["a", None, ""],
    "string_view": ["a", None, "a text of more than twelve bytes"],
    "binary": [b"a", None, b""],
    "null": [None, None, None],
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_from_arrow(kind: str) -> None:
    """Slices, several chunks and no rows, too."""
    arrow_type = getattr(pa, {"bool": "bool_", "double": "float64"}.get(kind, kind))()
    array = pa.array(TYPES[kind], arrow_type)
    for chunked in (pa.chunked_array([array]), pa.chunked_array([array[1:], array[:2]]), pa.chunked_array([array[:0]])):
        column = Table.from_arrow(pa.table({"x": chunked}))["x"]
        assert column.to_pylist() == chunked.to_pylist()
        assert column.type == arrow_type
        assert pa.array(column).equals(pa.concat_arrays(chunked.chunks))


def test_other_types_from_arrow() -> None:
    zoned = pa.array([datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), None], pa.timestamp("ms", "Europe/Berlin"))
    words = pa.array(["b", "a", None, "b"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.large_string()))
    table = Table.from_arrow(pa.table({"t": zoned.take([0, 1, 0, 1]), "w": words}))
    assert table.schema == {"t": "timestamp[ms, Europe/Berlin]", "w": "category"}
    assert table["w"].to_pylist() == ["b", "a", None, "b"]
    assert table.head(1)["t"][0] == zoned[0].as_py()
    views = pa.array([b"a", None, b"bytes of more than twelve"]).cast(pa.binary_view())
    parts = Table.from_arrow(pa.table({"x": pa.chunked_array([views[1:], views[:1]])}))
    assert parts.schema == {"x": "large_binary"}
    assert parts["x"].to_pylist() == [None, b"bytes of more than twelve", b"a"]
    for wrong, message in (
        (pa.table({"l": [[1]]}), "column 'l' has the Arrow type list"),
        (pa.table([[1], [2]], ["x", "x"]), "two columns of the same name"),
        (5, "data must be a table"),
    ):
        with pytest.raises(OptionError, match=message):
            Table.from_arrow(wrong)


def test_from_arrow_with_nulls_among_the_texts_of_a_dictionary() -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1, None], pa.int8()), pa.array(["a", None, "b"]))
    column = Table.from_arrow(pa.table({"w": words}))["w"]
    assert (column.to_pylist(), column.null_count) == (["b", "a", None, None], 2)
    assert column.dictionary is not None
    assert column.dictionary.null_count == 0
    parts = pa.chunked_array([words, pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["c", None]))])
    assert Table.from_arrow(pa.table({"w": parts}))["w"].to_pylist() == ["b", "a", None, None, None, "c"]


def test_to_pandas_with_types(table: Table) -> None:
    assert [str(kind) for kind in table.to_pandas(dtype_backend="numpy_nullable").dtypes] == ["Int64", "string", "Float64"]
    frame = table.to_pandas(dtype_backend="pyarrow")
    assert isinstance(frame["a"].dtype, pd.ArrowDtype)
    assert frame["a"].isna().tolist() == [False, False, True]
    assert str(table.to_pandas()["a"].dtype) == "float64"
    with pytest.raises(OptionError, match="unknown dtype_backend 'numpy'"):
        table.to_pandas(dtype_backend="numpy")  # type: ignore[arg-type]


def test_files_of_tables_and_scans(table: Table, tmp_path: Path) -> None:
    scan = scan_csv(TEXT, batch_bytes=8)
    for number, one in enumerate((table, scan)):
        assert one.write_csv() == TEXT
        one.write_csv(tmp_path / "t.csv", sep=";")
        assert (tmp_path / "t.csv").read_bytes() == TEXT.replace(b",", b";")
        one.write_parquet(tmp_path / f"{number}.data", compression="zstd")
        assert pq.read_table(tmp_path / f"{number}.data").to_pydict() == table.to_pydict()
        assert pq.read_metadata(tmp_path / f"{number}.data").row_group(0).column(0).compression == "ZSTD"


def test_pictures_of_columns_and_scans(table: Table, tmp_path: Path) -> None:
    assert repr(table["a"]) == "Column(int64, 3 rows, 1 null)[1, 2, None]"
    assert "3 rows, 1 null" in table["a"]._repr_html_()
    path = tmp_path / "<a>.csv"
    path.write_bytes(TEXT)
    scan = scan_csv(path).select(["a"]).limit(2)
    assert repr(scan) == f"Scan({str(path)!r}, batches of 64 MiB, select: ['a'], limit: 2 records, types not inferred yet)"
    assert "&lt;a&gt;.csv" in scan._repr_html_()
    assert "int64" not in scan._repr_html_()
    assert scan.schema == {"a": "int64"}
    assert "<td>int64</td>" in scan._repr_html_()
    assert repr(scan_csv([TEXT] * 5)).startswith("Scan(<bytes>, <bytes>, <bytes> and 2 more, ")


def test_a_scan_can_be_pickled(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT)
    for scan in (scan_csv(path, batch_bytes=4), scan_csv(path, dialect="auto", engine="c"), scan_csv([TEXT]).select("a")):
        whole = scan.read()
        for again in (pickle.loads(pickle.dumps(scan)), copy.copy(scan)):
            assert again.read().equals(whole)
            assert again.report.notes == whole.report.notes
    with path.open("rb") as file, pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(scan_csv(file))


def test_a_data_frame_of_a_table_is_refused(table: Table) -> None:
    with pytest.raises(OptionError, match=r"to_pandas\(\)"):
        pd.DataFrame(table)
    assert headrace.Table.from_arrow(table.to_pandas()).column_names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("append", "headrace.concat"),
        ("vstack", "headrace.concat"),
        ("copy", "which nothing changes"),
        ("T", "table.to_pandas().T"),
        ("query", "headrace.col('price') > 2) or table.to_pandas().query"),
        ("to_records", "table.to_pandas().to_records"),
    ],
)
def test_names_of_tables_that_say_what_to_use(table: Table, name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=f"a table has no {name}: use .*{re.escape(advice)}"):
        getattr(table, name)


def test_names_of_columns_that_say_what_to_use(table: Table) -> None:
    column: Any = table["a"]
    for name in ("to_arrow", "to_pandas", "to_polars", "shape", "len", "item", "head", "tail", "take", "filter", "nbytes"):
        assert not hasattr(column, name)
        with pytest.raises(AttributeError, match=f"a column has no {name}: use ") as raised:
            getattr(column, name)
        way = str(raised.value).partition(": use ")[2].removeprefix("a slice such as ").partition(", or ")[0]
        scope = {"column": column, "table": table, "name": "a", "rows": [0], "headrace": headrace, "pa": pa}
        scope |= {"pyarrow": pa, "pandas": pd, "polars": pl}
        assert eval(way, scope) is not None  # the advice runs


def test_conditions_that_say_what_to_use(table: Table) -> None:
    column: Any = headrace.col("c")
    with pytest.raises(AttributeError, match=r"a condition has no is_nan: use col\('a'\) != col\('a'\)"):
        column.is_nan()
    numbers, same = read_csv(b"c\n1.5\nnan\n\n"), headrace.col("c")
    assert len(numbers.filter(column != same)) == 1 and len(numbers.filter(column == same)) == 1  # as the advice says
    for of, name in ((column, "abs"), (column.str, "lower"), (column, "dt")):
        with pytest.raises(AttributeError, match=r"use table\.to_polars\(\), which computes new values"):
            getattr(of, name)
    for make in (table.select, scan_csv(TEXT).select):
        with pytest.raises(OptionError, match=r"col\('c'\) \* 2 is no column: expressions select rows"):
            make(column * 2)


def test_a_mask_in_brackets_says_what_to_use(table: Table) -> None:
    keys: list[Any] = [headrace.col("a") > 1, table["a"], np.array([True, False, True]), pd.Series([True, False, True]), True]
    for key in keys:
        with pytest.raises(TypeError, match=r"rows are selected by table\.filter\(headrace\.col\(name\) == value\) or table"):
            table[key]


def test_errors_of_a_stream_are_not_blamed_on_the_options_of_its_writer(table: Table, tmp_path: Path) -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise TypeError("the stream is broken")

    with pytest.raises(TypeError, match="the stream is broken"):
        write_parquet(Broken(), tmp_path / "a", compression="zstd")
    assert not list(tmp_path.iterdir())


def test_parquet_of_another_form_says_what_to_use(table: Table, tmp_path: Path) -> None:
    for one in (table, scan_csv(TEXT)):
        with pytest.raises(OptionError, match=r"pyarrow\.dataset\.write_dataset"):
            one.write_parquet(tmp_path / "a", partition_cols=["a"])
        with pytest.raises(OptionError, match=r"pyarrow\.parquet\.write_table\(table\.to_arrow\(\), file\)"):
            one.write_parquet(io.BytesIO())  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=r"options squeeze of pyarrow\.parquet\.ParquetWriter: .*squeeze"):
            one.write_parquet(tmp_path / "a", squeeze=True)
    assert not list(tmp_path.iterdir())
    for number, rows in enumerate((table.to_arrow(), scan_csv(TEXT).to_reader())):  # the advice
        pa.dataset.write_dataset(rows, tmp_path / str(number), format="parquet", partitioning=["b"])
        assert pa.dataset.dataset(tmp_path / str(number), partitioning=["b"]).count_rows() == 3
