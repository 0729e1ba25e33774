"""Tests the CPU scan, reduce and select with each instruction set and number of threads against NumPy, to the bit."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import _native
from tests.isas import EACH_ISA
from tests.primitives.primitives_cases import NUMPY_TYPE, identity, items_of

ISAS = _native.isas()
THREADS = (1, 2, 3, 7)
PIECE_BYTES = 256 << 10
STREAMED_BYTES = 8 << 20
JOINS = [(join, item) for item in NUMPY_TYPE for join in ("Sum", "Min", "Max") if join != "Sum" or item in {"u32", "u64"}]


def sizes(width: int) -> list[int]:
    piece = PIECE_BYTES // width
    return [*range(1, 70), 255, 256, 257, piece - 1, piece, piece + 1, 4 * piece, 15 * piece + 5]


def odd_floats(count: int, dtype: str, draw: int) -> NDArray[np.generic]:
    """Return zeros of both signs, infinities, and after the middle NaNs with several payloads."""
    random = np.random.default_rng((count, draw))
    items = random.choice(np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf], dtype), count)
    if random.integers(2):
        items = np.abs(items) * np.where(items == 0, np.sign(np.copysign(1, items)), 1).astype(dtype)
    bits = items.view(f"u{items.itemsize}")
    quiet = np.array(np.nan, dtype).view(bits.dtype)
    at = random.integers(0, 2 * count, 3)
    for place in at[at >= count] - count // 2:
        if 0 <= place < count:
            bits[place] = quiet + random.integers(1, 1000)
    return items


def ordered(join: str, items: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the inclusive scan to the bit: the first of equal floats is taken, and the first NaN wins."""
    if join == "Sum":
        return np.cumsum(items, dtype=items.dtype)
    with np.errstate(invalid="ignore"):
        result = {"Min": np.minimum, "Max": np.maximum}[join].accumulate(items)
    if items.dtype.kind == "f":
        zeros = np.flatnonzero(items == 0)
        if len(zeros):
            result[result == 0] = items[zeros[0]]
        nans = np.flatnonzero(np.isnan(items))
        if len(nans):
            bits = f"u{items.itemsize}"
            result.view(bits)[nans[0] :] = items.view(bits)[nans[0]]
    return result


def placed(items: NDArray[np.generic], past: int) -> NDArray[np.uint8]:
    """Return the bytes of the items, `past` bytes after a 64-byte boundary."""
    memory = np.zeros(items.nbytes + 192, "u1")
    first = -memory.ctypes.data % 64 + past
    buffer = memory[first : first + items.nbytes]
    buffer[:] = items.view("u1")
    return buffer


