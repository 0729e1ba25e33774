"""Multisplit on a GPU: the targets, the paper's tables of methods, of skewed keys and of its sort, beside CUB.

Needs the package, nvcc, PyTorch and a GPU. Every answer is checked before it is timed. A figure is the median of device
events around a whole call, counting and allocations included; the stream is kept busy before, so that what the host takes to
launch is not in it. The limit is copy.cu's copy in the same run, for the bytes that must be moved: keys are read twice and
written once, values read and written. One to two minutes.

    python -m bench.gpu_multisplit [--out bench/results/h200/NAME.md]
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch

import headrace
from bench.gpu_timing import Cub, median_ms
from headrace import buckets
from headrace.arrange.multisplit.multisplit_sort import multisplit_sort
from headrace.arrange.multisplit.partition import partition

HERE = Path(__file__).resolve().parent
N, PAPER_N = 1 << 28, 1 << 25
KINDS = ("uniform", "0.25-uniform", "binomial", "constant")
PAPER_BUCKETS = (2, 4, 8, 16, 32, 64, 128, 256)
PAPER = {
    ("keys", "direct"): (17.67, 14.38, 11.00, 7.73, 5.54),
    ("keys", "warp"): (18.93, 17.54, 17.98, 16.18, 12.20),
    ("keys", "block"): (18.42, 17.84, 17.79, 18.01, 16.64, 14.14, 11.43, 7.05),
    ("keys", "reduced_bit"): (8.13, 8.13, 8.09, 8.06, 7.91, 7.51, 6.43, 4.51),
    ("pairs", "direct"): (11.17, 9.75, 7.07, 4.95, 3.51),
    ("pairs", "warp"): (11.38, 11.21, 10.81, 10.37, 8.04),
    ("pairs", "block"): (11.67, 11.62, 11.57, 11.40, 11.04, 10.64, 9.78, 5.85),
    ("pairs", "reduced_bit"): (3.44, 3.44, 3.42, 3.40, 3.34, 3.19, 2.83, 2.31),
}
"""Table 3.5 of the dissertation, GTX 1080, 10^9 keys or pairs a second."""
PAPER_SKEWED = {"keys": (7.05, 7.36, 7.89), "pairs": (5.85, 6.71, 7.28)}
"""Table 3.6, block-level, GTX 1080: uniform, 0.25-uniform, binomial."""
PAPER_SORT = {"keys": (2.368, 2.654, 2.933, 2.994, 2.300, 3.397), "pairs": (1.441, 1.619, 1.852, 2.101, 1.863, 1.911)}
"""Table 3.8, GTX 1080: digits of 4 to 8 bits, CUB then."""
TARGETS = {("keys", 2): 300, ("keys", 32): 300, ("keys", 256): 250, ("pairs", 2): 190, ("pairs", 32): 190, ("pairs", 256): 170}
lines: list[str] = []


def say(text: str = "") -> None:
    lines.append(text)
    print(text, flush=True)


def head(title: str, text: str, columns: list[str]) -> None:
    say(f"\n## {title}\n\n{text}\n\n| | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")


def drawn(dtype: torch.dtype, count: int, seed: int) -> torch.Tensor:
    info = torch.iinfo(dtype)
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.empty(count, dtype=dtype, device="cuda").random_(info.min, info.max, generator=generator)


def keys_of(kind: str, m: int, count: int) -> torch.Tensor:
    """Words whose highest bits are the bucket."""
    bits, words = m.bit_length() - 1, drawn(torch.int32, count, 1)
    low = words & ((1 << (32 - bits)) - 1)
    if kind == "constant":
        return torch.full_like(words, 0x12345678)
    if kind == "0.25-uniform":
        one = low | (0x5A << 24 if bits == 8 else 0)
        return torch.where(drawn(torch.int32, count, 2) & 3 == 0, words, one)
    if kind == "binomial":
        places = torch.binomial(torch.full((count,), m - 1.0, device="cuda"), torch.full((count,), 0.5, device="cuda"))
        return (places.long() << (32 - bits)).to(torch.int32) | low
    return words


def buckets_of(keys: torch.Tensor, m: int) -> torch.Tensor:
    bits = m.bit_length() - 1
    return ((keys >> (32 - bits)) & (m - 1)).to(torch.uint8)


def prepared(keys: torch.Tensor, values: torch.Tensor | None, m: int, strategy: str | None) -> Callable[[], object]:
    """A call of which one answer has been found right."""
    bits = m.bit_length() - 1
    work = partial(headrace.multisplit, keys.view(torch.uint32), buckets.bits(32 - bits, 32), values, strategy=strategy)
    found = work()
    _, order = torch.sort(buckets_of(keys, m), stable=True)
    right = torch.equal(found.keys.view(torch.int32), keys[order])
    if not right or (values is not None and not torch.equal(found.values, values[order])):
        raise RuntimeError(f"{strategy} {m}: wrong")
    return work


def rate(work: Callable[[], object], count: int, repeats: int = 9) -> float:
    return count / median_ms(work, repeats, busy=3_000_000) / 1e6


def copy_rate() -> float:
    """Bytes a second that PyTorch's copy of 1 GiB reads and writes."""
    source = drawn(torch.int32, N, 3)
    target = torch.empty_like(source)
    return 2 * source.nbytes / median_ms(lambda: target.copy_(source)) * 1e3


