"""Times headrace's CSV reader beside its peers.

usage: python -m bench.read.run [--cases taxi,quoted] [--bytes N,N] [--processes N,N] [--threads N] [--repeat N]
           [--contenders NAMES] [--out DIR]
       python -m bench.read.run --scaling            headrace alone, over the number of threads

Each contender runs in its own process. The processes take turns, so that noise of the machine affects all of them. Before a
contender is timed, its answer for the whole file is compared with PyArrow's, in another process. A wrong one is not timed. If
there are several sizes, only the smallest file is compared this way. The others repeat it, and their number of rows must be
PyArrow's. A time is wall clock from the call to the usable table, with a warm page cache. The first read of a process includes
the import of the reader's package and the allocation of its memory. It is shown first, as a median over processes. A later read
follows another one of its process at once. Ratios are to the best peer of the same run: first read to first read, best to best,
median to median. Results name the commit and the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.machine import description
from bench.read.cases import CASES
from bench.read.contenders import CONTENDERS, LIMITS
from bench.read.data import ensure

Answer = dict[str, object]
RATES = ("first", "best", "median")


def main() -> None:
    """Run the benchmarks of the command line, print tables, and write them to files."""
    options = _parser().parse_args()
    results: list[dict[str, object]] = []
    for name in options.cases.split(","):
        checked: dict[str, Any] = {}
        for size, processes in zip(_numbers(options.bytes), cycle(_numbers(options.processes)), strict=False):
            path = ensure(CASES[name].data, size or None)
            if options.scaling:
                contenders = [("headrace", threads) for threads in _thread_counts()]
            else:
                contenders = [(contender, options.threads) for contender in options.contenders.split(",")]
            answers = _as_smaller(checked, path) if checked else _checked(name, path, contenders)
            rows = _measure(name, path, contenders, answers, (processes, options.repeat))
            results.append({"case": name, "file_bytes": path.stat().st_size, "rows": rows})
            checked = checked or results[-1]
            sys.stdout.write(_table(results[-1]) + "\n")
            sys.stdout.flush()
            if options.out:
                _write(Path(options.out), results, "scaling" if options.scaling else "readers")


def _numbers(text: str) -> list[int]:
    return [int(float(number)) for number in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="taxi,lineitem,quoted,int_444,wide")
    sizes = "about the sizes of each file, ascending, such as 1e9,4e9; 0: that of bench.read.cases"
    parser.add_argument("--bytes", default="0", help=sizes)
    parser.add_argument("--processes", default="1", help="new processes of each contender, in turn for each size, such as 3,1")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--out", default="")
    return parser


def _thread_counts() -> list[int]:
    cores = len(os.sched_getaffinity(0))
    counts = [1]
    while counts[-1] * 2 <= cores:
        counts.append(counts[-1] * 2)
    return counts


def _measure(
    case: str, path: Path, contenders: list[tuple[str, int]], answers: list[list[Answer]], turns: tuple[int, int]
) -> list[dict[str, object]]:
    """Run one read at a time, each in turn in the contenders' processes. `answers`: result of the check of each contender.

    `turns`: number of consecutive processes of each contender, and number of later reads of each.
    """
    size, (processes, repeat) = path.stat().st_size, turns
    for _ in range(processes):
        workers = [start_worker(contender, case, path, threads) for contender, threads in contenders]
        for turn in range(repeat + 1):
            for worker, heard in zip(workers, answers, strict=True):
                if "error" not in heard[-1]:
                    heard.append(ask_worker(worker, "read") | {"first": turn == 0})
        for worker in workers:
            stop_worker(worker)
    _compare_rows(answers)
    return [_summary(contender, threads, size, heard) for (contender, threads), heard in zip(contenders, answers, strict=True)]


def _compare_rows(answers: list[list[Answer]]) -> None:
    """Add an error to each contender whose number of rows differs from the most frequent one."""
    counts = [heard[-1].get("rows") for heard in answers if heard[-1].get("rows") is not None]
    for heard in answers:
        found = heard[-1].get("rows")
        if found is not None and found != statistics.mode(counts):
            heard.append({"error": f"wrong answer: {found} rows"})


def _as_smaller(smaller: dict[str, Any], path: Path) -> list[list[Answer]]:
    """Return the answers for a file that repeats a smaller, checked one: each contender's error, or the bytes of the answer."""
    times = path.stat().st_size / smaller["file_bytes"]
    return [[{"error": row["error"]} if "error" in row else {"result": row.get("result", 0) * times}] for row in smaller["rows"]]


