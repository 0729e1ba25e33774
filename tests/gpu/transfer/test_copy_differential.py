"""Tests fill, copy and read against NumPy: every width, sizes around each edge, and unaligned addresses."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.arrays.arrays import Array, take
from headrace.arrays.placement import empty_like
from headrace.core.errors import OptionError
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import gpu
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.transfer.staging import staging
from headrace.primitives import copy as device_copy

TILES = (device_copy.COPY_TILE, device_copy.FILL_TILE, device_copy.READ_TILE)
WIDTHS = (1, 2, 4, 8, 16)
GUARD = 64


def counts_of(width):
    edges = {tile // width + more for tile in TILES for more in (-1, 0, 1)}
    return sorted({0, 1, 2, 3, 15, 16, 17, 31, 33, 255, 257, 3 * TILES[2] // width + 5, 1_000_003} | edges)


def upload(array):
    buffer = device_pool(gpu()).take(array.nbytes)
    staging(gpu()).upload(array, buffer, counted=Crossings())
    return buffer


def download(buffer):
    host = np.empty(buffer.nbytes, np.uint8)
    staging(gpu()).download(buffer, host.data, counted=Crossings())
    return host


def array_at(buffer, shift, count, width):
    """Return `count` items that start at byte `shift` of a buffer."""
    typestr = f"|V{width}" if width == 16 else f"<u{width}"
    return Array(buffer.address + shift, count, typestr, buffer.device, "headrace", buffer.stream, True, buffer)


@pytest.mark.gpu
@pytest.mark.parametrize("width", WIDTHS)
def test_fill(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift in {0, width % 16, (16 - width) % 16}:
            value = random.bytes(width)
            before = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            buffer = upload(before)
            start = GUARD + shift
            device_copy.fill(array_at(buffer, start, count, width), value)
            expected = before.copy()
            expected[start : start + count * width] = np.frombuffer(value * count, np.uint8)
            assert np.array_equal(download(buffer), expected), (count, shift)


@pytest.mark.gpu
@pytest.mark.parametrize("width", WIDTHS)
def test_copy(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift_in, shift_out in [(0, 0), (width % 16, width % 16), (0, width % 16), (3 * width % 16, 0)]:
            source = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            before = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            there, target = upload(source), upload(before)
            device_copy.copy(array_at(there, shift_in, count, width), array_at(target, shift_out, count, width))
            expected = before.copy()
            expected[shift_out : shift_out + count * width] = source[shift_in : shift_in + count * width]
            assert np.array_equal(download(target), expected), (count, shift_in, shift_out)


@pytest.mark.gpu
@pytest.mark.parametrize("width", WIDTHS)
def test_read(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift in {0, width % 16, (16 - width) % 16}:
            source = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            there, folded = upload(source), device_copy.fold_buffer(gpu())
            device_copy.start_reading(array_at(there, shift, count, width), folded)
            # Buffers begin at multiples of 256, so words are those of the source.
            inside = np.zeros(-(-source.size // 8) * 8, np.uint8)
            inside[shift : shift + count * width] = source[shift : shift + count * width]
            assert download(folded).view(np.uint64)[0] == np.bitwise_xor.reduce(inside.view(np.uint64)), (count, shift)


@pytest.mark.gpu
def test_items_of_16_bytes_may_begin_at_multiples_of_8():
    source = upload(np.arange(64, dtype=np.uint8))
    target = upload(np.zeros(64, np.uint8))
    device_copy.copy(array_at(source, 8, 3, 16), array_at(target, 0, 3, 16))
    assert download(target)[:49].tolist() == [*range(8, 56), 0]
    with pytest.raises(OptionError, match="not a multiple of 16"):
        device_copy.fill(array_at(target, 8, 1, 16), bytes(16))


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "M8[us]"])
def test_the_cpu_does_the_same(dtype):
    source = take(np.arange(1000).astype(dtype))
    target = empty_like(source, 1000)
    device_copy.copy(source, target)
    assert np.array_equal(source.owner, target.owner)
    device_copy.fill(target, source.owner[7:8].tobytes())
    assert (target.owner == source.owner[7]).all()


def test_misuse_is_told():
    source = take(np.zeros(3, np.int32))
    frozen = np.zeros(3, np.int32)
    frozen.flags.writeable = False
    for call, said in [
        (lambda: device_copy.copy(source, take(np.zeros(4, np.int32))), "cannot copy 3 of '<i4' to 4 of '<i4'"),
        (lambda: device_copy.copy(source, take(np.zeros(3, np.uint32))), "cannot copy 3 of '<i4' to 3 of '<u4'"),
        (lambda: device_copy.copy(source, take(frozen)), "read-only"),
        (lambda: device_copy.fill(source, b"123"), "3 bytes does not fit items of 4"),
        (lambda: device_copy.fill(take(frozen), b"1234"), "read-only"),
    ]:
        with pytest.raises(OptionError, match=said):
            call()