def targets(cub: Cub, copied: float) -> None:
    head(
        "2^28 keys, or pairs, of 4 bytes: 10^9 a second",
        f"A copy: {copied / 1e9:.0f} GB/s, so at most {copied / 12e9:.0f} keys and {copied / 20e9:.0f} pairs; percent: of that. "
        "Stable, by the highest bits. CUB: a radix sort by these bits alone, uniform keys; of 2 also its partition.",
        [*KINDS, "asked for", "CUB"],
    )
    for mode in ("keys", "pairs"):
        limit = copied / (12e9 if mode == "keys" else 20e9)
        values = torch.arange(N, dtype=torch.int32, device="cuda") if mode == "pairs" else None
        for m in (2, 32, 256):
            row = []
            for kind in KINDS:
                keys = keys_of(kind, m, N)
                found = rate(prepared(keys, values, m, None), N)
                row.append(f"{found:.0f} ({found / limit:.0%})")
                del keys
            bits = m.bit_length() - 1
            asked = [("digit", mode, bits, 0, N)] + ([("partition", mode, 1, 0, N)] if m == 2 and mode == "keys" else [])
            theirs = ", ".join(f"{value:.0f}" for value in cub.rates(asked))
            say(f"| {mode}, m = {m} | {' | '.join(row)} | {TARGETS[mode, m]} | {theirs} |")


def cells(values: list[float | None]) -> str:
    return " | ".join("" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.1f}" for value in values)


def methods(cub: Cub, copied: float) -> None:
    for mode in ("keys", "pairs"):
        limit = copied / (12e9 if mode == "keys" else 20e9)
        head(
            f"Table 3.5 of the dissertation: 2^25 {mode}, uniform, 10^9 a second",
            f"The limit: {limit:.0f}; last rows: the best method's share of it, and its ratio to CUB's sort by these bits.",
            [f"m = {m}" for m in PAPER_BUCKETS],
        )
        values = torch.arange(PAPER_N, dtype=torch.int32, device="cuda") if mode == "pairs" else None
        keys = keys_of("uniform", 2, PAPER_N)
        best = [0.0] * len(PAPER_BUCKETS)
        for strategy in ("direct", "warp", "block", "look_back", "reduced_bit", "recursive"):
            row: list[float | None] = []
            for m in PAPER_BUCKETS:
                fits = m <= 32 or strategy not in {"direct", "warp"}
                row.append(rate(prepared(keys, values, m, strategy), PAPER_N) if fits else None)
            best = [max(a, b or 0) for a, b in zip(best, row, strict=True)]
            say(f"| {strategy} | {cells(row)} |")
            paper = PAPER.get((mode, strategy))
            if paper is not None:
                say(f"| {strategy}, GTX 1080, paper | {cells([*paper, *[None] * (len(PAPER_BUCKETS) - len(paper))])} |")
        theirs = cub.rates([("digit", mode, m.bit_length() - 1, 0, PAPER_N) for m in PAPER_BUCKETS])
        say(f"| CUB, these bits | {cells(list(theirs))} |")
        say(f"| CUB, all bits | {cells(cub.rates([('sort', mode, 32, 0, PAPER_N)]))} |{' |' * 7}")
        say(f"| best, of the limit | {' | '.join(f'{value / limit:.0%}' for value in best)} |")
        say(f"| best over CUB, these bits | {' | '.join(f'{a / b:.2f}' for a, b in zip(best, theirs, strict=True))} |")


