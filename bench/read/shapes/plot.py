"""Plots shapes, worst first: a bar of headrace, one of the best peer, and a mark at the goal.

On the CPU a bar is a multiple of the best peer, on a GPU GB/s of text.

usage: python -m bench.read.shapes.plot RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from math import isfinite
from pathlib import Path
from xml.sax.saxutils import escape

from bench.blocks.results import three
from bench.read.plot import COLOURS
from bench.read.shapes.figures import NAMES, best_peer, rank_of, worst_first
from bench.tables import Row
from headrace.cli.bench.lines import STYLE

LEFT, WIDTH, BAR, GAP, TOP = 330, 900, 8, 6, 40
_COLOURS = COLOURS | {"pandas": COLOURS["pandas_c"], "cudf": "#3a9a6a"}


def picture(rows: list[Row]) -> str:
    """Return an SVG."""
    scale = (WIDTH - LEFT - 200) / max(length for row in rows for length in (row["goal"], *_lengths(row).values()))
    parts: list[str] = []
    y = TOP
    for row in worst_first(rows):
        parts += _bars(row, y, scale)
        y += 2 * BAR + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="10">'
    ground = f'{STYLE}<text x="10" y="20" font-size="13">{escape(_title(rows[0]))}</text>'
    return f"{head}{ground}{''.join(parts)}</svg>\n"


def _title(row: Row) -> str:
    if row["device"] == "gpu":
        return "GB/s of text to typed columns on a GPU: headrace, cuDF, and the goal (line), worst shape first"
    by = "processor time" if row.get("rank") == "processor" else "rate"
    return f"headrace by {by} over the best peer (1), and the goal (line); {row['threads']} threads, worst shape first"


def _lengths(row: Row) -> dict[str, float]:
    """Return the length of each bar by reader; none if no peer was timed on the CPU."""
    peer, rank = best_peer(row), rank_of(row)
    beside = {peer: 1.0 if row["device"] == "cpu" else float(row["peers"][peer])} if peer else {}
    return {"headrace": rank, **beside} if isfinite(rank) else {}


def _bars(row: Row, y: int, scale: float) -> list[str]:
    """Return a shape's name, bars, goal and rates."""
    peer, middle, lengths, goal = best_peer(row), y + BAR + 3, _lengths(row), LEFT + row["goal"] * scale
    said = f"{three(row['gbs'])} GB/s"
    if peer:
        said += f", ratio {rank_of(row):.2f}" if row["device"] == "cpu" else f", {NAMES[peer]} {three(row['peers'][peer])}"
    right = max([goal, *(LEFT + length * scale for length in lengths.values())]) + 6
    return [
        f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{escape(row["shape"])}</text>',
        *(
            f'<rect x="{LEFT}" y="{y + i * BAR}" width="{length * scale:.1f}" height="{BAR - 1}" fill="{_COLOURS[name]}"/>'
            for i, (name, length) in enumerate(lengths.items())
        ),
        f'<line x1="{goal:.1f}" y1="{y - 1}" x2="{goal:.1f}" y2="{y + 2 * BAR}" stroke="#888"/>',
        f'<text x="{right:.1f}" y="{middle}">{said}</text>',
    ]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())["rows"]))
