"""Measures multisplit on a GPU beside CUB: the targets, and the paper's tables 3.4 to 3.8 (stages, methods, skewed keys, sort).

Needs the package, nvcc, PyTorch and a GPU, and takes two to three minutes. With --harness it needs none of them, and runs few
keys in the fiber harness to test that all tables are complete. Every answer is checked before it is timed. A figure is the median
of device events around a whole call, with counting and allocations. The stream is kept busy before, so the time excludes launch
overhead of the host. The limit is primitives/copy.cu's copy in the same run, for the bytes that must be moved. Keys are read
twice and written once; values are read and written once.

The table *called* times the public function by the kernel and by the call. The device is idle when the call begins, so the time
includes the host's work. For 2 buckets CUB has three methods: its sort by one bit, its partition, which reverses the second
bucket, and two selections, which keep the order. Each is the better of CUB's kernels for 32-bit and for 64-bit item counts.

    python -m bench.multisplit.tables [--tables called,targets,3.4,3.5,3.6,3.7,3.8,partition] [--out FILE] [--harness]
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from functools import partial

import headrace
from bench.multisplit.places import KINDS, Card, Harness, Place, prepared, sorted_by_digits
from bench.tables import Page
from headrace import buckets

PAPER_BUCKETS = (2, 4, 8, 16, 32, 64, 128, 256)
METHODS = ("direct", "warp", "block", "look_back", "reduced_bit", "recursive", "iterative")
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
"""Table 3.5 of the dissertation, GTX 1080, 10^9 keys or pairs per second."""
PAPER_SKEWED = {"keys": (7.05, 7.36, 7.89), "pairs": (5.85, 6.71, 7.28)}
"""Table 3.6, block-level, GTX 1080: uniform, 0.25-uniform, binomial."""
PAPER_SORT = {"keys": (2.368, 2.654, 2.933, 2.994, 2.300, 3.397), "pairs": (1.441, 1.619, 1.852, 2.101, 1.863, 1.911)}
"""Table 3.8, GTX 1080: digits of 4 to 8 bits, then CUB."""
PAPER_STAGES = {
    ("keys", "direct"): ((0.61, 0.10, 1.19), (0.72, 0.31, 2.02), (1.80, 1.16, 3.10)),
    ("keys", "warp"): ((0.58, 0.04, 1.15), (0.60, 0.06, 1.20), (0.93, 0.31, 1.51)),
    ("keys", "block"): ((0.57, 0.03, 1.22), (0.58, 0.04, 1.27), (0.62, 0.06, 1.33)),
    ("pairs", "direct"): ((0.61, 0.09, 2.29), (0.72, 0.31, 3.71), (1.80, 1.16, 6.60)),
    ("pairs", "warp"): ((0.59, 0.04, 2.32), (0.62, 0.10, 2.38), (0.93, 0.31, 2.94)),
    ("pairs", "block"): ((0.57, 0.03, 2.27), (0.58, 0.04, 2.29), (0.62, 0.06, 2.36)),
}
"""Table 3.4, GTX 1080: pre-scan, scan and post-scan in ms for 2, 8 and 32 buckets."""
PAPER_DIGITS = {
    ("keys", "warp"): (18.87, 17.70, 16.76, 16.33, 12.56),
    ("keys", "block"): (19.37, 19.15, 18.99, 18.61, 17.89, 16.83, 13.41, 8.17),
    ("keys", "CUB"): (16.35, 16.59, 16.24, 17.05, 17.62, 18.05, 14.50, 8.65),
    ("pairs", "warp"): (11.39, 11.04, 10.73, 10.05, 8.29),
    ("pairs", "block"): (11.68, 11.61, 11.58, 11.41, 11.18, 10.89, 10.20, 6.42),
    ("pairs", "CUB"): (11.30, 11.06, 11.18, 11.14, 10.88, 10.20, 8.30, 5.34),
}
"""Table 3.7, GTX 1080, digits of 1 to 8 bits."""
TARGETS = {("keys", 2): 300, ("keys", 32): 300, ("keys", 256): 250, ("pairs", 2): 190, ("pairs", 32): 190, ("pairs", 256): 170}
MODES = ("keys", "pairs")
page = Page()
say, head = page.say, page.head


def limit_of(place: Place, mode: str) -> float:
    """Return the limit in 10^9 items per second."""
    return place.copied / (12e9 if mode == "keys" else 20e9)


def values_of(place: Place, mode: str, count: int):
    return place.values(count) if mode == "pairs" else None


def cells(values: list[float | None]) -> str:
    return " | ".join("" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}" for value in values)


def shares(values: list[float | None], limit: float) -> str:
    """Return rates, each with its share of the limit."""
    return " | ".join("" if value is None else f"{cells([value])} ({value / limit:.0%})" for value in values)


def ratios(ours: list[float], theirs: list[float | None]) -> str:
    return " | ".join("" if b is None else f"{a / b:.2f}" for a, b in zip(ours, theirs, strict=True))


def padded(values: tuple[float, ...], count: int) -> list[float | None]:
    return [*values, *[None] * (count - len(values))]


def targets(place: Place) -> None:
    head(
        f"{place.n:_} keys, or pairs, of 4 bytes: 10^9 a second",
        f"A copy: {place.copied / 1e9:.0f} GB/s, so at most {limit_of(place, 'keys'):.0f} keys and "
        f"{limit_of(place, 'pairs'):.0f} pairs; percent: of that. Stable, by the highest bits. CUB: a radix sort by these bits "
        "alone, uniform keys; of 2 also its partition, and two selections.",
        [*KINDS, "asked for", "CUB"],
    )
    for mode in MODES:
        values = values_of(place, mode, place.n)
        for m in (2, 32, 256):
            row: list[float | None] = []
            for kind in KINDS:
                keys = place.keys(kind, m, place.n)
                row.append(place.rate(prepared(place, keys, values, m, None), place.n))
                del keys
            bits = m.bit_length() - 1
            asked = [(way, mode, bits, 0, place.n) for way in (CUB_WAYS if m == 2 else ["digit"])]
            theirs = ", ".join(cells([value]) for value in place.cub(asked))
            say(f"| {mode}, m = {m} | {shares(row, limit_of(place, mode))} | {TARGETS[mode, m]} | {theirs} |")


CUB_WAYS = {"digit": "sort by these bits", "partition": "partition, second bucket reversed", "select": "two selections"}


def called(place: Place) -> None:
    head(
        f"As called: {place.n:_} uniform keys, or pairs, of 4 bytes, 10^9 a second",
        f"A copy: {place.copied / 1e9:.0f} GB/s, so at most {limit_of(place, 'keys'):.0f} keys and "
        f"{limit_of(place, 'pairs'):.0f} pairs.",
        ["call", "kernel", "CUB's way", "call", "kernel", "ratio of calls"],
    )
    for mode in MODES:
        values, keys = values_of(place, mode, place.n), place.keys("uniform", 2, place.n)
        for m in (2, 32, 256):
            kernel, call = place.called(prepared(place, keys, values, m, None), place.n)
            ways = list(CUB_WAYS) if m == 2 else ["digit"]
            peers = place.cub_called([(way, mode, m.bit_length() - 1, 0, place.n) for way in ways])
            for way, peer in zip(ways, peers, strict=True):
                facts = {"mode": mode, "m": m, "n": place.n, "way": CUB_WAYS[way], "limit": limit_of(place, mode)}
                found = {"cub_call": peer.rates.call, "cub_kernel": peer.rates.kernel, "cub": peer.count} if peer else {}
                row = page.figure(table="multisplit", **facts, call=call, kernel=kernel, **found)
                theirs = [row.get("cub_call"), row.get("cub_kernel")]
                ratio = f"{call / theirs[0]:.2f}" if theirs[0] else ""
                say(f"| {mode}, m = {m} | {cells([call, kernel])} | {CUB_WAYS[way]} | {cells(theirs)} | {ratio} |")


def stages(place: Place) -> None:
    sizes = (2, 8, 32)
    for mode in MODES:
        head(
            f"Table 3.4 of the dissertation: stages of {place.paper_n:_} {mode}, uniform, ms",
            "Pre-scan (of labels: their making, and their pre-scan), scan, post-scan; the paper's are a GTX 1080's, of 2^25.",
            [f"{stage}, m = {m}" for m in sizes for stage in ("pre-scan", "scan", "post-scan")],
        )
        keys, values = place.keys("uniform", 2, place.paper_n), values_of(place, mode, place.paper_n)
        for strategy in ("direct", "warp", "block", "reduced_bit"):
            row: list[str] = []
            for m in sizes:
                prepared(place, keys, values, m, strategy)
                found = place.stages(keys, buckets.bits(33 - m.bit_length(), 32), values, strategy)
                labelling = f"{found['labelling']:.3f} + " if "labelling" in found else ""
                row += [f"{labelling}{found['pre-scan']:.3f}", f"{found['scan']:.3f}", f"{found['post-scan']:.3f}"]
            say(f"| {strategy} | {' | '.join(row)} |")
            if (mode, strategy) in PAPER_STAGES:
                paper = [f"{value}" for each in PAPER_STAGES[mode, strategy] for value in each]
                say(f"| {strategy}, paper | {' | '.join(paper)} |")


def methods(place: Place) -> None:
    count = place.paper_n
    for mode in MODES:
        limit = limit_of(place, mode)
        head(
            f"Table 3.5 of the dissertation: {count:_} {mode}, uniform, 10^9 a second",
            f"The limit: {limit:.0f}; percent: of it. Last row: the best method's ratio to CUB's sort by these bits.",
            [f"m = {m}" for m in PAPER_BUCKETS],
        )
        keys, values = place.keys("uniform", 2, count), values_of(place, mode, count)
        best = [0.0] * len(PAPER_BUCKETS)
        for strategy in METHODS:
            most = {"direct": 32, "warp": 32, "iterative": 8}.get(strategy, 256)  # a bucket at a time is as slow as it sounds
            row: list[float | None] = [
                place.rate(prepared(place, keys, values, m, strategy), count) if m <= most else None for m in PAPER_BUCKETS
            ]
            best = [max(a, b or 0) for a, b in zip(best, row, strict=True)]
            say(f"| {strategy} | {shares(row, limit)} |")
            if (mode, strategy) in PAPER:
                say(f"| {strategy}, GTX 1080, paper | {cells(padded(PAPER[mode, strategy], len(row)))} |")
        theirs = place.cub([("digit", mode, m.bit_length() - 1, 0, count) for m in PAPER_BUCKETS])
        say(f"| CUB, these bits | {cells(theirs)} |")
        say(f"| CUB, all bits | {cells(place.cub([('sort', mode, 32, 0, count)]))} |{' |' * 7}")
        say(f"| best over CUB, these bits | {ratios(best, theirs)} |")


def skewed(place: Place) -> None:
    count = place.paper_n
    head(
        f"Table 3.6: {count:_} keys or pairs, 256 buckets, 10^9 a second", "Percent: of the limit.", [*KINDS[:3], "CUB, uniform"]
    )
    for mode in MODES:
        values = values_of(place, mode, count)
        theirs = cells(place.cub([("digit", mode, 8, 0, count)]))
        for strategy in ("block", "look_back", "reduced_bit"):
            row = [place.rate(prepared(place, place.keys(kind, 256, count), values, 256, strategy), count) for kind in KINDS[:3]]
            say(f"| {mode}, {strategy} | {shares([*row], limit_of(place, mode))} | {theirs} |")
        say(f"| {mode}, block, GTX 1080, paper | {cells([*PAPER_SKEWED[mode], None])} |")


def digits(place: Place) -> None:
    count = place.paper_n
    for mode in MODES:
        head(
            f"Table 3.7: {count:_} {mode} by digits of 1 to 8 bits, beside a sort limited to them, 10^9 a second",
            "Uniform; percent: of the limit.",
            [f"{bits} bits" for bits in range(1, 9)],
        )
        values, limit = values_of(place, mode, count), limit_of(place, mode)
        keys = place.keys("uniform", 2, count)
        for strategy in ("warp", "block"):
            row = [
                place.rate(prepared(place, keys, values, 1 << bits, strategy), count)
                if strategy == "block" or bits <= 5
                else None
                for bits in range(1, 9)
            ]
            say(f"| {strategy} | {shares(row, limit)} |")
            say(f"| {strategy}, GTX 1080, paper | {cells(padded(PAPER_DIGITS[mode, strategy], 8))} |")
        theirs = place.cub([("digit", mode, bits, 0, count) for bits in range(1, 9)])
        say(f"| CUB | {cells(theirs)} |")
        say(f"| CUB, GTX 1080, paper | {cells([*PAPER_DIGITS[mode, 'CUB']])} |")


def sorts(place: Place) -> None:
    count = place.paper_n
    columns = [f"digits of {r} bits" for r in range(4, 9)] + ["CUB"]
    head(f"Table 3.8: multisplit sort of {count:_} keys or pairs of 4 bytes, 10^9 a second", "Uniform keys.", columns)
    keys = place.keys("uniform", 2, count)
    for mode in MODES:
        values = values_of(place, mode, count)
        row: list[float | None] = []
        for r in range(4, 9):
            work = partial(sorted_by_digits, place, keys, values, r)
            place.check(work(), keys, values, 0, 1 << 32)
            row.append(place.rate(work, count))
        say(f"| {mode} | {cells([*row, *place.cub([('sort', mode, 32, 0, count)])])} |")
        say(f"| {mode}, GTX 1080, paper | {cells(list(PAPER_SORT[mode]))} |")


def unordered(place: Place) -> None:
    head(
        "Partition by the highest 8 bits in no order within: 10^9 keys a second",
        "The pass alone (a call less its counting, which is timed as a call of the histogram of 256 parts), and the whole call.",
        ["uniform, pass", "constant, pass", "uniform, call", "constant, call", "pass asked for", "pass, limit"],
    )
    for width, asked in ((32, 300), (64, 200)):
        found = [place.unordered(width, kind) for kind in ("uniform", "constant")]
        rates = [found[0][0], found[1][0], found[0][1], found[1][1]]
        say(f"| u{width} | {cells([*rates])} | {asked} | {place.copied / (width / 4) / 1e9:.0f} |")


TABLES = {
    "called": called,
    "targets": targets, "3.4": stages, "3.5": methods, "3.6": skewed, "3.7": digits, "3.8": sorts, "partition": unordered,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--harness", action="store_true", help="in the fiber harness, with --keys keys")
    parser.add_argument("--keys", type=int, default=2000)
    options = parser.parse_args()
    page.out = options.out
    place: Place = Harness(options.keys) if options.harness else Card()
    say(f"# Multisplit on a GPU\n\n`python -m bench.multisplit.tables`, {datetime.now(UTC):%Y-%m-%d}; {place.about()}, headrace")
    say(f"{headrace.__version__}. Every answer checked; CUB of the toolkit in the same run.")
    for name in options.tables.split(","):
        TABLES[name](place)
        page.keep(options.out)  # so that an interrupted run keeps its results


if __name__ == "__main__":
    main()
