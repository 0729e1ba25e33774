"""Plots rates by the number of threads, of items, of bytes or of batches, as lines.

usage: python -m bench.lines threads|files|sorts|primitives|lsm|slab-hash|string-matching RESULTS.json OUT.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.read.plot import COLOURS
from headrace.cli.bench.lines import Line, Plot, picture

PEER = "#d08a2e"


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


def lsm(results: Mapping[str, Any]) -> Plot:
    """Return the rates of all batches up to batch r, of a sorted map and of a sorted array (figure 4.2b)."""
    rows = [row for row in results["rows"] if row["experiment"] == "figure-4.2b"]
    sizes = sorted({row["b"] for row in rows}, reverse=True)
    lines = {
        f"{structure}, batches of 2^{size.bit_length() - 1}": Line(
            {row["r"]: row["ours"] / 1e3 for row in rows if (row["structure"], row["b"]) == (structure, size)}, colour, dash
        )
        for structure, colour in (("levels", COLOURS["headrace"]), ("sorted array", PEER))
        for size, dash in zip(sizes, ("", "7 3", "2 3"), strict=True)
    }
    return Plot("G items/s: batches of pairs of 32 bits, up to batch r", "r", {row["r"]: str(row["r"]) for row in rows}, lines)


def slab_hash(results: Mapping[str, Any]) -> Plot:
    """Return the rates of a hash map of 2^22 pairs by its utilisation (figure 5.4)."""
    found = [row for row in results["rows"] if row["experiment"] == "figure-5.4"]
    rows = sorted(found, key=lambda row: float(row["utilisation"]))
    colours = {"build": PEER, "find present": COLOURS["headrace"], "find absent": "#7a9a3a"}
    lines = {
        operation: Line({row["utilisation"]: row["ours"] / 1e3 for row in rows if row["operation"] == operation}, colour)
        for operation, colour in colours.items()
    }
    ticks = {row["utilisation"]: f"{row['utilisation']} %" for row in rows}
    return Plot("G/s: a hash map of 2^22 pairs of 32 bits", "utilisation", ticks, lines)


def string_matching(results: Mapping[str, Any]) -> Plot:
    """Return the rates in bytes of any value by the length of the pattern, beside those of the paper (table 2.3)."""
    rows = [row for row in results["rows"] if row["experiment"] == "table-2.3"]
    lines = {}
    for method, colour in (("default", COLOURS["headrace"]), ("drk-2s", PEER), ("drk", "#7a9a3a")):
        found = [row for row in rows if row["method"] == method]
        lines[method] = Line({row["m"]: row["ours"] for row in found}, colour)
        if method != "default":
            lines[f"{method}, paper"] = Line({row["m"]: row["paper"] for row in found}, colour, "5 3")
    ticks = {row["m"]: str(row["m"]) for row in rows}
    return Plot("GB/s: searches for one pattern in 2^25 bytes", "bytes of the pattern", ticks, lines)


def main(arguments: Sequence[str]) -> None:
    """Write the plot of a result."""
    kind, name, target = arguments
    results = json.loads(Path(name).read_text())
    machine = results["machine"]
    where = f"{machine['cores']} cores" if kind in ("threads", "files") else machine["gpu"]
    plots = {"threads": threads, "files": files, "sorts": sorts, "primitives": primitives, "lsm": lsm}
    plots |= {"slab-hash": slab_hash, "string-matching": string_matching}
    Path(target).write_text(picture(plots[kind](results), where))


if __name__ == "__main__":
    main(sys.argv[1:])
