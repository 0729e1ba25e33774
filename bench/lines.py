"""Plots rates by the number of threads, or by the number of items, as lines.

usage: python -m bench.lines threads|sorts RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.read.plot import COLOURS
from headrace.cli.bench.lines import Line, Plot, picture

CUB = "#d08a2e"


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


def sorts(results: Mapping[str, Any]) -> Plot:
    """Return the rates of sorts of uniform keys by their number, by the call and by the kernel, beside CUB."""
    rows = [row for row in results["rows"] if row["type"] == "u32" and row["data"] == "uniform"]
    lines = {
        f"{name}, {how}": Line({row["n"]: row[prefix + how] for row in rows}, colour, dash)
        for name, prefix, colour in (("headrace", "", COLOURS["headrace"]), ("CUB", "cub_", CUB))
        for how, dash in (("kernel", ""), ("call", "5 3"))
    }
    powers = {row["n"]: f"2^{n.bit_length() - 1}" for row in rows if (n := row["n"]) & (n - 1) == 0}
    ticks = powers | {row["n"]: f"{row['n'] // 10**6} M" for row in rows if row["n"] not in powers and row["n"] >= 5 * 10**8}
    return Plot("G keys/s: sort of uniform keys of 32 bits", "keys", ticks, lines)


def main(arguments: Sequence[str]) -> None:
    """Write the plot of a result."""
    kind, name, target = arguments
    results = json.loads(Path(name).read_text())
    machine = results["machine"]
    where = machine["gpu"] if kind == "sorts" else f"{machine['cores']} cores"
    plots = {"threads": threads, "sorts": sorts}
    Path(target).write_text(picture(plots[kind](results), where))


if __name__ == "__main__":
    main(sys.argv[1:])
