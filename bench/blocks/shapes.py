"""Builds the table of shapes of data from the results on a CPU and on a GPU."""

from __future__ import annotations

from bench.blocks.reads import PEERS
from bench.blocks.results import Results, Row, ratio, table, three

_SHOWN = 15
"""Shapes in the table: those with the lowest ratios."""
_PEERS = PEERS | {"pandas": "pandas"}


def shapes(results: Results) -> str:
    """Return a sentence that names the worst shape, and the table of the worst ones; rates on a GPU where there are any."""
    rows = sorted((row for row in results.rows("shapes-cpu") if row["peers"]), key=_ratio)
    on_gpu = {row["shape"]: row for row in results.rows("shapes-gpu")} if results.has("shapes-gpu") else {}
    worst, slower = rows[0], sum(_ratio(row) < 1 for row in rows)
    below = sum(_ratio(row) < row["goal"] for row in rows)
    middle = _ratio(rows[len(rows) // 2])
    said = [
        f"Worst shape: {worst['shape']}, {_ratio(worst):.2f} times {_PEERS[_best(worst)]}.",
        f"Of {len(rows)} shapes {slower} are slower than the best peer, and {below} are below their goal. The median is",
        f"{middle:.1f} times the best peer. The {min(_SHOWN, len(rows))} worst ones:",
    ]
    head = ["GB/s of text", "headrace", "best peer", "ratio", *(["GPU", "cuDF", "ratio"] if on_gpu else [])]
    lines = [[*_cells(row), *(_gpu_cells(on_gpu.get(row["shape"])) if on_gpu else [])] for row in rows[:_SHOWN]]
    names = ["shapes-cpu", *(["shapes-gpu"] if on_gpu else [])]
    note = f" {rows[0]['note']}" if rows[0].get("note") else ""
    return "\n".join([*said, "", table(head, lines), "", results.source(*names) + note])


def _best(row: Row) -> str:
    """Return the name of the fastest peer."""
    rates: dict[str, float] = row["peers"]
    return max(rates, key=rates.__getitem__)


def _ratio(row: Row) -> float:
    return float(row["gbs"] / row["peers"][_best(row)])


def _cells(row: Row) -> list[str]:
    theirs = row["peers"][_best(row)]
    return [row["shape"], three(row["gbs"]), f"{three(theirs)} ({_PEERS[_best(row)]})", f"**{ratio(row['gbs'], theirs)}**"]


def _gpu_cells(row: Row | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    theirs = row["peers"].get("cudf")
    return [three(row["gbs"]), *([three(theirs), ratio(row["gbs"], theirs)] if theirs else ["", ""])]
