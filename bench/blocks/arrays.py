"""Builds tables of array functions on a GPU, by the call and by the kernel, compared with CUB."""

from __future__ import annotations

from collections import Counter

from bench.blocks.results import Results, Row, ratio, table, three

_HEAD = ["call", "CUB", "ratio", "kernel", "CUB", "ratio"]


def _six(row: Row) -> list[str]:
    """Return rates by the call and by the kernel, CUB's rates, and their ratios."""
    cells = []
    for how in ("call", "kernel"):
        ours, theirs = row[how], row[f"cub_{how}"]
        cells += [three(ours), three(theirs), ratio(ours, theirs)]
    return cells


def count(n: int) -> str:
    """Format a number of items as a power of two or in millions.

    Examples
    --------
    >>> count(1 << 28), count(250_000_000), count(3000)
    ('2^28', '250 M', '3000')
    """
    if n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n // 1_000_000} M" if n % 1_000_000 == 0 else str(n)


def primitives(results: Results) -> str:
    """Return the table of scan, reduce and select by size."""
    rows = [
        [
            f"{row['what']}, {count(row['n'])}",
            *_six(row),
            f"{row['kernel'] / row['limit']:.0%}" if row.get("limit") else "",
        ]
        for row in results.rows("primitives-called")
    ]
    rows.sort(key=lambda cells: ("scan", "reduce", "select").index(cells[0].partition(",")[0]))
    return f"{table(['uint32, G/s', *_HEAD, 'kernel, of a copy or read'], rows)}\n\n{results.source('primitives-called')}"


def histograms(results: Results) -> str:
    """Return the table of histograms of integer and float keys."""
    rows = []
    for row in results.rows("histogram-called", lambda row: row["table"] == "histogram"):
        parts = "even parts" if row["way"] == "even" else "parts between edges"
        rows.append([f"{row['type']}, {row['bins']} {parts}, {count(row['n'])}", *_six(row)])
    return f"{table(['histogram, G keys/s', *_HEAD], rows)}\n\n{results.source('histogram-called')}"


def multisplit(results: Results) -> str:
    """Return the table of multisplit by number of buckets, with each of CUB's methods."""
    rows = [
        [f"{row['mode']}, {row['m']} buckets; CUB: {row['way']}", *_six(row), f"{row['kernel'] / row['limit']:.0%}"]
        for row in results.rows("multisplit-called")
    ]
    size = count(results.rows("multisplit-called")[0]["n"])
    return f"{table([f'{size} items, G/s', *_HEAD, 'kernel, of the limit'], rows)}\n\n{results.source('multisplit-called')}"


def sorts(results: Results) -> str:
    """Return the table of sorts. Rows are sizes and data, columns are types; cells have headrace / CUB, and their ratio.

    Sizes that a run has not measured with all types are left out.
    """
    found = results.rows("sort-called")
    names = list(dict.fromkeys(row["type"] for row in found))
    measured = Counter((row["n"], row["data"]) for row in found)
    lines = []
    for how in ("call", "kernel"):
        rows = []
        for n, data in (case for case, types in measured.items() if types == len(names)):
            cells = []
            for name in names:
                row = results.row("sort-called", type=name, n=n, data=data)
                ours, theirs = row[how], row[f"cub_{how}"]
                cells += [f"{three(ours)} / {three(theirs)}", ratio(ours, theirs)]
            rows.append([f"{count(n)}, {'skewed' if 'AND' in data else data}", *cells])
        head = [f"G/s by the {how}, headrace / CUB"] + [cell for name in names for cell in (name, "ratio")]
        lines.append(table(head, rows))
    return "\n\n".join([*lines, results.source("sort-called")])
