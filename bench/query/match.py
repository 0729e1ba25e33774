"""Measures how fast the matches of regular expressions are found in a text, on the CPU beside `re`, or on a GPU.

usage: python -m bench.query.match [--mib N] [--repeat N] [--threads 1,2] [--device cuda] [--out FILE]

The matches of the first 4 MiB are compared with those of `re` before they are timed. Expressions are chosen so that the first
match of `re` is the longest one. On a GPU a time is the median between events around the public call; PyTorch is needed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import headrace
from bench.machine import description_line
from bench.tables import Page
from headrace import Context

PATTERNS = (rb"\d{4}-\d\d-\d\d", rb"\w+@\w+\.com", rb"[a-z]+", rb"^error.*$", rb"zz+")
WORDS = (b"error", b"disk", b"user@example.com", b"2024-05-06", b"lorem", b"ipsum", b"12.5", b"\nerror")
CHECKED = 4 << 20


def text_of(size: int) -> bytes:
    """Return random words."""
    random = np.random.default_rng(1)
    block = b" ".join(WORDS[i] for i in random.integers(0, len(WORDS), 100_000))
    return (block * (size // len(block) + 1))[:size]


def check(text: bytes, dfa: headrace.Dfa, pattern: bytes, find: Callable[[bytes], headrace.Matches]) -> None:
    """Compare matches with those of `re`.

    Raises
    ------
    ValueError
        They differ.
    """
    expected = np.array([found.span() for found in re.finditer(pattern, text, re.MULTILINE)], np.uint64).reshape(-1, 2)
    ours = find(text)
    for found, column in zip(ours, expected.T, strict=True):
        if not np.array_equal(np.asarray(found), column):
            raise ValueError(f"{pattern!r}: other matches than those of re")


def seconds_of(call: Callable[[], object], repeat: int) -> float:
    """Return the median time of a call on the CPU."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def on_cpu(text: bytes, given: argparse.Namespace, page: Page) -> None:
    """Add the rates on the CPU."""
    page.head("CPU", f"Text of {given.mib} MiB.", ["threads", "matches", "match GB/s", "count GB/s", "re GB/s"])
    for pattern in PATTERNS:
        dfa, part = headrace.compile_regex(pattern), text[:CHECKED]
        theirs = seconds_of(lambda each=pattern, of=part: sum(1 for _ in re.finditer(each, of, re.MULTILINE)), 1)  # type: ignore[misc]
        for threads in map(int, given.threads.split(",")):
            context = Context(threads=threads)
            check(part, dfa, pattern, partial(headrace.match, dfa=dfa, context=context))
            found = len(text) / seconds_of(partial(headrace.match, text, dfa, context=context), given.repeat) / 1e9
            counted = len(text) / seconds_of(partial(headrace.count_matches, text, dfa, context=context), given.repeat) / 1e9
            count = headrace.count_matches(text, dfa, context=context)
            rates = f"{found:.2f} | {counted:.2f} | {len(part) / theirs / 1e9:.3f}"
            page.say(f"| `{pattern.decode()}` | {threads} | {count:,} | {rates} |")


def on_gpu(text: bytes, given: argparse.Namespace, page: Page) -> None:
    """Add the rates on a GPU."""
    import torch

    from bench.gpu_timing import median_ms

    page.head("GPU", f"Text of {given.mib} MiB.", ["states", "matches", "match GB/s", "count GB/s"])
    on_device = torch.frombuffer(bytearray(text), dtype=torch.uint8).to("cuda")

    def find(part: bytes, dfa: headrace.Dfa) -> headrace.Matches:
        found = headrace.match(on_device[: len(part)], dfa)
        return headrace.Matches(found.begins.cpu().numpy(), found.ends.cpu().numpy())

    for pattern in PATTERNS:
        dfa = headrace.compile_regex(pattern)
        check(text[:CHECKED], dfa, pattern, partial(find, dfa=dfa))
        found = len(text) / median_ms(partial(headrace.match, on_device, dfa), given.repeat) / 1e6
        counted = len(text) / median_ms(partial(headrace.count_matches, on_device, dfa), given.repeat) / 1e6
        count = headrace.count_matches(on_device, dfa)
        page.say(f"| `{pattern.decode()}` | {dfa.state_count} | {count:,} | {found:.1f} | {counted:.1f} |")


def main() -> int:
    """Run the expressions and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page = Page()
    page.say("# Matches of regular expressions\n")
    page.say(description_line())
    (on_cpu if given.device == "cpu" else on_gpu)(text_of(given.mib << 20), given, page)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
