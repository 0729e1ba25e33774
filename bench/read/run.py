"""Time headrace's CSV reader beside its peers.

usage: python -m bench.read.run [--cases taxi,quoted] [--bytes N] [--threads N] [--repeat N] [--contenders NAMES] [--out DIR]
       python -m bench.read.run --scaling            headrace alone, over the number of threads

Every contender runs in a process of its own; the processes take turns, so that a noisy machine is noisy for all. Before
a contender is timed its answer for the whole file is compared with PyArrow's, in another process; a wrong one is not
timed. A time is wall clock from the call to the usable table, page cache warm. The first read of a process pays for its
memory and is shown apart. Ratios are to the best peer of the same run: best read to best read, median to median, first
to first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.machine import description
from bench.read.cases import CASES
from bench.read.contenders import CONTENDERS, LIMITS
from bench.read.data import ensure

RATES = ("best", "median", "first")


def main() -> None:
    """Run what the command line asks for, print tables, write them to files."""
    options = _parser().parse_args()
    results = []
    for name in options.cases.split(","):
        path = ensure(CASES[name].data, options.bytes)
        if options.scaling:
            contenders = [("headrace", threads) for threads in _thread_counts()]
        else:
            contenders = [(contender, options.threads) for contender in options.contenders.split(",")]
        results.append(
            {"case": name, "file_bytes": path.stat().st_size, "rows": _measure(name, path, contenders, options.repeat)}
        )
        sys.stdout.write(_table(results[-1]) + "\n")
        sys.stdout.flush()
    if options.out:
        _write(Path(options.out), results, "scaling" if options.scaling else "readers")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="taxi,lineitem,quoted,int_444,wide")
    parser.add_argument("--bytes", type=lambda text: int(float(text)), help="about the size of each file")
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


def _measure(case: str, path: Path, contenders: list[tuple[str, int]], repeat: int) -> list[dict[str, object]]:
    """Check each answer, then wake one process each in turn for one read at a time."""
    answers, size = _checked(case, path, contenders), path.stat().st_size
    workers = [_start(contender, case, path, threads) for contender, threads in contenders]
    for _ in range(repeat + 1):
        for worker, heard in zip(workers, answers, strict=True):
            if "error" not in heard[-1]:
                heard.append(_ask(worker, "read"))
    for worker in workers:
        _stop(worker)
    return [_summary(contender, threads, size, heard) for (contender, threads), heard in zip(contenders, answers, strict=True)]


def _checked(case: str, path: Path, contenders: list[tuple[str, int]]) -> list[list[dict[str, object]]]:
    """For each contender the bytes of the right answer, or what is wrong with its own."""
    reference = path.with_suffix(f".{case}.arrow")
    try:
        right = _once("pyarrow", case, path, max(threads for _, threads in contenders), f"reference {reference}")
        if "error" in right:
            raise RuntimeError(f"{case}: no answer to compare with: {right['error']}")
        return [
            [right if contender in LIMITS else right | _once(contender, case, path, threads, f"check {reference}")]
            for contender, threads in contenders
        ]
    finally:
        reference.unlink(missing_ok=True)


def _once(contender: str, case: str, path: Path, threads: int, step: str) -> dict[str, object]:
    worker = _start(contender, case, path, threads)
    answer = _ask(worker, step)
    _stop(worker)
    return answer


def _start(contender: str, case: str, path: Path, threads: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.read.worker", contender, case, str(path), str(threads)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _stop(worker: subprocess.Popen[str]) -> None:
    if worker.poll() is None:
        worker.communicate("stop\n", timeout=60)


def _ask(worker: subprocess.Popen[str], step: str) -> dict[str, object]:
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
    seconds = [float(str(answer["seconds"])) for answer in heard[1:]]
    again = seconds[1:]
    memory = {} if contender in LIMITS else {"memory": heard[-1]["peak"], "result": heard[0]["result"]}
    return (
        row
        | memory
        | {
            "first": size / seconds[0] / 1e9,
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
        "| reader | threads | GB/s best | median | first | to the best peer: best | median | first | of plain read "
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
    """A row's rate over the highest of others' same rate."""
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
