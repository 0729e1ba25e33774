"""One contender in a process of its own: reads commands ("check", "read", "stop") and answers with one line of JSON each."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.cases import CASES, Case
from bench.check import differences, fingerprint
from bench.contenders import CONTENDERS, LIMITS


def main() -> None:
    """Serve until told to stop."""
    contender, case_name, path, threads = sys.argv[1:5]
    case = CASES[case_name]
    before = _peak()
    read = CONTENDERS[contender](Path(path), case, int(threads))
    for command in map(str.strip, sys.stdin):
        if command == "stop":
            return
        try:
            answer = _check(contender, int(threads), Path(path), case) if command == "check" else _timed(read, before)
        except Exception as error:  # whatever a peer raises is its answer
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _timed(read: Any, before: int) -> dict[str, float]:
    begun = time.perf_counter()
    result = read()
    seconds = time.perf_counter() - begun
    del result
    return {"seconds": seconds, "peak": _peak() - before}


def _check(contender: str, threads: int, path: Path, case: Case) -> dict[str, Any]:
    """Compare with PyArrow's answer on the first part of the file: the whole would need both results in memory at once."""
    if contender in LIMITS:
        return {"result": 0}
    part = _beginning(path, case)
    expected = fingerprint(CONTENDERS["pyarrow"](part, case, threads)(), case)
    found = fingerprint(CONTENDERS[contender](part, case, threads)(), case)
    if wrong := differences(found, expected, exact=bool(case.types)):
        return {"error": f"wrong answer: {wrong}"}
    return {"result": expected["bytes"] * path.stat().st_size / part.stat().st_size}


def _beginning(path: Path, case: Case, size: int = 64_000_000) -> Path:
    """A file of the first records, cut behind a record: the last line end that stands outside quotes."""
    part = path.with_suffix(".beginning")
    if not part.exists():
        with path.open("rb") as file:
            text = file.read(size)
        end = text.rfind(b'"\n') + 2 if case.quotes else text.rfind(b"\n") + 1
        while case.quotes and text[:end].count(b'"') % 2:
            end = text.rfind(b'"\n', 0, end - 1) + 2
        temporary = part.with_suffix(f".{id(text)}")
        temporary.write_bytes(text[:end])
        temporary.rename(part)
    return part


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
