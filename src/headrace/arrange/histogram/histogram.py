"""Counts the keys of each bucket on the device where they lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from headrace import _native
from headrace.arrange.bucket.buckets import KEYS, Edges, ascending, between, check_bins, even, range_of
from headrace.arrange.histogram.bit_ranges import bit_edges, folded, reaches_far
from headrace.arrange.histogram.tuning import CELLS_GPU, CELLS_SMALL, ROWS, THREADS, histogram_defines, rows_for
from headrace.arrays.arrays import Array, integers_of_times, needed_numpy, take
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.placement import empty_like, in_stream_of, placed, same_device
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.expressions.expression import Expression
from headrace.gpu.device.device import LARGE_BLOCKS, Gpu, checked, driver, gpu
from headrace.gpu.kernels.kernel import kernel
from headrace.gpu.memory.pool import device_pool

_FILE = "arrange/histogram/histogram.cu"
_CELLS = 4096
_MAX_SHARED_EDGES = 2048  # maximum number of buckets whose edges a block keeps in shared memory
_REPLICAS = 32
_REPLICATED_BYTES = 33 << 10
_SINGLE_BYTES = 64 << 10
_WINDOW_OF_LARGE = 1 << 16
_WINDOW_OF_SMALL = 1 << 15
_NO_EVEN = bytes(16)  # placeholder for the ``Even`` that the kernel of an expression does not read
_MIN_SHARED_BYTES = 99 << 10  # shared memory per block that every device has
_ALONE_BYTES = 128 << 10
"""Maximum size of keys that a single block counts. It writes the result, so the counts need not be cleared first."""


def bucket_counts(
    keys: Any,
    bins: int = 256,
    *,
    range: tuple[float, float] | None = None,  # noqa: A002 (NumPy's name)
    splitters: Sequence[float] | Any | None = None,
    bucket: Expression | None = None,
    context: Context | None = None,
) -> Any:
    """Count the keys of each bucket. Keys outside of all buckets, and NaN, are not counted.

    Buckets are half-open, and those of integers are exact. `histogram` has the bins of NumPy.

    Parameters
    ----------
    keys
        Array of one dimension: integers of 1, 2, 4 or 8 bytes, float32 or float64. The work runs on its device.
    bins
        Buckets of equal width, 2 to 65,536; not used with `splitters`.
    range
        Lowest key, and end of the range, which is excluded. None means all values of an integer type; floats need a range. A
        range of integers has at least `bins` values. Buckets of integers are exact. The bucket of a float is
        ``(key - low) * (bins / (high - low))``, with each step rounded to the keys' type.
    splitters
        Ascending edges, one more than there are buckets: bucket `i` has the keys from edge `i` up to, and without, edge `i` + 1.
        The host reads the edges: if they lie on the keys' GPU, it copies them and waits. Edges of floats may be -inf and inf.
        If their difference is not finite, there are at most 32,767 buckets, and the host adds up their counts.
    bucket
        Function of a uint32 key, built from `headrace.key` by operators, in place of a range. Keys whose value is `bins` or more
        are not counted.
    context
        Threads, instruction set and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    array
        Counts, int64, of the library of `keys`.

    Raises
    ------
    OptionError
        `keys` has another type, or the buckets are not valid for it.
    MemoryLimitError
        The result, and on a GPU the table of the edges, exceed the context's limit.

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.array([1, 2, 2, 7, 9], np.uint32)
    >>> bucket_counts(keys, 4, range=(0, 8))
    array([1, 2, 0, 1])
    >>> bucket_counts(keys, splitters=[0, 2, 7, 100])
    array([1, 2, 2])
    >>> from headrace.core.expressions.expression import key
    >>> bucket_counts(keys, 3, bucket=key % 3)
    array([1, 2, 2])
    """
    np = needed_numpy("bucket_counts()")
    context = context_of(context)
    budget = context.new_budget()
    source = placed(keys, "keys", context, budget)
    if source.typestr not in KEYS:
        raise OptionError(
            f"keys are of type {source.typestr!r}; supported are integers of 1 to 8 bytes, float32 and float64"
            f"{integers_of_times(source.typestr)}"
        )
    dtype = np.dtype(source.typestr)
    if sum(given is not None for given in (range, splitters, bucket)) > 1:
        raise OptionError("range, splitters and bucket each define the buckets; pass one of them")
    how: bytes | Edges | Expression
    bins = check_bins(bins)
    if splitters is not None:
        edges = ascending(dtype, on_host(splitters, source, context, budget))
        if dtype.kind == "f" and reaches_far(edges):
            return _by_bits(source, edges, context, budget)
        how = between(dtype, edges)
        bins = len(how.given) - 1
    elif bucket is not None:
        how = _checked(dtype, bucket)
    else:
        how = even(dtype, bins, None if range is None else range_of(range))
    result = empty_like(source, bins, "<i8", budget)
    if source.device.kind == "cpu":
        _on_cpu(source, result, how, context)
    else:
        with gpu(source.device).current(), in_stream_of(source, result):
            launcher(source, result, how, context, budget)()
    return result.owner


def on_host(splitters: Any, source: Array, context: Context, budget: Budget) -> Any:
    """Return edges as they are, or a host copy if they lie on the keys' GPU, copied in the order of their own stream."""
    if isinstance(splitters, Sequence):
        return splitters
    try:
        given = take(splitters, "splitters")
    except OptionError:
        if hasattr(type(splitters), "__cuda_array_interface__"):
            raise
        return splitters  # not an array, but NumPy may convert it
    if given.device.kind == "cpu":
        return given.as_numpy()
    same_device(source, given)
    card = gpu(given.device)
    seen = DeviceArray(device_pool(card).take(given.nbytes, given.stream, budget), given.typestr, given.length)
    with card.current():  # the stream may be the default stream, which each device has its own of
        checked(driver().cuMemcpyDtoDAsync(seen.address, given.address, given.nbytes, seen.stream))
    return seen.to_numpy(counted=context.crossings)


