"""Passes a table to Polars: the mean delay of each carrier with more than 400 flights."""

from pathlib import Path

import polars as pl

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

frame = headrace.read_csv(FLIGHTS, columns=["carrier", "dep_delay"], null_values=["", "NA"]).to_polars()
delays = frame.group_by("carrier").agg(pl.len().alias("flights"), pl.col("dep_delay").mean().round(1))
for row in delays.filter(pl.col("flights") > 400).sort("dep_delay", descending=True).iter_rows():
    print(*row)
