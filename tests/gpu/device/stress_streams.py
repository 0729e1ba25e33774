"""Run sorts, multisplits, scans, searches, filters and reads in streams of several priorities, beside kernels of another program.

Those kernels hold 60 to 200 KB of shared memory of up to 131 multiprocessors, so blocks of one launch often cannot be resident
together. Every answer is checked. Prints the calls by kind, and ends with 1 if no call ended for four seconds.

usage: python -m tests.gpu.device.stress_streams [seconds]
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import headrace

SIZES = (1000, 5000, 30_000, 60_000, 1 << 20, 3 << 20)
SPIN = r"""
extern "C" __global__ void spin(unsigned long long longest, unsigned seed) {
    extern __shared__ char held[];
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    unsigned hash = (blockIdx.x * 2654435761u) ^ seed;
    hash ^= hash >> 13;
    hash *= 0x5bd1e995;
    hash ^= hash >> 15;
    const unsigned long long own = longest / 16 * (1 + hash % 16);
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begin < own);
    if (own == 1) held[0] = 1;
}"""
CSV = b"".join(b'%d,%d.%02d,"text %d"\n' % (row, row % 1000, row % 100, row % 7) for row in range(20_000))


def sort(keys: Any) -> None:
    found = headrace.sort(keys)
    assert bool((found[1:] >= found[:-1]).all())
    assert int(found.sum()) == int(keys.sum())


def sort_in_place(keys: Any) -> None:
    total = int(keys.sum())
    headrace.sort(keys, out=keys)
    assert bool((keys[1:] >= keys[:-1]).all())
    assert int(keys.sum()) == total


def sort_pairs(keys: Any) -> None:
    rows = cp.arange(len(keys), dtype=np.uint32)
    found, moved = headrace.sort_pairs(keys, rows)
    assert bool((keys[moved] == found).all())


def multisplit(keys: Any) -> None:
    made = headrace.multisplit(keys, headrace.buckets.bits(0, 3))
    assert bool(((made.keys[1:] & 7) >= (made.keys[:-1] & 7)).all())


def scan(keys: Any) -> None:
    found = headrace.scan(keys)
    assert int(found[-1]) == int(keys.sum(dtype=keys.dtype))


def histogram(keys: Any) -> None:
    assert int(headrace.bucket_counts(keys, 256).sum()) == len(keys)


def read(keys: Any) -> None:
    table = headrace.read_csv(cp.frombuffer(CSV, np.uint8), header=False)
    assert len(table) == 20_000


def read_batches(keys: Any) -> None:
    scan = headrace.scan_csv(cp.frombuffer(CSV, np.uint8), header=False, batch_bytes=1 << 17)
    assert sum(len(batch) for batch in scan.where(headrace.col("column_1") >= 5000).batches()) == 15_000


def unique(keys: Any) -> None:
    few = keys & 1023
    assert bool((headrace.unique(few) == cp.unique(few)).all())


KINDS: tuple[Callable[[Any], None], ...] = (
    sort, sort_in_place, sort_pairs, multisplit, scan, histogram, read, read_batches, unique,
)  # fmt: skip


def keys_of(random: np.random.Generator, count: int, kind: Callable[[Any], None]) -> Any:
    dtype = np.uint32 if kind is histogram or random.random() < 0.5 else np.uint64
    return cp.asarray(random.integers(0, np.iinfo(dtype).max, count, dtype=dtype))


class Stress:
    """Threads that occupy the card, threads that work, and counts of their work."""

    def __init__(self) -> None:
        self.stop = False
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self.spin = cp.RawKernel(SPIN, "spin")
        self.spin.max_dynamic_shared_size_bytes = 200 << 10

    def occupy(self, number: int) -> None:
        random = np.random.default_rng(number)
        with cp.cuda.Stream(non_blocking=True, priority=int(random.choice([0, -1, -3]))) as stream:
            while not self.stop:
                args = np.uint64(int(random.integers(20_000, 400_000))), np.uint32(int(random.integers(1 << 30)))
                shared = int(random.choice([60, 120, 200])) << 10
                self.spin((int(random.integers(20, 132)),), (32,), args, shared_mem=shared)
                stream.synchronize()

    def work(self, number: int) -> None:
        random = np.random.default_rng(100 + number)
        try:
            with cp.cuda.Stream(non_blocking=True, priority=-(number % 6)) as stream:
                while not self.stop:
                    kind = KINDS[(number + int(random.integers(3))) % len(KINDS)]
                    kind(keys_of(random, int(random.choice(SIZES)), kind))
                    stream.synchronize()
                    self.done[kind.__name__] += 1
        except BaseException:
            self.errors.append(traceback.format_exc())
            raise


def main(seconds: float) -> int:
    random = np.random.default_rng(0)
    for count in SIZES:  # everything is imported and compiled once, by one thread
        for kind in KINDS:
            for _ in range(2):
                kind(keys_of(random, count, kind))
    cp.cuda.Device().synchronize()
    faulthandler.dump_traceback_later(seconds + 45, exit=True)
    stress = Stress()
    threads = [threading.Thread(target=stress.occupy, args=(number,), daemon=True) for number in range(3)]
    threads += [threading.Thread(target=stress.work, args=(number,), daemon=True) for number in range(9)]
    begin, last, is_stuck = time.monotonic(), -1, False
    for thread in threads:
        thread.start()
    while time.monotonic() - begin < seconds and not is_stuck and not stress.errors:
        time.sleep(4)
        now = stress.done.total()
        is_stuck, last = now == last, now
    stress.stop = True
    for thread in threads:
        thread.join(5)
    alive = sum(thread.is_alive() for thread in threads)
    said = [*stress.errors, dict(sorted(stress.done.items())), f"threads that did not end: {alive}"]
    sys.stdout.writelines(f"{line}\n" for line in said)
    return int(bool(is_stuck or alive or stress.errors))


if __name__ == "__main__":
    code = main(float(sys.argv[1]) if len(sys.argv) > 1 else 28)
    sys.stdout.flush()
    os._exit(code)  # a kernel that does not end would hold the interpreter for ever