def _checked(dtype: Any, bucket: object) -> Expression:
    if not isinstance(bucket, Expression):
        raise OptionError.wrong("bucket", "built from headrace.key by operators, such as headrace.key % 7", bucket)
    if dtype != "u4":
        raise OptionError(
            f"bucket is a function of uint32 keys, and keys are of {dtype}; pass keys as uint32, or take the offsets of "
            "multisplit(keys, buckets.computed(bins, bucket))"
        )
    bucket.check("u4")
    return bucket


def _by_bits(source: Array, edges: Any, context: Context, budget: Budget) -> Any:
    """Count floats by their bits (bit_ranges.py); counts of a GPU are folded on the host and copied back."""
    how = bit_edges(edges)
    bits = replace(source, typestr=how.given.dtype.str)
    result = empty_like(source, len(edges) - 1, "<i8", budget)
    if source.device.kind == "cpu":
        counts = empty_like(source, len(how.given) - 1, "<i8", budget)
        _on_cpu(bits, counts, how, context)
        result.as_numpy()[:] = folded(counts.as_numpy())
        return result.owner
    card = gpu(source.device)
    stream = card.stream if source.stream is None else source.stream
    length = len(how.given) - 1
    there = DeviceArray(device_pool(card).take(length * 8, stream, budget), "<i8", length)
    launcher(bits, take(there, "counts"), how, context, budget)()
    folded_counts = folded(there.to_numpy(counted=context.crossings))
    back = DeviceArray.from_host(folded_counts, card, stream=stream, counted=context.crossings, budget=budget)
    with card.current():  # the stream may be the default stream, which each device has its own of
        checked(driver().cuMemcpyDtoDAsync(result.address, back.address, result.nbytes, stream))
    return result.owner


def _on_cpu(source: Array, result: Array, how: bytes | Edges | Expression, context: Context) -> None:
    edges = 0
    if isinstance(how, Edges):
        description, edges = how.cells(_CELLS), how.wide.__array_interface__["data"][0]
    else:
        description = how.as_program() if isinstance(how, Expression) else how
    keys = KEYS[source.typestr], source.address, source.length
    given = result.length, description, edges, isinstance(how, Expression), result.address
    _native.histogram(keys, given, context.isa, context.thread_count)


