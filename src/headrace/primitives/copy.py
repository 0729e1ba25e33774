"""Fills, copies and reads memory on its device: on a GPU by ``primitives/copy.cu``, on the CPU by NumPy.

The rates of these kernels are the limits that all other kernels are compared with.
"""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrays import Array
from headrace.arrays.placement import in_stream_of, same_device
from headrace.core.errors import OptionError
from headrace.gpu.device.device import Gpu, gpu
from headrace.gpu.kernels.kernel import Kernel, kernel
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.gpu.transfer.staging import Copier

COPY_THREADS, COPY_TILE = 128, 2 << 10
FILL_THREADS, FILL_TILE = 128, 4 << 10
READ_THREADS, READ_TILE = 256, 32 << 10  # threads per block and bytes per block; primitives/copy.cu repeats these numbers

_FILE = "primitives/copy.cu"
_VALUES = {1: "B", 2: "H", 4: "I", 8: "Q", 16: "16s"}


def copy_kernel(width: int, card: Gpu) -> Kernel:
    """Return the kernel ``copy_items(in, out, count)`` for items of `width` bytes."""
    return kernel(_FILE, "copy_items", "PPq", {"HR_WIDTH": width}, card)


def copier(card: Gpu) -> Copier:
    """Return a function that copies a few bytes by a kernel, without waiting for large copies of other streams.

    A copy engine runs the copies of all streams one after another, and those already enqueued may take 5 ms.
    """
    byte_copy = copy_kernel(1, card)

    def copy_bytes(source: int, target: int, nbytes: int, stream: int) -> None:
        blocks = blocks_of(nbytes, COPY_TILE)
        byte_copy.launch(blocks, COPY_THREADS, (source, target, nbytes), stream=stream, is_current=True)

    return copy_bytes


def fill_kernel(width: int, card: Gpu) -> Kernel:
    """Return the kernel ``fill_items(out, count, value)`` for items of `width` bytes."""
    return kernel(_FILE, "fill_items", "Pq" + _VALUES[width], {"HR_WIDTH": width}, card)


def read_kernel(width: int, card: Gpu) -> Kernel:
    """Return the kernel ``read_items(in, out, count)`` for items of `width` bytes."""
    return kernel(_FILE, "read_items", "PPq", {"HR_WIDTH": width}, card)


def blocks_of(nbytes: int, tile: int) -> int:
    """Return the number of blocks for `nbytes` bytes, at least 1.

    >>> [blocks_of(nbytes, 2048) for nbytes in (0, 1, 2048, 2049)]
    [1, 1, 1, 2]
    """
    return max(1, -(-nbytes // tile))


def copy(source: Array, target: Array) -> None:
    """Copy the items of an array to another of the same type and length, on the same device; they must not overlap.

    Raise OptionError if the arrays differ in type, length or device, or the target is read-only.
    """
    if (source.typestr, source.length) != (target.typestr, target.length):
        raise OptionError(f"cannot copy {source.length} of {source.typestr!r} to {target.length} of {target.typestr!r}")
    _check_writable(target)
    device = same_device(source, target)
    if device.kind == "cpu":
        _bytes_of(target)[:] = _bytes_of(source)
        return
    width = source.width
    while (source.address | target.address) % width:  # Arrow decimals of 16 bytes may begin at any multiple of 8
        width //= 2
    args = (source.address, target.address, source.nbytes // width)
    blocks = blocks_of(source.nbytes, COPY_TILE)
    card = gpu(device)
    with card.current(), in_stream_of(target, source):
        copy_kernel(width, card).launch(blocks, COPY_THREADS, args, stream=target.stream)


def fill(target: Array, value: bytes) -> None:
    """Set every item to `value`, the bytes of one item.

    Raise OptionError if `value` has another width, the array is read-only, or on a GPU its address is not a multiple of the
    width.
    """
    if len(value) != target.width:
        raise OptionError(f"a value of {len(value)} bytes does not fit items of {target.width}")
    _check_writable(target)
    if target.device.kind == "cpu":
        _bytes_of(target).reshape(-1, target.width)[:] = list(value)
        return
    if target.address % target.width:
        raise OptionError(f"the address of the array is not a multiple of {target.width}")
    card = gpu(target.device)
    given = value if target.width == 16 else int.from_bytes(value, "little")
    blocks = blocks_of(target.nbytes, FILL_TILE)
    with card.current():
        fill_kernel(target.width, card).launch(blocks, FILL_THREADS, (target.address, target.length, given), stream=target.stream)


def start_reading(source: Array, folded: PoolBuffer) -> None:
    """Combine all bytes of an array on a GPU by exclusive or into the 8 bytes of `folded`, at their address modulo 8."""
    card = gpu(source.device)
    args = (source.address, folded.address, source.length)
    read_kernel(source.width, card).launch(blocks_of(source.nbytes, READ_TILE), READ_THREADS, args, stream=source.stream)


def fold_buffer(card: Gpu, stream: int | None = None) -> PoolBuffer:
    """Return 8 bytes of zeros for `start_reading`."""
    buffer = device_pool(card).take(8, stream)
    fill_kernel(8, card).launch(1, FILL_THREADS, (buffer.address, 1, 0), stream=stream)
    return buffer


def _check_writable(target: Array) -> None:
    if not target.writable:
        raise OptionError("the target is read-only")


def _bytes_of(array: Array) -> Any:
    return array.as_numpy().view("u1")
