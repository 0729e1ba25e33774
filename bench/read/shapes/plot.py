"""Plots shapes: for each shape a bar of headrace's rate and one of the best peer's, worst shape first."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from bench.blocks.results import three
from bench.read.plot import COLOURS
from bench.tables import Row

LEFT, WIDTH, BAR, GAP, TOP = 330, 900, 9, 7, 40
_COLOURS = COLOURS | {"pandas": COLOURS["pandas_c"], "cudf": "#3a9a6a"}


def picture(rows: list[Row], names: Mapping[str, str]) -> str:
    """Return an SVG of the rates in GB/s of text. `rows`: in the order of the bars. `names`: how readers are written."""
    most = max(max(row["gbs"], *row["peers"].values(), 0) for row in rows)
    scale = (WIDTH - LEFT - 180) / most
    parts: list[str] = []
    y = TOP
    for row in rows:
        peer = max(row["peers"], key=lambda name: float(row["peers"][name]), default="")
        bars = [("headrace", row["gbs"])] + ([(peer, row["peers"][peer])] if peer else [])
        ratio = f", {row['gbs'] / bars[1][1]:.2f} of {names[peer]}'s {three(bars[1][1])}" if peer else ""
        parts.append(f'<text x="{LEFT - 8}" y="{y + BAR + 3}" text-anchor="end">{escape(row["shape"])}</text>')
        for i, (name, rate) in enumerate(bars):
            parts.append(
                f'<rect x="{LEFT}" y="{y + i * BAR}" width="{rate * scale:.1f}" height="{BAR - 1}" fill="{_COLOURS[name]}"/>'
            )
        right = LEFT + max(rate for _, rate in bars) * scale + 6
        parts.append(f'<text x="{right:.1f}" y="{y + BAR + 3}">{three(row["gbs"])}{ratio}</text>')
        y += 2 * BAR + GAP
    where = f"{rows[0]['threads']} threads" if rows[0]["device"] == "cpu" else "a GPU"
    title = f"GB/s of text to typed columns by shape on {where}: headrace (upper bar) and the best peer, worst ratio first"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="10">'
    ground = f'<rect width="100%" height="100%" fill="white"/><text x="10" y="20" font-size="13">{escape(title)}</text>'
    return f"{head}{ground}{''.join(parts)}</svg>\n"
