"""Times the readers of a shape on the CPU, in turns, each in its own process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.read.run import ask_worker, stop_worker
from bench.read.shapes.check import check_piece
from bench.read.shapes.peers import PEERS, READERS
from bench.read.shapes.shape import Shape, stored_text
from bench.tables import Row

LIMIT = "plain_read"
_TIMES = ("seconds", "processor")
_TRIAL_TURNS, _MUCH_SLOWER = 2, 2.5


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
        by_oracle = check_piece(shape)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text.csv"
            path.write_bytes(stored_text(shape, size))
            errors = self._check(shape, path)
            if "headrace" in errors:
                raise RuntimeError(f"{shape.name}: {errors['headrace']}")
            timed = [name for name in self._names if name not in errors]
            if not by_oracle and timed == ["headrace", LIMIT]:
                raise RuntimeError(f"{shape.name}: neither the oracle nor a peer confirms the answer: {errors}")
            seconds, processor = self._seconds(timed)
            nbytes = path.stat().st_size
        rates = {name: nbytes / least / 1e9 for name, least in seconds.items()}
        facts: Row = {"table": "shapes", "device": "cpu", "shape": shape.name, "bytes": nbytes, "threads": self._threads}
        facts |= {"gbs": rates.pop("headrace"), "limit": rates.pop(LIMIT), "peers": rates, "errors": errors}
        return facts | {"oracle": by_oracle, "goal": shape.goal.cpu, "processor": processor}

    def _seconds(self, names: list[str]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the least seconds of each reader's reads, by the clock and of processor time.

        A reader that is much slower than the best peer in the first turns is not read again: it does not change the ratio.
        """
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        slow: set[str] = set()
        for turn in range(self._turns):
            if turn == _TRIAL_TURNS:
                least = {name: min(one["seconds"] for one in found) for name, found in taken.items()}
                best = min((least[name] for name in names if name in PEERS), default=0.0)
                slow = {name for name in names if name in PEERS and least[name] > _MUCH_SLOWER * best}
            for name in names:
                if name not in slow:
                    taken[name].append(self.ask(name, "read"))
        clock, processor = ({name: min(one[what] for one in found) for name, found in taken.items()} for what in _TIMES)
        return clock, processor

    def _check(self, shape: Shape, path: Path) -> dict[str, str]:
        """Compare the answers for the whole file; return the error of each reader that has one."""
        errors = {}
        answer = path.with_suffix(".arrow")
        for name in self._names:
            steps = [f"open {path} {shape.name}"]
            if name != LIMIT:
                steps.append(f"{'keep' if name == 'headrace' else 'check'} {answer}")
            failed = next((error for step in steps if (error := self.ask(name, step).get("error"))), None)
            if failed is not None:
                errors[name] = failed
            if "headrace" in errors:
                break
        return errors
