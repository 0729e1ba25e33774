"""Tests the harness against a GPU: the same kernels on the same arguments give the same arrays."""

from pathlib import Path

import numpy as np
import pytest

import headrace
from headrace.testing.fibers import program

cupy = pytest.importorskip("cupy", reason="compiles and launches the kernels on a GPU")
KERNELS = Path(__file__).parent / "kernels"
pytestmark = pytest.mark.gpu


def on_both(source, entry, grid, block, args, *, shared=0):
    """The arguments after the harness has run, and after a GPU has."""
    ours = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    program(KERNELS / source).launch(entry, grid, block, ours, shared=shared)
    options = ("-std=c++20", f"-I{Path(headrace.__file__).parent}", "--fmad=false")
    module = cupy.RawModule(code=(KERNELS / source).read_text(encoding="utf-8"), options=options)
    theirs = [cupy.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    module.get_function(entry)((grid,), (block,), tuple(theirs), shared_mem=shared)
    return ours, [arg.get() if isinstance(arg, cupy.ndarray) else arg for arg in theirs]


def agree(*args, **how):
    for ours, theirs in zip(*on_both(*args, **how), strict=True):
        assert np.array_equal(ours, theirs), args[1]


@pytest.mark.parametrize("turn", range(12))
def test_warps(turn):
    random = np.random.default_rng(turn)
    values = random.integers(0, [4, 16, 2**32][turn % 3], 32, dtype=np.uint32)
    mask = np.uint32(0xFFFFFFFF if turn % 2 else random.integers(1, 2**32))
    agree("words.cu", "votes", 1, 32, [values, np.zeros(288, np.uint32), mask])
    agree("words.cu", "reductions", 1, 32, [values, np.zeros(288, np.uint32), mask])


@pytest.mark.parametrize("turn", range(12))
def test_bits(turn):
    values = np.random.default_rng(turn).integers(0, [2**32, 40, 2**32, 2][turn % 4], 3, dtype=np.uint32)
    agree("words.cu", "bits", 1, 1, [values, np.zeros(22, np.uint32)])


def test_all_else():
    agree("words.cu", "shuffles", 1, 32, [np.zeros(288, np.uint32), np.zeros(32, np.uint64), np.zeros(32)])
    agree("words.cu", "barriers", 1, 100, [np.zeros(400, np.int32)])
    words, longs = np.array([3] * 11 + [9, 0, 1], np.uint32), np.full(5, 3, np.uint64)
    floats, doubles = np.array([3], np.float32), np.array([3.0])
    args = [words, np.full(3, -3, np.int32), longs, floats, doubles, np.array([3], np.uint16), np.zeros(25, np.uint32)]
    agree("words.cu", "atomics", 1, 1, args)
    wide, vectors = np.array([[1, 2], [0, 0]], np.uint64), np.array([[1, 2, 3, 4], [0] * 4], np.uint32)
    agree("words.cu", "named_accesses", 1, 1, [words[:3], longs[:2], wide, vectors])
    values = np.arange(40 * 96, dtype=np.uint32)
    agree("words.cu", "sums", 40, 96, [values, np.zeros(3, np.uint32), np.zeros(3, np.uint64), np.uint32(3)], shared=384)
    agree("words.cu", "filled_and_copied", 1, 32, [values[:256], np.ones(256, np.uint32), np.uint32(256)])


def test_look_back():
    items = np.random.default_rng(1).integers(0, 2**32, 20_000, dtype=np.uint32)
    blocks = -(-len(items) // 256)
    zeros = [np.zeros(blocks, np.uint64), np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    args = [items, np.zeros(len(items), np.uint32), np.uint32(len(items)), *zeros]
    ours, theirs = on_both("look_back.cu", "scan", blocks, 256, args)
    assert np.array_equal(ours[1], theirs[1])


def test_hash_insert():
    keys = np.random.default_rng(2).integers(1, 3000, 4096, dtype=np.uint32)
    args = [keys, np.uint32(4096), np.zeros(4096, np.uint32), np.uint32(4096), np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    ours, theirs = on_both("hash_insert.cu", "insert", 32, 128, args)
    assert np.array_equal(np.sort(ours[2]), np.sort(theirs[2])) and ours[5] == theirs[5]
