"""Partitions a table: the rows of each day, in their order, as one table and the offsets of its parts."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

table = headrace.read_csv(FLIGHTS)
parts, offsets = table.partition("day", headrace.buckets.identity(6))
for day, (begin, end) in enumerate(zip(offsets.tolist(), offsets.tolist()[1:], strict=False)):
    if begin < end:
        print(f"January {parts['day'][begin]}: {end - begin} flights, bucket {day}")
