"""Measures the histogram on a GPU beside CUB: the targets, the paper's table, types of keys, and the cost of small inputs.

Needs the package, nvcc, PyTorch and a GPU. Takes half a minute. Every answer is checked before it is timed. A figure is the
median of device events around the clearing of the result and the launch. The stream is kept busy before, so the time excludes the
host's launches. The limit is primitives/copy.cu's read of as many bytes in the same run.

The table *called* has the public function on a GPU that is idle when the call begins. The time includes the host's work and the
result's allocation. For buckets between edges it includes the table of cells, and for CUB a copy of the edges to the GPU.

    python -m bench.primitives.gpu_histogram [--tables called,targets,paper,types,small] [--out FOLDER/NAME.md] [--profile]
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import torch

import headrace
from bench.gpu_timing import Cub, Times, call_ms, median_ms
from bench.tables import Page
from headrace.arrange.bucket.buckets import between, even
from headrace.arrange.histogram.histogram import launcher
from headrace.arrays.arrays import take
from headrace.gpu.device.device import gpu
from headrace.primitives.copy import fold_buffer, start_reading

N = 1 << 28
PAPER_N = 1 << 25
PAPER_BINS = (2, 4, 8, 16, 32, 64, 128, 256)
PAPER = {
    ("even", "GTX 1080, paper"): (61.0, 61.1, 60.9, 60.7, 60.2, 45.2, 59.6, 52.7),
    ("even", "GTX 1080, CUB then"): (60.5, 60.7, 60.5, 60.7, 61.1, 60.6, 60.3, 60.9),
    ("even", "K40c, paper"): (45.3, 42.5, 45.4, 37.8, 32.1, 26.5, 24.2, 18.8),
    ("range", "GTX 1080, paper"): (56.7, 51.4, 45.4, 39.8, 33.9, 28.4, 24.8, 20.0),
    ("range", "GTX 1080, CUB then"): (42.4, 35.2, 30.9, 27.1, 24.4, 22.3, 19.3, 14.8),
    ("range", "K40c, paper"): (28.0, 22.1, 18.4, 14.6, 11.9, 9.0, 7.7, 7.3),
}
"""Table 3.11 of the dissertation, 10^9 keys per second."""
KINDS = ("uniform", "skewed", "constant")
NUMPY = {torch.uint8: "u1", torch.int16: "i2", torch.int32: "u4", torch.int64: "i8", torch.float32: "f4", torch.float64: "f8"}
page = Page()
say, head = page.say, page.head


def keys_of(kind: str, dtype: torch.dtype, count: int) -> torch.Tensor:
    """Return integers over the range of their type, or skewed ones whose bits are 1 in 8 times; floats are in [0, 1024)."""
    generator = torch.Generator("cuda").manual_seed(count)
    if dtype.is_floating_point:
        keys = torch.rand(count, device="cuda", dtype=dtype, generator=generator)
        keys = keys**4 if kind == "skewed" else torch.full_like(keys, 0.3) if kind == "constant" else keys
        return (keys * 1024).clamp_(max=1023.999)
    info = torch.iinfo(dtype)

    def drawn() -> torch.Tensor:
        return torch.empty(count, dtype=dtype, device="cuda").random_(info.min, info.max, generator=generator)

    if kind == "constant":
        return torch.full((count,), 0x12345678 % info.max, dtype=dtype, device="cuda")
    return drawn() & drawn() & drawn() if kind == "skewed" else drawn()


def as_given(keys: torch.Tensor) -> Any:
    """Return words of 4 bytes as uint32, for which PyTorch has few operations."""
    return keys.view(torch.uint32) if keys.dtype == torch.int32 else keys


def edges_of(dtype: str, buckets: int) -> np.ndarray:
    """Return random edges, from the lowest number to the highest, or from 0 to 1024."""
    random = np.random.default_rng(buckets)
    if dtype[0] == "f":
        return np.sort(np.concatenate([[0, 1024], random.uniform(0, 1024, buckets - 1)])).astype(dtype)
    info = np.iinfo(dtype)
    inner = random.integers(info.min, info.max, buckets - 1, dtype=dtype)
    return np.sort(np.concatenate([inner, np.array([info.min, info.max], dtype)]))


def expected(keys: torch.Tensor, how: tuple[str, int], edges: np.ndarray) -> torch.Tensor:
    """Return the counts by PyTorch: shifts of integers, products of floats, searches among edges."""
    way, bins = how
    counts = torch.zeros(bins, dtype=torch.int64, device="cuda")
    unsigned = NUMPY[keys.dtype][0] == "u" and keys.dtype != torch.uint8
    sign = 2**31 if unsigned else 0
    ordered = (edges.astype("i8") - sign).astype("i4") if unsigned else edges
    known = torch.from_numpy(ordered).cuda()
    for part in keys.split(1 << 26):
        if way == "range":
            ascending = part ^ torch.iinfo(torch.int32).min if unsigned else part
            places = torch.searchsorted(known, ascending, right=True) - 1
        elif part.dtype.is_floating_point:
            places = (part * (bins / 1024)).long()
        else:
            bits = part.element_size() * 8
            places = (part.long() >> (bits - bins.bit_length() + 1)) + (0 if unsigned or part.dtype == torch.uint8 else bins // 2)
            places &= bins - 1
        places = places[(places >= 0) & (places < bins)]
        counts += torch.bincount(places, minlength=bins)
    return counts


def prepared(keys: torch.Tensor, way: str, bins: int) -> Callable[[], None]:
    """Return the launch, after a check of one result."""
    dtype = np.dtype(NUMPY[keys.dtype])
    edges = edges_of(dtype.str[1:], bins)
    given = as_given(keys)
    result = torch.empty(bins, dtype=torch.int64, device="cuda")
    limits = (0, 1024) if dtype.kind == "f" else None
    how = even(dtype, bins, limits) if way == "even" else between(dtype, edges)
    work = launcher(take(given, "keys"), take(result, "result"), how, headrace.Context())
    work()
    if not torch.equal(result, expected(keys, (way, bins), edges)):
        raise RuntimeError(f"{way} {bins} {keys.dtype}: wrong")
    return work


def read_rate(count: int) -> float:
    """Return the bytes per second of primitives/copy.cu's read."""
    words = take(keys_of("uniform", torch.int32, count), "words")
    folded = fold_buffer(gpu(words.device), words.stream)
    return count * 4 / median_ms(lambda: start_reading(words, folded)) * 1e3