def skewed(cub: Cub) -> None:
    head(
        "Table 3.6: 2^25 keys or pairs, 256 buckets, 10^9 a second", "The strategy that is chosen.", [*KINDS[:3], "CUB, uniform"]
    )
    for mode in ("keys", "pairs"):
        values = torch.arange(PAPER_N, dtype=torch.int32, device="cuda") if mode == "pairs" else None
        row = [rate(prepared(keys_of(kind, 256, PAPER_N), values, 256, None), PAPER_N) for kind in KINDS[:3]]
        say(f"| {mode} | {cells([*row, *cub.rates([('digit', mode, 8, 0, PAPER_N)])])} |")
        say(f"| {mode}, GTX 1080, paper | {cells([*PAPER_SKEWED[mode], None])} |")


def sorts(cub: Cub) -> None:
    columns = [f"digits of {r} bits" for r in range(4, 9)] + ["CUB"]
    head("Table 3.8: multisplit sort of 2^25 keys or pairs of 4 bytes, 10^9 a second", "Uniform keys.", columns)
    keys = keys_of("uniform", 2, PAPER_N)
    ascending, order = torch.sort(keys.long() & 0xFFFFFFFF, stable=True)
    for mode in ("keys", "pairs"):
        values = torch.arange(PAPER_N, dtype=torch.int32, device="cuda") if mode == "pairs" else None
        row: list[float | None] = []
        for r in range(4, 9):
            work = partial(multisplit_sort, keys.view(torch.uint32), values, digit_bits=r)
            found = work()
            right = torch.equal(found.keys.view(torch.int32).long() & 0xFFFFFFFF, ascending)
            if not right or (values is not None and not torch.equal(found.values.long(), order)):
                raise RuntimeError(f"sort by {r} bits: wrong")
            row.append(rate(work, PAPER_N))
        say(f"| {mode} | {cells([*row, *cub.rates([('sort', mode, 32, 0, PAPER_N)])])} |")
        say(f"| {mode}, GTX 1080, paper | {cells(list(PAPER_SORT[mode]))} |")


def unordered(copied: float) -> None:
    head(
        "Partition by the highest 8 bits in no order within: 10^9 keys a second",
        "The pass alone (a call less its counting, which is timed as a call of the histogram of 256 parts), and the whole call.",
        ["uniform, pass", "constant, pass", "uniform, call", "constant, call", "pass asked for", "pass, limit"],
    )
    for dtype, given, count, asked in ((torch.int32, torch.uint32, N, 300), (torch.int64, torch.uint64, N // 2, 200)):
        width = 8 * dtype.itemsize
        calls, passes = [], []
        for kind in ("uniform", "constant"):
            keys = drawn(dtype, count, 5) if kind == "uniform" else torch.full((count,), 0x12345678, dtype=dtype, device="cuda")
            work = partial(partition, keys.view(given), width - 8, width)
            found, offsets = work()
            digits = (found.view(dtype) >> (width - 8)) & 255
            counts = torch.bincount(((keys >> (width - 8)) & 255).int(), minlength=256)
            same_sum = found.view(dtype).sum() == keys.sum()
            if not same_sum or not (digits[1:] >= digits[:-1]).all() or not torch.equal(offsets.diff(), counts):
                raise RuntimeError("partition: wrong")
            ms = median_ms(work, 9, busy=3_000_000)
            counting = median_ms(partial(headrace.histogram, keys.view(given), 256), 9, busy=3_000_000)
            calls.append(count / ms / 1e6)
            passes.append(count / (ms - counting) / 1e6)
            del keys, found, digits
        limit = copied / (2 * dtype.itemsize) / 1e9
        say(f"| u{width} | {cells([*passes, *calls])} | {asked} | {limit:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    options = parser.parse_args()
    cub = Cub("cub_multisplit")
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    machine = f"{torch.cuda.get_device_name()}, driver {driver}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}"
    say(f"# Multisplit on a GPU\n\n`python -m bench.gpu_multisplit`, {datetime.now(UTC):%Y-%m-%d}; {machine}, headrace")
    say(f"{headrace.__version__}. Every answer checked; CUB of the toolkit in the same run.")
    copied = copy_rate()
    for table in (partial(targets, cub, copied), partial(methods, cub, copied), partial(skewed, cub), partial(sorts, cub),
                  partial(unordered, copied)):  # fmt: skip
        table()
        if options.out:  # what there is, should the run be cut off
            Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
