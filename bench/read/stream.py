"""Measures `scan_csv` end to end in GB/s of text, from a page-cached file or pinned memory to columns, by batch size.

The sizes are those of ParPaRaw's figure 12. The best rate is compared with the best peer of the same run, and with the paper's
numbers (figure 13). Peers are those of `bench.read.run` that have more than one thread. Each reads the same file to columns in
host memory. A peer that is not installed, fails or finds another number of rows is named and omitted.

Each case's file repeats a piece of `data.py`'s. Before it is timed, a scan is compared with `read_csv` on the CPU: the piece
buffer by buffer, the file by its number of rows. With --gpu, texts are read to columns of the GPU, and back to the host. With
--shapes, they are also read by each of `SHAPES`. Without --gpu, scans run on the CPU. With --soak, one file is read
repeatedly under a memory limit; the memory in use is reported after each round. With --trace, a timeline is written.

    python -m bench.read.stream [--gpu [--shapes]] [--bytes N] [--cases NAMES] [--batches 64,128] [--turns N] [--soak GB]
        [--peers NAMES] [--trace FILE] [--out FILE]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import headrace
from bench.machine import description
from bench.read import contenders
from bench.read.cases import CASES, Case
from bench.read.data import folder, pieces
from bench.read.link import link_rates, pinned_text
from bench.read.same import assert_same
from bench.tables import keep
from headrace.api.scan.scan import Scan
from headrace.columns.buffers.fetch_gpu import FetchShape
from headrace.core.process.timeline import Timeline
from headrace.gpu.device.device import checked, driver

MIB = 1 << 20
SOAK_LIMIT = 4 << 30
USUAL_BATCH = 256 * MIB
SCAN, BACK, PINNED = "`scan_csv`", "`scan_csv`, back in host memory", "`scan_csv` of pinned memory"
PEER = "peer: "
WANTED_TO_CARD, WANTED_BACK = 50.0, 0.9 * 43.3
"""Targets in GB/s: to the GPU, of the link's 54.6; and for text whose results return, over `max(1, result / text)`."""
PEERS = ("pyarrow", "polars", "duckdb", "duckdb_table", "pandas_pyarrow")
SHAPES = {
    "pinned results, 1 mover": FetchShape(movers=1),
    "pinned results, 2 movers": FetchShape(),
    "ring, 1 mover, 1 chunk ahead, through the cache": FetchShape(pinned=False, movers=1, max_pending=1, streamed=False),
    "ring, 1 mover, 1 chunk ahead": FetchShape(pinned=False, movers=1, max_pending=1),
    "ring, 1 mover, 2 chunks ahead": FetchShape(pinned=False, movers=1),
    "ring, 2 movers, 2 chunks ahead": FetchShape(pinned=False),
}
"""Shapes of the copy to the host. The third is that of the tables of 2026-11-21."""
PAPER = {
    "quoted": "yelp: 10.9 GB/s, 68% of 16; partitions of 128 MB; 16 times cuDF of 2019, over 100 times MonetDB, Spark, pandas",
    "taxi": "taxi: partitions of 256 MB; over 10 times cuDF of 2019, about 4 times Instant Loading on 32 cores",
}


@dataclass(frozen=True, slots=True)
class Rate:
    """GB/s of text by one way of reading, and the bytes of its batches (0: the whole text)."""

    way: str
    batch: int
    gbs: float


