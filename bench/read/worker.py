"""Runs one contender in its own process: reads commands, and answers each with a line of JSON.

"reference FILE" writes its answer to a file, "check FILE" compares its answer with one, "read" times one read, "stop" ends.
The time of the first read begins before the contender's package is imported, since a script pays for both. A later read follows
another one without a pause, as in a loop over files: a reader may return memory to the system between turns.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from bench.read.cases import CASES, Case
from bench.read.contenders import CONTENDERS, Read


def main() -> None:
    """Serve commands until "stop"."""
    contender, case_name, path, threads = sys.argv[1:5]
    case = CASES[case_name]
    read: Read | None = None
    before = 0
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "stop":
            return
        try:
            begun = time.perf_counter()
            if command == "read" and read is not None:
                read()
                begun = time.perf_counter()
            if read is None:
                read = CONTENDERS[contender](Path(path), case, int(threads))
                before = _memory("VmRSS")
            if command == "read":
                answer: dict[str, Any] = _timed(read, begun, before)
            elif command == "reference":
                answer = _keep(read, case, Path(argument))
            else:
                answer = _check(read, case, Path(argument), rounded=contender == "headrace")
        except Exception as error:  # any error of a peer is its result
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _timed(read: Read, begun: float, before: int) -> dict[str, Any]:
    """Return the seconds since `begun` after a read, the growth of memory beyond `before` bytes, and the number of rows."""
    result = read()
    seconds = time.perf_counter() - begun
    peak = _memory("VmHWM") - before
    return {"seconds": seconds, "peak": peak, "rows": _rows(result)}


def _rows(result: Any) -> int | None:
    """Return the rows of a contender's result; None if the contender is not a reader."""
    if result is None:
        return None
    return int(result.num_rows if hasattr(result, "num_rows") else result.shape[0])


def _keep(read: Read, case: Case, file: Path) -> dict[str, Any]:
    from bench.read.check import write_reference

    table = read()
    write_reference(table, case, file)
    return {"result": table.nbytes}


def _check(read: Read, case: Case, file: Path, *, rounded: bool) -> dict[str, Any]:
    from bench.read.check import comparable, differences, read_reference

    found, expected = comparable(read(), case), read_reference(file)
    wrong = differences(found, expected, typed=bool(case.types), rounded=rounded)
    return {"error": f"wrong answer: {wrong}"} if wrong else {}


def _memory(field: str) -> int:
    """Return the bytes of a memory field of this process. ru_maxrss is unsuitable: a child inherits its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


if __name__ == "__main__":
    main()
