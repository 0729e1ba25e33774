"""Builds tables of reads, scans and writes."""

from __future__ import annotations

from bench.blocks.results import MissingResultError, Results, Row, ratio, table, three

FILES = {
    "taxi": "taxi trips, 18 columns",
    "taxi_small": "taxi trips, integers of 8 and 16 bits, float32",
    "taxi_inferred": "taxi trips, types inferred",
    "quoted": "quoted text with line breaks",
    "lineitem": "TPC-H lineitem",
    "int_444": "three columns of integers",
    "wide": "1,000 columns",
}
PEERS = {"pyarrow": "PyArrow", "polars": "Polars", "duckdb": "DuckDB", "duckdb_table": "DuckDB", "pandas_pyarrow": "pandas"}
_READERS = ("readers", "readers-more", "readers-4-gb")
_STREAMS = ("gpu-streams", "gpu-streams-int-444", "gpu-streams-quoted")
"""Results of readers and of streams; all but the first are optional."""
_SCAN, _BACK, _PINNED = "`scan_csv`", "`scan_csv`, back in host memory", "`scan_csv` of pinned memory"


def files_read(results: Results) -> list[tuple[Row, list[Row]]]:
    """Return headrace's row and the peers' rows of each case and size, in the order of `FILES`, small files first."""
    found: dict[tuple[str, int], list[Row]] = {}
    for name in _measured(results, _READERS):
        for row in results.rows(name):
            if "best" in row:
                found.setdefault((row["case"], row["file_bytes"]), []).append(row)
    ordered = sorted(found.items(), key=lambda item: (list(FILES).index(item[0][0]), item[0][1]))
    return [
        (
            next(row for row in rows if row["contender"] == "headrace"),
            [row for row in rows if row["contender"] in PEERS],
        )
        for _, rows in ordered
    ]


def _measured(results: Results, names: tuple[str, ...]) -> list[str]:
    """Return the names that have results, and always the first one."""
    return [name for name in names if name == names[0] or results.has(name)]


def best_of(peers: list[Row], rate: str) -> tuple[float, str]:
    """Return the highest rate and its reader."""
    row = max(peers, key=lambda peer: float(peer[rate]))
    return float(row[rate]), PEERS[row["contender"]]


def headline(results: Results) -> str:
    """Return a sentence with the ratios of first reads, then of later ones."""
    ranges = []
    for rate in ("first", "best"):
        ratios = [ours[rate] / best_of(peers, rate)[0] for ours, peers in files_read(results)]
        ranges.append(f"{min(ratios):.1f} to {max(ratios):.1f}")
    cores = results.facts(results.path("readers"))["cores"]
    beside = f"times the rate of the best peer on the same {cores} cores"
    return f"{ranges[0]} {beside} from the import to the first table, {ranges[1]} times in later reads"


def readers(results: Results) -> str:
    """Return the table of first reads, later reads and memory, one row per file."""
    rows = []
    for ours, peers in files_read(results):
        cells = [f"{FILES[ours['case']]}, {ours['file_bytes'] / 1e9:.1f} GB"]
        for rate in ("first", "best"):
            theirs, name = best_of(peers, rate)
            cells += [three(ours[rate]), f"{three(theirs)} ({name})", f"**{ratio(ours[rate], theirs)}**"]
        allowed = ours["file_bytes"] + 1.3 * ours["result"]
        rows.append([*cells, f"{ours['memory'] / allowed:.2f}"])
    head = ["GB/s of text", "first read", "best peer", "ratio", "later reads", "best peer", "ratio", "memory"]
    facts = results.facts(results.path("readers"))
    versions = [("PyArrow", "pyarrow"), ("Polars", "polars"), ("DuckDB", "duckdb"), ("pandas", "pandas")]
    named = ", ".join(f"{name} {facts[key]}" for name, key in versions)
    return f"{table(head, rows)}\n\n{results.source(*_measured(results, _READERS))} Python {facts['python']}, {named}."


def threads(results: Results) -> str:
    """Return the rates of taxi trips by threads."""
    rows = results.rows("scaling", lambda row: row["case"] == "taxi")
    head = ["threads", *[str(row["threads"]) for row in rows]]
    size = f"{rows[0]['file_bytes'] / 1e9:.1f} GB"
    cells = [
        [f"taxi trips, {size}, GB/s, {name}", *[three(row[rate]) for row in rows]]
        for name, rate in (("first read", "first"), ("later reads", "best"))
    ]
    return f"{table(head, cells)}\n\n{results.source('scaling')}"


def scans(results: Results) -> str:
    """Return the table of streams on the CPU, compared with whole reads."""
    rows = []
    for case in dict.fromkeys(row["case"] for row in results.rows("scans")):
        whole = results.row("scans", case=case, way="`read_csv`, CPU")["gbs"]
        cells = [FILES[case], three(whole)]
        for mib in (64, 256):
            found = results.row("scans", case=case, way=_SCAN, batch=mib << 20)["gbs"]
            cells += [three(found), f"{found / whole:.0%}"]
        rows.append(cells)
    head = ["GB/s of text", "`read_csv`", "`scan_csv`, 64 MiB", "of it", "256 MiB", "of it"]
    return f"{table(head, rows)}\n\n{results.source('scans')}"


