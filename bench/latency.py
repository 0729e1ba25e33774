"""What small things cost: importing the package, and reading one KB.

usage: python -m bench.latency
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeat: int) -> list[float]:
    """Wall time of each of several calls, ascending."""
    taken = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return sorted(taken)


def main() -> None:
    """Measure and print."""
    import headrace

    def start(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    empty, full = seconds(start("pass"), 21), seconds(start("import headrace"), 21)
    text = b"a,b,c\n" + b"1,2.5,hello\n" * 80
    read = seconds(lambda: headrace.read_csv(text), 500)
    median = statistics.median
    print(f"import headrace: median {1e3 * (median(full) - median(empty)):.1f} ms, best {1e3 * (full[0] - empty[0]):.1f} ms")
    print(f"read_csv of {len(text)} bytes: median {1e3 * median(read):.3f} ms, worst {1e3 * read[-1]:.3f} ms")


if __name__ == "__main__":
    main()