TARGETS = [("even", 2, 1050), ("even", 32, 1050), ("even", 256, 1050), ("even", 2048, None), ("even", 65536, 500),
           ("range", 32, None), ("range", 256, 800), ("range", 2048, None)]  # fmt: skip


def targets(cub: Cub, limit: float) -> None:
    head(
        "2^28 keys of 4 bytes, 10^9 keys a second",
        f"The read: {limit / 4e9:.0f}. Percent: of it. Even parts of all uint32, of floats [0, 1024); edges drawn at random; "
        "skewed: each bit 1 in 8 times, floats x^4. CUB: the three in turn.",
        [*KINDS, "asked for", "CUB"],
    )
    cases = [(dtype, *target) for dtype in (torch.int32, torch.float32) for target in TARGETS]
    rates = {}
    for dtype in (torch.int32, torch.float32):
        for kind in KINDS:
            keys = keys_of(kind, dtype, N)
            for case in cases:
                if case[0] is dtype:
                    rates[case, kind] = N / median_ms(prepared(keys, *case[1:3])) / 1e6
            del keys
    names = {torch.int32: "u32", torch.float32: "float"}
    peers = iter(cub.rates([(way, names[dtype], bins, kind, N) for dtype, way, bins, _ in cases for kind in range(3)]))
    for case in cases:
        dtype, way, bins, asked = case
        own = " | ".join(f"{rates[case, kind]:.0f} ({rates[case, kind] * 4e9 / limit:.0%})" for kind in KINDS)
        theirs = ", ".join(f"{next(peers):.0f}" for _ in KINDS)
        say(f"| {names[dtype]}, {bins} {'parts' if way == 'even' else 'between edges'} | {own} | {asked or ''} | {theirs} |")


