"""Tests that Ctrl-C ends a long call on arrays within a fraction of a second, and does not affect the next call."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import os, signal, sys, threading, time
import headrace
import numpy as np

keys = np.random.default_rng(1).integers(0, 1 << 62, {count})
context = headrace.Context(threads={threads}, isa="scalar")

def call():
    {call}

call()  # touches memory that the next calls use again
began = time.monotonic()
call()
whole = time.monotonic() - began
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    call()
except KeyboardInterrupt:
    print(whole, time.monotonic() - began)
few = keys[:100_000]
assert (headrace.sort(few, context=context) == np.sort(few)).all()
assert (few[headrace.argsort(few, context=context)] == np.sort(few)).all()
"""

_CALLS = {
    "sort": "headrace.sort(keys, context=context)",
    "argsort": "headrace.argsort(keys, context=context)",
    "sort_pairs": "headrace.sort_pairs(keys, keys, context=context)",
    "multisplit": "headrace.multisplit(keys, headrace.buckets.modulo(1000), context=context)",
}


@pytest.mark.covering(default=0)
@pytest.mark.long_except("2-sort-*", "1-multisplit-*", "2-argsort-*")
@pytest.mark.parametrize(
    ("call", "count"), [("sort", 30_000_000), ("argsort", 20_000_000), ("sort_pairs", 15_000_000), ("multisplit", 20_000_000)]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_the_call(call, count, threads):
    program = _PROGRAM.format(call=_CALLS[call], count=count, threads=threads)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    whole, interrupted = map(float, ended.stdout.split())
    assert interrupted < max(0.7 * whole, 0.25)
