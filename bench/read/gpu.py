"""Measures `read_csv` of text in a GPU's memory in GB/s of text, from the call to the table, beside the memory's read rate.

Needs an installed or built headrace, a GPU and PyTorch; cuDF (pylibcudf) reads the same text if it is installed. Each case's
answer for the whole text is compared with the CPU's, every buffer to the bit. For a case with a colon, the answer for a piece is
compared. Texts of `bench.read.data` are repeated to --bytes. `taxi:dfa` is the case taxi, read by the automaton of its dialect
(six states) instead of bit masks. `taxi:waits` waits for the counts before it converts, and `taxi:speculative` does not
(docs/decisions/0024-ahead-of-the-counts.md). Both take the same steps of the same call.

    python -m bench.read.gpu [--bytes N] [--cases taxi,int_444,taxi:dfa,taxi:waits,taxi:speculative] [--out FOLDER/NAME]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

import headrace
from bench.machine import description
from bench.read.cases import CASES, Case
from bench.read.data import pieces
from bench.read.gpu_peers import Cudf, cudf
from bench.read.same import assert_same
from bench.tables import Row, keep
from headrace.api.load.reading import load_plan, make_report, prepare, table_columns
from headrace.api.options.csv_options import parse_options
from headrace.columns.convert.gpu.target import GpuTarget, GpuTuning
from headrace.columns.load.gpu.load import load_on_gpu
from headrace.core.context import Context
from headrace.gpu.device.device import gpu
from headrace.gpu.kernels.launcher import GpuLauncher
from headrace.gpu.memory.pool import device_pool
from headrace.sources.open import open_source
from headrace.structure.gpu.launches import SearchTuning

RUNS, SHORT_RUNS = 9, 51
BOTH = [
    f"{name}:{how}"
    for name in ("int_444", "taxi_small", "taxi_inferred", "lineitem", "quoted")
    for how in ("waits", "speculative")
]
CHECKED = ("taxi", "taxi_small", "taxi_inferred", "lineitem", "quoted", "int_444", "wide", "taxi:dfa", "quoted:dfa", *BOTH)
Read = Callable[[torch.Tensor, dict[str, Any]], headrace.Table]


def text_of(header: bytes, body: bytes, size: int) -> torch.Tensor:
    """Return a text on the GPU: the header, and the body repeated up to `size` bytes."""
    once = torch.frombuffer(bytearray(body), dtype=torch.uint8).cuda()
    return torch.cat(
        [torch.frombuffer(bytearray(header), dtype=torch.uint8).cuda() if header else once[:0], once.repeat(size // len(body))]
    )


SHAPES = {
    "dfa": GpuTuning(find=SearchTuning(only_dfa=True)),
    "waits": GpuTuning(speculative=False),
    "speculative": GpuTuning(speculative=True),
}
"""Shapes by the suffix of a case's name."""


def read_shaped(shape: GpuTuning, text: torch.Tensor, options: dict[str, Any]) -> headrace.Table:
    """Call `read_csv` with kernels of this shape."""
    return counted_read(shape, text, options)[0]


def counted_read(shape: GpuTuning, text: torch.Tensor, options: dict[str, Any]) -> tuple[headrace.Table, int]:
    """Read as `read_shaped`, and count the host's waits for kernels: one, if the estimates fit all columns."""
    parsed = parse_options({**(headrace.read_csv.__kwdefaults__ or {}), **options})
    with open_source(text, parsed.source) as source:
        prepared = prepare(source, parsed)
        plan = load_plan(source, prepared, parsed)
        assert source.on_gpu is not None
        context = Context()
        launcher = GpuLauncher(
            gpu(source.on_gpu.device), stream=source.on_gpu.stream, budget=context.new_budget(), crossings=context.crossings
        )
        loaded = load_on_gpu(GpuTarget(launcher, source.on_gpu, shape, "cuda"), source, parsed.dialect, plan)
        report = make_report(source, prepared, loaded, parsed, {})
        columns = table_columns(prepared, loaded, parsed)
        return headrace.Table(columns, rejects=headrace.Table(loaded.rejects), report=report), launcher.waits


def check(read: Read, case: Case, header: bytes, body: bytes) -> None:
    """Compare the answer for a piece with the CPU's, to the bit."""
    data = header + body
    found = read(torch.frombuffer(bytearray(data), dtype=torch.uint8).cuda(), case.options)
    assert found.report.device == "cuda", found.report.device
    assert_same(found, headrace.read_csv(data, **case.options))


def read_csv(text: torch.Tensor, options: dict[str, Any]) -> headrace.Table:
    """Call the public function."""
    return headrace.read_csv(text, **options)


