"""Measures `headrace grep` beside ripgrep and GNU grep on a file in the page cache.

usage: python -m bench.query.grep [--mb N] [--repeat N] [--cases rare,every] [--rg PROGRAM] [--out FILE]

The outputs are compared before they are timed, and the run ends if two differ. The programs take turns, and the best of several
runs counts, from the start of the process to its end. Output goes to a pipe. All programs search bytes (LC_ALL=C). Processor time
is that of all threads, and depends less on other work of the machine.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.machine import description_line
from bench.tables import Page

_PIPE_BYTES = 1 << 20
_RARE_SHARE, _FREQUENT_SHARE = 1e-5, 0.1
_BLOCK_LINES, _PART_BYTES = 100_000, 64_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """Options and pattern, which all programs take alike; a regular expression or a text."""

    name: str
    words: tuple[str, ...]
    is_expression: bool = False


CASES = (
    Case("rare", ("needle",)),
    Case("rare, counted", ("-c", "needle")),
    Case("rare, any case", ("-i", "NEEDLE")),
    Case("rare, numbered", ("-n", "needle")),
    Case("rare, with neighbours", ("-n", "-A", "2", "-B", "1", "needle")),
    Case("absent", ("absentword",)),
    Case("rare, names of files", ("-l", "needle")),
    Case("frequent", ("server",)),
    Case("frequent, counted", ("-c", "server")),
    Case("frequent, numbered", ("-n", "server")),
    Case("frequent, any case", ("-i", "SERVER")),
    Case("frequent, only matches", ("-o", "server")),
    Case("without", ("-v", "server")),
    Case("without, counted", ("-c", "-v", "server")),
    Case("every line, counted", ("-c", "e")),
    Case("every line", ("e",)),
    Case("expression, rare literal", ("-c", "needle[a-z ]*$"), is_expression=True),
    Case("expression, rare alternatives", ("-c", "(needle|needles)[a-z ]*$"), is_expression=True),
    Case("expression, frequent literal", ("-c", "serve[rd]$"), is_expression=True),
    Case("expression, no literal", ("-c", "[v-y]{4}"), is_expression=True),
    Case("expression, few words", ("-c", "needle|thread|socket"), is_expression=True),
    Case("expression, line start", ("-c", "^[st][a-m]* "), is_expression=True),
    Case("expression, each line read", ("-c", "[a-z]{9} [a-z]{3} "), is_expression=True),
    Case("expression, many states", ("-c", "a.{12}b.*[tu]"), is_expression=True),
    Case("expression, only matches", ("-o", "s[a-e]r[u-w]e[a-z]*"), is_expression=True),
)


def write_text(path: Path, size: int) -> None:
    """Write about `size` bytes of lines of random words; some lines have "server" in addition, few "needle".

    The text repeats after 64 MB.
    """
    random = np.random.default_rng(0)
    letters = np.frombuffer(b"etaoinshrdlucmfwypvbgk", np.uint8)
    words = [random.choice(letters, random.integers(2, 10)).tobytes() for _ in range(4000)]
    words = [word for word in words if b"needle" not in word and b"server" not in word]
    part, nbytes = [], 0
    with path.open("wb") as file:
        while nbytes < min(size, _PART_BYTES):
            chosen = random.integers(0, len(words), (_BLOCK_LINES, 12))
            drawn = random.random(_BLOCK_LINES)
            for line, share in zip(chosen.tolist(), drawn.tolist(), strict=True):
                extra = b" needle" if share < _RARE_SHARE else b" server" if share < _FREQUENT_SHARE else b""
                part.append(b" ".join([words[i] for i in line]) + extra + b"\n")
                nbytes += len(part[-1])
        whole = b"".join(part)
        while file.tell() < size:
            file.write(whole)


def programs(rg: str | None) -> dict[str, list[str]]:
    """Return the commands without options and pattern, by name."""
    found = {"headrace": [sys.executable, "-m", "headrace", "grep"]}
    if rg is not None:
        found["ripgrep"] = [rg, "--no-config", "--no-heading", "--color", "never", "-N", "-I", "-a"]
    if shutil.which("grep") is not None:
        found["grep"] = ["grep", "-a"]
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a command: seconds of wall clock and of processors, and a digest of its output."""

    seconds: float
    processor: float
    digest: str


def run(command: Sequence[str]) -> Run:
    """Run a command to its end.

    Raises
    ------
    ValueError
        The command fails.
    """
    digest = hashlib.blake2b()
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"LC_ALL": "C"}) as process:
        assert process.stdout is not None
        while part := process.stdout.read(_PIPE_BYTES):
            digest.update(part)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise ValueError(f"{command}: exit code {process.returncode}")
    return Run(seconds, used.ru_utime + used.ru_stime, digest.hexdigest())


def _kind(name: str, case: Case) -> list[str]:
    """Return the option for a text or an expression; each program has another default."""
    if case.is_expression:
        return [] if name == "ripgrep" else ["-E"]
    return [] if name == "headrace" else ["-F"]


def best_runs(path: Path, case: Case, commands: dict[str, list[str]], repeat: int) -> list[Run]:
    """Return the least seconds of each program.

    Raises
    ------
    ValueError
        The outputs differ.
    """
    lines = {name: [*command, *_kind(name, case), *case.words, str(path)] for name, command in commands.items()}
    digests = {name: run(line).digest for name, line in lines.items()}
    if len(set(digests.values())) != 1:
        raise ValueError(f"{case.name}: {digests}")
    rounds = [[run(line) for line in lines.values()] for _ in range(repeat)]
    return [
        Run(min(one.seconds for one in runs), min(one.processor for one in runs), runs[0].digest)
        for runs in zip(*rounds, strict=True)
    ]


def main() -> int:
    """Run the cases of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", default="")
    parser.add_argument("--rg", default=shutil.which("rg"))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    chosen = given.cases.split(",") if given.cases else []
    commands = programs(given.rg)
    page = Page()
    page.say("# Lines in which a text occurs\n")
    page.say(description_line())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        write_text(path, given.mb * 1_000_000)
        said = f"A file of {given.mb} MB, GB/s and seconds of processors, best of {given.repeat} in turns."
        page.head("Grep", said, [*(f"{name} GB/s" for name in commands), *(f"{name} s" for name in commands)])
        for case in CASES:
            if chosen and not any(case.name.startswith(name) for name in chosen):
                continue
            found = best_runs(path, case, commands, given.repeat)
            cells = [f"{path.stat().st_size / one.seconds / 1e9:.2f}" for one in found]
            page.say(f"| {case.name} | {' | '.join([*cells, *(f'{one.processor:.2f}' for one in found)])} |")
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