CALLED = [("even", 256), ("range", 256), ("even", 65536)]


def called(cub: Cub, limit: float) -> None:
    columns = ["call", "CUB, call", "ratio", "kernel", "CUB, kernel", "ratio"]
    text = f"The read: {limit / 4e9:.0f}. Uniform keys; even parts of all uint32, of floats [0, 1024); edges drawn at random."
    for count in (1 << 20, N):
        head(f"As called: {count:_} keys of 4 bytes, 10^9 keys a second", text, columns)
        cases = [(dtype, *how) for dtype in (torch.int32, torch.float32) for how in CALLED]
        lines = [("float" if dtype.is_floating_point else "u32", way, bins) for dtype, way, bins in cases]
        peers = cub.both([(way, name, bins, 0, count) for name, way, bins in lines])
        for (dtype, way, bins), (name, _, _), peer in zip(cases, lines, peers, strict=True):
            own = called_rates(keys_of("uniform", dtype, count), way, bins)
            facts = {"type": name, "way": way, "bins": bins, "n": count, "limit": limit / 4e9}
            theirs = {"cub_call": peer.call, "cub_kernel": peer.kernel}
            page.figure(table="histogram", **facts, call=own.call, kernel=own.kernel, **theirs)
            figures = [own.call, peer.call, own.call / peer.call, own.kernel, peer.kernel, own.kernel / peer.kernel]
            title = f"{name}, {bins} {'parts' if way == 'even' else 'between edges'}"
            say(f"| {title} | {' | '.join(f'{one:.4g}' for one in figures)} |")


def called_rates(keys: torch.Tensor, way: str, bins: int) -> Times:
    """Time the kernel, with the table of cells built before, and the call of the public function, which builds it."""
    count = len(keys)
    kernel = count / median_ms(prepared(keys, way, bins)) / 1e6
    given, dtype = as_given(keys), np.dtype(NUMPY[keys.dtype])
    edges = edges_of(dtype.str[1:], bins)
    options: dict[str, Any] = {"bins": bins, **({"range": (0, 1024)} if dtype.kind == "f" else {})}
    options = options if way == "even" else {"splitters": edges}
    if not torch.equal(headrace.bucket_counts(given, **options), expected(keys, (way, bins), edges)):
        raise RuntimeError(f"{way} {bins} {keys.dtype}: wrong")
    return Times(kernel, count / call_ms(lambda: headrace.bucket_counts(given, **options)) / 1e6)


def paper(cub: Cub) -> None:
    limit = read_rate(PAPER_N)
    head(
        "Table 3.11 of the dissertation: 2^25 floats, uniform in [0, 1024), 10^9 keys a second",
        f"Even: m parts; range: m - 1 drawn splitters. The read of as much: {limit / 4e9:.0f}.",
        [f"m = {m}" for m in PAPER_BINS],
    )
    keys = keys_of("uniform", torch.float32, PAPER_N)
    for way in ("even", "range"):
        own = [PAPER_N / median_ms(prepared(keys, way, bins), 101) / 1e6 for bins in PAPER_BINS]
        theirs = cub.rates([(way, "float", bins, 0, PAPER_N) for bins in PAPER_BINS])
        rows = {"H200, headrace": own, "H200, CUB": theirs}
        rows |= {name: row for (kind, name), row in PAPER.items() if kind == way}
        for name, row in rows.items():
            say(f"| {way}, {name} | {' | '.join(f'{rate:.0f}' if rate > 100 else f'{rate:.1f}' for rate in row)} |")
        say(f"| {way}, headrace over CUB | {' | '.join(f'{a / b:.1f}' for a, b in zip(own, theirs, strict=True))} |")


