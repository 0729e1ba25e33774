"""Times a scan that searches the bytes of records beside other ways to the same rows: ``python -m bench.scan_records [MB]``.

The text has five columns and no quotes. The ways take turns, and each has the same rows, which is checked first. `grep` is the
program on the path, whose output is read without a header.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import headrace
from headrace import col, record_contains, scan_csv

NAMES = ["id", "text", "value", "day", "word"]
TYPES = {"id": "int64", "text": "string", "value": "float64", "day": "date32", "word": "string"}
ROUNDS = 7
Way = Callable[[], headrace.Table]


def write_text(path: Path, nbytes: int) -> None:
    """Write a text of which one record in 40,000 has ``needle``, and 27 % have ``error``."""
    rng = random.Random(1)
    words = ["alpha", "beta", "gamma", "delta", "server", "client", "error", "warn", "info", "debug"]
    lines = [
        f"{rng.randrange(10**6)},{rng.choice(words)} {rng.choice(words)},{rng.random() * 1000:.3f},"
        f"2024-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02},{rng.choice(words)}\n"
        for _ in range(40_000)
    ]
    with path.open("w") as file:
        file.write(",".join(NAMES) + "\n")
        while file.tell() < nbytes:
            rng.shuffle(lines)
            file.write("".join(lines) + "7,needle here,1.5,2024-01-01,x\n")


def ways(path: Path, text: str) -> dict[str, Way]:
    """Return functions that return the records with a text, by name."""

    def of_grep() -> headrace.Table:
        found = subprocess.run(["grep", "-F", text, path], capture_output=True, check=True, env={"LC_ALL": "C"})
        return headrace.read_csv(found.stdout, header=None, names=NAMES, dtypes=TYPES)

    has_text = col("text").str.contains(text) | col("word").str.contains(text)
    return {
        "scan_csv(where=record_contains), types given": lambda: scan_csv(path, dtypes=TYPES, where=record_contains(text)).read(),
        "the same, types inferred": lambda: scan_csv(path, where=record_contains(text)).read(),
        "the same, eight texts": lambda: scan_csv(
            path, dtypes=TYPES, where=record_contains(text, *(f"zz{i}z" for i in range(7)))
        ).read(),
        'Scan.where(convert="chosen")': lambda: scan_csv(path, dtypes=TYPES).where(has_text, convert="chosen").read(),
        "read_csv and filter": lambda: headrace.read_csv(path, dtypes=TYPES).filter(has_text),
        "grep -F, then read_csv": of_grep,
    }


def main(megabytes: int = 200) -> None:
    """Print a Markdown table of milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_text(path, megabytes * 10**6)
        print(f"{megabytes} MB, {headrace.Context().thread_count} threads, best of {ROUNDS} in turns; ms\n")
        found: dict[str, list[str]] = {}
        texts = ("needle", "error")
        for text in texts:
            calls = ways(path, text)
            rows = {name: call().to_pydict() for name, call in calls.items()}
            if any(one != rows["read_csv and filter"] for one in rows.values()):
                raise SystemExit(f"{text}: the ways have different rows")
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(ROUNDS):
                for name, call in calls.items():
                    begin = time.perf_counter()
                    call()
                    best[name] = min(best[name], time.perf_counter() - begin)
            for name, seconds in best.items():
                found.setdefault(name, []).append(f"{1e3 * seconds:.0f}")
            found.setdefault("rows", []).append(f"{len(rows['read_csv and filter']['id']):,}")
        print(f"| | {' | '.join(texts)} |\n| --- | ---: | ---: |")
        for name, cells in found.items():
            print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
