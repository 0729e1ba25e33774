"""Compares the rates of a row of figures: the best peer, ratios, and the order of shapes."""

from __future__ import annotations

from bench.tables import Row

NAMES = {"pyarrow": "PyArrow", "polars": "Polars", "duckdb": "DuckDB", "pandas": "pandas", "cudf": "cuDF"}
"""Peers as they are written, by the names of the readers."""


def best_peer(row: Row) -> str:
    """Return the name of the fastest peer; "" if no peer was timed."""
    rates: dict[str, float] = row["peers"]
    return max(rates, key=rates.__getitem__, default="")


def ratio_of(row: Row) -> float:
    """Return headrace's rate over the best peer's; infinite without a peer."""
    best = best_peer(row)
    return float(row["gbs"] / row["peers"][best]) if best else float("inf")


def processor_ratio(row: Row) -> float:
    """Return the least processor time of a peer over headrace's, which other processes disturb less; infinite without a peer."""
    times = [row["processor"][name] for name in row["peers"]]
    return float(min(times) / row["processor"]["headrace"]) if times else float("inf")


def rank_of(row: Row) -> float:
    """Return the figure that a goal is compared with: GB/s on a GPU, a ratio to a peer on the CPU.

    The ratio is by processor time if the run was asked to rank so.
    """
    if row["device"] == "gpu":
        return float(row["gbs"])
    return processor_ratio(row) if row.get("rank") == "processor" else ratio_of(row)


def is_below_goal(row: Row) -> bool:
    """Return whether a shape is below its goal."""
    return bool(rank_of(row) < row["goal"])


def worst_first(rows: list[Row]) -> list[Row]:
    """Sort rows by the ratio to the best peer on the CPU, and by the share of the goal on a GPU."""
    return sorted(rows, key=lambda row: (rank_of(row) / (row["goal"] if row["device"] == "gpu" else 1), row["gbs"]))
