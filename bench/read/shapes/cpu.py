"""Times the readers of a shape on the CPU, in turns, each in its own process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.read.run import ask_worker, stop_worker
from bench.read.shapes.check import check_piece
from bench.read.shapes.peers import READERS
from bench.read.shapes.shape import Shape, file_of
from bench.tables import Row

LIMIT = "plain_read"


class CpuReaders:
    """Processes of readers, which live over all shapes. One that ends is started again.

    Parameters
    ----------
    names
        Names of `READERS`, without headrace.
    threads, turns
        Threads of each reader, and reads of each in turn.
    """

    def __init__(self, names: list[str], threads: int, turns: int) -> None:
        self._names = ["headrace", *(name for name in names if name in READERS and name != "headrace"), LIMIT]
        self._threads, self._turns = threads, turns
        self._workers: dict[str, subprocess.Popen[str]] = {}

    def ask(self, name: str, step: str) -> dict[str, Any]:
        """Send a command to a reader's process."""
        if name not in self._workers or self._workers[name].poll() is not None:
            command = [sys.executable, "-m", "bench.read.shapes.worker", name, str(self._threads)]
            self._workers[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return ask_worker(self._workers[name], step)

    def stop(self) -> None:
        """End all processes."""
        for worker in self._workers.values():
            stop_worker(worker)

    def row(self, shape: Shape, size: int) -> Row:
        """Check and time a shape, and return its row of figures. The rate of a reader is that of its fastest read.

        Raises
        ------
        RuntimeError
            headrace's answer is wrong, or nothing confirms it.
        """
        path = file_of(shape, size)
        by_oracle = check_piece(shape)
        errors = self._check(shape, size, path)
        if "headrace" in errors:
            raise RuntimeError(f"{shape.name}: {errors['headrace']}")
        timed = [name for name in self._names if name not in errors]
        if not by_oracle and timed == ["headrace", LIMIT]:
            raise RuntimeError(f"{shape.name}: neither the oracle nor a peer confirms the answer: {errors}")
        seconds = {name: [] for name in timed}
        for _ in range(self._turns):
            for name in timed:
                seconds[name].append(self.ask(name, "read")["seconds"])
        nbytes = path.stat().st_size
        rates = {name: nbytes / min(times) / 1e9 for name, times in seconds.items()}
        facts: Row = {"table": "shapes", "device": "cpu", "shape": shape.name, "bytes": nbytes, "threads": self._threads}
        facts |= {"gbs": rates.pop("headrace"), "limit": rates.pop(LIMIT), "peers": rates, "errors": errors}
        return facts | {"oracle": by_oracle, "goal": shape.goal.cpu}

    def _check(self, shape: Shape, size: int, path: Path) -> dict[str, str]:
        """Compare the answers for the whole file; return the error of each reader that has one."""
        errors = {}
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            for name in self._names:
                steps = [f"open {size} {shape.name}"]
                if name != LIMIT:
                    steps.append(f"{'keep' if name == 'headrace' else 'check'} {folder}/answer.arrow")
                for step in steps:
                    if "error" in (answer := self.ask(name, step)):
                        errors[name] = answer["error"]
                        break
                if "headrace" in errors:
                    break
        return errors
