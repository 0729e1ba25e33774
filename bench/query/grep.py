"""Measures `headrace grep` beside ripgrep and GNU grep on files in the page cache.

usage: python -m bench.query.grep [--mb N] [--files N] [--repeat N] [--cases rare,tree] [--rg PROGRAM] [--out FILE]

The outputs are compared before they are timed, and the run ends if two differ. The programs take turns, and the best of several
runs counts, from the start of the process to its end. Output goes to a pipe. All programs search bytes (LC_ALL=C). Processor time
is that of all threads, and depends less on other work of the machine. `taskset -c 0 python -m ...` measures one thread.

Inputs are a file of lines, parts of it as one line and as a gzip file, and a tree of small files. The time for a file of one
line is that of the start.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.machine import description_line
from bench.tables import Page

_PIPE_BYTES, _LINE_BYTES = 1 << 20, 100_000_000
_START = "import sys; from headrace.cli.main import main; sys.exit(main())"
"""The program of the installed command."""
_SLOWING = "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"  # with the first, each start may compile all modules of Python
_FOR_TEXTS = {"headrace": [], "ripgrep": ["-F"], "grep": ["-F"]}
_FOR_EXPRESSIONS = {"headrace": ["-E"], "ripgrep": [], "grep": ["-E"]}
"""Options for a text and an expression; each program has another default."""
_RARE_SHARE, _FREQUENT_SHARE = 1e-5, 0.1
_BLOCK_LINES, _PART_BYTES = 100_000, 64_000_000
_LETTERS = b"etaoinshrdlucmfwypvbgk"
_MANY_WORDS = tuple(f"--regexp={''.join(random.Random(n).choices(_LETTERS.decode(), k=9))}" for n in range(1000))


@dataclass(frozen=True, slots=True)
class Case:
    """Options and pattern, which all programs take alike; a regular expression or a text. `input`: name of a file or a tree."""

    name: str
    words: tuple[str, ...]
    is_expression: bool = False
    input: str = "text"


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
    Case("word, counted", ("-c", "-w", "server")),
    Case("three words, counted", ("-c", "-e", "needle", "-e", "thread", "-e", "socket")),
    Case("thousand words, counted", ("-c", *_MANY_WORDS)),
    Case("expression, rare literal", ("-c", "needle[a-z ]*$"), is_expression=True),
    Case("expression, rare alternatives", ("-c", "(needle|needles)[a-z ]*$"), is_expression=True),
    Case("expression, frequent literal", ("-c", "serve[rd]$"), is_expression=True),
    Case("expression, no literal", ("-c", "[v-y]{4}"), is_expression=True),
    Case("expression, few words", ("-c", "needle|thread|socket"), is_expression=True),
    Case("expression, line start", ("-c", "^[st][a-m]* "), is_expression=True),
    Case("expression, each line read", ("-c", "[a-z]{9} [a-z]{3} "), is_expression=True),
    Case("expression, many states", ("-c", "a.{12}b.*[tu]"), is_expression=True),
    Case("expression, only matches", ("-o", "s[a-e]r[u-w]e[a-z]*"), is_expression=True),
    Case("one line, rare", ("-c", "needle"), input="line"),
    Case("one line, absent", ("-c", "absentword"), input="line"),
    Case("one line, only matches", ("-o", "server"), input="line"),
    Case("one line, expression", ("-c", "[v-y]{12}"), is_expression=True, input="line"),
    Case("gzip, rare", ("needle",), input="text.gz"),
    Case("gzip, counted", ("-c", "server"), input="text.gz"),
    Case("tree, rare", ("needle",), input="tree"),
    Case("tree, absent", ("absentword",), input="tree"),
    Case("tree, names of files", ("-l", "server"), input="tree"),
    Case("tree, numbered", ("-n", "server"), input="tree"),
    Case("tree, expression", ("-n", "serve[rd]$"), is_expression=True, input="tree"),
    Case("small file", ("server",), input="small"),
    Case("small file, expression", ("serve[rd]$",), is_expression=True, input="small"),
)


def write_text(path: Path, size: int) -> None:
    """Write about `size` bytes of lines of random words; some lines have "server" in addition, few "needle".

    The text repeats after 64 MB.
    """
    source = np.random.default_rng(0)
    letters = np.frombuffer(_LETTERS, np.uint8)
    words = [source.choice(letters, source.integers(2, 10)).tobytes() for _ in range(4000)]
    words = [word for word in words if b"needle" not in word and b"server" not in word]
    part, nbytes = [], 0
    with path.open("wb") as file:
        while nbytes < min(size, _PART_BYTES):
            chosen = source.integers(0, len(words), (_BLOCK_LINES, 12))
            drawn = source.random(_BLOCK_LINES)
            for line, share in zip(chosen.tolist(), drawn.tolist(), strict=True):
                extra = b" needle" if share < _RARE_SHARE else b" server" if share < _FREQUENT_SHARE else b""
                part.append(b" ".join([words[i] for i in line]) + extra + b"\n")
                nbytes += len(part[-1])
        whole = b"".join(part)
        while file.tell() < size:
            file.write(whole)


def write_inputs(folder: Path, size: int, files: int) -> None:
    """Write the inputs of all cases into a folder. A file of the tree has 2 to 8 KB of lines of the text."""
    write_text(folder / "text", size)
    with (folder / "text").open("rb") as file:
        content = file.read(_LINE_BYTES)
    (folder / "line").write_bytes(content.replace(b"\n", b" "))
    (folder / "text.gz").write_bytes(gzip.compress(content[:_PART_BYTES], 6))
    (folder / "small").write_bytes(b"a server\n")
    at = 0
    for number, nbytes in enumerate(np.random.default_rng(1).integers(2000, 8000, files).tolist()):
        path = folder / "tree" / f"{number // 400}" / f"{number // 20 % 20}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[at : at + nbytes])
        at = at + nbytes if at + 2 * nbytes < len(content) else 0


def programs(rg: str | None) -> dict[str, list[str]]:
    """Return the commands without options and pattern, by name."""
    found = {"headrace": [sys.executable, "-c", _START, "grep"]}
    if rg is not None:
        found["ripgrep"] = [rg, "--no-config", "--no-heading", "--color", "never", "--include-zero", "-N", "-a"]
    if shutil.which("grep") is not None:
        found["grep"] = ["grep", "-a"]
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a command: seconds of wall clock and of processors, and a digest of its output."""

    seconds: float
    processor: float
    digest: str


