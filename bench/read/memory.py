"""Measures the peak memory of a read of a file, beside its bound: text + 1.3 x result.

Each text is read in a separate process. The peak is the maximum resident size of the process, less its size before the read.
Texts with very short records, results as views, and one long field need the most.

    python -m bench.read.memory [--bytes N] [--threads N] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.machine import description
from bench.read.data import ensure, folder
from bench.tables import Page

CHILD = """
import json, sys
from pathlib import Path
import headrace

def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024

headrace.read_csv(b"a,b\\n1,x\\n")
before = memory("VmRSS")
table = headrace.read_csv(sys.argv[1], **json.loads(sys.argv[2]))
peak = memory("VmHWM") - before
buffers = [getattr(column, name) for column in table.columns.values() for name in ("values", "offsets", "validity")]
result = sum(buffer.nbytes for buffer in buffers if buffer is not None)
result += sum(part.nbytes for column in table.columns.values() for part in getattr(column, "data", None) or ())
print(json.dumps({"peak": peak, "result": result}))
"""
Make = Callable[[Path, int], None]


def repeated(record: bytes) -> Make:
    """Return a function that writes a file of a header and one repeated record."""

    def make(path: Path, size: int) -> None:
        block = record * ((1 << 20) // len(record))
        with path.open("wb") as file:
            file.write(b"a\n")
            for _ in range(max(1, size // len(block))):
                file.write(block)

    return make


def one_field(path: Path, size: int) -> None:
    """Write a file of one field."""
    path.write_bytes(b"a\n" + b"x" * size + b"\n")


CASES: dict[str, tuple[Make | None, dict[str, Any]]] = {
    "taxi": (None, {}),
    "quoted": (None, {}),
    "one digit a record": (repeated(b"7\n"), {}),
    "words of 20 letters as views": (repeated(b"abcdefghijklmnopqrst\n"), {"dtypes": {"a": "string_view"}}),
    "one field": (one_field, {}),
}


def file_of(name: str, make: Make | None, size: int) -> Path:
    """Return the case's file. Generate it if it is missing."""
    if make is None:
        return ensure(name, size)
    path = folder() / f"memory-{name.replace(' ', '-')}-{size}.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path, size)
    return path


def main() -> None:
    """Measure, print and store a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=300_000_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out")
    given = parser.parse_args()
    page = Page()
    page.out = given.out
    page.say(f"# Peak memory of a read\n\n{description()}")
    columns = ["text, MB", "result, MB", "peak, MB", "of the limit"]
    page.head(f"Files of about {given.bytes:_} bytes, {given.threads} threads", "", columns)
    for name, (make, options) in CASES.items():
        path = file_of(name, make, given.bytes)
        command = [sys.executable, "-c", CHILD, str(path), json.dumps({**options, "threads": given.threads})]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        size = path.stat().st_size
        part = found["peak"] / (size + 1.3 * found["result"])
        page.figure(table="memory", case=name, bytes=size, threads=given.threads, part=part, **found)
        cells = [f"{number / 1e6:.0f}" for number in (size, found["result"], found["peak"])]
        page.say(f"| {name} | {' | '.join(cells)} | {part:.2f} |")
    page.keep(given.out)


if __name__ == "__main__":
    main()