def writers(results: Results) -> str:
    """Return the table of `write_csv` on all threads, compared with Polars and PyArrow, and on one thread with PyArrow."""
    rows = []
    for case in dict.fromkeys(row["case"] for row in results.rows("writers")):
        found = {row["writer"]: row["bytes"] / row["seconds"] / 1e9 for row in results.rows("writers") if row["case"] == case}
        ours, one, arrow = found["headrace"], found["headrace, 1 thread"], found["pyarrow"]
        polars = [three(found["polars"]), ratio(ours, found["polars"])] if "polars" in found else ["", ""]
        rows.append([case, three(ours), *polars, three(one), three(arrow), ratio(one, arrow)])
    count = results.rows("writers")[0]["threads"]
    head = ["GB/s of text", f"{count} threads", "Polars", "ratio", "1 thread", "PyArrow, 1 thread", "ratio"]
    return f"{table(head, rows)}\n\n{results.source('writers')}"


def latency(results: Results) -> str:
    """Return the times of a tiny file and of the import."""
    small, start = results.row("latency", what="file"), results.row("latency", what="import")
    took = f"takes {small['ms']:.2f} ms (median; the slowest of 500 took {small['worst']:.2f})"
    return f"A file of {small['bytes']:,} bytes {took}, `import headrace` {start['ms']:.0f} ms. {results.source('latency')}"


def memory(results: Results) -> str:
    """Return the peak memory of reads, the highest last."""
    rows = []
    for row in sorted(results.rows("memory"), key=lambda row: float(row["part"])):
        sizes = [f"{row[name] / 1e6:.0f}" for name in ("bytes", "result", "peak")]
        rows.append([FILES.get(str(row["case"]), str(row["case"])), *sizes, f"{row['part']:.2f}"])
    head = ["peak memory, MB", "text", "result", "peak", "peak / (text + 1.3 x result)"]
    return f"{table(head, rows)}\n\n{results.source('memory')}"


def gpu_reads(results: Results) -> str:
    """Return the table of reads of text in a GPU's memory. cuDF's rates are those of an earlier run."""
    rows = []
    for row in sorted(results.rows("gpu-reads", lambda row: ":" not in row["case"]), key=lambda row: -float(row["gbs"])):
        try:
            peer = results.cell("read", row["case"], "cuDF, GB/s")
            beside = [f"{peer:.1f}", f"{row['gbs'] / peer:.0f}"]
        except MissingResultError:
            beside = ["", ""]
        rows.append([f"{FILES[row['case']]}, {row['bytes'] / (1 << 30):.1f} GiB", three(row["gbs"]), *beside])
    head = ["GB/s of text", "headrace", "cuDF", "ratio"]
    earlier = results.path("read", ".md").parent.name.upper()
    cudf = f"cuDF 26.10: {results.link('read', '.md')}, an earlier run on an {earlier}."
    return f"{table(head, rows)}\n\n{results.source('gpu-reads')} {cudf}"


def small_reads(results: Results) -> str:
    """Return the microseconds for texts of 64 KB and 1 MB in a GPU's memory, the slowest first."""
    found = results.rows("small-reads")
    sizes = sorted({row["size"] for row in found})
    cases = {row["case"]: row for row in found if row["size"] == max(sizes)}
    rows = []
    for case in sorted(cases, key=lambda case: -float(cases[case]["all"])):
        times = [results.row("small-reads", case=case, size=size) for size in sizes]
        rows.append([FILES[case], *[f"{row[which]:.0f}" for row in times for which in ("all", "least")]])
    head = ["microseconds"] + [f"{size >> 10} KB, {which}" for size in sizes for which in ("median", "least")]
    return f"{table(head, rows)}\n\n{results.source('small-reads')}"


def gpu_streams(results: Results) -> str:
    """Return the table of files and pinned memory through a GPU, compared with the best peer on the host's cores."""
    rows = []
    names = _measured(results, _STREAMS)
    measured = [row for name in names for row in results.rows(name)]
    for case in dict.fromkeys(row["case"] for row in measured):
        found = [row for row in measured if row["case"] == case]
        best = {}
        for way in (_SCAN, _PINNED, _BACK):
            best[way] = max(float(row["gbs"]) for row in found if row["way"] == way)
        peers = [row for row in found if row["way"].startswith("peer: ")]
        if not peers:
            raise MissingResultError("gpu-streams has no peers")
        peer = max(peers, key=lambda row: float(row["gbs"]))
        named = f"{three(peer['gbs'])} ({PEERS[peer['way'].removeprefix('peer: ')]})"
        cells = [FILES[case], *[three(rate) for rate in best.values()], named]
        rows.append([*cells, ratio(best[_SCAN], peer["gbs"]), ratio(best[_BACK], peer["gbs"])])
    head = ["GB/s of text", "file to GPU", "pinned memory to GPU", "file to host, through the GPU", "best peer, host"]
    return f"{table([*head, 'ratio, GPU', 'ratio, host'], rows)}\n\n{results.source(*names)}"