def same(found: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    """Compare arrays of bytes; NumPy's assertion also searches NaNs in bytes, which takes longer than the test."""
    assert np.array_equal(found, expected), np.flatnonzero(found != expected)[:10]


def check(join: str, item: str, items: NDArray[np.generic], threads: tuple[int, ...], past: tuple[int, int] = (0, 0)) -> None:
    """Test every instruction set, with input and result `past` bytes after a 64-byte boundary."""
    expected = ordered(join, items)
    before = np.concatenate([np.array([identity(join, items)], items.dtype), expected[:-1]])
    given, out, one = placed(items, past[0]), placed(np.zeros_like(items), past[1]), np.empty(1, items.dtype)
    for isa in ISAS:
        for number in threads:
            for exclusive in (False, True):
                out[:] = 0xAB
                _native.scan((join, item), (given.ctypes.data, out.ctypes.data, len(items)), exclusive, isa, number)
                same(out, (before if exclusive else expected).view("u1"))
            _native.reduce((join, item), (given.ctypes.data, one.ctypes.data, len(items)), isa, number)
            same(one.view("u1"), expected[-1:].view("u1"))


@pytest.mark.parametrize(("join", "item"), JOINS)
def test_sizes_around_every_edge(join: str, item: str) -> None:
    width = np.dtype(NUMPY_TYPE[item]).itemsize
    for count in sizes(width):
        check(join, item, items_of(join, item, count), THREADS if count * width > 2 * PIECE_BYTES else (1,))


@pytest.mark.parametrize("item", ["float", "double"])
@pytest.mark.parametrize("join", ["Min", "Max"])
def test_order_of_equal_floats_and_nans(join: str, item: str) -> None:
    dtype = NUMPY_TYPE[item]
    for count in sizes(np.dtype(dtype).itemsize):
        for draw in range(5 if count < 1000 else 1):
            check(join, item, odd_floats(count, dtype, draw), (1, 3) if count * 4 > 2 * PIECE_BYTES else (1,))
    for count in (1, 40, 300):
        check(join, item, np.full(count, -0.0, dtype), (1,))
        check(join, item, np.full(count, {"Min": np.inf, "Max": -np.inf}[join], dtype), (1,))


@pytest.mark.parametrize(("join", "item"), [("Sum", "u32"), ("Max", "i64"), ("Min", "float")])
def test_arrays_anywhere_and_results_past_the_cache(join: str, item: str) -> None:
    width = np.dtype(NUMPY_TYPE[item]).itemsize
    for count in (33, STREAMED_BYTES // width, STREAMED_BYTES // width + 77):
        items = items_of(join, item, count)
        for past in ((0, 0), (width, width), (1, 3), (60 // width * width, 8), (0, 1)):
            check(join, item, items, (2,) if past[0] else (1,), past)


@pytest.mark.parametrize("dtype", ["i4", "u4"])
def test_sums_of_32_bit_integers_have_64(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for count in (0, 1, 7, 1000, 2 * PIECE_BYTES // 4 + 3):
        for value in (limits.max, limits.min, -1 if dtype == "i4" else 1):
            items = np.full(count, value, dtype)
            items[: count // 3] = 5
            expected = sum(items.tolist())
            for isa in ISAS:
                for threads in THREADS:
                    found = headrace.reduce(items, context=headrace.Context(isa=isa, threads=threads))
                    assert (found.dtype, found.tolist()) == (np.sum(items).dtype, [expected])
    shifted = np.frombuffer(b"x" + np.full(99, limits.max, dtype).tobytes(), dtype, offset=1)
    assert headrace.reduce(shifted).tolist() == [99 * int(limits.max)]


def test_sums_of_64_bit_integers_are_modulo() -> None:
    items = np.full(2, 2**63 - 1, "i8")
    assert (headrace.reduce(items).dtype, headrace.reduce(items).tolist()) == (items.dtype, np.sum(items, keepdims=True).tolist())
    assert headrace.reduce(np.array([3, -4], "i4"), "min").dtype == np.dtype("i4")


def test_every_operator_has_its_items() -> None:
    one = np.zeros(1, "f4")
    with pytest.raises(ValueError, match="does not join such items"):
        _native.reduce(("Sum", "float"), (one.ctypes.data, one.ctypes.data, 1), "", 1)


def test_the_context_names_the_instruction_set() -> None:
    items = np.arange(1000, dtype="u4")
    for isa in ISAS:
        context = headrace.Context(isa=isa, threads=1)
        np.testing.assert_array_equal(headrace.scan(items, context=context), np.cumsum(items, dtype="u4"))
        assert headrace.reduce(items, context=context) == items.sum()
        np.testing.assert_array_equal(headrace.select(items, items % 3 == 0, context=context), items[::3])


@pytest.mark.covering(default=1)
@pytest.mark.long_except("0.5-*", "0-1-*", "1-16-*", "0.01-4-*")
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_select(isa: str, width: int, share: float) -> None:
    random = np.random.default_rng(zlib.crc32(f"{isa} {width} {share}".encode()))
    piece = PIECE_BYTES // width
    for count in (1, 63, 64, 65, 1000, piece - 1, piece + 1, 7 * piece + 100, STREAMED_BYTES // width * 2 + 9):
        items = random.integers(0, 256, (count, width), dtype="u1")
        flags = (random.random(count) < share).astype("u1") * random.integers(1, 256, count, dtype="u1")
        expected = items[flags != 0].reshape(-1)
        for threads in (1, 3) if count > 1000 else (1,):
            for past in ((0, 0), (width, width), (1, 7)) if count <= piece + 1 else ((0, 16),):
                given, out = placed(items.reshape(-1), past[0]), np.full(len(expected) + 192, 0xAB, "u1")
                first = -out.ctypes.data % 64 + past[1]
                at = given.ctypes.data, flags.ctypes.data, count, width
                _native.select(at, lambda _, a=out.ctypes.data + first: a, isa, threads)
                same(out[first : first + len(expected)], expected)
                assert (out[:first] == 0xAB).all()
                assert (out[first + len(expected) :] == 0xAB).all()


def test_large_results_are_arrays_like_any_other_and_use_memory_again() -> None:
    _native.release_unused_memory()
    items = np.ones(1 << 20, "u4")
    first = headrace.scan(items)
    assert first.flags.writeable
    assert first.flags.aligned
    address = first.ctypes.data
    kept = first[10:20]
    del first
    second = headrace.scan(items)
    assert second.ctypes.data != address
    np.testing.assert_array_equal(kept, np.arange(11, 21))
    del kept
    third = headrace.scan(items, exclusive=True)
    assert third.ctypes.data == address
    np.testing.assert_array_equal(third, np.arange(1 << 20))
