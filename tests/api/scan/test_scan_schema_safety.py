"""Checks that a scan's schema is that of each batch: with rejected records, without rows, and with batches cut by memory."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import headrace
from tests.api.outcomes import outcome

REJECTING: dict[str, Any] = {"dtypes": {"a": "int64"}, "on_error": "reject"}
TEXTS = {
    "all rejected": b"a,b\nx,1\n",
    "first batch rejected": b"a,b\nx,1\nx,2\n1,3\n",
    "short records first": b"a,b\n1\n2\n1,3\n",
    "comments first": b"a,b\n#\n#\n1,3\n",
    "no rows": b"a,b\n",
}


def types_of(table: headrace.Table) -> dict[str, str]:
    return {name: str(kind) for name, kind in table.schema.items()}


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("infer", ["all", "first"])
@pytest.mark.parametrize("batch_bytes", [2, 4, 100])
def test_libraries_take_the_stream(text: bytes, infer: Any, batch_bytes: int) -> None:
    def scan() -> headrace.Scan:
        return headrace.scan_csv(text, infer=infer, batch_bytes=batch_bytes, comment="#", **REJECTING)

    expected = headrace.read_csv(text, comment="#", **REJECTING)
    rows = expected.to_pydict() if infer == "all" else scan().read().to_pydict()
    assert {tuple(types_of(batch).items()) for batch in scan().batches()} <= {tuple(types_of(scan().schema_table()).items())}
    reader = scan().to_reader()
    found = reader.read_all()
    assert found.schema == reader.schema and found.to_pydict() == rows
    frame = scan().to_polars().collect()
    assert frame.schema == scan().to_polars().collect_schema() and frame.to_dict(as_series=False) == rows
    with duckdb.connect() as connection:
        assert scan().to_duckdb(connection).fetchall() == list(zip(*rows.values(), strict=True))
    if infer == "all":
        assert outcome(scan().read) == outcome(lambda: expected)


@pytest.mark.parametrize("chosen", [False, True])
def test_the_first_batch_with_a_row_gives_the_types(chosen: bool) -> None:
    """Batches before it have rejects alone: they have its types too."""
    text = b"a,b,c\n" + b"1,2\n" * 3 + b"x,1,2\n" + b"2,1,y\n3,1.5,z\n"
    scan = headrace.scan_csv(text, infer="first", batch_bytes=6, short_records="reject", **REJECTING)
    if chosen:
        scan = scan.where(headrace.col("b") > 0, convert="chosen")
    batches = list(scan.batches())
    expected = {"a": "int64", "b": "int64", "c": "string"}
    assert [types_of(batch) for batch in batches] == [expected] * len(batches)
    assert types_of(scan.schema_table()) == types_of(scan.read()) == expected
    assert [batch.num_rows for batch in batches if batch.num_rows] == [1]
    found = scan.read()
    assert (found.to_pydict(), found.report.rejected) == ({"a": [2], "b": [1], "c": ["y"]}, 5)
    assert found.rejects["record"].to_pylist() == [1, 2, 3, 4, 6]
    assert sum(batch.report.records for batch in batches) == found.report.records == 7
    assert scan.to_reader().read_all().num_rows == 1


def test_rejects_alone_have_the_types_of_their_texts() -> None:
    scan = headrace.scan_csv(b"a,b\nx,1\ny,2\n", infer="first", batch_bytes=4, **REJECTING)
    assert [(batch.num_rows, types_of(batch)["b"]) for batch in scan.batches()] == [(0, "int64"), (0, "int64")]


def test_a_projection_of_polars_rejects_the_same_records() -> None:
    def frame() -> pl.LazyFrame:
        return headrace.scan_csv(b"a,b\nx,1\n2,3\n", **REJECTING).to_polars()

    assert frame().select("b").collect().to_dict(as_series=False) == {"b": [3]}
    assert frame().select(pl.len()).collect().item() == 1
    assert frame().filter(pl.col("b") > 0).select("b").collect()["b"].to_list() == [3]


def test_a_limit_of_polars_comes_before_its_filter() -> None:
    frame = headrace.scan_csv(b"a\n1\n2\n3\n", batch_bytes=2).to_polars()
    assert frame.head(2).filter(pl.col("a") > 1).collect()["a"].to_list() == [2]
    assert frame.filter(pl.col("a") > 1).head(1).collect()["a"].to_list() == [2]


def test_types_of_a_single_batch_that_memory_cuts_smaller() -> None:
    """Return a text whose first part contains only integers."""
    rows, memory_limit = 40_000, 1_500_000
    text = b"a,b\n" + b"".join(b"%d,1\n" % i for i in range(rows)) + b"".join(b"x%d,1\n" % i for i in range(rows))
    scan = headrace.scan_csv(text, batch_bytes=1 << 20, memory_limit=memory_limit)
    batches = list(scan.batches())
    assert len(batches) > 1 and {types_of(batch)["a"] for batch in batches} == {"string"}
    found = [value for batch in batches for value in batch["a"].to_pylist()]
    assert found == [str(i) for i in range(rows)] + [f"x{i}" for i in range(rows)]
    assert scan.report.rows == 2 * rows
    assert types_of(headrace.scan_csv(text, batch_bytes=1 << 20, memory_limit=memory_limit).schema_table())["a"] == "string"


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("given", [{"dtypes": {"a": "category"}}, {"dtypes": {"a": "string_view"}}, {"strings": "view"}])
def test_forms_of_text_without_rows(given: dict[str, Any], several: bool) -> None:
    text = [b"a\n", b"a\n"] if several else b"a\n"
    expected = "dictionary[int32, string]" if "category" in str(given) else "string_view"
    assert types_of(headrace.read_csv(text, **given)) == {"a": expected}
    assert types_of(headrace.scan_csv(text, **given).read()) == {"a": expected}
    assert headrace.scan_csv(text, **given).to_reader().schema == pa.table(headrace.read_csv(text, **given)).schema


@pytest.mark.parametrize("several", [False, True])
def test_rejects_of_a_scan_without_rows_have_columns(several: bool) -> None:
    text = [b"a\n", b"a\n"] if several else b"a\n"
    assert types_of(headrace.scan_csv(text).read().rejects) == types_of(headrace.read_csv(text).rejects)
