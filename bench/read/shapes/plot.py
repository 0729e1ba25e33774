"""Plots shapes: for each shape a bar of headrace's rate and one of the best peer's, worst shape first.

usage: python -m bench.read.shapes.plot RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from bench.blocks.results import three
from bench.read.plot import COLOURS
from bench.read.shapes.figures import NAMES, best_peer, ratio_of, worst_first
from bench.tables import Row

LEFT, WIDTH, BAR, GAP, TOP = 330, 900, 9, 7, 40
_COLOURS = COLOURS | {"pandas": COLOURS["pandas_c"], "cudf": "#3a9a6a"}


def picture(rows: list[Row]) -> str:
    """Return an SVG of the rates in GB/s of text."""
    scale = (WIDTH - LEFT - 200) / max(rate for row in rows for rate in (row["gbs"], *row["peers"].values()))
    parts: list[str] = []
    y = TOP
    for row in worst_first(rows):
        parts += _bars(row, y, scale)
        y += 2 * BAR + GAP
    where = f"{rows[0]['threads']} threads" if rows[0]["device"] == "cpu" else "a GPU"
    title = f"GB/s of text to typed columns by shape on {where}: headrace (upper bar) and the best peer, worst shape first"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="10">'
    ground = f'<rect width="100%" height="100%" fill="white"/><text x="10" y="20" font-size="13">{escape(title)}</text>'
    return f"{head}{ground}{''.join(parts)}</svg>\n"


def _bars(row: Row, y: int, scale: float) -> list[str]:
    """Return the texts and bars of a shape: its name, one or two bars, and the rates."""
    peer, middle = best_peer(row), y + BAR + 3
    bars = {"headrace": row["gbs"], **({peer: row["peers"][peer]} if peer else {})}
    said = f"{three(row['gbs'])}, {ratio_of(row):.2f} times {NAMES[peer]}" if peer else three(row["gbs"])
    right = LEFT + max(bars.values()) * scale + 6
    return [
        f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{escape(row["shape"])}</text>',
        *(
            f'<rect x="{LEFT}" y="{y + i * BAR}" width="{rate * scale:.1f}" height="{BAR - 1}" fill="{_COLOURS[name]}"/>'
            for i, (name, rate) in enumerate(bars.items())
        ),
        f'<text x="{right:.1f}" y="{middle}">{said}</text>',
    ]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())["rows"]))
