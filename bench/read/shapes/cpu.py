"""Times the readers of a shape on the CPU, in turns, each in its own process.

Checks of many shapes run side by side before the first one is timed. They take most of the time of a benchmark otherwise.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.read.run import ask_worker, stop_worker
from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.check import Checked, check_piece
from bench.read.shapes.peers import PEERS, READERS
from bench.read.shapes.shape import BLOCK_BYTES, Shape, stored_text
from bench.tables import Row

LIMIT = "plain_read"
_TIMES = ("seconds", "processor")
_TRIAL_TURNS, _MUCH_SLOWER, _TOO_SLOW = 1, 4.0, 10.0
_SHORT = 0.05
"""Seconds of a read that are noise on a busy machine."""
_CHECKED_BYTES = 2 * BLOCK_BYTES
"""Bytes of text that are checked. A longer text repeats its first block."""


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
        self._checked: dict[str, Checked] = {}

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

    def check_side_by_side(self, shapes: list[Shape], size: int) -> None:
        """Check shapes in as many processes as there are threads, and keep the outcomes for `row`."""
        parts = [[shape.name for shape in shapes[i :: self._threads]] for i in range(min(self._threads, len(shapes)))]
        with ProcessPoolExecutor(self._threads) as pool:
            for found in pool.map(_check_part, parts, *([item] * len(parts) for item in (self._names, self._threads, size))):
                self._checked |= found

    def check(self, shape: Shape, size: int) -> Checked:
        """Compare headrace's answer for a piece with the oracle's, and the answers of all readers for a text of two blocks."""
        by_oracle = check_piece(shape)
        with _file_of(shape, min(size, _CHECKED_BYTES)) as path:
            return Checked(by_oracle, self._errors(shape, path))

    def row(self, shape: Shape, size: int) -> Row:
        """Check a shape unless that is done, time it, and return its row of figures. A reader's rate is that of its fastest read.

        Raises
        ------
        RuntimeError
            headrace's answer is wrong, or nothing confirms it.
        """
        checked = self._checked.pop(shape.name, None) or self.check(shape, size)
        errors = checked.errors
        if "headrace" in errors:
            raise RuntimeError(f"{shape.name}: {errors['headrace']}")
        timed = [name for name in self._names if name not in errors]
        if not checked.by_oracle and timed == ["headrace", LIMIT]:
            raise RuntimeError(f"{shape.name}: neither the oracle nor a peer confirms the answer: {errors}")
        with _file_of(shape, size) as path:
            for name in timed:
                self.ask(name, f"open {path} {shape.name}")
            seconds, processor = self._seconds(timed)
            nbytes = path.stat().st_size
        rates = {name: nbytes / least / 1e9 for name, least in seconds.items()}
        facts: Row = {"table": "shapes", "device": "cpu", "shape": shape.name, "bytes": nbytes, "threads": self._threads}
        facts |= {"gbs": rates.pop("headrace"), "limit": rates.pop(LIMIT), "peers": rates, "errors": errors}
        return facts | {"oracle": checked.by_oracle, "goal": shape.goal.cpu, "processor": processor}

    def _seconds(self, names: list[str]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the least seconds of each reader's reads, by the clock and of processor time.

        A peer that is much slower than the best one in the first turn is not read again: it does not change the ratio.
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

    def _errors(self, shape: Shape, path: Path) -> dict[str, str]:
        """Compare the answers for a file; return the error of each reader that has one, or that takes too long."""
        errors: dict[str, str] = {}
        seconds: dict[str, float] = {}
        answer = path.with_suffix(".arrow")
        for name in self._names:
            steps = [f"open {path} {shape.name}"]
            if name != LIMIT:
                steps.append(f"{'keep' if name == 'headrace' else 'check'} {answer}")
            answers = [self.ask(name, step) for step in steps]
            failed = next((one["error"] for one in answers if "error" in one), None)
            if failed is not None:
                errors[name] = failed
            elif name in PEERS:
                seconds[name] = answers[-1].get("seconds", 0.0)
            if "headrace" in errors:
                break
        least = min(seconds.values(), default=0.0)
        slow = {name: taken for name, taken in seconds.items() if taken > _TOO_SLOW * max(least, _SHORT)}
        errors |= {
            name: f"not timed: {taken:.1f} s for a text that the best peer read in {least:.2f} s" for name, taken in slow.items()
        }
        return errors


@contextmanager
def _file_of(shape: Shape, size: int) -> Iterator[Path]:
    """Yield the path of a file of a shape's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.csv"
        path.write_bytes(stored_text(shape, size))
        yield path


def _check_part(shapes: list[str], names: list[str], threads: int, size: int) -> dict[str, Checked]:
    """Check shapes one after another in a process of its own. One whose check fails is left out: `row` repeats it."""
    readers = CpuReaders(names, threads, 1)
    found = {}
    try:
        for name in shapes:
            with suppress(Exception):
                found[name] = readers.check(SHAPES[name], size)
    finally:
        readers.stop()
    return found
