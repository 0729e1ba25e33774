"""Tests the results of a scan: batches, columns, limits, schemas, and readers of other libraries."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import headrace
from headrace import DataType, Position
from headrace.core.process.timeline import Timeline

TEXT = b"city,founded,area\nRome,-753,1285.31\nParis,,105.4\nOslo,1048,480\n"


def test_batches_begin_where_records_do() -> None:
    scan = headrace.scan_csv(TEXT, batch_bytes=30)
    assert [batch["city"].to_pylist() for batch in scan.batches()] == [["Rome"], ["Paris", "Oslo"]]
    assert [batch.report.end for batch in scan.batches()] == [Position(36, 1), Position(len(TEXT), 3)]
    assert (scan.report.records, scan.report.rows, scan.report.skipped.header) == (4, 3, 1)
    assert scan.report.bytes == len(TEXT)


def test_records_longer_than_parts_are_loaded_once_a_pass() -> None:
    records, columns = 6, 2_000
    text = b",".join(b"c%d" % column for column in range(columns)) + b"\r\n" + (b",".join([b"1"] * columns) + b"\r\n") * records
    timeline = Timeline()
    scan = headrace.scan_csv(text, batch_bytes=100).timed(timeline)
    batches = list(scan.batches())
    assert [batch.num_rows for batch in batches] == [1] * records
    assert batches[-1].report.end == Position(len(text), records)
    assert scan.report.columns[0].evidence == headrace.read_csv(text).report.columns[0].evidence
    loads = sum(span.name == "read and convert" for span in timeline.spans)
    assert loads <= 2 * (records + 1)  # a pass for types and one for rows; a record has 40 times the bytes of a part


@pytest.mark.parametrize("source", [bytes, io.BytesIO], ids=["bytes", "file object"])
def test_lines_of_a_resumed_scan_are_those_of_the_text(source: Callable[[bytes], Any]) -> None:
    text = b"n\n" + b"1\n" * 50_000 + b"bad\n" + b"1\n" * 50_000
    options: dict[str, Any] = {"batch_bytes": 1 << 16, "dtypes": {"n": "int64"}, "on_error": "null"}
    end = next(headrace.scan_csv(source(text), **options).batches()).report.end
    rest = headrace.scan_csv(source(text), resume=end, **options).read()
    assert rest.rejects["line"].to_pylist() == [50_002]


def test_select_and_limit_are_lazy() -> None:
    scan = headrace.scan_csv(TEXT, batch_bytes=10).select(["area", "city"]).limit(2)
    assert scan.schema == {"city": DataType("string"), "area": DataType("float64")}
    assert scan.read().to_pydict() == {"city": ["Rome", "Paris"], "area": [1285.31, 105.4]}
    assert scan.limit(5).read().num_rows == 2


def test_a_text_without_rows_has_a_schema() -> None:
    scan = headrace.scan_csv(b"a,b\n", dtypes={"a": "date32"})
    assert list(scan.batches()) == []
    assert scan.schema == {"a": DataType("date32"), "b": DataType("string")}
    assert scan.report.records == 1


@pytest.mark.parametrize("strings", ["plain", "view", "dictionary"])
def test_arrow_reader(strings: str) -> None:
    pa = pytest.importorskip("pyarrow")
    scan = headrace.scan_csv(TEXT, batch_bytes=30, strings=strings)
    reader = scan.to_reader()
    assert reader.schema.names == ["city", "founded", "area"]
    batches = list(reader)
    assert [batch.num_rows for batch in batches] == [1, 2]
    assert [row for batch in batches for row in batch.column("city").to_pylist()] == ["Rome", "Paris", "Oslo"]
    assert pa.schema(scan).equals(reader.schema)


def test_errors_reach_the_arrow_reader() -> None:
    pa = pytest.importorskip("pyarrow")
    scan = headrace.scan_csv(TEXT, batch_bytes=30, dtypes={"founded": int, "area": "int64"})
    with pytest.raises(OSError, match=r"1285\.31"):
        pa.RecordBatchReader.from_stream(scan).read_all()


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    with duckdb.connect() as connection:
        found = headrace.scan_csv(TEXT, batch_bytes=30).to_duckdb(connection).aggregate("count(*), sum(area)").fetchall()
    assert found == [(3, pytest.approx(1870.71))]


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = headrace.scan_csv(TEXT, batch_bytes=30).to_polars()
    assert frame.collect_schema().names() == ["city", "founded", "area"]
    assert frame.collect().rows() == [("Rome", -753, 1285.31), ("Paris", None, 105.4), ("Oslo", 1048, 480.0)]
    assert frame.filter(pl.col("area") > 400).select("city").collect()["city"].to_list() == ["Rome", "Oslo"]
    assert frame.head(2).select("founded", "city").collect().rows() == [(-753, "Rome"), (None, "Paris")]


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    scan = headrace.scan_csv(b"a,b\n1,0.5\n2,1.5\n3,2.5\n", batch_bytes=8)
    batches = list(torch.utils.data.DataLoader(scan.to_torch(), batch_size=None))
    assert torch.cat([batch["a"] for batch in batches]).tolist() == [1, 2, 3]


def test_a_footer_adds_no_columns() -> None:
    text = b"a,b\n1,2\n1,2,3\nx,y\n"
    for table in (
        headrace.read_csv(text, skip_footer=1, on_error="reject"),
        headrace.scan_csv(text, skip_footer=1, on_error="reject").read(),
    ):
        assert table.to_pydict() == {"a": [1], "b": [2]}
        assert table.rejects["kind"].to_pylist() == ["too_many_fields"]


@pytest.mark.parametrize("n_rows", [2, 3, 4, 6, 9])
def test_a_limit_counts_the_rows_of_all_files(n_rows: int) -> None:
    texts = [b"a\n1\n2\n3\n", b"a\n4\n5\n", b"a\n6\n7\n"]
    scan = headrace.scan_csv(texts, n_rows=n_rows, batch_bytes=4)
    assert scan.read()["a"].to_pylist() == [1, 2, 3, 4, 5, 6, 7][:n_rows]
    streams = headrace.scan_csv([io.BytesIO(text) for text in texts], n_rows=n_rows, batch_bytes=4)
    assert streams.read()["a"].to_pylist() == [1, 2, 3, 4, 5, 6, 7][:n_rows]


@pytest.mark.parametrize(
    ("source", "options", "records"),
    [
        (b"a,b\n1,2\n", {"skip_footer": 2}, 2),
        (b"1,2\n", {"skip_rows": 3, "names": ["a", "b"], "header": False}, 1),
        (b"#x\n\n", {"comment": "#", "names": ["a"]}, 2),
        ([b"1,2\n", b"3,4\n5,6\n", b"7,8\n"], {"skip_footer": 1, "header": False}, 4),
    ],
)
def test_the_report_counts_the_records_of_files_without_rows(source: Any, options: dict[str, Any], records: int) -> None:
    whole = headrace.read_csv(source, **options).report
    scan = headrace.scan_csv(source, batch_bytes=3, **options)
    scan.read()
    assert scan.report.records == whole.records == records
    assert scan.report.skipped == whole.skipped
    assert [file.skipped for file in scan.report.files] == [file.skipped for file in whole.files]


@pytest.mark.parametrize("infer", ["all", "first"])
def test_the_report_of_a_resumed_scan_has_no_earlier_files(infer: Any) -> None:
    files = [b"a\n1\n2\nend\n", b"a\n3\n4\nend\n"]
    scan = headrace.scan_csv(files, infer=infer, skip_footer=1, batch_bytes=2)
    ends = [batch.report.end for batch in scan.batches()]
    assert ends[2] is not None and ends[2].file == 1
    resumed = headrace.scan_csv(files, infer=infer, skip_footer=1, batch_bytes=2, resume=ends[2])
    assert resumed.read()["a"].to_pylist() == [4]
    assert [(file.rows, file.skipped.total) for file in resumed.report.files] == [(1, 1)]
    assert resumed.report.records == 2


@pytest.mark.parametrize(
    "options", [{"strings": "dictionary"}, {"strings": "view"}, {"dtypes": {"a": "category", "b": "string_view"}}]
)
@pytest.mark.parametrize("batch_bytes", [1, 9, 1 << 20])
def test_views_and_dictionaries_of_batches_are_joined(options: dict[str, Any], batch_bytes: int) -> None:
    text = b'a,b\nx,1\n,2\na text of more than twelve bytes,3\nx,4\n"",5\nzz,6\n'
    whole = headrace.read_csv(text, **options)
    read = headrace.scan_csv(text, batch_bytes=batch_bytes, **options).read()
    assert read.schema == whole.schema
    assert read.equals(whole)
    if whole["a"].dictionary is not None and read["a"].dictionary is not None:
        assert read["a"].dictionary.to_pylist() == whole["a"].dictionary.to_pylist()
    chosen = headrace.scan_csv(text, batch_bytes=batch_bytes, **options).where(headrace.col("a") != "x").read()
    assert chosen["a"].to_pylist() == ["a text of more than twelve bytes", "", "zz"]
