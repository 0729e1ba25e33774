"""Counts values between given edges, and reduces an array: distances of flights."""

from pathlib import Path

import headrace

FLIGHTS = Path(headrace.__file__).parent / "data" / "flights.csv"

distances = headrace.read_csv(FLIGHTS, columns="distance")["distance"].to_numpy().astype("uint32")
edges = [0, 250, 500, 1000, 2000, 5000]
counts = headrace.bucket_counts(distances, splitters=edges).tolist()
for low, high, count in zip(edges, edges[1:], counts, strict=False):
    print(f"{low:>5} to {high:<5} {count:>5} {'#' * (count // 50)}")