def types(limit: float) -> None:
    columns = ["256 even parts", "100 parts of 7/8 of the range", "256 between edges (uint8: 128)"]
    head("Types of keys: 1 GiB", "10^9 keys a second, uniform, and percent of the read.", columns)
    for dtype, name in NUMPY.items():
        keys = keys_of("uniform", dtype, (1 << 30) // np.dtype(name).itemsize)
        few = 128 if dtype == torch.uint8 else 256  # edges of 1 byte
        row = []
        for work in (prepared(keys, "even", 256), odd(keys, name), prepared(keys, "range", few)):
            ms = median_ms(work)
            row.append(f"{len(keys) / ms / 1e6:.0f} ({(1 << 30) / ms * 1e3 / limit:.0%})")
        say(f"| {np.dtype(name)} | {' | '.join(row)} |")


def odd(keys: torch.Tensor, name: str) -> Callable[[], None]:
    """Time 100 buckets of 7/8 of the range: no shift, and keys outside. Some cases are counted on the CPU too."""
    info = None if name[0] == "f" else np.iinfo(name)
    limits = (0, 896) if info is None else (int(info.min), int(info.max) - (int(info.max) - int(info.min)) // 8)
    some = as_given(keys[: 1 << 20])
    on_card, on_host = (headrace.bucket_counts(k, 100, range=limits) for k in (some, some.cpu().numpy()))
    if not np.array_equal(on_card.cpu().numpy(), on_host):
        raise RuntimeError(f"{name}: wrong")
    result = torch.empty(100, dtype=torch.int64, device="cuda")
    return launcher(take(as_given(keys), "keys"), take(result, "result"), even(np.dtype(name), 100, limits), headrace.Context())


def small() -> None:
    head(
        "Small inputs: microseconds, 256 buckets of uint32",
        "Device: between events. Call: one of many calls from Python until the last is done, with PyTorch's allocation of the "
        "result; between edges, the table of cells is made anew each time.",
        ["device, even", "call, even", "device, edges", "call, edges"],
    )
    for size in (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22):
        keys = keys_of("uniform", torch.int32, size // 4)
        edges = edges_of("u4", 256)
        row = []
        for way, options in (("even", {}), ("range", {"splitters": edges})):
            row.append(median_ms(prepared(keys, way, 256), 101) * 1e3)
            given = as_given(keys)
            for repeats in (20, 500):
                torch.cuda.synchronize()
                began = time.perf_counter()
                for _ in range(repeats):
                    headrace.bucket_counts(given, **options)
                torch.cuda.synchronize()
                took = (time.perf_counter() - began) / repeats
            row.append(took * 1e6)
        say(f"| {size >> 10} KB | {' | '.join(f'{us:.1f}' for us in row)} |")


def profile() -> None:
    """Launch each kernel once, for ncu."""
    for dtype in (torch.int32, torch.float32):
        for kind in ("uniform", "skewed"):
            keys = keys_of(kind, dtype, N)
            for way, bins in (("even", 256), ("range", 256), ("even", 65536)):
                prepared(keys, way, bins)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--tables", default="called,targets,paper,types,small")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.profile:
        profile()
        return
    cub = Cub("primitives/cub_histogram")
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    machine = f"{torch.cuda.get_device_name()}, driver {driver}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}"
    say(f"# Histogram on a GPU\n\n`python -m bench.primitives.gpu_histogram`, {datetime.now(UTC):%Y-%m-%d}; {machine}, headrace")
    say(f"{headrace.__version__}. Every answer checked; CUB of the toolkit in the same run.")
    limit = read_rate(N)
    tables: dict[str, Callable[[], None]] = {
        "called": partial(called, cub, limit), "targets": partial(targets, cub, limit), "paper": partial(paper, cub),
        "types": partial(types, limit), "small": small,
    }  # fmt: skip
    page.out = options.out
    for name in options.tables.split(","):
        tables[name]()
        page.keep(options.out)


if __name__ == "__main__":
    main()