def _checked(case: str, path: Path, contenders: list[tuple[str, int]]) -> list[list[Answer]]:
    """Return, for each contender, the bytes of the correct answer, or its error."""
    reference = path.with_suffix(f".{case}.arrow")
    try:
        right = _once("pyarrow", case, path, max(threads for _, threads in contenders), f"reference {reference}")
        if "error" in right:
            raise RuntimeError(f"{case}: no answer to compare with: {right['error']}")

        def check(contender: tuple[str, int]) -> list[Answer]:
            name, threads = contender
            return [right if name in LIMITS else right | _once(name, case, path, threads, f"check {reference}")]

        with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // 4)) as pool:
            return list(pool.map(check, contenders))
    finally:
        reference.unlink(missing_ok=True)


def _once(contender: str, case: str, path: Path, threads: int, step: str) -> dict[str, object]:
    worker = start_worker(contender, case, path, threads)
    answer = ask_worker(worker, step)
    stop_worker(worker)
    return answer


def start_worker(contender: str, case: str, path: Path, threads: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.read.worker", contender, case, str(path), str(threads)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def stop_worker(worker: subprocess.Popen[str]) -> None:
    if worker.poll() is None:
        worker.communicate("stop\n", timeout=60)


def ask_worker(worker: subprocess.Popen[str], step: str) -> dict[str, object]:
    if worker.stdin is None or worker.stdout is None:
        raise RuntimeError("the worker has no pipes")
    worker.stdin.write(step + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    return json.loads(line) if line else {"error": "the process ended"}


def _summary(contender: str, threads: int, size: int, heard: list[dict[str, object]]) -> dict[str, object]:
    row: dict[str, object] = {"contender": contender, "threads": threads}
    if failed := next((answer for answer in heard if "error" in answer), None):
        return row | {"error": failed["error"]}
    first, again = ([float(str(one["seconds"])) for one in heard[1:] if one["first"] is wanted] for wanted in (True, False))
    memory: dict[str, object] = {}
    if contender not in LIMITS:
        memory = {"memory": max(int(str(one["peak"])) for one in heard[1:]), "result": heard[0].get("result", 0)}
    return (
        row
        | memory
        | {
            "first": size / statistics.median(first) / 1e9,
            "best": size / min(again) / 1e9,
            "median": size / statistics.median(again) / 1e9,
        }
    )


def _table(result: dict[str, object]) -> str:
    rows: list[dict[str, object]] = result["rows"]  # type: ignore[assignment]
    size = int(str(result["file_bytes"]))
    peers = [row for row in rows if "best" in row and row["contender"] not in ("headrace", *LIMITS)]
    limits = [row for row in rows if "best" in row and row["contender"] in LIMITS]
    lines = [
        f"\n### {result['case']} ({size / 1e9:.2f} GB)\n",
        "| reader | threads | GB/s first | best | median | to the best peer: first | best | median | of plain read "
        "| peak memory / (text + 1.3 x result) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        name = f"| {row['contender']} | {row['threads']} |"
        if "error" in row:
            lines.append(f"{name} failed: {row['error']} | | | | | | | |")
            continue
        ratios = " | ".join(_ratio(row, peers, rate) for rate in RATES)
        allowed = size + 1.3 * float(str(row.get("result", 0)))
        memory = f"{float(str(row['memory'])) / allowed:.2f}" if "memory" in row else ""
        rates = " | ".join(f"{row[rate]:.3f}" for rate in RATES)
        lines.append(f"{name} {rates} | {ratios} | {_ratio(row, limits, 'best')} | {memory} |")
    if peers and (target := CASES[str(result["case"])].target):
        lines.append(f"\nTarget: {target:g} times the best peer.")
    return "\n".join(lines)


def _ratio(row: dict[str, object], others: list[dict[str, object]], rate: str) -> str:
    """Return a row's rate over the highest of the others."""
    highest = max((float(str(other[rate])) for other in others), default=0.0)
    return f"{float(str(row[rate])) / highest:.2f}" if highest else ""


def _write(folder: Path, results: list[dict[str, object]], kind: str) -> None:
    machine = description()
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{datetime.now(UTC):%Y-%m-%d}-{kind}"
    stem.with_suffix(".json").write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    tables = "\n".join(_table(result) for result in results)
    stem.with_suffix(".md").write_text(f"# CSV {kind}\n\n{facts}\n{tables}\n")


if __name__ == "__main__":
    main()
