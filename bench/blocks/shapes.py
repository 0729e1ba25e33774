"""Builds the tables of shapes of data from the results on a CPU and on a GPU."""

from __future__ import annotations

from statistics import median

from bench.blocks.results import Results, Row, ratio, table, three
from bench.read.shapes.figures import NAMES, best_peer, is_below_goal, ratio_of, worst_first

_SHOWN = 15
"""Shapes in a table: those with the lowest ratios, or the lowest shares of their goals."""


def shapes(results: Results) -> str:
    """Return sentences that name the worst shapes on the CPU, and their table."""
    rows = worst_first(results.rows("shapes-cpu", lambda row: bool(row["peers"])))
    worst, ratios = rows[0], [ratio_of(row) for row in rows]
    said = [
        f"Worst shape on the CPU: {worst['shape']}, {ratios[0]:.2f} times {NAMES[best_peer(worst)]}.",
        f"Of {len(rows)} shapes {sum(one < 1 for one in ratios)} are slower than the best peer,",
        f"and {sum(map(is_below_goal, rows))} are below their goal. The median is {median(ratios):.1f} times the best peer.",
        f"The {min(_SHOWN, len(rows))} worst ones:",
    ]
    lines = [[row["shape"], *_cells(row)] for row in rows[:_SHOWN]]
    note = f" {worst['note']}" if worst.get("note") else ""
    shown = table(["GB/s of text", "headrace", "best peer", "ratio"], lines)
    return "\n".join([*said, "", shown, "", results.source("shapes-cpu") + note])


def gpu_shapes(results: Results) -> str:
    """Return sentences that name the worst shapes on a GPU, and their table, beside cuDF if it was measured."""
    rows = worst_first(results.rows("shapes-gpu"))
    slowest = min(rows, key=lambda row: float(row["gbs"]))
    said = [
        f"Slowest shape on a GPU: {slowest['shape']}, {three(slowest['gbs'])} GB/s.",
        f"The median of {len(rows)} shapes is {three(median(row['gbs'] for row in rows))} GB/s,",
        f"and {sum(map(is_below_goal, rows))} are below their goal. The {min(_SHOWN, len(rows))} farthest from it:",
    ]
    has_cudf = any(row["peers"].get("cudf") for row in rows)
    head = ["GB/s of text", "headrace", "goal", "share of it", "share of a read", *(["cuDF", "ratio"] if has_cudf else [])]
    lines = [_gpu_cells(row)[: len(head)] for row in rows[:_SHOWN]]
    return "\n".join([*said, "", table(head, lines), "", results.source("shapes-gpu")])


def _cells(row: Row) -> list[str]:
    name, theirs = best_peer(row), row["peers"][best_peer(row)]
    return [three(row["gbs"]), f"{three(theirs)} ({NAMES[name]})", f"**{ratio(row['gbs'], theirs)}**"]


def _gpu_cells(row: Row) -> list[str]:
    rate, theirs = row["gbs"], row["peers"].get("cudf")
    shares = [f"**{rate / row['goal']:.2f}**", f"{rate / row['limit']:.0%}"]
    return [
        row["shape"],
        three(rate),
        f"{row['goal']:g}",
        *shares,
        *([three(theirs), ratio(rate, theirs)] if theirs else ["", ""]),
    ]
