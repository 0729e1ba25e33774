"""Draws plots of lines as SVG, without a dependency. The axis of x is logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log2

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 48, 150, 40, 46
OURS = "#1f5fa8"
"""Colour of the lines of headrace."""
STYLE = "<style>text{fill:#24292f}@media(prefers-color-scheme:dark){text{fill:#e4e7ee}}</style>"
"""Makes the text of a plot legible on a light and on a dark page; the ground is transparent."""
_LINE_STYLE = f'<style>@media(prefers-color-scheme:dark){{polyline[stroke="{OURS}"]{{stroke:#6aa5e8}}}}</style>'
"""Makes the lines of headrace lighter on a dark page."""
_LINE_HEIGHT = 14


@dataclass(frozen=True, slots=True)
class Line:
    """Points of a line by their x; `dash` is the pattern of SVG, empty for a solid line."""

    points: Mapping[float, float]
    colour: str
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines by name. `ticks` are the labels of the axis of x."""

    title: str
    across: str
    ticks: Mapping[float, str]
    lines: Mapping[str, Line]


def picture(plot: Plot, machine: str) -> str:
    """Return an SVG of one plot."""
    return f"{_head(HEIGHT)}{STYLE}{_LINE_STYLE}{''.join(_parts(plot, machine, HEIGHT))}</svg>\n"


def pictures(plots: Sequence[Plot], machine: str) -> str:
    """Return an SVG of plots, one below the other, each high enough for the names of its lines."""
    heights = [max(HEIGHT, TOP + BOTTOM + _LINE_HEIGHT * len(plot.lines)) for plot in plots]
    parts, y = [], 0
    for plot, height in zip(plots, heights, strict=True):
        parts.append(f'<svg y="{y}" width="{WIDTH}" height="{height}">{"".join(_parts(plot, machine, height))}</svg>')
        y += height
    return f"{_head(y)}{STYLE}{_LINE_STYLE}{''.join(parts)}</svg>\n"


def _head(height: int) -> str:
    size = f'width="{WIDTH}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'


def _parts(plot: Plot, machine: str, height: int) -> list[str]:
    xs = [log2(x) for line in plot.lines.values() for x in line.points]
    most = max(y for line in plot.lines.values() for y in line.points.values()) or 1.0
    least, wide, step = min(xs), max(xs) - min(xs) or 1.0, _step(most)

    def right(x: float) -> float:
        return LEFT + (log2(x) - least) / wide * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return height - BOTTOM - y / most * (height - TOP - BOTTOM)

    parts = [f'<text x="10" y="18" font-size="13">{escape(plot.title, quote=False)}</text>']
    for number in range(int(most / step) + 1):
        y = up(number * step)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8a919c" stroke-opacity="0.35"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number * step:g}</text>')
    for x, name in plot.ticks.items():
        parts.append(f'<text x="{right(x):.1f}" y="{height - BOTTOM + 16}" text-anchor="middle">{escape(name)}</text>')
    parts += _drawn(plot.lines, right, up)
    below = escape(f"{plot.across}; {machine}", quote=False)
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{height - 12}" text-anchor="middle">{below}</text>')
    return parts


def _drawn(lines: Mapping[str, Line], right: Callable[[float], float], up: Callable[[float], float]) -> list[str]:
    """Return the lines, and their names at their ends, which are moved apart."""
    parts: list[str] = []
    free = float("-inf")
    for name, line in sorted(lines.items(), key=lambda pair: -list(pair[1].points.values())[-1]):
        ends = [(right(x), up(y)) for x, y in line.points.items()]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in ends)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2" {_dashed(line)}/>')
        free = max(free + _LINE_HEIGHT, ends[-1][1] + 4)
        parts.append(f'<text x="{ends[-1][0] + 8:.1f}" y="{free:.1f}">{escape(name, quote=False)}</text>')
    return parts


def _dashed(line: Line) -> str:
    return f'stroke-dasharray="{line.dash}"' if line.dash else ""


def _step(most: float) -> float:
    """Return the distance of the lines of a grid with at least three of them."""
    steps = [factor * 10.0**power for power in range(-9, 10) for factor in (1, 2, 5)]
    return max(step for step in steps if most / step >= 3)
