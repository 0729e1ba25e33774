"""A picture of a result: one group of bars for each case, one bar for each reader.

usage: python -m bench.read.plot RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

COLOURS = {
    "headrace": "#1f5fa8",
    "pyarrow": "#d08a2e",
    "polars": "#7a9a3a",
    "duckdb": "#b0563f",
    "duckdb_table": "#d08f7f",
    "pandas_c": "#8a7aa8",
    "pandas_pyarrow": "#b9aed0",
}
LEFT, WIDTH, BAR, GAP, TOP = 150, 720, 15, 26, 34


def picture(results: dict[str, Any]) -> str:
    """SVG of the best rates in GB/s of text."""
    rows = []
    for result in results["results"]:
        timed = [row for row in result["rows"] if row["contender"] in COLOURS and "best" in row]
        rows.append((result["case"], timed))
    most = max(row["best"] for _, timed in rows for row in timed)
    scale = (WIDTH - LEFT - 110) / most
    parts: list[str] = []
    y = TOP
    for case, timed in rows:
        middle = y + BAR * len(timed) / 2 + 5
        parts.append(f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end" font-weight="bold">{case}</text>')
        for row in timed:
            length = row["best"] * scale
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{COLOURS[row["contender"]]}"/>'
                f'<text x="{LEFT + length + 6:.1f}" y="{y + BAR - 4}">{row["contender"]} {row["best"]:.2f}</text>'
            )
            y += BAR
        y += GAP
    cores = results["machine"]["cores"]
    title = f"GB/s of text to typed columns, {cores} cores, page cache warm (longer is better)"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11">'
    ground = f'<rect width="100%" height="100%" fill="white"/><text x="10" y="18" font-size="13">{title}</text>'
    return f"{head}{ground}{''.join(parts)}</svg>\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(picture(json.loads(Path(sys.argv[1]).read_text())))
