"""Queries a file with SQL: DuckDB reads the batches of a scan while the query runs."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

flights = headrace.scan_csv(FLIGHTS).to_duckdb()
busy = flights.aggregate("origin, count(*) AS flights, max(distance) AS farthest").order("flights DESC")
print(busy.fetchall())
