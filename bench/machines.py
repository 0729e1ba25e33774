"""Plots rates by machine: some shapes of data, each on the cores of a machine and on a GPU, on a logarithmic axis.

usage: python -m bench.machines CPU.json GPU.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from bench.read.plot import COLOURS
from headrace.cli.bench.lines import STYLE

SHOWN = 10
"""Number of shapes, at equal distances in the order of rates on the CPU."""
LEFT, WIDTH, BAR, GAP, TOP = 270, 760, 14, 14, 52
LEAST, DECADE = 0.1, 120
"""The rate at the begin of the axis, in GB/s, and the width of a power of ten."""
PEER, GPU = COLOURS["pyarrow"], "#3f9a8c"


def chosen(cpu: Mapping[str, Any], gpu: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, float, str]]]]:
    """Return shapes, the slowest on the CPU first, each with its bars: name, rate and colour."""
    on_gpu = {row["shape"]: row["gbs"] for row in gpu["rows"] if row["gbs"]}
    rows = [row for row in cpu["rows"] if row["gbs"] and row["peers"] and row["shape"] in on_gpu]
    rows.sort(key=lambda row: row["gbs"])
    cores, card = f"{cpu['machine']['cores']} cores", gpu["machine"]["gpu"].removeprefix("NVIDIA ")
    return [
        (
            row["shape"],
            [
                (f"best peer, {cores}", max(row["peers"].values()), PEER),
                (f"headrace, {cores}", row["gbs"], COLOURS["headrace"]),
                (f"headrace, {card}", on_gpu[row["shape"]], GPU),
            ],
        )
        for row in (rows[number * (len(rows) - 1) // (SHOWN - 1)] for number in range(SHOWN))
    ]


def picture(groups: Sequence[tuple[str, Sequence[tuple[str, float, str]]]]) -> str:
    """Return an SVG of groups of bars."""
    parts, y = ['<text x="10" y="18" font-size="13">GB/s of text to typed columns by machine, logarithmic</text>'], TOP
    for number, (name, _, colour) in enumerate(groups[0][1]):
        x = LEFT + 150 * number
        parts.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{colour}"/><text x="{x + 15}" y="37">{name}</text>')
    for shape, bars in groups:
        middle = y + BAR * len(bars) / 2 + 4
        parts.append(f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end">{escape(shape, quote=False)}</text>')
        for _, rate, colour in bars:
            width = DECADE * log10(max(rate / LEAST, 1))
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            parts.append(f'<text x="{LEFT + width + 6:.1f}" y="{y + BAR - 4}">{rate:.3g}</text>')
            y += BAR
        y += GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="sans-serif" font-size="11">'
    return f"{head}{STYLE}{''.join(parts)}</svg>\n"


def main(arguments: Sequence[str]) -> None:
    """Write the plot of two results."""
    cpu, gpu = (json.loads(Path(name).read_text(encoding="utf-8")) for name in arguments[:2])
    Path(arguments[2]).write_text(picture(chosen(cpu, gpu)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
