"""Measures how fast headrace, Python and StringZilla count a pattern in a text of bytes, on the CPU.

usage: python -m bench.query.find [--mb N] [--threads 1,2] [--repeat N] [--out FILE]

All count hits that do not overlap. The counts are compared before they are timed, and the run ends if two differ. The libraries
take turns, and the best of several runs counts. A pattern is a piece from the middle of the text, so that it occurs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import headrace
from bench.machine import description_line
from bench.tables import Page

Count = Callable[[bytes, bytes], int]
LENGTHS = (1, 2, 4, 8, 16, 64, 1024)
FEWEST_BYTES = 8
"""Least length of a pattern for a text of two or four symbols, in which Python takes long for shorter ones."""


def texts(size: int) -> Iterator[tuple[str, bytes, tuple[int, ...]]]:
    """Yield name, text and lengths of patterns: random symbols, then a text that is all one byte."""
    random = np.random.default_rng(0)
    for symbols in (2, 4, 26, 256):
        first = 0 if symbols == 256 else ord("a")
        text = (random.integers(0, symbols, size, np.uint8) + np.uint8(first)).tobytes()
        yield f"random, {symbols} symbols", text, tuple(m for m in LENGTHS if symbols > 4 or m >= FEWEST_BYTES)
    words = [random.integers(97, 123, length, np.uint8).tobytes() for length in random.integers(2, 10, 4000)]
    chosen = random.integers(0, len(words), 1 << 16)
    yield "words", repeated(b" ".join([words[i] for i in chosen.tolist()]), size), LENGTHS
    dna = np.frombuffer(b"ACGT", np.uint8)
    yield "DNA", dna[random.integers(0, 4, size, np.uint8)].tobytes(), LENGTHS[2:]
    yield "64 bytes repeated", repeated(random.integers(97, 123, 64, np.uint8).tobytes(), size), (1, 16, 64, 1024)
    yield "all `a`", b"a" * size, (1, 16, 1024)


def repeated(part: bytes, size: int) -> bytes:
    """Return a part of a text, repeated up to a size."""
    return (part * (size // len(part) + 1))[:size]


def libraries(threads: list[int]) -> dict[str, Count]:
    """Return functions that count the hits that do not overlap, by the library's name."""
    found: dict[str, Count] = {"Python": lambda text, pattern: text.count(pattern)}
    if find_spec("stringzilla") is not None:
        import stringzilla

        found["StringZilla"] = lambda text, pattern: int(stringzilla.Str(text).count(pattern))
    for number in threads:
        context = headrace.Context(threads=number)
        name = f"headrace, {number} thread{'s' * (number > 1)}"
        found[name] = lambda text, pattern, context=context: headrace.count(text, pattern, overlapping=False, context=context)
    return found


def rates(text: bytes, pattern: bytes, counts: dict[str, Count], repeat: int) -> list[float]:
    """Return the GB/s of each library.

    Raises
    ------
    ValueError
        The libraries do not count the same.
    """
    answers = {name: count(text, pattern) for name, count in counts.items()}
    if len(set(answers.values())) != 1:
        raise ValueError(f"pattern of {len(pattern)} bytes: {answers}")
    best = [float("inf")] * len(counts)
    for _ in range(repeat):
        for i, count in enumerate(counts.values()):
            began = time.perf_counter()
            count(text, pattern)
            best[i] = min(best[i], time.perf_counter() - began)
    return [len(text) / seconds / 1e9 for seconds in best]


def main() -> int:
    """Run the texts and patterns of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    counts = libraries([int(each) for each in given.threads.split(",")])
    ours = [name.startswith("headrace") for name in counts]
    page = Page()
    page.say("# Counts of a pattern in a text, on the CPU\n")
    page.say(description_line())
    said = f"Texts of {given.mb} MB, GB/s, best of {given.repeat} in turns. Hits do not overlap."
    page.head("Counts", said, ["bytes of pattern", *counts, "times the best peer"])
    for name, text, lengths in texts(given.mb * 1_000_000):
        for length in lengths:
            middle = len(text) // 2
            found = rates(text, text[middle : middle + length], counts, given.repeat)
            best = max(rate for rate, own in zip(found, ours, strict=True) if own)
            peer = max(rate for rate, own in zip(found, ours, strict=True) if not own)
            page.say(f"| {name} | {length:,} | {' | '.join(f'{rate:.2f}' for rate in found)} | {best / peer:.2f} |")
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
