"""Keeps the good records of a bad file and lists the others: flights, with the delay as a number that "NA" is not."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

table = headrace.read_csv(FLIGHTS, dtypes={"dep_delay": "int16"}, on_error="reject")
report = table.report
print(f"{report.records} records = {report.rows} rows + {report.rejected} rejected + {report.skipped.total} skipped")
print(table.rejects[["line", "column", "kind", "field"]].head(3))
