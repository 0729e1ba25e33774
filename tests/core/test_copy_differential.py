"""core/copy.cu on a GPU against NumPy: every width, the sizes around each edge, and addresses that no vector may begin at."""

from __future__ import annotations

import numpy as np
import pytest

from headrace.core.device_memory import device_pool
from headrace.core.gpu import gpu
from headrace.core.kernels import kernel
from headrace.core.staging import Crossings, staging

pytestmark = pytest.mark.gpu

TILE = 16 << 10
WIDTHS = (1, 2, 4, 8, 16)
GUARD = 64


def counts_of(width):
    tile = TILE // width
    return sorted({0, 1, 2, 3, 15, 16, 17, 31, 33, 255, 257, tile - 1, tile, tile + 1, 3 * tile + 5, 1_000_003})


def upload(array):
    buffer = device_pool(gpu()).take(array.nbytes)
    staging(gpu()).upload(array, buffer, counted=Crossings())
    return buffer


def download(buffer):
    host = np.empty(buffer.nbytes, np.uint8)
    staging(gpu()).download(buffer, host.data, counted=Crossings())
    return host


def launch(entry, signature, width, count, args):
    blocks = max(1, -(-count * width // TILE))
    kernel("core/copy.cu", entry, signature, {"HR_WIDTH": width}, gpu()).launch(blocks, 256, args)


def filler(width):
    return {1: "B", 2: "H", 4: "I", 8: "Q", 16: "16s"}[width]


@pytest.mark.parametrize("width", WIDTHS)
def test_fill(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift in {0, width % 16, (16 - width) % 16}:
            value = random.bytes(width)
            before = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            buffer = upload(before)
            start = GUARD + shift
            given = value if width == 16 else int.from_bytes(value, "little")
            launch("fill_items", "Pq" + filler(width), width, count, (buffer.address + start, count, given))
            expected = before.copy()
            expected[start : start + count * width] = np.frombuffer(value * count, np.uint8)
            assert np.array_equal(download(buffer), expected), (count, shift)


@pytest.mark.parametrize("width", WIDTHS)
def test_copy(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift_in, shift_out in [(0, 0), (width % 16, width % 16), (0, width % 16), (3 * width % 16, 0)]:
            source = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            before = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            there, target = upload(source), upload(before)
            launch("copy_items", "PPq", width, count, (there.address + shift_in, target.address + shift_out, count))
            expected = before.copy()
            expected[shift_out : shift_out + count * width] = source[shift_in : shift_in + count * width]
            assert np.array_equal(download(target), expected), (count, shift_in, shift_out)


@pytest.mark.parametrize("width", WIDTHS)
def test_read(width):
    random = np.random.default_rng(width)
    for count in counts_of(width):
        for shift in {0, width % 16, (16 - width) % 16}:
            source = random.integers(0, 256, count * width + 2 * GUARD, np.uint8)
            there, folded = upload(source), upload(np.zeros(1, np.uint64))
            launch("read_items", "PPq", width, count, (there.address + shift, folded.address, count))
            inside = np.zeros(
                -(-source.size // 8) * 8, np.uint8
            )  # buffers begin at multiples of 256, so words are those of the source
            inside[shift : shift + count * width] = source[shift : shift + count * width]
            assert download(folded).view(np.uint64)[0] == np.bitwise_xor.reduce(inside.view(np.uint64)), (count, shift)
