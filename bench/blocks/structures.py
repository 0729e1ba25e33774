"""Builds tables of hash maps, sorted maps, searches and dictionary merges on a GPU."""

from __future__ import annotations

from bench.blocks.arrays import count
from bench.blocks.results import Results, Row, table, three


def hash_maps(results: Results) -> str:
    """Return the table of `HashMap` and `HashMultiMap`. Calls of few keys have their time in its place."""
    rows, calls = [], []
    for row in results.rows("gpu-hash-map"):
        if row["what"].endswith(", us"):
            calls.append([row["what"].partition(":")[0], f"{row['rate']:.0f}"])
        else:
            part = "" if row["what"].startswith("bulk build") else row["part"]  # a build does not go through lists
            rows.append([row["what"], count(row["keys"]), row["used"], three(row["rate"]), part])
    head = ["32-bit keys and values", "keys", "utilisation", "G/s", "part of a copy's rate"]
    small = table(["call of 1,000 keys", "microseconds"], calls)
    return f"{table(head, rows)}\n\n{small}\n\n{results.source('gpu-hash-map')}"


def sorted_maps(results: Results) -> str:
    """Return the table of `SortedMap`, with full levels and with one clean level, beside `HashMap` and a sorted array."""
    found = results.rows("gpu-sorted-map")
    rates = {(row["map"], row["what"]): row for row in found}
    rows = []
    for what in dict.fromkeys(row["what"] for row in found):
        cells = [rates.get((name, what), {}).get("rate") for name in ("levels", "clean level", "hash map")]
        cells.append(rates.get(("levels", what), {}).get("peer"))
        rows.append([what, *("" if rate is None else three(rate / 1e9) for rate in cells)])
    items = max(row["items"] for row in found)
    head = [f"{items:,} items, G/s", "levels", "clean level", "HashMap", "torch.searchsorted"]
    return f"{table(head, rows)}\n\n{results.source('gpu-sorted-map')}"


_CASE = "structure", "keys", "call", "length"
"""Parameters of the experiments on sorted maps that a column of a table has."""


def paper_lsm(results: Results) -> str:
    """Return the tables of the paper on sorted maps that were measured: our rates beside those of the paper."""
    parts, found = [], results.rows("paper-lsm")
    for name, what in (("table-4.2", "insert"), ("table-4.3", "find"), ("table-4.4", "ranges")):
        rows = [row for row in found if row["experiment"] == name and row["rate"] == "mean"]
        if not rows:  # an interrupted run
            continue
        cells = {(row["b"], _case(row)): _beside_paper(row) for row in rows}
        cases, sizes = dict.fromkeys(map(_case, rows)), sorted({row["b"] for row in rows}, reverse=True)
        head = [f"{what}, M/s; batches", *cases]
        parts.append(table(head, [[f"2^{b.bit_length() - 1}", *(cells.get((b, case), "") for case in cases)] for b in sizes]))
    cleanups = [row for row in found if row["experiment"] == "cleanup"]
    lines = [[f"{row['levels']} levels, {row['stale, %']} % stale", _beside_paper(row)] for row in cleanups]
    if lines:
        parts.append(table(["cleanup", "M/s"], lines))
    return "\n\n".join([*parts, results.source("paper-lsm")])


def paper_string_matching(results: Results) -> str:
    """Return the tables of the paper on string matching that were measured: our rates or times beside those of the paper."""
    parts, found = [], results.rows("string-matching")
    for name, title in _TABLES_OF_STRINGS.items():
        rows = [row for row in found if row["experiment"] == name]
        if not rows:  # an interrupted run
            continue
        parts.append(_grid(title, rows, "m", "bits" if "bits" in rows[0] else "method"))
    return "\n\n".join([*parts, results.source("string-matching")])


_TABLES_OF_STRINGS = {
    "table-2.2": "2 symbols, GB/s",
    "table-2.3": "256 symbols, GB/s",
    "table-2.4": "DRK-2S by bits of a symbol, GB/s",
    "table-2.5": "27 letters, 10^8, ms",
    "table-2.6": "4 letters, 4.6 million, ms",
    "table-2.7": "19 letters, 3.3 million, ms",
}


def paper_slab_hash(results: Results) -> str:
    """Return the tables of the paper on hash maps that were measured: our rates beside those of the paper."""
    found = results.rows("paper-slab-hash")
    parts = [
        _grid(title, rows, down, across)
        for name, title, down, across in _TABLES_OF_MAPS
        if (rows := [row for row in found if row["experiment"] == name])
    ]
    return "\n\n".join([*parts, results.source("paper-slab-hash")])


_TABLES_OF_MAPS = (
    ("figure-5.4", "2^22 pairs, M/s; utilisation, %", "utilisation", "operation"),
    ("figure-5.5", "M/s; pairs", "n", "operation"),
    ("figure-5.6", "times as fast as rebuilds; batch", "batch", ""),
    ("figure-5.7", "mixed operations, M/s; pairs", "n", "mix"),
    ("allocation", "slabs, M/s", "n", "allocator"),
)


def _grid(title: str, rows: list[Row], down: str, across: str) -> str:
    """Return a table with a line for each value of `down`, and a column for each of `across`, if that is not empty."""
    cells = {(row[down], row.get(across, "rate")): _beside_paper(row) for row in rows}
    cases, lines = dict.fromkeys(case for _, case in cells), sorted({line for line, _ in cells})
    return table([title, *map(str, cases)], [[f"{line:,}", *(cells.get((line, case), "") for case in cases)] for line in lines])


def _case(row: Row) -> str:
    return ", ".join(str(row[name]) for name in _CASE if name in row)


def _beside_paper(row: Row) -> str:
    return three(row["ours"]) if row["paper"] is None else f"{three(row['ours'])} / {three(row['paper'])}"


def searches(results: Results) -> str:
    """Return the table of searches for one pattern and for many, beside a read of the text."""
    rows = []
    for row in results.rows("gpu-find"):
        text = f"{row['text']} symbols" if row["text"].isdigit() else row["text"]
        one = f"{text}, {row['patterns']:,} pattern{'s' if row['patterns'] > 1 else ''} of {row['length']:,} bytes"
        found = ["", ""]
        if row["find"] is not None:
            found = [three(row["find"]), f"{(row['bytes'] + 8 * row['hits']) / row['bytes'] * row['find'] / row['limit']:.0%}"]
        rows.append([one, f"{row['hits']:,}", three(row["count"]), f"{row['count'] / row['limit']:.0%}", *found])
    head = ["GB/s of text", "hits", "count", "of a read", "find", "of the bytes moved"]
    return f"{table(head, rows)}\n\n{results.source('gpu-find')}"


def dictionaries(results: Results) -> str:
    """Return the table of merges of dictionaries, translations of codes, and duplicate removal."""
    rows = []
    for row in results.rows("gpu-dictionaries"):
        part = f"{row['part']:.0%}" if "part" in row else ""
        rows.append([_name(row), three(row["rate"] / 1e9), part])
    return f"{table(['store, by the kernel', 'G/s', 'of a copy'], rows)}\n\n{results.source('gpu-dictionaries')}"


def _name(row: Row) -> str:
    if row["what"] == "merge":
        return f"merge of two dictionaries of {row['width']}-byte values, with both tables"
    if row["what"] == "translate":
        return f"translation of codes of {row['bits']} bits, {row['where']}"
    if row["what"] == "unique":
        return f"distinct {row['width']}-byte values, {row['share']} % of all"
    return f"merge of two dictionaries of texts: {row['kind']}"
