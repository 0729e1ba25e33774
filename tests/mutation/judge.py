"""Runs the near tests of a planted error and reports which of them found it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import NATIVE, Mutant

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_MIN_LIMIT = 60.0
"""Seconds that the near tests of a mutant always have; beyond it, four times what they take without one."""


@dataclass(frozen=True)
class Place:
    """Place that planted tests run in: a tree with the package built in place, and the native test programs."""

    tree: Path
    programs: Path
    cache: Path

    def environment(self, number: int) -> dict[str, str]:
        """Environment variables of a test that runs with the mutant of this number; 0 for none."""
        own = {"PYTHONPATH": str(self.tree / "src"), "XDG_CACHE_HOME": str(self.cache), "HEADRACE_MUTANT": str(number)}
        outside = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # of the caller's own run
        return {**outside, **own}


@dataclass(frozen=True)
class Verdict:
    """Outcome of the near tests: the first that failed, or none."""

    found_by: str | None
    seconds: float

    @property
    def killed(self) -> bool:
        """True if a test found the error."""
        return self.found_by is not None


def judge(near: Sequence[str], place: Place, number: int, limit: float) -> Verdict:
    """Run tests with the mutant of this number until one fails. A test that ends by a signal or the limit has failed."""
    begin = time.monotonic()
    for command, name in _commands(near, place):
        left = limit - (time.monotonic() - begin)
        try:
            done = subprocess.run(
                command, cwd=place.tree, env=place.environment(number), capture_output=True, text=True, timeout=left, check=False
            )
        except subprocess.TimeoutExpired:
            return Verdict(f"time limit, {name}", time.monotonic() - begin)
        if done.returncode:
            if done.returncode in {4, 5} and not name.startswith(NATIVE):  # pytest's: a wrong call, no tests
                raise RuntimeError(f"pytest cannot run {name}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            failed = _FAILED.search(done.stdout)
            crash = f"{name} ends with {done.returncode}"
            return Verdict(failed.group(1) if failed else name if done.returncode > 0 else crash, time.monotonic() - begin)
    return Verdict(None, time.monotonic() - begin)


def _commands(near: Sequence[str], place: Place) -> Iterable[tuple[list[str], str]]:
    """Programs first, since they are quick; then all tests of Python in one process."""
    tests = [test for test in near if not test.startswith(NATIVE)]
    for test in near:
        if test.startswith(NATIVE):
            yield [str(place.programs / test.removeprefix(NATIVE))], test
    if tests:
        options = ["-q", "-x", "-m", "", "-p", "no:cacheprovider", "--no-header", "--tb=no"]  # long tests too
        yield [sys.executable, "-m", "pytest", *options, *tests], " ".join(tests)


class Judge:
    """Judges mutants, each set of near tests once without a mutant beforehand."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._alone: dict[tuple[str, ...], Verdict] = {}
        self._lock = threading.Lock()
        self._locks: dict[tuple[str, ...], threading.Lock] = {}

    def without(self, near: tuple[str, ...]) -> Verdict:
        """The verdict on the code as it is, which is how long the tests take.

        Raises
        ------
        RuntimeError
            A test fails without a mutant, so that it can decide nothing.
        """
        with self._lock:
            own = self._locks.setdefault(near, threading.Lock())
        with own:  # a second mutant of these tests waits for their verdict
            if near not in self._alone:
                self._alone[near] = judge(near, self._place, 0, 3600.0)
        if self._alone[near].killed:
            raise RuntimeError(f"fails without a mutant: {self._alone[near].found_by}")
        return self._alone[near]

    def of(self, mutant: Mutant) -> Verdict:
        """The verdict on one mutant."""
        limit = _MIN_LIMIT + 4 * self.without(mutant.near).seconds
        return judge(mutant.near, self._place, mutant.number, limit)
