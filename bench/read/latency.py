"""Measures fixed costs: importing the package, and reading a file of one KB.

usage: python -m bench.read.latency [--out FILE]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from bench.read.data import ensure
from bench.tables import Page

UNWANTED = ("numpy", "pandas", "polars", "pyarrow", "duckdb", "cuda", "cupy", "rmm", "cudf")


def seconds(work: Callable[[], object], repeat: int) -> list[float]:
    """Return the wall times of `repeat` calls, ascending."""
    taken = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return sorted(taken)


def imported(code: str) -> set[str]:
    """Return the top-level modules that are loaded after `code` has run in a new interpreter."""
    shown = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True).stdout.split())


def main() -> None:
    """Measure and print. End with an error if the import loads an optional dependency."""
    import headrace

    page = Page()
    page.out = sys.argv[sys.argv.index("--out") + 1] if "--out" in sys.argv else None

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    if heavy := imported("import headrace").intersection(UNWANTED):
        sys.exit(f"import headrace imports {', '.join(sorted(heavy))}")
    path = ensure("small")
    text = path.read_bytes()
    empty, full = seconds(start("pass"), 21), seconds(start("import headrace"), 21)
    median = statistics.median
    page.say(f"import headrace: median {1e3 * (median(full) - median(empty)):.1f} ms, best {1e3 * (full[0] - empty[0]):.1f} ms")
    page.figure(table="latency", what="import", ms=1e3 * (median(full) - median(empty)))
    for kind, source in (("file", path), ("bytes", text)):
        headrace.read_csv(source)
        read = seconds(lambda source=source: headrace.read_csv(source), 500)
        page.say(f"read_csv of {len(text)} bytes, {kind}: median {1e3 * median(read):.3f} ms, worst {1e3 * read[-1]:.3f} ms")
        page.figure(table="latency", what=kind, bytes=len(text), ms=1e3 * median(read), worst=1e3 * read[-1])
    page.keep(page.out)


if __name__ == "__main__":
    main()