def launcher(
    source: Array, result: Array, how: bytes | Edges | Expression, context: Context, budget: Budget | None = None
) -> Callable[[], None]:
    """Return a function that counts keys into `result`, any number of times; the table of the cells is made here.

    The keys' device must be current for this thread, here and when the function is called.
    """
    card = gpu(source.device)
    stream = card.stream if source.stream is None else source.stream
    defines: dict[str, int | str] = histogram_defines(KEYS[source.typestr])
    if isinstance(how, Expression):
        defines["HR_BUCKET"] = how.as_c()
        how = _NO_EVEN
    plan = plan_for(card.capability, result.length, None if isinstance(how, bytes) else how.wide.itemsize)
    grid = _grid(card, plan, source, result.length)
    tile = THREADS * rows_for(source.width) * 16 // source.width
    adds = grid[0] > 1 or (plan.packed and source.length > tile)
    entry = "histogram_packed" if plan.packed else "histogram"
    args: tuple[Any, ...]
    held: tuple[Any, ...] = ()
    if isinstance(how, bytes):
        found = kernel(_FILE, entry, f"PqPII{len(how)}s", defines, card)
        args = (source.address, source.length, result.address, result.length, plan.factor, how)
    else:
        cells = how.cells(plan.cells)
        edges = DeviceArray.from_host(how.wide, card, stream=stream, counted=context.crossings, budget=budget)
        words = device_pool(card).take((plan.cells + 1) * 4, stream, budget)
        prepare = kernel(_FILE, "histogram_cells", f"{len(cells)}sPP", defines, card)
        prepare.launch(plan.cells // THREADS + 1, THREADS, (cells, edges.address, words.address), stream=stream)
        edges_flag = () if plan.packed else (int(plan.edges_in_shared),)
        letters = f"PqPI{'I' * len(edges_flag)}{len(cells)}sPP"
        found = kernel(_FILE, f"{entry}_between", letters, defines, card)
        args = (source.address, source.length, result.address, plan.factor, *edges_flag, cells, words.address, edges.address)
        held = edges, words

    def count(_held: tuple[Any, ...] = held) -> None:
        if adds:
            checked(driver().cuMemsetD8Async(result.address, 0, result.nbytes, stream))
        found.launch(grid, THREADS, args, shared=plan.nbytes, stream=stream)

    return count


@dataclass(frozen=True, slots=True)
class Plan:
    """Shared memory of a counting block."""

    packed: bool  # True if counters are 16 bits wide
    factor: int  # replicas of each counter; for packed counters, the number of buckets that a block counts
    cells: int  # cells of the edge table, 0 without edges
    edges_in_shared: bool  # True if a block keeps the edges in shared memory
    nbytes: int  # bytes of shared memory


@lru_cache(1024)
def plan_for(capability: tuple[int, int], buckets: int, edge_size: int | None = None) -> Plan:
    """Return the plan for a number of buckets; on devices with 99 KiB of shared memory per block it fits into that.

    >>> plan_for((9, 0), 256)
    Plan(packed=False, factor=32, cells=0, edges_in_shared=False, nbytes=32896)
    >>> plan_for((12, 0), 65536)
    Plan(packed=True, factor=32768, cells=0, edges_in_shared=False, nbytes=65536)
    """
    if (buckets + 1) * 4 > _SINGLE_BYTES:
        most = _WINDOW_OF_LARGE if capability in LARGE_BLOCKS else _WINDOW_OF_SMALL
        window = min(most, -(-buckets // 64) * 64)
        cells = 0 if edge_size is None else _CELLS
        return Plan(True, window, cells, False, _words(cells) + window * 2)
    replicas = _REPLICAS
    while replicas > 1 and (buckets + 1) * replicas * 4 > _REPLICATED_BYTES:
        replicas //= 2
    counters = (buckets + 1) * replicas * 4
    if edge_size is None:
        return Plan(False, replicas, 0, False, counters)
    edges_in_shared = buckets <= _MAX_SHARED_EDGES
    edges = -(-(buckets + 1) * edge_size // 16) * 16 * edges_in_shared
    cells = CELLS_GPU
    if capability not in LARGE_BLOCKS and _words(cells) + edges + counters > _MIN_SHARED_BYTES:
        cells = CELLS_SMALL
    return Plan(False, replicas, cells, edges_in_shared, _words(cells) + edges + counters)


def _words(cells: int) -> int:
    """Return the bytes of a table of cells, as the kernel pads it."""
    return (cells + 4) // 4 * 16 if cells else 0


def _grid(card: Gpu, plan: Plan, source: Array, buckets: int) -> tuple[int, int, int]:
    """Return the grid: in x as many blocks as can be resident and have a tile, in y the windows of packed counters."""
    memory = 227 << 10 if card.capability in LARGE_BLOCKS else _MIN_SHARED_BYTES
    resident = max(1, min(2048 // THREADS, memory // (plan.nbytes + 1024)))
    windows = -(-buckets // plan.factor) if plan.packed else 1
    tiles = 1 if source.nbytes <= _ALONE_BYTES else -(-source.nbytes // (THREADS * ROWS * 16))
    return max(1, min(tiles, card.multiprocessors * resident // windows)), windows, 1