def file_of(name: str, case: Case, size: int) -> Path:
    """Return a file of the header and the piece, repeated up to `size` bytes. It is in the page cache afterwards."""
    path = folder() / f"stream-{name}-{size}.csv"
    if not path.exists():
        header, body = pieces(case)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(header)
            for _ in range(max(1, size // len(body))):
                file.write(body)
    with path.open("rb") as file:
        while file.read(64 * MIB):
            pass
    return path


def check(case: Case, where: dict[str, Any]) -> None:
    """Compare a scan of the piece in five batches with `read_csv` on the CPU, to the bit."""
    data = b"".join(pieces(case))
    found = scan(data, batch_bytes=len(data) // 5, **case.options, **where).read()
    assert_same(found, headrace.read_csv(data, **case.options))


def drained(scan: Callable[[], Scan]) -> int:
    """Return the number of rows of all batches, each of which is released at once."""
    return sum(batch.num_rows for batch in scan().batches())


@dataclass(frozen=True, slots=True)
class Way:
    """A way of reading. Its work returns the number of rows; batches have a number of bytes (0: the whole text)."""

    name: str
    batch: int
    work: Callable[[], int]


def rates_in_turn(ways: Sequence[Way], turns: int, size: int, rows: int) -> Iterator[Rate]:
    """Yield the rate of each way, the median of several turns. Ways take turns so that noise of the machine affects all of them.

    In a turn each way runs twice, and the second run counts: the first one finds the memory of another way.
    """
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(turns):
        for way, own in zip(ways, times, strict=True):
            for _ in range(2):
                begun = time.perf_counter()
                found = way.work()
                taken = time.perf_counter() - begun
                assert found == rows, (way.name, found, rows)
            own.append(taken)
    for way, own in zip(ways, times, strict=True):
        yield Rate(way.name, way.batch, size / statistics.median(own) / 1e9)


def read(source: Any, **options: Any) -> headrace.Table:
    """Call `read_csv`."""
    return headrace.read_csv(source, **options)


def scan(source: Any, shape: FetchShape | None = None, **options: Any) -> Scan:
    """Call `scan_csv`. If `shape` is given, it determines the copy of batches to the host."""
    found = headrace.scan_csv(source, **options)
    return found if shape is None else found.fetched(shape)


def rates_of(name: str, given: argparse.Namespace) -> Iterator[Rate]:
    """Yield the rate of each way to read a case's file. The first is the whole read on the CPU."""
    case = CASES[name]
    check(case, {"device": "cuda"} if given.gpu else {})
    path = file_of(name, case, given.bytes)
    size = path.stat().st_size
    whole = read(path, **case.options)
    rows, given.swelling[name] = whole.num_rows, result_bytes(whole) / size
    del whole
    batches = [int(each) * MIB for each in given.batches.split(",")]

    ways = [Way("`read_csv`, CPU", 0, lambda: read(path, **case.options).num_rows)]
    ways += list(peers(path, case, rows, () if given.skip_peers else given.peers.split(",")))
    if not given.gpu:
        yield from rates_in_turn([*ways, *scans(SCAN, path, batches, case.options)], given.turns, size, rows)
        return
    with pinned_text(path) as text:
        ways += ways_by_gpu(path, text, batches, case.options, given.shapes)
        yield from rates_in_turn(ways, given.turns, size, rows)


def peers(path: Path, case: Case, rows: int, names: Sequence[str]) -> Iterator[Way]:
    """Yield the peers whose number of rows is correct."""
    for name in names:
        try:
            work = contenders.CONTENDERS[name](path, case, len(os.sched_getaffinity(0)))
            found = work().shape[0]
        except Exception as error:  # any error of a peer is its result
            print(f"{case.data}: {name} left out: {type(error).__name__}: {error}"[:200], flush=True)
            continue
        if found == rows:
            yield Way(f"{PEER}{name}", 0, lambda work=work: work().shape[0])
        else:
            print(f"{case.data}: {name} left out: {found} rows, not {rows}", flush=True)


def scans(name: str, source: Any, batches: Sequence[int], options: dict[str, Any]) -> list[Way]:
    """Return a scan for each batch size."""

    def way(batch: int) -> Way:
        return Way(name, batch, lambda: drained(lambda: scan(source, batch_bytes=batch, **options)))

    return [way(batch) for batch in batches]


def ways_by_gpu(path: Path, text: Any, batches: Sequence[int], options: dict[str, Any], with_shapes: bool) -> Iterator[Way]:
    """Yield scans of a file and of the same text in pinned memory, to columns of the GPU and back."""
    where: dict[str, Any] = {**options, "device": "cuda"}
    back, usual = {**where, "to": "cpu"}, min(USUAL_BATCH, max(batches))
    yield Way("`read_csv`, GPU", 0, lambda: read(path, **where).num_rows)
    yield Way("`scan_csv`, joined", usual, lambda: scan(path, batch_bytes=usual, **where).read().num_rows)
    yield from scans(SCAN, path, batches, where)
    yield from scans(PINNED, text, [usual], where)
    yield from scans(BACK, path, batches, back)
    for told, shape in SHAPES.items() if with_shapes else ():
        yield from scans(f"{BACK}: {told}", path, [usual], {**back, "shape": shape})


def result_bytes(table: headrace.Table) -> int:
    """Return the bytes of all buffers of the columns."""
    buffers = [getattr(column, name) for column in table.columns.values() for name in ("values", "offsets", "validity")]
    return sum(buffer.nbytes for buffer in buffers if buffer is not None)


def lines_of(name: str, given: argparse.Namespace) -> Iterator[str]:
    """Yield figure 12: a row for each way to read a case's file. Values for figure 13 are stored."""
    for found in rates_of(name, given):
        given.found.setdefault(name, []).append(found)
        given.rows.append({"table": "stream", "case": name, "way": found.way, "batch": found.batch, "gbs": found.gbs})
        share = f"{found.gbs / given.found[name][0].gbs:.0%}" if found.way == SCAN and not given.gpu else ""
        yield f"| {name} | {found.way} | {found.batch // MIB or ''} | {found.gbs:.2f} | {share} |"


def end_to_end(given: argparse.Namespace) -> Iterator[str]:
    """Yield figure 13 beside the paper's numbers: from host memory to columns on the GPU, and back to host memory."""
    link = min(link_rates()) if given.gpu else 0.0
    yield ""
    yield "End to end, the best batch, beside figures 12 and 13 of the paper (Titan X, PCIe 3.0; RAM to RAM)."
    yield ""
    ways = "GB/s | wanted | best batch, MiB | of the link | best peer | times it | times `read_csv` on the CPU | the paper"
    yield f"| case | way | {ways} |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |"
    for name, rates in given.found.items():
        wanted = {SCAN: WANTED_TO_CARD, PINNED: WANTED_TO_CARD, BACK: WANTED_BACK / max(1.0, given.swelling[name])}
        for way in (SCAN, PINNED, BACK) if given.gpu else (SCAN,):
            best = max((found for found in rates if found.way == way), key=lambda found: found.gbs)
            peer = max((found for found in rates if found.way.startswith(PEER)), key=lambda found: found.gbs, default=None)
            beside = f"{peer.way.removeprefix(PEER)}, {peer.gbs:.2f} | {best.gbs / peer.gbs:.1f}" if peer else "|"
            share, goal = (f"{best.gbs / link:.0%} of {link:.1f} GB/s", f"{wanted[way]:.1f}") if link else ("", "")
            told = PAPER.get(name, "") if way in {BACK, SCAN} else ""
            cells = f"{best.gbs:.2f} | {goal} | {best.batch // MIB} | {share} | {beside} | {best.gbs / rates[0].gbs:.2f} | {told}"
            yield f"| {name} | {way} | {cells} |"


def soak(given: argparse.Namespace) -> Iterator[str]:
    """Yield rates and memory of each round, over --soak GB."""
    name = given.cases.split(",")[0]
    case, where = CASES[name], {"device": "cuda"} if given.gpu else {}
    path, batch = file_of(name, case, given.bytes), int(given.batches.split(",")[-1]) * MIB
    size = path.stat().st_size
    yield f"| round of {size / 1e9:.1f} GB ({name}, batches of {batch // MIB} MiB) | GB/s | host peak, MB | GPU in use, MB |"
    yield "| ---: | ---: | ---: | ---: |"
    for number in range(max(1, round(given.soak * 1e9 / size))):
        begun = time.perf_counter()
        drained(lambda: scan(path, batch_bytes=batch, memory_limit=SOAK_LIMIT, **case.options, **where))
        seconds = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        yield f"| {number + 1} | {size / seconds / 1e9:.1f} | {peak:.0f} | {gpu_in_use() if given.gpu else 0:.0f} |"


def gpu_in_use() -> float:
    """Return the MB of GPU memory in use by all processes."""
    free, total = checked(driver().cuMemGetInfo())
    return float((total - free) / 1e6)


def trace(given: argparse.Namespace) -> Iterator[str]:
    """Yield the waits between threads and streams, in the first case."""
    name = given.cases.split(",")[0]
    case, timeline = CASES[name], Timeline()
    where: dict[str, Any] = {"device": "cuda", "to": "cpu"} if given.gpu else {}
    path, batch = file_of(name, case, given.bytes), int(given.batches.split(",")[-1]) * MIB
    drained(lambda: scan(path, batch_bytes=batch, **case.options, **where).timed(timeline))
    given.trace.with_suffix(".json").write_text(timeline.as_trace())
    given.trace.with_suffix(".html").write_text(timeline.as_page(f"{name}, batches of {batch // MIB} MiB"))
    yield "| lane | work | seconds |"
    yield "| --- | --- | ---: |"
    for (lane, work), seconds in timeline.seconds().items():
        yield f"| {lane} | {work} | {seconds:.3f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the cases, and print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--bytes", type=int, default=4 << 30)
    parser.add_argument("--cases", default="taxi,int_444,quoted")
    parser.add_argument("--batches", default="16,32,64,128,256,512")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--skip-peers", action="store_true")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--soak", type=float)
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    given.found, given.swelling, given.rows = {}, {}, []
    kept = ["# Streams of text to typed columns", "", str(description()), ""]
    if given.soak:
        parts = soak(given)
    elif given.trace:
        parts = trace(given)
    else:
        kept += [
            f"Files of {given.bytes:_} bytes in the page cache; GB/s of text, all ways in turn, medians of {given.turns} turns.",
            "",
        ]
        kept += ["| case | way | batch, MiB | GB/s | of the whole read |", "| --- | --- | ---: | ---: | ---: |"]
        names = given.cases.split(",")
        parts = chain((line for name in names for line in lines_of(name, given)), end_to_end(given))
    for line in parts:
        kept.append(line)
        print(line, flush=True)
        keep(given.out, kept, given.rows)


if __name__ == "__main__":
    main()