def run(command: Sequence[str], *, is_ordered: bool = True) -> Run:
    """Run a command to its end. Unless `is_ordered`, the digest does not depend on the order of the lines.

    Raises
    ------
    ValueError
        The command fails.
    """
    began, parts = time.perf_counter(), []
    digest = hashlib.blake2b()
    env = {name: value for name, value in os.environ.items() if name not in _SLOWING} | {"LC_ALL": "C"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        while part := process.stdout.read(_PIPE_BYTES):
            if is_ordered:
                digest.update(part)
            else:
                parts.append(part)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise ValueError(f"{command}: exit code {process.returncode}")
    for line in sorted(b"".join(parts).splitlines()):
        digest.update(line)
    return Run(seconds, used.ru_utime + used.ru_stime, digest.hexdigest())


def _options(name: str, case: Case) -> list[str]:
    """Return the options for the kind of pattern and the input."""
    found = (_FOR_EXPRESSIONS if case.is_expression else _FOR_TEXTS)[name]
    if case.input == "tree":
        return [*found, "-uuu" if name == "ripgrep" else "-r"]
    return [*found, "-z"] if name == "ripgrep" and case.input.endswith(".gz") else found


def best_runs(folder: Path, case: Case, commands: dict[str, list[str]], repeat: int) -> list[Run | None]:
    """Return the least seconds of each program; None for GNU grep if it cannot read the input.

    Raises
    ------
    ValueError
        The outputs differ.
    """
    chosen = {name: command for name, command in commands.items() if name != "grep" or not case.input.endswith(".gz")}
    path, is_ordered = str(folder / case.input), case.input != "tree"
    lines = {name: [*command, *_options(name, case), *case.words, path] for name, command in chosen.items()}
    digests = {name: run(line, is_ordered=is_ordered).digest for name, line in lines.items()}
    if len(set(digests.values())) != 1:
        raise ValueError(f"{case.name}: {digests}")
    rounds = [{name: run(line) for name, line in lines.items()} for _ in range(repeat)]
    return [_best([each[name] for each in rounds]) if name in lines else None for name in commands]


def _best(runs: Sequence[Run]) -> Run:
    return Run(min(one.seconds for one in runs), min(one.processor for one in runs), runs[0].digest)


def _cells(found: Sequence[Run | None]) -> Iterator[str]:
    """Yield the cells of a row: seconds, seconds of processors, and the ratios of the first program to the second."""
    for field in ("seconds", "processor"):
        yield from ("-" if one is None else f"{getattr(one, field):.3f}" for one in found)
    if len(found) > 1 and found[0] is not None and found[1] is not None:
        yield f"{found[0].seconds / found[1].seconds:.2f}"
        yield f"{found[0].processor / found[1].processor:.2f}"


def main() -> int:
    """Run the cases of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=512)
    parser.add_argument("--files", type=int, default=20_000)
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
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_inputs(folder, given.mb * 1_000_000, given.files)
        said = f"A file of {given.mb} MB and {given.files} files in a tree. Seconds, best of {given.repeat} in turns."
        names = list(commands)
        ratios = ["ratio", "CPU ratio"] if len(names) > 1 else []
        page.head("Grep", said, [*(f"{name} s" for name in names), *(f"{name} CPU s" for name in names), *ratios])
        for case in CASES:
            if not chosen or any(case.name.startswith(name) for name in chosen):
                page.say(f"| {case.name} | {' | '.join(_cells(best_runs(folder, case, commands, given.repeat)))} |")
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
