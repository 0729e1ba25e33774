"""Scans and reduces arrays on the device where they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.inputs import array_and_lines, is_only_axis
from headrace.arrays.placement import empty_like, in_stream_of, placed
from headrace.arrays.repeated import RepeatedCall, empty_beside, repeated_call
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.gpu.device.device import Gpu, gpu
from headrace.gpu.kernels.kernel import Kernel, kernel
from headrace.gpu.memory.scratch import COUNTERS, Scratch
from headrace.primitives.conformed import conformed
from headrace.primitives.copy import fill
from headrace.primitives.operators import Joining
from headrace.primitives.tuning import FLOAT_SUM, REDUCE, SCAN_LARGE, SCAN_SMALL, has_large_ring

_TILE_BYTES = REDUCE["HR_THREADS"] * REDUCE["HR_ROWS"] * 16
_BLOCKS_PER_MULTIPROCESSOR = 16
_CHUNK = 4096  # items that are summed at the first level: `piece` of float_sum.hpp
_MAX_SUMMED = 2**36


def scan(
    items: Any,
    operator: str = "sum",
    *,
    axis: int | None = -1,
    exclusive: bool = False,
    dtype: Any = None,
    context: Context | None = None,
) -> Any:
    """Combine all items up to each item: a prefix sum, minimum or maximum.

    Parameters
    ----------
    items
        Array of integers, floats or bools, a list or a Series. The work runs on its device.
    operator
        ``"sum"``, ``"min"`` or ``"max"``. Sums of integers are modulo 2 to the number of their bits; pass ``dtype="int64"`` where
        NumPy's `cumsum` would widen them. Of equal floats the first is taken, and a NaN wins.
    axis
        Axis to scan along; None scans all items as one dimension. Lines are scanned one after another.
    exclusive
        Whether result `i` combines only the items before `i`. The first result is then the operator's identity: 0, the largest
        or the smallest value.
    dtype
        Type of the result in any spelling, which items are converted to first. None keeps the type of integers and floats of 4
        or 8 bytes. Sums of bools and shorter integers then have 64 bits.
    context
        Threads, instruction set and memory that may be used, and the GPU to which a host array is copied.

    Returns
    -------
    array
        Array of the same library, shape and type. It does not depend on the device or the number of threads.

    Raises
    ------
    OptionError
        `items` has another type, or `operator` is not the name of an operator.
    MemoryLimitError
        The result exceeds the context's limit.

    Notes
    -----
    Floats are added in the same order on every device. Items form groups of 64 and are added one by one in a group. The sums of
    the groups are scanned by the same rule, and added to the sums of the next group. So an item is rounded at most 64 times per
    level, and there is a level for each power of 64 in the number of items. Exclusive results are the inclusive ones, moved by
    one. Items of 2 bytes are added as float32. A NaN result is the quiet NaN without a sign.

    Examples
    --------
    >>> import numpy as np
    >>> scan(np.array([3, 1, 4, 1], np.int32))
    array([3, 4, 8, 9], dtype=int32)
    >>> scan(np.array([3, 1, 4, 1], np.int32), exclusive=True)
    array([0, 3, 4, 8], dtype=int32)
    >>> scan([[0.5, 0.25], [1, 2]], axis=0)
    array([[0.5 , 0.25],
           [1.5 , 2.25]])
    """
    call = None
    if context is None and dtype is None and type(operator) is str and type(exclusive) is bool and is_only_axis(axis):
        call = repeated_call(("scan", operator, exclusive), items)
        if call is not None and call.is_known:
            result, addresses = empty_beside(items)
            if call.replay(*addresses):
                return result
    source = conformed(items, operator, dtype)
    value, lines = array_and_lines(source.value, axis, "items")
    if lines is None:
        call = call if value is items else None
        return source.restored(scan_line(value, operator, exclusive=exclusive, context=context, call=call))
    return source.restored(lines.restored(lines.each(lambda row: scan_line(row, operator, exclusive=exclusive, context=context))))


def scan_line(
    items: Any,
    operator: str,
    *,
    exclusive: bool = False,
    has_initial: bool = False,
    context: Context | None = None,
    name: str = "items",
    call: RepeatedCall | None = None,
) -> Any:
    """Scan an array of one dimension, of integers or floats of 4 or 8 bytes.

    `items`, `operator`, `exclusive`, `context`: as in `scan`.
    `has_initial`: whether the inclusive sums follow a 0, so that there is one result more.
    `call`: the call, to keep its launches.
    """
    context = context_of(context)
    budget = context.new_budget()
    source = placed(items, name, context, budget)
    joining = Joining.of(operator, source)
    exclusive = flag("exclusive", exclusive)
    result = empty_like(source, source.length + has_initial, budget=budget)
    target = after_initial(result) if has_initial else result
    if source.length == 0:
        if has_initial:
            fill(result, bytes(result.width))
        return result.owner
    if joining.is_float_sum:
        shift = int(exclusive or has_initial)
        if source.device.kind == "cpu":
            at = source.address, result.address, source.length
            _native.float_scan(joining.item, at, (shift, result.length), context.thread_count)
        else:
            from headrace.primitives.float_scan import scan_floats_on_gpu  # needs cuda-core

            plan = scan_floats_on_gpu(source, result, joining.item, shift, context)
            if call is not None:
                call.keep(plan, [source], [result])
        return result.owner
    if has_initial:
        fill(replace(result, length=1), bytes(result.width))
    if source.device.kind == "cpu":
        at = source.address, target.address, source.length
        _native.scan((joining.join, joining.item), at, exclusive, context.isa, context.thread_count)
        return result.owner
    launch = _ScanLaunch.of(source, joining, exclusive=exclusive)
    with in_stream_of(source, target):
        launch.replay([source.address, target.address], source.stream)
    if call is not None:
        call.keep(launch, [source], [target])
    return result.owner


def after_initial(result: Array) -> Array:
    """Return a result without its first item."""
    return replace(result, address=result.address + result.width, length=result.length - 1)


@dataclass(frozen=True, slots=True)
class _ScanKernel:
    """A scan's kernel, its threads and bytes of shared memory in a block, and bytes of a stage."""

    kernel: Kernel
    threads: int
    shared_bytes: int
    stage_bytes: int


