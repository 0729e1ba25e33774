"""Tests decimals, times, durations, bytes and nulls as PyArrow, Polars, DuckDB and pandas receive them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace

TEXT = b"""d,t,s,w,b,n,h
1.25,12:30:15.5,23:59:59,P1DT2H,\xff\x00,,0x1F
-99999.99,00:00:00,00:00:00,-PT0.000001S,,,0x0
,,,,,,
0.1,23:59:59.999999,12:00:00,P999D,x,,0x7FFFFFFFFFFFFFFF
"""
TYPES = {
    "d": "decimal128(7, 2)",
    "t": "time64[us]",
    "s": "time32[s]",
    "w": "duration[us]",
    "b": "binary",
    "n": "null",
    "h": "int64",
}
EXPECTED = {
    "d": [Decimal("1.25"), Decimal("-99999.99"), None, Decimal("0.10")],
    "t": [datetime.time(12, 30, 15, 500_000), datetime.time(0), None, datetime.time(23, 59, 59, 999_999)],
    "s": [datetime.time(23, 59, 59), datetime.time(0), None, datetime.time(12)],
    "w": [
        datetime.timedelta(days=1, hours=2),
        datetime.timedelta(microseconds=-1),
        None,
        datetime.timedelta(days=999),
    ],
    "b": [b"\xff\x00", None, None, b"x"],
    "n": [None] * 4,
    "h": [31, 0, None, 2**63 - 1],
}


def table():
    return headrace.read_csv(TEXT, schema=TYPES)


def test_python_values():
    assert table().to_pydict() == EXPECTED


@pytest.mark.parametrize("rows", [slice(0, 4), slice(1, 4), slice(3, 4), slice(2, 2)])
def test_pyarrow(rows):
    for name, column in table().columns.items():
        array = pa.array(column[rows])
        array.validate(full=True)
        assert str(array.type) == TYPES[name] and array.to_pylist() == EXPECTED[name][rows]


def test_polars():
    frame = pl.DataFrame(table())
    assert frame.to_dict(as_series=False) == EXPECTED
    assert frame.schema["d"] == pl.Decimal(7, 2) and frame.schema["n"] == pl.Null and frame.schema["b"] == pl.Binary


def test_duckdb():
    connection = duckdb.connect()
    connection.register("quantities", table())
    found = connection.execute("select d, t, s, w, b, n, h from quantities").fetchall()
    assert found == list(zip(*EXPECTED.values(), strict=True))
    sums = connection.execute("select sum(d), max(w) from quantities").fetchall()
    assert sums == [(Decimal("-99998.64"), datetime.timedelta(days=999))]


def test_pandas():
    frame = table().to_pandas()
    assert frame["w"].dtype == "m8[us]" and frame["w"][1] == pd.Timedelta(microseconds=-1) and pd.isna(frame["w"][2])
    for name in "dtsbn":
        assert [None if pd.isna(value) else value for value in frame[name]] == EXPECTED[name]
    typed = pd.DataFrame(
        {name: pd.array(pa.array(column), pd.ArrowDtype(pa.array(column).type)) for name, column in table().columns.items()}
    )
    assert typed["d"].sum() == Decimal("-99998.64")


def test_parquet_and_back(tmp_path):
    import pyarrow.parquet as pq

    arrow = pa.table(table())
    pq.write_table(arrow, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").cast(arrow.schema).equals(arrow)
