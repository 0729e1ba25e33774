"""Selects the items of an array by a mask, on the device where they lie."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, first_items, in_stream_of, placed, same_device
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.gpu.device.device import Gpu, gpu
from headrace.gpu.kernels.kernel import kernel
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.memory.scratch import Scratch
from headrace.primitives.tuning import SELECT_LARGE, SELECT_SMALL, WIDTHS, has_large_ring

_FLAGS = {"|b1", "|u1", "|i1"}


def select(items: Any, mask: Any, *, context: Context | None = None) -> Any:
    """Return the items whose flag is set, in their order.

    Parameters
    ----------
    items
        Array of one dimension, of items of 1, 2, 4, 8 or 16 bytes. The work runs on its device.
    mask
        Array of the same length on the same device: bools, or bytes of which any value but 0 is true.
    context
        Threads, instruction set and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    array
        Array of the same library and type. On a GPU the host waits once, for the number of items.

    Raises
    ------
    OptionError
        The arrays have other types or lengths.
    MemoryLimitError
        The result exceeds the context's limit. On a GPU the result has the size of `items` until it is counted.

    Examples
    --------
    >>> import numpy as np
    >>> select(np.array([3, 1, 4, 1]), np.array([True, False, True, False]))
    array([3, 4])
    """
    context = context_of(context)
    budget = context.new_budget()
    source, flags = placed(items, "items", context, budget), placed(mask, "mask", context, budget)
    same_device(source, flags)
    if flags.typestr not in _FLAGS:
        raise OptionError(f"mask must be of bools or bytes, not of {flags.typestr!r}")
    if flags.length != source.length:
        raise OptionError(f"mask has {flags.length} flags for {source.length} items")
    if source.width not in WIDTHS:
        raise OptionError(f"items have {source.width} bytes; supported are 1, 2, 4, 8 and 16")
    if source.device.kind != "cpu":
        return _select_on_gpu(source, flags, context, budget)
    result: list[Array] = []

    def buffer(count: int) -> int:
        result.append(empty_like(source, count, budget=budget))
        return result[0].address

    given = source.address, flags.address, source.length, source.width
    _native.select(given, buffer, context.isa, context.thread_count)
    return result[0].owner


def _select_on_gpu(source: Array, flags: Array, context: Context, budget: Budget) -> Any:
    result = empty_like(source, source.length, budget=budget)
    if source.length == 0:
        return result.owner
    card = gpu(source.device)
    shape = select_shape(card)
    tile = shape["HR_THREADS"] * shape["HR_ROWS"] * 16
    tiles = -(-source.length // tile)
    selected = DeviceArray(device_pool(card).take(8, source.stream), "<u8", 1)
    found = kernel("primitives/select.cu", "select_items", "PPPQPIP", {"HR_WIDTH": source.width, **shape}, card)
    blocks, threads = card.multiprocessors * shape["HR_BLOCKS"], shape["HR_THREADS"] + 32 * (shape["HR_COUNTERS"] + 2)
    with in_stream_of(source, flags, result), Scratch(card, 16 + 8 * tiles, source.stream, 8) as (memory, epoch):
        args = (source.address, flags.address, result.address, source.length, memory.address, epoch, selected.address)
        found.launch(min(tiles, blocks), threads, args, shared=(shape["HR_STAGES"] + 2) * tile, stream=source.stream)
    count = int(selected.to_numpy(counted=context.crossings)[0])
    return first_items(result, count)


def select_shape(card: Gpu) -> dict[str, int]:
    """Return the sizes of a selection."""
    return SELECT_LARGE if has_large_ring(card.capability) else SELECT_SMALL
