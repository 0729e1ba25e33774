"""`scan_csv` end to end: GB/s of text from a page-cached file to columns, by the size of a batch (ParPaRaw, figures 12 and 13).

Each case's file repeats a piece of `bench.data`'s. Before it is timed, a scan is compared with `read_csv` on the CPU: the piece
buffer by buffer, the file by its rows. With --gpu: to columns of the GPU, and back to the host; else on the CPU, with `read_csv`.
--soak reads one file again and again under a memory limit, and tells memory in use after each round; --trace keeps a timeline.

    python -m bench.stream [--gpu] [--bytes N] [--cases taxi,int_444] [--batches 64,128] [--soak GB] [--trace FILE] [--out FILE]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import headrace
from bench.cases import CASES, Case
from bench.data import folder, pieces
from bench.machine import description
from headrace.api.scan import Scan
from headrace.core.timeline import Timeline

RUNS = 3
MIB = 1 << 20
SOAK_LIMIT = 4 << 30


def file_of(name: str, case: Case, size: int) -> Path:
    """The header, and the piece as often as it goes into `size` bytes; in the page cache when this returns."""
    path = folder() / f"stream-{name}-{size}.csv"
    if not path.exists():
        header, body = pieces(case)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(header)
            for _ in range(size // len(body)):
                file.write(body)
    with path.open("rb") as file:
        while file.read(64 * MIB):
            pass
    return path


def options_of(case: Case) -> dict[str, Any]:
    """What readers are told."""
    types: dict[str, Any] = {"schema": case.types} if case.types else {}
    return {"header": case.header, **types}


def check(case: Case, where: dict[str, Any]) -> None:
    """Compare a scan of the piece, in batches of a fifth, with `read_csv` on the CPU, to the bit."""
    data = b"".join(pieces(case))
    found = headrace.scan_csv(data, batch_bytes=len(data) // 5, **options_of(case), **where).read().to("cpu")
    expected = headrace.read_csv(data, **options_of(case))
    assert found.schema == expected.schema, found.schema
    for name, column in expected.columns.items():
        mine, bits = found[name], (len(column) + 7) // 8
        assert (len(mine), mine.null_count) == (len(column), column.null_count), name
        for buffer in ("values", "offsets"):
            one, other = getattr(mine, buffer), getattr(column, buffer)
            assert (one is None) == (other is None), name
            assert one is None or bytes(one) == bytes(other), (name, buffer)
        assert column.validity is None or bytes(mine.validity)[:bits] == bytes(column.validity)[:bits], name


def drained(scan: Callable[[], Scan]) -> int:
    """Rows of all batches, each let go of at once."""
    return sum(batch.num_rows for batch in scan().batches())


def rate(work: Callable[[], int], size: int, rows: int) -> float:
    """GB/s, the median of some runs behind one that warms up; the rows of each are counted."""
    times = []
    for _ in range(RUNS + 1):
        begun = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - begun)
        assert found == rows, (found, rows)
    return size / statistics.median(times[1:]) / 1e9


def lines_of(name: str, given: argparse.Namespace) -> Iterator[str]:
    """A row of the table for each way to read a case's file."""
    case = CASES[name]
    where = {"device": "cuda"} if given.gpu else {}
    check(case, where)
    path = file_of(name, case, given.bytes)
    size, options = path.stat().st_size, options_of(case)
    rows = headrace.read_csv(path, **options).num_rows
    whole = rate(lambda: headrace.read_csv(path, **options).num_rows, size, rows)
    yield f"| {name} | `read_csv`, CPU | | {whole:.1f} |"
    batches = [int(each) * MIB for each in given.batches.split(",")]
    for label, asked in [("`scan_csv`, GPU", where), ("`scan_csv`, GPU, to host", {**where, "to": "cpu"})] if given.gpu else [
        ("`scan_csv`, CPU", {})
    ]:  # fmt: skip
        for batch in batches:
            found = rate(
                lambda batch=batch, asked=asked: drained(lambda: headrace.scan_csv(path, batch_bytes=batch, **options, **asked)),  # type: ignore[misc]
                size,
                rows,
            )
            yield f"| {name} | {label} | {batch // MIB} | {found:.1f} |"


def soak(given: argparse.Namespace) -> Iterator[str]:
    """Rates and memory, round by round, over --soak GB."""
    name = given.cases.split(",")[0]
    case, where = CASES[name], {"device": "cuda"} if given.gpu else {}
    path, batch = file_of(name, case, given.bytes), int(given.batches.split(",")[-1]) * MIB
    size = path.stat().st_size
    yield f"| round of {size / 1e9:.1f} GB ({name}, batches of {batch // MIB} MiB) | GB/s | host peak, MB | GPU in use, MB |"
    yield "| ---: | ---: | ---: | ---: |"
    for number in range(max(1, round(given.soak * 1e9 / size))):
        begun = time.perf_counter()
        drained(lambda: headrace.scan_csv(path, batch_bytes=batch, memory_limit=SOAK_LIMIT, **options_of(case), **where))
        seconds = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        yield f"| {number + 1} | {size / seconds / 1e9:.1f} | {peak:.0f} | {gpu_in_use() if given.gpu else 0:.0f} |"


def gpu_in_use() -> float:
    """MB of the card that are taken, by anyone."""
    from headrace.core.gpu.card import checked, driver

    free, total = checked(driver().cuMemGetInfo())
    return float((total - free) / 1e6)


def trace(given: argparse.Namespace) -> Iterator[str]:
    """Who waits for whom, in the first case."""
    name = given.cases.split(",")[0]
    case, timeline = CASES[name], Timeline()
    where: dict[str, Any] = {"device": "cuda", "to": "cpu"} if given.gpu else {}
    path, batch = file_of(name, case, given.bytes), int(given.batches.split(",")[-1]) * MIB
    drained(lambda: headrace.scan_csv(path, batch_bytes=batch, **options_of(case), **where).timed(timeline))
    given.trace.with_suffix(".json").write_text(timeline.as_trace())
    given.trace.with_suffix(".html").write_text(timeline.as_page(f"{name}, batches of {batch // MIB} MiB"))
    yield "| lane | work | seconds |"
    yield "| --- | --- | ---: |"
    for (lane, work), seconds in timeline.seconds().items():
        yield f"| {lane} | {work} | {seconds:.3f} |"


def main() -> None:
    """Time the cases, and print and keep a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--bytes", type=int, default=4 << 30)
    parser.add_argument("--cases", default="taxi,int_444,quoted")
    parser.add_argument("--batches", default="16,32,64,128,256,512")
    parser.add_argument("--soak", type=float)
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kept = ["# Streams of text to typed columns", "", str(description()), ""]
    if given.soak:
        parts = soak(given)
    elif given.trace:
        parts = trace(given)
    else:
        kept += [f"Files of {given.bytes:_} bytes in the page cache; GB/s of text, median of {RUNS} runs.", ""]
        kept += ["| case | way | batch, MiB | GB/s |", "| --- | --- | ---: | ---: |"]
        parts = (line for name in given.cases.split(",") for line in lines_of(name, given))
    for line in parts:
        kept.append(line)
        print(line, flush=True)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.with_suffix(".md").write_text("\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
