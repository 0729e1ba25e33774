"""Plots a result: one group of bars for each case, one bar for each reader.

The length of a bar is the rate of the first read. Its pale end reaches to the best rate of later reads.

usage: python -m bench.read.plot RESULTS.json [RESULTS.json ...] OUT.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from headrace.cli.bench.lines import STYLE

COLOURS = {
    "headrace": "#1f5fa8",
    "pyarrow": "#d08a2e",
    "polars": "#7a9a3a",
    "duckdb": "#b0563f",
    "duckdb_table": "#d08f7f",
    "pandas_c": "#8a7aa8",
    "pandas_pyarrow": "#b9aed0",
}
LEFT, WIDTH, BAR, GAP, TOP = 150, 760, 15, 26, 34


def picture(results: dict[str, Any]) -> str:
    """Return an SVG of first and best rates in GB/s of text."""
    rows = []
    for result in results["results"]:
        timed = [row for row in result["rows"] if row["contender"] in COLOURS and "best" in row]
        rows.append((f"{result['case']}, {result['file_bytes'] / 1e9:.1f} GB", timed))
    most = max(max(row["best"], row["first"]) for _, timed in rows for row in timed)
    scale = (WIDTH - LEFT - 170) / most
    parts: list[str] = []
    y = TOP
    for case, timed in rows:
        middle = y + BAR * len(timed) / 2 + 5
        parts.append(f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end" font-weight="bold">{case}</text>')
        for row in timed:
            first, best = row["first"] * scale, row["best"] * scale
            bar = f'height="{BAR - 2}" fill="{COLOURS[row["contender"]]}"'
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{best:.1f}" fill-opacity="0.4" {bar}/>'
                f'<rect x="{LEFT}" y="{y}" width="{first:.1f}" {bar}/>'
                f'<text x="{LEFT + max(first, best) + 6:.1f}" y="{y + BAR - 4}">'
                f"{row['contender']} {row['first']:.2f}, {row['best']:.2f}</text>"
            )
            y += BAR
        y += GAP
    cores = results["machine"]["cores"]
    title = f"GB/s of text to typed columns, import and first read, and best later read, {cores} cores (longer is better)"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11">'
    ground = f'{STYLE}<text x="10" y="18" font-size="13">{title}</text>'
    return f"{head}{ground}{''.join(parts)}</svg>\n"


if __name__ == "__main__":
    kept = [json.loads(Path(name).read_text()) for name in sys.argv[1:-1]]
    joined = {"machine": kept[0]["machine"], "results": [result for one in kept for result in one["results"]]}
    Path(sys.argv[-1]).write_text(picture(joined))
