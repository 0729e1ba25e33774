"""Plots rates by the number of threads, of items or of bytes, as lines.

usage: python -m bench.lines threads|files|sorts|primitives RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from bench.read.plot import COLOURS, STYLE

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 48, 150, 40, 46
PEER = "#d08a2e"
LINE_STYLE = f'<style>@media(prefers-color-scheme:dark){{polyline[stroke="{COLOURS["headrace"]}"]{{stroke:#6aa5e8}}}}</style>'
"""Makes the lines of headrace lighter on a dark page."""


@dataclass(frozen=True, slots=True)
class Line:
    """Points of a line by their x; `dash` is the pattern of SVG, empty for a solid line."""

    points: Mapping[float, float]
    colour: str
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines by name. The axis of x is logarithmic, and `ticks` are its labels."""

    title: str
    across: str
    ticks: Mapping[float, str]
    lines: Mapping[str, Line]


def threads(results: Mapping[str, Any]) -> Plot:
    """Return the rates of a read by threads, and those in proportion to one thread."""
    found = results["results"][0]
    rows = found["rows"]
    colour, one = COLOURS["headrace"], rows[0]["best"] / rows[0]["threads"]
    lines = {
        "later reads": Line({row["threads"]: row["best"] for row in rows}, colour),
        "first read": Line({row["threads"]: row["first"] for row in rows}, colour, "5 3"),
        "in proportion": Line({row["threads"]: one * row["threads"] for row in rows}, "#8a919c", "2 3"),
    }
    size = f"{found['file_bytes'] / 1e9:.1f} GB"
    ticks = {row["threads"]: str(row["threads"]) for row in rows}
    return Plot(f"GB/s of text to typed columns: {found['case']}, {size}, page cache warm", "threads", ticks, lines)


def files(results: Mapping[str, Any]) -> Plot:
    """Return the rates of first reads by the size of the file, beside the best peer of each size."""
    cases: dict[str, dict[float, dict[str, float]]] = {}
    for found in results["results"]:
        timed = {row["contender"]: row["first"] for row in found["rows"] if row["contender"] in COLOURS and "first" in row}
        cases.setdefault(found["case"], {})[found["file_bytes"]] = timed
    lines = {}
    for (case, sizes), dash in zip(cases.items(), ("", "7 3", "2 3"), strict=True):
        ours = {size: timed.pop("headrace") for size, timed in sizes.items()}
        lines[f"headrace, {case}"] = Line(ours, COLOURS["headrace"], dash)
        lines[f"best peer, {case}"] = Line({size: max(timed.values()) for size, timed in sizes.items()}, PEER, dash)
    ticks = {size: f"{size / 1e9:.1f} GB" for size in next(iter(cases.values()))}
    return Plot("GB/s of text to typed columns: import and first read, page cache warm", "bytes of the file", ticks, lines)


def primitives(results: Mapping[str, Any]) -> Plot:
    """Return the rates of scan, reduce and select by the number of items, by the call, beside CUB."""
    lines = {
        f"{name}, {what}": Line({row["n"]: row[key] for row in results["rows"] if row["what"] == what}, colour, dash)
        for name, key, colour in (("headrace", "call", COLOURS["headrace"]), ("CUB", "cub_call", PEER))
        for what, dash in (("scan", ""), ("reduce", "7 3"), ("select", "2 3"))
    }
    ticks = {n: f"2^{n.bit_length() - 1}" for n in sorted({row["n"] for row in results["rows"]})}
    return Plot("G items/s: uint32 on a GPU, by the call", "items", ticks, lines)


def sorts(results: Mapping[str, Any]) -> Plot:
    """Return the rates of sorts of uniform keys by their number, by the call and by the kernel, beside CUB."""
    rows = [row for row in results["rows"] if row["type"] == "u32" and row["data"] == "uniform"]
    lines = {
        f"{name}, {how}": Line({row["n"]: row[prefix + how] for row in rows}, colour, dash)
        for name, prefix, colour in (("headrace", "", COLOURS["headrace"]), ("CUB", "cub_", PEER))
        for how, dash in (("kernel", ""), ("call", "5 3"))
    }
    powers = {row["n"]: f"2^{n.bit_length() - 1}" for row in rows if (n := row["n"]) & (n - 1) == 0}
    ticks = powers | {row["n"]: f"{row['n'] // 10**6} M" for row in rows if row["n"] not in powers and row["n"] >= 5 * 10**8}
    return Plot("G keys/s: sort of uniform keys of 32 bits", "keys", ticks, lines)


def picture(plot: Plot, machine: str) -> str:
    """Return an SVG."""
    xs = [log2(x) for line in plot.lines.values() for x in line.points]
    most = max(y for line in plot.lines.values() for y in line.points.values())
    step = _step(most)

    def right(x: float) -> float:
        return LEFT + (log2(x) - min(xs)) / (max(xs) - min(xs)) * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - y / most * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="10" y="18" font-size="13">{plot.title}</text>']
    for number in range(int(most / step) + 1):
        y = up(number * step)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8a919c" stroke-opacity="0.35"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number * step:g}</text>')
    for x, name in plot.ticks.items():
        parts.append(f'<text x="{right(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{name}</text>')
    parts += _drawn(plot.lines, right, up)
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{plot.across}; {machine}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">'
    return f"{head}{STYLE}{LINE_STYLE}{''.join(parts)}</svg>\n"


def _drawn(lines: Mapping[str, Line], right: Callable[[float], float], up: Callable[[float], float]) -> list[str]:
    """Return the lines, and their names at their ends, which are moved apart."""
    parts: list[str] = []
    free = float("-inf")
    for name, line in sorted(lines.items(), key=lambda pair: -list(pair[1].points.values())[-1]):
        ends = [(right(x), up(y)) for x, y in line.points.items()]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in ends)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2" {_dashed(line)}/>')
        free = max(free + 14, ends[-1][1] + 4)
        parts.append(f'<text x="{ends[-1][0] + 8:.1f}" y="{free:.1f}">{name}</text>')
    return parts


def _dashed(line: Line) -> str:
    return f'stroke-dasharray="{line.dash}"' if line.dash else ""


def _step(most: float) -> float:
    """Return the distance of the lines of a grid with at least three of them."""
    steps = [factor * 10**power for power in range(-2, 5) for factor in (1, 2, 5)]
    return max(step for step in steps if most / step >= 3)


def main(arguments: Sequence[str]) -> None:
    """Write the plot of a result."""
    kind, name, target = arguments
    results = json.loads(Path(name).read_text())
    machine = results["machine"]
    where = machine["gpu"] if kind in ("sorts", "primitives") else f"{machine['cores']} cores"
    plots = {"threads": threads, "files": files, "sorts": sorts, "primitives": primitives}
    Path(target).write_text(picture(plots[kind](results), where))


if __name__ == "__main__":
    main(sys.argv[1:])
