"""Builds the page of shapes, worst first."""

from __future__ import annotations

from pathlib import Path

from bench.blocks.results import three
from bench.machine import description
from bench.read.shapes.figures import NAMES, is_below_goal, processor_ratio, ratio_of, worst_first
from bench.read.shapes.plot import picture
from bench.tables import Row, keep

_ON_GPU = ("cudf",)


def line_of(row: Row) -> str:
    """Return a row of the table: rates, ratios to the best peer, goal, and share of the limit."""
    is_cpu = row["device"] == "cpu"
    rates = [three(row["peers"][name]) if name in row["peers"] else "" for name in _peers(is_cpu)]
    ratios = [f"**{ratio_of(row):.2f}**", *([f"{processor_ratio(row):.2f}"] if is_cpu else [])]
    goal = f"{row['goal']:g}{'x' if is_cpu else ' GB/s'}"
    cells = [row["shape"], three(row["gbs"]), *rates, *(ratios if row["peers"] else [""] * len(ratios)), goal]
    shares = [row["gbs"] / row["limit"], *([row["moved"] / row["bytes"] * row["gbs"] / row["copy"]] if _is_moved(row) else [])]
    return f"| {' | '.join([*cells, *(f'{share:.0%}' for share in shares)])} |"


def _is_moved(row: Row) -> bool:
    """Return whether a row knows the bytes that any read moves: those of the text and of the table."""
    return "moved" in row


def _peers(is_cpu: bool) -> list[str]:
    return [name for name in NAMES if (name in _ON_GPU) != is_cpu]


def page_of(rows: list[Row]) -> list[str]:
    """Return the lines of the page of results."""
    if not rows:
        return []
    is_cpu, worst = rows[0]["device"] == "cpu", worst_first(rows)
    where = f"on {rows[0]['threads']} threads" if is_cpu else "in a GPU's memory"
    size, below = sum(row["bytes"] for row in rows) / len(rows) / 1e6, sum(map(is_below_goal, rows))
    order = "processor time" if rows[0].get("rank") == "processor" else "the clock" if is_cpu else "the goal"
    ratios = ["ratio to the best peer", *(["by processor time"] if is_cpu else [])]
    columns = ["headrace", *(NAMES[name] for name in _peers(is_cpu)), *ratios, "goal", "of the limit"]
    columns += ["of a copy"] if _is_moved(rows[0]) else []
    lines = [
        f"# Shapes of data, {where}",
        "",
        f"GB/s of text from the call to the table, best of the turns. {len(rows)} shapes of {size:.0f} MB,",
        f"worst first by {order}.",
        f"Worst shape: {worst[0]['shape']}. Below their goal: {below} of {len(rows)}.",
        *(["Of a copy: bytes of the text and of the table, over the rate of a copy."] if _is_moved(rows[0]) else []),
        "An empty cell is a library that is not installed, has no option for the shape, or gave another answer (last table).",
        "",
        *([rows[0]["note"], ""] if rows[0].get("note") else []),
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


def keep_results(out: Path | None, rows: list[Row]) -> None:
    """Write OUT.md, OUT.json and OUT.svg."""
    keep(out, page_of(rows), rows)
    if out is not None:
        out.with_suffix(".svg").write_text(picture(rows))
