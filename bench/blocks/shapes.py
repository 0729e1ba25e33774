"""Builds the table of shapes of data from the results on a CPU and on a GPU."""

from __future__ import annotations

from statistics import median

from bench.blocks.results import Results, Row, ratio, table, three
from bench.read.shapes.figures import NAMES, best_peer, is_below_goal, ratio_of, worst_first

_SHOWN = 15
"""Shapes in the table: those with the lowest ratios."""


def shapes(results: Results) -> str:
    """Return sentences that name the worst shapes, and the table of the worst ones; rates on a GPU if it was measured."""
    rows = worst_first(results.rows("shapes-cpu", lambda row: bool(row["peers"])))
    on_gpu = {row["shape"]: row for row in results.rows("shapes-gpu")} if results.has("shapes-gpu") else {}
    worst, ratios = rows[0], [ratio_of(row) for row in rows]
    said = [
        f"Worst shape on the CPU: {worst['shape']}, {ratios[0]:.2f} times {NAMES[best_peer(worst)]}.",
        f"Of {len(rows)} shapes {sum(one < 1 for one in ratios)} are slower than the best peer,",
        f"and {sum(map(is_below_goal, rows))} are below their goal. The median is {median(ratios):.1f} times the best peer.",
    ]
    if on_gpu:
        slowest = min(on_gpu.values(), key=lambda row: float(row["gbs"]))
        said.append(f"Slowest shape on a GPU: {slowest['shape']}, {three(slowest['gbs'])} GB/s.")
    said.append(f"The {min(_SHOWN, len(rows))} worst ones on the CPU:")
    has_cudf = any(row["peers"].get("cudf") for row in on_gpu.values())
    head = [
        "GB/s of text",
        "headrace",
        "best peer",
        "ratio",
        *(["GPU"] if on_gpu else []),
        *(["cuDF", "ratio"] if has_cudf else []),
    ]
    lines = [[row["shape"], *_cells(row), *_gpu_cells(on_gpu.get(row["shape"]))[: len(head) - 4]] for row in rows[:_SHOWN]]
    names = ["shapes-cpu", *(["shapes-gpu"] if on_gpu else [])]
    note = f" {worst['note']}" if worst.get("note") else ""
    return "\n".join([*said, "", table(head, lines), "", results.source(*names) + note])


def _cells(row: Row) -> list[str]:
    name, theirs = best_peer(row), row["peers"][best_peer(row)]
    return [three(row["gbs"]), f"{three(theirs)} ({NAMES[name]})", f"**{ratio(row['gbs'], theirs)}**"]


def _gpu_cells(row: Row | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    theirs = row["peers"].get("cudf")
    return [three(row["gbs"]), *([three(theirs), ratio(row["gbs"], theirs)] if theirs else ["", ""])]
