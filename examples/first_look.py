"""Reads a file and shows its rows, its types, and why each type was chosen: 4,334 flights that left New York in 2013."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

table = headrace.read_csv(FLIGHTS)
print(table[["carrier", "flight", "origin", "dest", "dep_delay", "time_hour"]].head(3))
for column in table.report.columns[3:6]:
    if column.evidence is not None:
        print(f"{column.name}: {column.type}, because of {column.evidence.text!r} in record {column.evidence.record}")