@dataclass(frozen=True, slots=True)
class _ScanLaunch:
    """The launch of a scan of integers, for any addresses.

    `state_bytes`: bytes of a tile's state, whose kind of scratch memory it names.
    """

    card: Gpu
    found: _ScanKernel
    length: int
    tiles: int
    state_bytes: int
    exclusive: bool

    @classmethod
    def of(cls, source: Array, joining: Joining, *, exclusive: bool) -> _ScanLaunch:
        card = gpu(source.device)
        found = _scan_kernel(card, joining.join, joining.item)
        return cls(card, found, source.length, -(-source.nbytes // found.stage_bytes), 16 if source.width == 8 else 8, exclusive)

    def replay(self, addresses: list[int], stream: int | None, count: int = 0) -> bool:
        """Launch it for the addresses of the items and of the result; it serves one length, so `count` is 0."""
        assert not count
        source, target = addresses
        with Scratch(self.card, 16 + self.tiles * self.state_bytes, stream, self.state_bytes) as (memory, epoch):
            args = (source, target, self.length, memory.address, epoch, int(self.exclusive))
            blocks = min(self.tiles, self.card.multiprocessors)
            self.found.kernel.launch(blocks, self.found.threads, args, shared=self.found.shared_bytes, stream=stream)
        return True


@lru_cache(64)
def _scan_kernel(card: Gpu, join: str, item: str) -> _ScanKernel:
    shape = scan_shape(card)
    stage = shape["HR_THREADS"] * shape["HR_ROWS"] * 16
    found = kernel("primitives/scan.cu", "scan", "PPqPII", {"HR_OPERATOR": join, "HR_ITEM": item, **shape}, card)
    return _ScanKernel(found, shape["HR_THREADS"] + 32 * (shape["HR_REDUCERS"] + 2), shape["HR_STAGES"] * stage, stage)


def reduce(
    items: Any, operator: str = "sum", *, axis: int | None = None, dtype: Any = None, context: Context | None = None
) -> Any:
    """Combine all items into one.

    Parameters
    ----------
    items
        As in `scan`.
    operator
        ``"sum"``, ``"min"`` or ``"max"`` as in `scan`. The sum of integers of up to 32 bits and of bools is int64 or uint64, as
        in NumPy; sums of 64-bit integers are modulo 2**64.
    axis
        Axis to combine along; None combines all items. Lines are combined one after another.
    dtype
        Type of the sum in any spelling, which items are converted to first: ``"float64"`` adds float32 in a wide accumulator.
        None for the type of the items, or one of 64 bits for integers.
    context
        As in `scan`.

    Returns
    -------
    array
        Array of the same library and type: of one item, or without `axis`. The sum of an empty array is 0. The result does not
        depend on the device or the number of threads.

    Raises
    ------
    OptionError
        `items` has another type, or is empty and `operator` is a minimum or maximum. `operator` is not the name of an operator.
        There are more than 2**36 floats to sum.

    Notes
    -----
    Floats are summed in the same order on every device. Items form chunks of 4,096. In a chunk, lane `l` of 128 adds items `l`,
    `l` + 128, `l` + 256 and so on, one by one. The lanes are then added by halves, `l` and `l` + 64 first. The sums of the chunks
    are added by the same rule, at most twice more. So an item is rounded at most 38 times per level. The error of a sum is at
    most ``38 * levels * u`` times the sum of the absolute values. Here `u` is 2**-24 for 4 bytes and 2**-53 for 8; 1, 2 and 3
    levels sum up to 2**12, 2**24 and 2**36 items. Items of 2 bytes are summed as float32, and the sum is rounded once. A NaN
    result is the quiet NaN without a sign.

    Examples
    --------
    >>> import numpy as np
    >>> reduce(np.array([3, 1, 4, 1], np.uint64), "max")
    array([4], dtype=uint64)
    >>> reduce(np.array([[0.5, 0.25], [1, 2]]), axis=1)
    array([0.75, 3.  ])
    >>> reduce(np.array([200, 100], np.uint8))
    array([300], dtype=uint64)
    """
    source = conformed(items, operator, dtype)
    value, lines = array_and_lines(source.value, axis, "items")
    if lines is None:
        return source.restored(reduce_line(value, operator, context))
    found = lines.restored(lines.each(lambda row: reduce_line(row, operator, context)))
    return source.restored(found.reshape([count for at, count in enumerate(value.shape) if at != lines.axis] or [1]))


def reduce_line(items: Any, operator: str, context: Context | None = None) -> Any:
    """Combine the items of an array of one dimension, of integers or floats of 4 or 8 bytes, into an array of one item."""
    context = context_of(context)
    budget = context.new_budget()
    source = placed(items, "items", context, budget)
    joining = Joining.of(operator, source)
    if source.length == 0 and operator != "sum":
        raise OptionError(f"there are no items, so there is no {operator}")
    if joining.is_float_sum and source.length > _MAX_SUMMED:
        raise OptionError(f"{source.length:_} floats are too many to sum; the maximum is {_MAX_SUMMED:_}")
    widened = Joining.widened(operator, source)
    result = empty_like(source, 1, None if widened is None else widened[1], budget)
    if source.device.kind == "cpu":
        at = source.address, result.address, source.length
        if widened is not None:
            _native.sum_widened(widened[0], at, context.isa, context.thread_count)
        elif joining.is_float_sum:
            _native.float_sum(joining.item, at, context.thread_count)
        else:
            _native.reduce((joining.join, joining.item), at, context.isa, context.thread_count)
    elif joining.is_float_sum and source.length > 0:
        _sum_floats_on_gpu(source, result, joining.item)
    elif source.length == 0:
        fill(result, bytes(result.width))
    elif widened is not None:
        _reduce_on_gpu(source, result, Joining(joining.join, "u64"), widened[0])
    else:
        _reduce_on_gpu(source, result, joining)
    return result.owner


def scan_shape(card: Gpu) -> dict[str, int]:
    """Return the sizes of a scan, which runs one block per multiprocessor."""
    return SCAN_LARGE if has_large_ring(card.capability) else SCAN_SMALL


def _reduce_on_gpu(source: Array, result: Array, joining: Joining, widened: str | None = None) -> None:
    card = gpu(source.device)
    tiles = -(-source.nbytes // _TILE_BYTES)
    blocks = max(1, min(tiles, card.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR))
    defines = _defines(joining) | ({} if widened is None else {"HR_SOURCE": widened})
    found = kernel("primitives/reduce.cu", "reduce", "PqPPP", defines, card)
    with in_stream_of(source, result), Scratch(card, COUNTERS + blocks * result.width, source.stream, 0) as (memory, _):
        args = (source.address, source.length, memory.address + COUNTERS, memory.address, result.address)
        found.launch(blocks, REDUCE["HR_THREADS"], args, stream=source.stream)


def _sum_floats_on_gpu(source: Array, result: Array, item: str) -> None:
    card = gpu(source.device)
    firsts = -(-source.length // _CHUNK)
    seconds = -(-firsts // _CHUNK)
    defines: dict[str, int | str] = {"HR_ITEM": item, **FLOAT_SUM}
    found = kernel("primitives/float_sum.cu", "float_sum", "PqPPP", defines, card)
    partial_sums = COUNTERS + (firsts + 3 + seconds) * source.width
    with in_stream_of(source, result), Scratch(card, partial_sums, source.stream, 0) as (memory, _):
        args = (source.address, source.length, memory.address + COUNTERS, memory.address, result.address)
        threads = FLOAT_SUM["HR_THREADS"]
        found.launch(-(-firsts * 32 // threads), threads, args, stream=source.stream)


def _defines(joining: Joining) -> dict[str, int | str]:
    return {"HR_OPERATOR": joining.join, "HR_ITEM": joining.item, **REDUCE}
