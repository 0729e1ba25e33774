"""Sorts a column with nulls, and finds the rows of its five highest values: the most delayed flights."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

table = headrace.read_csv(FLIGHTS, null_values=["", "NA"])
order = headrace.argsort(table["dep_delay"], descending=True).tolist()
for row in order[:5]:
    print(table["carrier"][row], table["flight"][row], table["dep_delay"][row], "minutes")
print("nulls are last:", table["dep_delay"][order[-1]])
