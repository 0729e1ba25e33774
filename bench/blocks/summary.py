"""Builds the small table of README.md: a first read of each kind of file, the median shape and the worst one."""

from __future__ import annotations

from statistics import median

from bench.blocks.reads import FILES, best_of, files_read
from bench.blocks.results import Results, ratio, table, three
from bench.read.shapes.figures import NAMES, best_peer, ratio_of, worst_first


def summary(results: Results) -> str:
    """Return the table."""
    lines = []
    cases = set()
    for ours, peers in files_read(results):
        if ours["case"] in cases:
            continue  # docs/benchmarks.md has the larger files
        cases.add(ours["case"])
        theirs, name = best_of(peers, "first")
        size = f"{ours['file_bytes'] / 1e9:.1f} GB"
        cells = [three(ours["first"]), f"{three(theirs)} ({name})", f"**{ratio(ours['first'], theirs)}**"]
        lines.append([f"import and first read: {FILES[ours['case']]}, {size}", *cells])
    rows = worst_first(results.rows("shapes-cpu", lambda row: bool(row["peers"])))
    worst, peer = rows[0], best_peer(rows[0])
    theirs = worst["peers"][peer]
    lines.append([f"median of {len(rows)} shapes of data", "", "", f"**{median(map(ratio_of, rows)):.2f}**"])
    cells = [three(worst["gbs"]), f"{three(theirs)} ({NAMES[peer]})", f"**{ratio(worst['gbs'], theirs)}**"]
    lines.append([f"worst shape: {worst['shape']}", *cells])
    cores = results.facts(results.path("readers"))["cores"]
    head = [f"GB/s of text, {cores} cores", "headrace", "best peer", "ratio"]
    return f"{table(head, lines)}\n\n{results.source('readers', 'shapes-cpu')}"
