"""Reads a file in batches of bounded memory: the flown miles, and where each batch ends."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

miles = 0
with headrace.scan_csv(FLIGHTS, batch_bytes=200_000) as scan:
    for batch in scan.select(["distance"]).batches():
        miles += int(batch["distance"].to_numpy().sum())
        print(f"{batch.num_rows} rows, to byte {batch.report.end.byte}")
print(miles, "miles")
assert miles == sum(headrace.read_csv(FLIGHTS)["distance"].to_pylist())
