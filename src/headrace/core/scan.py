"""Scan and reduction of arrays, where they lie: core/scan.cu, core/reduce.cu, and their CPU twins in core/scan.cpp."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.core.arrays import Array, take
from headrace.core.context import Context
from headrace.core.device_memory import DeviceBuffer, device_pool
from headrace.core.errors import OptionError
from headrace.core.gpu import Gpu, checked, driver, gpu
from headrace.core.kernels import kernel
from headrace.core.operators import Joining
from headrace.core.placement import empty_like

_THREADS, _ROWS = 256, 4
_TILE_BYTES = _THREADS * _ROWS * 16
_BLOCKS_PER_MULTIPROCESSOR = 16
_AHEAD, _SLACK = 1, 3


def scan(items: Any, operator: str = "sum", *, exclusive: bool = False, context: Context | None = None) -> Any:
    """All items up to each item, joined.

    Parameters
    ----------
    items
        Array of one dimension: integers or floats of 4 or 8 bytes. Work runs where it lies.
    operator
        ``"sum"`` (of integers, modulo 2 to the number of their bits), ``"min"`` or ``"max"``. Of floats that are equal the first
        is taken, and a NaN wins.
    exclusive
        Whether result `i` joins the items before `i`, and the first is the operator's identity: 0, the largest or the smallest
        value. Otherwise item `i` is joined too.
    context
        Threads and instruction set that may be used.

    Returns
    -------
    array
        Of the same library, length and type. It does not depend on the device or the number of threads.

    Raises
    ------
    OptionError
        `items` is no such array, or nothing is called `operator`.

    Examples
    --------
    >>> import numpy as np
    >>> scan(np.array([3, 1, 4, 1], np.int32))
    array([3, 4, 8, 9], dtype=int32)
    >>> scan(np.array([3, 1, 4, 1], np.int32), exclusive=True)
    array([0, 3, 4, 8], dtype=int32)
    """
    source = take(items, "items")
    joining = Joining.of(operator, source)
    result = empty_like(source, source.length)
    if source.length == 0:
        return result.owner
    if source.device.kind == "cpu":
        context = context or Context()
        items_at = (joining.join, joining.item, source.address, result.address, source.length)
        _native.scan(*items_at, exclusive, context.thread_count, context.isa)
        return result.owner
    card = gpu(source.device)
    threads, rows, blocks = _scan_shape(card, source.width)
    tiles = -(-source.nbytes // (threads * rows * 16))
    memory = zeroed(card, (tiles + 1) * (16 if source.width == 8 else 8), source.stream)
    found = kernel("core/scan.cu", "scan", "PPqPI", _scan_defines(joining, threads, rows), card)
    args = (source.address, result.address, source.length, memory.address, int(exclusive))
    ring = (_AHEAD + 1 + _SLACK) * threads * rows * 16
    found.launch(min(tiles, blocks), threads + 32, args, shared=ring, stream=source.stream)
    return result.owner


def reduce(items: Any, operator: str = "sum", *, context: Context | None = None) -> Any:
    """All items joined into one.

    Parameters
    ----------
    items, operator, context
        As in `scan`.

    Returns
    -------
    array
        One item, of the same library and type; of an empty array the operator's identity for a sum, 0.

    Raises
    ------
    OptionError
        `items` is no such array, nothing is called `operator`, or there is no smallest or largest because there are no items.

    Examples
    --------
    >>> import numpy as np
    >>> reduce(np.array([3, 1, 4, 1], np.uint64), "max")
    array([4], dtype=uint64)
    """
    source = take(items, "items")
    joining = Joining.of(operator, source)
    if source.length == 0 and operator != "sum":
        raise OptionError(f"there are no items, so there is no {operator}")
    result = empty_like(source, 1)
    if source.device.kind == "cpu":
        context = context or Context()
        items_at = (joining.join, joining.item, source.address, result.address, source.length)
        _native.reduce(*items_at, context.thread_count, context.isa)
        return result.owner
    _reduce_on_gpu(source, result, joining)
    return result.owner


def _scan_shape(card: Gpu, width: int) -> tuple[int, int, int]:
    """Threads that scan, rows, and blocks that fit on the card. Cards of data centres since 9.0 have 227 KiB of shared memory."""
    if card.capability[0] not in (9, 10):
        return 256, 4, 2 * card.multiprocessors
    return (320, 9, card.multiprocessors) if width == 4 else (352, 8, card.multiprocessors)


def _reduce_on_gpu(source: Array, result: Array, joining: Joining) -> None:
    card = gpu(source.device)
    tiles = -(-source.nbytes // _TILE_BYTES)
    blocks = max(1, min(tiles, card.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR))
    parts = device_pool(card).take(blocks * source.width, source.stream)
    finished = zeroed(card, 4, source.stream)
    found = kernel("core/reduce.cu", "reduce", "PqPPP", _defines(joining), card)
    args = (source.address, source.length, parts.address, finished.address, result.address)
    found.launch(blocks, _THREADS, args, stream=source.stream)


def zeroed(card: Gpu, nbytes: int, stream: int | None) -> DeviceBuffer:
    """A buffer of zeros, in the order of `stream`."""
    buffer = device_pool(card).take(nbytes, stream)
    checked(driver().cuMemsetD8Async(buffer.address, 0, nbytes, buffer.stream))
    return buffer


def _scan_defines(joining: Joining, threads: int, rows: int) -> dict[str, int | str]:
    shape = {"HR_THREADS": threads, "HR_ROWS": rows, "HR_AHEAD": _AHEAD, "HR_SLACK": _SLACK}
    return {"HR_OPERATOR": joining.join, "HR_ITEM": joining.item, **shape}


def _defines(joining: Joining) -> dict[str, int | str]:
    return {"HR_OPERATOR": joining.join, "HR_ITEM": joining.item, "HR_THREADS": _THREADS, "HR_ROWS": _ROWS}
