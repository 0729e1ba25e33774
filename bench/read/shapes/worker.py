"""Runs one reader in its own process: reads commands, and answers each with a line of JSON.

- "open FILE SHAPE" prepares the reader for a shape's file, whose path has no spaces.
- "keep FILE" writes headrace's answer to a file. "check FILE" compares an answer with it, and returns the seconds of the read.
- "read" times one read, and "stop" ends the process.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from bench.read.contenders import Read, plain_read
from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.peers import READERS
from bench.read.shapes.shape import Shape


def main() -> None:
    """Serve commands until "stop"."""
    name, threads = sys.argv[1], int(sys.argv[2])
    reader: OpenReader | None = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "stop":
            return
        try:
            if command == "open":
                path, _, shape = argument.partition(" ")
                reader = OpenReader(name, SHAPES[shape], Path(path), threads)
                answer: dict[str, Any] = {}
            else:
                assert reader is not None
                answer = reader.answer(command, argument)
        except Exception as error:  # any error of a library is its result
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class OpenReader:
    """A reader of one file."""

    def __init__(self, name: str, shape: Shape, path: Path, threads: int) -> None:
        self._shape = shape
        self._read: Read = plain_read(path, None, 1) if name == "plain_read" else READERS[name](path, shape, threads)

    def answer(self, command: str, argument: str) -> dict[str, Any]:
        """Answer one command."""
        if command == "read":
            began, processor = time.perf_counter(), time.process_time()
            result = self._read()
            seconds = {"seconds": time.perf_counter() - began, "processor": time.process_time() - processor}
            del result
            return seconds
        from bench.read.shapes.check import check_answer, keep_answer

        if command == "keep":
            return {"result": keep_answer(self._read(), self._shape, Path(argument))}
        began = time.perf_counter()
        result = self._read()
        seconds = time.perf_counter() - began
        wrong = check_answer(result, self._shape, Path(argument))
        return {"error": f"other answer: {wrong}"} if wrong else {"seconds": seconds}


if __name__ == "__main__":
    main()
