"""Builds the table of shapes, worst first."""

from __future__ import annotations

from pathlib import Path

from bench.blocks.results import three
from bench.machine import description
from bench.read.shapes.plot import picture
from bench.tables import Row, keep

NAMES = {"pyarrow": "PyArrow", "polars": "Polars", "duckdb": "DuckDB", "pandas": "pandas", "cudf": "cuDF"}
"""Peers as they are written, by the names of the readers."""


def ratio_of(row: Row) -> float:
    """Return headrace's rate over the best peer's; infinite without a peer."""
    best = max(row["peers"].values(), default=0.0)
    return row["gbs"] / best if best else float("inf")


def processor_ratio(row: Row) -> float:
    """Return the least processor time of a peer over headrace's, which other processes disturb less; 0 without a peer."""
    times = [row["processor"][name] for name in row["peers"]]
    return float(min(times) / row["processor"]["headrace"]) if times else 0.0


def worst_first(rows: list[Row]) -> list[Row]:
    """Sort rows by the ratio to the best peer, then by rate."""
    return sorted(rows, key=lambda row: (ratio_of(row), row["gbs"]))


def line_of(row: Row) -> str:
    """Return a row of the table: rates, ratio to the best peer, goal, and share of the limit."""
    peers = NAMES if row["device"] == "cpu" else ["cudf"]
    rates = [
        three(row["peers"][name]) if name in row["peers"] else "" for name in peers if name != "cudf" or row["device"] == "gpu"
    ]
    ratio = ratio_of(row)
    shown = f"**{ratio:.2f}**" if ratio < float("inf") else ""
    if row["device"] == "cpu":
        shown += f" | {processor_ratio(row):.2f}" if row["peers"] else " | "
    goal = f"{row['goal']:g}" + ("x" if row["device"] == "cpu" else " GB/s")
    return f"| {row['shape']} | {three(row['gbs'])} | {' | '.join(rates)} | {shown} | {goal} | {row['gbs'] / row['limit']:.0%} |"


def page_of(rows: list[Row], note: str = "") -> list[str]:
    """Return the lines of the page of results. `note`: a remark on the machine."""
    if not rows:
        return []
    first = rows[0]
    is_cpu = first["device"] == "cpu"
    peers = [name for key, name in NAMES.items() if (key == "cudf") != is_cpu]
    where = f"on {first['threads']} threads" if is_cpu else "of text in a GPU's memory"
    size = sum(row["bytes"] for row in rows) / len(rows) / 1e6
    ratios = ["ratio to the best peer", *(["by processor time"] if is_cpu else [])]
    columns = ["headrace", *peers, *ratios, "goal", "of the limit"]
    below = [row for row in rows if ratio_of(row) < row["goal"]] if is_cpu else [row for row in rows if row["gbs"] < row["goal"]]
    worst = worst_first(rows)
    lines = [
        f"# Shapes of data, {where}",
        "",
        f"GB/s of text from the call to the table, {len(rows)} shapes of {size:.0f} MB, worst first. Best of the turns.",
        f"Worst shape: {worst[0]['shape']}. Below their goal: {len(below)} of {len(rows)}. An empty cell is a library that",
        "is not installed, has no option for the shape, or gave another answer (last table).",
        "",
        *([note, ""] if note else []),
        "; ".join(f"{name} {value}" for name, value in description().items()),
        "",
        f"| GB/s | {' | '.join(columns)} |",
        f"| --- |{' ---: |' * len(columns)}",
        *map(line_of, worst),
    ]
    errors = [f"| {row['shape']} | {NAMES[name]} | {_cell(text)} |" for row in worst for name, text in row["errors"].items()]
    return [*lines, "", "| shape | left out | reason |", "| --- | --- | --- |", *errors] if errors else lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:120]


def keep_results(out: Path | None, rows: list[Row], note: str) -> None:
    """Write OUT.md, OUT.json and OUT.svg."""
    keep(out, page_of(rows, note), [row | {"note": note} for row in rows] if note else rows)
    if out is not None:
        out.with_suffix(".svg").write_text(picture(worst_first(rows), NAMES))
