"""Writes a Parquet file from a scan, without a table in memory, and reads its schema."""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "flights.parquet")
    headrace.scan_csv(FLIGHTS, dtypes={"carrier": "category"}).select(["time_hour", "carrier", "distance"]).write_parquet(path)
    found = pq.ParquetFile(path)
    print(found.metadata.num_rows, "rows")
    print(*(f"{field.name}: {field.type}" for field in found.schema_arrow), sep="\n")
