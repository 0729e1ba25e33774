"""Prints the rows of experiments as tables, and writes them as CSV or as a plot."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.cli.bench.experiment import Experiment, Row
from headrace.cli.bench.lines import OURS, Line, Plot, pictures

_COLOURS = (OURS, "#d08a2e", "#7a9a3a", "#b0563f", "#8a7aa8", "#3a9a6a", "#c05c9a", "#5f6f7f")
_PAPER, _DEFAULT = "5 3", "2 3"  # dashes of the lines of the paper and of the default


@dataclass(frozen=True, slots=True)
class Measured:
    """An experiment and its rows."""

    experiment: Experiment
    rows: Sequence[Row]


def table_of(measured: Measured) -> str:
    """Return the rows as a table of text, with its title and its unit."""
    experiment, rows = measured.experiment, measured.rows
    names = _names([measured])
    columns: dict[str, list[str]] = {name: [str(row.parameters.get(name, "")) for row in rows] for name in names}
    columns["ours"] = [_figure(row.ours) for row in rows]
    columns["default"] = [_figure(row.default) for row in rows]
    columns["paper"] = [_figure(row.paper) for row in rows]
    columns[f"% of {experiment.limit}"] = ["" if row.share is None else f"{100 * row.share:.1f}" for row in rows]
    shown = {name: cells for name, cells in columns.items() if name in names or any(cells)}
    lines = [list(shown), *map(list, zip(*shown.values(), strict=True))]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    text = "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return f"{experiment.name}: {experiment.title}, {experiment.unit}\n{text}\n"


def csv_of(results: Sequence[Measured]) -> str:
    """Return all rows as CSV: the experiment, a column for each parameter, the figures, the unit and the share of the limit."""
    names = _names(results)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["experiment", *names, "ours", "default", "paper", "unit", "share"])
    for measured in results:
        for row in measured.rows:
            figures = [row.ours, row.default, row.paper]
            cells = [row.parameters.get(name, "") for name in names]
            writer.writerow([measured.experiment.name, *cells, *map(_cell, figures), measured.experiment.unit, _cell(row.share)])
    return out.getvalue()


def plot_of(results: Sequence[Measured], machine: str) -> str:
    """Return an SVG with a plot for each experiment. Lines of the paper are dashed, those of the default are dotted."""
    return pictures([_plot(measured) for measured in results if measured.rows], machine)


def _plot(measured: Measured) -> Plot:
    across = measured.experiment.across
    lines: dict[str, Line] = {}
    for number, (name, rows) in enumerate(_by_line(measured).items()):
        colour = _COLOURS[number % len(_COLOURS)]
        for suffix, figures, dash in (
            ("", {row.parameters[across]: row.ours for row in rows}, ""),
            (", paper", {row.parameters[across]: row.paper for row in rows}, _PAPER),
            (", default", {row.parameters[across]: row.default for row in rows}, _DEFAULT),
        ):
            points = {float(x): y for x, y in figures.items() if y is not None}
            if points:
                lines[name + suffix] = Line(points, colour, dash)
    ticks = {float(row.parameters[across]): str(row.parameters[across]) for row in measured.rows}
    return Plot(f"{measured.experiment.unit}: {measured.experiment.title}", across, ticks, lines)


def _by_line(measured: Measured) -> Mapping[str, list[Row]]:
    """Return the rows by their parameters without the one on the axis of x."""
    found: dict[str, list[Row]] = {}
    for row in measured.rows:
        others = [str(value) for name, value in row.parameters.items() if name != measured.experiment.across]
        found.setdefault(", ".join(others) or "ours", []).append(row)
    return found


def _names(results: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(name for measured in results for row in measured.rows for name in row.parameters))


def _figure(value: float | None) -> str:
    """Return a number with about four digits; nothing for None.

    >>> _figure(0.5), _figure(12.345), _figure(12345.6), _figure(None)
    ('0.5000', '12.35', '12346', '')
    """
    if value is None:
        return ""
    digits = max(0, 4 - len(str(int(abs(value))))) if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