def seconds_of(read: Read, text: torch.Tensor, case: Case, runs: int = RUNS) -> tuple[float, headrace.Table]:
    """Return the median seconds of warm reads, after a first read has filled memory pools and caches; and a table."""
    times = []
    table = read(text, case.options)
    for _ in range(runs):
        del table
        torch.cuda.synchronize()
        begun = time.perf_counter()
        table = read(text, case.options)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    return statistics.median(times), table


def memory_of(read: Read, text: torch.Tensor, case: Case) -> int:
    """Return the peak bytes of the pool during a read, less those in use before."""
    pool = device_pool(gpu())
    torch.cuda.synchronize()
    before = pool.used
    pool.reset_peak()
    table = read(text, case.options)
    most = pool.peak_used - before
    del table
    return most


def read_rate() -> float:
    """Return the GB/s of PyTorch's sum over 4 GiB."""
    items = torch.ones(1 << 30, dtype=torch.float32, device="cuda")
    return items.nbytes / _milliseconds_of(items.sum) / 1e6


def copy_rate() -> float:
    """Return the GB/s, read and written, of PyTorch's copy of 4 GiB."""
    items = torch.ones(1 << 30, dtype=torch.float32, device="cuda")
    copies = torch.empty_like(items)
    return 2 * items.nbytes / _milliseconds_of(lambda: copies.copy_(items)) / 1e6


def _milliseconds_of(work: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(float(begin.elapsed_time(end)))
    return statistics.median(times)


def result_bytes(table: headrace.Table) -> int:
    """Return the bytes of a table's buffers."""
    columns = table.columns.values()
    return sum(buffer.nbytes for one in columns for buffer in (one.values, one.offsets, one.validity) if buffer)


def row_of(name: str, nbytes: int, peer: Cudf | None) -> Row:
    """Return a case's row of figures."""
    plain, _, shape = name.partition(":")
    case, read = CASES[plain], partial(read_shaped, SHAPES[shape]) if shape else read_csv
    header, body = pieces(case)
    check(read, case, header, body)
    text = text_of(header, body, nbytes)
    seconds, table = seconds_of(read, text, case)
    size = result_bytes(table)
    passes, rows = table.report.passes, table.num_rows
    if not shape:
        assert_same(table, headrace.read_csv(text.cpu().numpy(), **case.options))
    del table
    part = memory_of(read, text, case) / (1.3 * size + (64 << 20))
    waits = counted_read(SHAPES.get(shape, GpuTuning()), text, case.options)[1]
    small = text_of(header, body[: body.rindex(b'"\n' if case.quotes else b"\n", 0, 1 << 20) + 1 + case.quotes], 1 << 20)
    short, _ = seconds_of(read, small, case, SHORT_RUNS)
    rate, theirs = text.numel() / seconds / 1e9, peer.rate(case, text, rows) if peer is not None and not shape else None
    facts: Row = {"table": "read", "case": name, "bytes": text.numel(), "gbs": rate, "ms": seconds * 1e3}
    facts |= {"result": size / text.numel(), "memory": part, "passes": passes, "waits": waits, "small_ms": short * 1e3}
    return facts if theirs is None else facts | {"cudf": theirs}


def line_of(row: Row) -> str:
    """Return the row of the table."""
    cells = [row["case"], f"{row['gbs']:.0f}", f"{row['ms']:.2f}", f"{row['result']:.2f}", f"{row['memory']:.2f}", row["passes"]]
    cells += [row["waits"], f"{row['small_ms']:.2f}"]
    cells += [f"{row['cudf']:.1f}", f"{row['gbs'] / row['cudf']:.0f}"] if "cudf" in row else ["", ""]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Time the cases, and print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--cases", default=",".join(CHECKED))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    limit, peer = read_rate(), cudf()
    lines = [
        "# Text in a GPU's memory to typed columns",
        "",
        f"{torch.cuda.get_device_name()}; {description()}",
        "",
        f"Read of memory: {limit:.0f} GB/s. {given.bytes:_} bytes of text, median of {RUNS} reads; of 1 MB, of {SHORT_RUNS}.",
        "Wall clock, memory and what a first read with these options keeps for the next ones being warm. *Memory*: the",
        "most that is in use at one time beside the text, of what a read may take, 1.3 x result + 64 MB.",
        "",
        "| case | GB/s | ms | result bytes / text | memory | passes | waits | 1 MB, ms | cuDF, GB/s | times cuDF |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows: list[Row] = []
    for name in given.cases.split(","):
        rows.append(row_of(name, given.bytes, peer))
        lines.append(line_of(rows[-1]))
        print(lines[-1], flush=True)
        keep(given.out, lines, rows)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
