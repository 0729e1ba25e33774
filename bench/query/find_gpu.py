"""Measures how fast a pattern is counted and found in a text in GPU memory, beside a read of the text.

usage: python -m bench.query.find_gpu [--mib N] [--repeat N] [--texts 2,english,periodic] [--lengths 1,4,16] [--out FILE]

Needs the package, PyTorch and a GPU. A pattern is a piece of the text, so that it occurs. Its hits in the first 16 MiB are
compared with those that the CPU finds, before it is timed. A time is the median between events around the public call. The GPU
is kept busy until the call's first launches are made, and the host's waits count.

The limit is the read of primitives/copy.cu in the same run. A share is that of the bytes that must be moved: the text, and
8 bytes for each position.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch

import headrace
from bench.gpu_timing import median_ms
from bench.machine import description_line
from bench.tables import Page
from headrace.arrays.arrays import take
from headrace.gpu.device.device import gpu
from headrace.primitives.copy import fold_buffer, start_reading

TEXTS = ("2", "4", "26", "256", "english", "dna", "protein", "periodic", "constant")
LENGTHS = (1, 4, 16, 64, 1024)
PERIOD = 64
LETTERS = {
    "english": (
        b" etaoinsrhdlucmfwygpbvkxqjz",
        (18, 10, 7, 7, 6, 6, 6, 5, 5, 5, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0.2, 0.1, 0.1, 0.1),
    ),
    "dna": (b"ACGT", (29, 21, 21, 29)),
    "protein": (b"ALGVESIKRDTPNQFYMHCW", (8, 10, 7, 7, 7, 7, 6, 6, 5, 5, 5, 5, 4, 4, 4, 3, 2, 2, 1, 1)),
}
"""Letters of texts, and about how often each occurs of 100 bytes."""
CHECKED = 16 << 20
MAX_HITS = 1 << 30
"""Maximum number of hits whose positions are timed."""


def text_of(name: str, size: int) -> torch.Tensor:
    """Return random bytes of an alphabet or of unequal letters, 64 random bytes repeated, or one byte repeated."""
    generator = torch.Generator("cuda").manual_seed(1)
    if name == "constant":
        return torch.full((size,), ord("a"), dtype=torch.uint8, device="cuda")
    if name == "periodic":
        return torch.randint(97, 123, (PERIOD,), dtype=torch.uint8, device="cuda", generator=generator).repeat(size // PERIOD)
    if name in LETTERS:
        return drawn_letters(*LETTERS[name], size, generator)
    text = torch.empty(size, dtype=torch.uint8, device="cuda")
    for part in text.split(1 << 28):
        part.random_(0, int(name), generator=generator)
    return text if name == "256" else text.add_(97)


def drawn_letters(letters: bytes, shares: tuple[float, ...], size: int, generator: torch.Generator) -> torch.Tensor:
    """Return letters drawn independently, each about as often as its share."""
    counts = np.rint(np.array(shares) * 8192 / sum(shares)).astype(np.int64)
    table = torch.from_numpy(np.repeat(np.frombuffer(letters, np.uint8), counts)).cuda()
    text = torch.empty(size, dtype=torch.uint8, device="cuda")
    for part in text.split(1 << 26):
        part.copy_(table[torch.randint(0, len(table), (len(part),), device="cuda", generator=generator)])
    return text


def many(text: torch.Tensor, page: Page, limit: float, repeat: int) -> None:
    """Add the rates of searches for many patterns: random letters, and a few pieces of the text."""
    size, random = len(text), np.random.default_rng(1)
    page.head("Many patterns", "Text of 26 symbols.", ["bytes of pattern", "hits", "count GB/s", "% of read", "find GB/s"])
    for number in (64, 1000, 10_000):
        for length in (5, 8, 16, 32):
            places = random.integers(0, CHECKED, 10)
            drawn = [random.integers(97, 123, length, np.uint8).tobytes() for _ in range(number - len(places))]
            patterns = headrace.PatternSet([*drawn, *(text[at : at + length].cpu().numpy().tobytes() for at in places)])
            part = text[: CHECKED >> 2]
            ours, expected = headrace.find_any(part, patterns), headrace.find_any(part.cpu().numpy(), patterns)
            if not all(np.array_equal(a.cpu().numpy(), b) for a, b in zip(ours, expected, strict=True)):
                raise ValueError(f"{number} patterns of {length} bytes: other hits than on the CPU")
            hits = int(headrace.count_any(text, patterns).cpu().numpy().sum())
            counted = size / median_ms(partial(headrace.count_any, text, patterns), repeat) / 1e6
            found = size / median_ms(partial(headrace.find_any, text, patterns), repeat) / 1e6
            page.say(f"| {number:,} | {length} | {hits:,} | {counted:.0f} | {100 * counted / limit:.0f} | {found:.0f} |")
            page.figure(text="26", patterns=number, length=length, hits=hits, bytes=size, count=counted, find=found, limit=limit)


def check(text: torch.Tensor, pattern: bytes) -> int:
    """Return the number of hits, after a comparison with the CPU.

    Raises
    ------
    ValueError
        The GPU finds other hits than the CPU.
    """
    part = text[:CHECKED]
    host = part.cpu().numpy()
    found = headrace.find(part, pattern).cpu().numpy()
    if not np.array_equal(found, headrace.find(host, pattern)) or headrace.count(part, pattern) != len(found):
        raise ValueError(f"pattern of {len(pattern)} bytes: other hits than on the CPU")
    return headrace.count(text, pattern)


def main() -> int:
    """Run the texts and patterns of the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--texts", default=",".join(TEXTS))
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    size, page = given.mib << 20, Page()
    page.say("# A pattern in a text in GPU memory\n")
    page.say(description_line())
    limit, letters = None, None
    for name in given.texts.split(","):
        text = text_of(name, size)
        letters = text if name == "26" else letters
        if limit is None:
            source, folded = take(text, "text"), fold_buffer(gpu())
            limit = size / median_ms(partial(start_reading, source, folded), given.repeat) / 1e6
            columns = ["bytes of pattern", "hits", "count GB/s", "% of read", "find GB/s", "% of bytes moved"]
            page.head("Rates", f"Text of {given.mib} MiB; a read of it takes {limit:.0f} GB/s.", columns)
        for length in map(int, given.lengths.split(",")):
            pattern = text[size // 2 : size // 2 + length].cpu().numpy().tobytes()
            hits, found = check(text, pattern), None
            counted = size / median_ms(partial(headrace.count, text, pattern), given.repeat) / 1e6
            row = f"| {name} | {length:,} | {hits:,} | {counted:.0f} | {100 * counted / limit:.0f} |"
            if hits <= MAX_HITS:
                if len(headrace.find(text, pattern)) != hits:
                    raise ValueError(f"{name}, pattern of {length} bytes: count and positions differ")
                ms = median_ms(partial(headrace.find, text, pattern), given.repeat)
                found = size / ms / 1e6
                row += f" {found:.0f} | {100 * (size + 8 * hits) / ms / 1e6 / limit:.0f} |"
            page.say(row if hits <= MAX_HITS else f"{row} - | - |")
            page.figure(text=name, patterns=1, length=length, hits=hits, bytes=size, count=counted, find=found, limit=limit)
    if letters is not None and limit is not None:
        many(letters, page, limit, given.repeat)
    page.keep(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
