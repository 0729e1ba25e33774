"""How many keys are in each bucket, counted where they lie: arrange/histogram.cu and its CPU twin."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace import _native
from headrace.arrange.expression import Expression
from headrace.core.arrays import Array, take
from headrace.core.context import Context
from headrace.core.device_array import DeviceArray
from headrace.core.device_memory import device_pool
from headrace.core.errors import OptionError
from headrace.core.gpu import Gpu, checked, driver, gpu
from headrace.core.kernels import kernel
from headrace.core.placement import empty_like

_KEYS = {"<u4": "u32", "<i4": "i32", "<f4": "float"}
_LEAST, _MOST = 2, 1 << 16
_CELLS = 4096
_CELLS_OF_GPU = 14_500
"""No multiple of a power of two: the low bits of skewed keys are often the same, and would choose the same bank."""
_EDGES_KEPT = 2048
_THREADS, _ROWS = 1024, 4
_PIECE = 1 << 15
_REPLICAS = 32
_REPLICATED_BYTES = 32 << 10
_SINGLE_BYTES = 64 << 10
_WINDOW_OF_LARGE = 1 << 16
_WINDOW_OF_SMALL = 1 << 15
_LARGE = {(8, 0), (9, 0), (10, 0)}
"""Compute capabilities whose blocks may have more than 128 KB of shared memory."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """Which keys a bucket has: even parts of a range, or what is between edges.

    Parameters
    ----------
    count
        How many there are.
    even
        The even parts as the sources have them (``Even`` of bucket.hpp); with edges, the cells that guide the search.
    edges
        Of the keys' type, or None.
    bucket
        A function of the key instead, or None.
    """

    count: int
    even: bytes
    edges: Any
    bucket: Expression | None = None


def histogram(
    keys: Any,
    bins: int = 256,
    *,
    range: tuple[float, float] | None = None,  # noqa: A002 (NumPy's name)
    splitters: Sequence[float] | Any | None = None,
    bucket: Expression | None = None,
    context: Context | None = None,
) -> Any:
    """How many keys are in each bucket. Keys outside of all buckets, and NaN, are not counted.

    Parameters
    ----------
    keys
        Array of one dimension of uint32, int32 or float32. Work runs where it lies.
    bins
        Buckets of equal width, 2 to 65,536; not used with `splitters`.
    range
        The lowest key, and the one that is just not counted. None for all values of an integer type; floats need it. A range of
        whole numbers has at least `bins` of them.
    splitters
        Ascending edges, one more than there are buckets: bucket `i` has the keys from edge `i` up to, and without, edge `i` + 1.
    bucket
        A function of a uint32 key instead, built from `headrace.key` by operators; a key whose value is `bins` or more is not
        counted.
    context
        Threads and instruction set that may be used.

    Returns
    -------
    array
        Counts, int64, of the library of `keys`.

    Raises
    ------
    OptionError
        `keys` is no such array, or there are no such buckets.

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.array([1, 2, 2, 7, 9], np.uint32)
    >>> histogram(keys, 4, range=(0, 8))
    array([1, 2, 0, 1])
    >>> histogram(keys, splitters=[0, 2, 7, 100])
    array([1, 2, 2])
    >>> from headrace.arrange.expression import key
    >>> histogram(keys, 3, bucket=key % 3)
    array([1, 2, 2])
    """
    import numpy as np  # arrays are optional in this package

    source = take(keys, "keys")
    if source.typestr not in _KEYS:
        raise OptionError(f"keys are of type {source.typestr!r}; taken are uint32, int32 and float32")
    dtype = np.dtype(source.typestr)
    if sum(given is not None for given in (range, splitters, bucket)) > 1:
        raise OptionError("range, splitters and bucket say each which keys a bucket has; pass one of them")
    if bucket is not None:
        buckets = _computed(dtype, bins, bucket)
    else:
        buckets = _even(dtype, bins, range) if splitters is None else _between(dtype, splitters)
    result = empty_like(source, buckets.count, "<i8")
    if source.device.kind != "cpu":
        _on_gpu(source, result, buckets)
        return result.owner
    if buckets.bucket is not None:
        _count_computed(source.owner, result.owner, buckets.count, buckets.bucket)
        return result.owner
    edges = 0 if buckets.edges is None else buckets.edges.__array_interface__["data"][0]
    context = context or Context()
    args = (source.address, source.length, buckets.count, buckets.even, edges, result.address)
    _native.histogram(_KEYS[source.typestr], *args, context.thread_count, context.isa)
    return result.owner


def _check_bins(bins: object) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int) or not _LEAST <= bins <= _MOST:
        raise OptionError(f"bins must be a whole number from {_LEAST} to {_MOST}, not {bins!r}")


def _computed(dtype: Any, bins: int, bucket: object) -> Buckets:
    _check_bins(bins)
    if not isinstance(bucket, Expression):
        raise OptionError(f"bucket must be built from headrace.key by operators, such as headrace.key % 7, not {bucket!r}")
    if dtype != "u4":
        raise OptionError(f"bucket is a function of uint32 keys, not of {dtype}")
    return Buckets(bins, bytes(16), None, bucket)


def _count_computed(keys: Any, result: Any, count: int, bucket: Expression) -> None:
    """On the CPU, by NumPy, in pieces that stay in the cache."""
    import numpy as np

    keys, counts = np.asarray(keys), np.asarray(result)
    counts[:] = 0
    for begin in itertools.count(0, _PIECE):
        piece = keys[begin : begin + _PIECE].astype(np.uint64)
        if len(piece) == 0:
            return
        places = np.broadcast_to(np.asarray(bucket.of(piece), np.uint64), piece.shape)
        counts += np.bincount(places[places < count].astype(np.int64), minlength=count)


def _even(dtype: Any, bins: int, given: tuple[float, float] | None) -> Buckets:
    _check_bins(bins)
    if given is None:
        if dtype.kind == "f":
            raise OptionError("range must be given for floats: the lowest key and the one that is just not counted")
        lowest = -(2**31) if dtype.kind == "i" else 0
        given = (lowest, lowest + 2**32)
    low, high = given
    if dtype.kind != "f" and high - low < bins:
        raise OptionError(f"range ({low}, {high}) has fewer numbers than there are buckets ({bins})")
    return Buckets(bins, _described(dtype, low, high, bins), None)


def _described(dtype: Any, low: float, high: float, parts: int) -> bytes:
    """An ``Even`` of bucket.hpp."""
    import numpy as np

    if dtype.kind == "f":
        low, high = float(np.float32(low)), float(np.float32(high))
        if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(np.float32(high - low))):
            raise OptionError(f"range must be two finite numbers, the lower first, not ({low}, {high})")
        with np.errstate(over="ignore"):
            parts_per_unit = float(np.float32(parts / (high - low)))
        if not np.isfinite(parts_per_unit):
            raise OptionError(f"range ({low}, {high}) is too narrow for {parts} buckets of float32")
        return struct.pack("<fffI", low, high, parts_per_unit, 0)
    limits = np.iinfo(dtype)
    if low != int(low) or high != int(high) or not int(limits.min) <= low < high <= int(limits.max) + 1:
        raise OptionError(f"range must be two whole numbers of {dtype}, the lower first, not ({low}, {high})")
    low, high = int(low), int(high)
    multiplier = 0 if high - low <= parts else -(-(parts << 64) // (high - low))
    return struct.pack("<QII", multiplier, low % 2**32, high - low - 1)


def _between(dtype: Any, given: Any) -> Buckets:
    import numpy as np

    wanted = np.asarray(given)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iuf" or not _LEAST < len(wanted) <= _MOST + 1:
        raise OptionError(f"splitters must be {_LEAST + 1} to {_MOST + 1} numbers, one more than there are buckets")
    with np.errstate(all="ignore"):
        edges = np.ascontiguousarray(wanted.astype(dtype))
    if dtype.kind != "f" and not np.array_equal(edges, wanted):
        raise OptionError(f"splitters must be numbers of {dtype}, as the keys are")
    if not (edges[1:] >= edges[:-1]).all() or edges[0] == edges[-1]:
        raise OptionError("splitters must ascend")
    return Buckets(len(edges) - 1, _described(dtype, edges[0].item(), edges[-1].item(), _CELLS), edges)


def _on_gpu(source: Array, result: Array, buckets: Buckets) -> None:
    card = gpu(source.device)
    stream = card.stream if source.stream is None else source.stream
    checked(driver().cuMemsetD8Async(result.address, 0, result.nbytes, stream))
    if source.length == 0:
        return
    name = _KEYS[source.typestr]
    defines: dict[str, int | str] = {"HR_KEY": name, "HR_THREADS": _THREADS, "HR_ROWS": _ROWS}
    if buckets.bucket is not None:
        defines["HR_BUCKET"] = buckets.bucket.as_c()
    plan = plan_for(card.capability, buckets.count)
    even, edges, words = buckets.even, None, None
    cells = shared = 0
    if buckets.edges is not None:
        cells = _CELLS if plan.packed else _CELLS_OF_GPU
        even = _described(buckets.edges.dtype, buckets.edges[0].item(), buckets.edges[-1].item(), cells)
        edges = DeviceArray.from_host(buckets.edges, card, stream=stream)
        words = device_pool(card).take(cells * 4, stream)
        args = (even, edges.address, buckets.count, cells, words.address)
        prepare = kernel("arrange/histogram.cu", "histogram_cells", "16sPIIP", defines, card)
        prepare.launch(-(-cells // _THREADS), _THREADS, args, stream=stream)
        shared = cells * 4 + (buckets.count * 4 if buckets.count <= _EDGES_KEPT else 0)
    addresses = struct.pack("<QQII", edges.address if edges else 0, words.address if words else 0, cells, 0)
    entry = "histogram_packed" if plan.packed else "histogram"
    found = kernel("arrange/histogram.cu", entry, "PqPII40s", defines, card)
    args_of = (source.address, source.length, result.address, buckets.count, plan.factor, even + addresses)
    found.launch(_grid(card, plan, buckets.count, shared), _THREADS, args_of, shared=shared + plan.nbytes, stream=stream)


@dataclass(frozen=True, slots=True)
class Plan:
    """How blocks count.

    Parameters
    ----------
    packed
        Whether counters are 16 bits wide.
    factor
        Replicas of each counter; of packed ones, how many buckets a block counts.
    nbytes
        Shared memory for the counters.
    """

    packed: bool
    factor: int
    nbytes: int


def plan_for(capability: tuple[int, int], buckets: int) -> Plan:
    """The plan for so many buckets; each fits the 99 KB that every card has, where it must.

    Examples
    --------
    >>> plan_for((9, 0), 256), plan_for((12, 0), 65536)
    (Plan(packed=False, factor=32, nbytes=32768), Plan(packed=True, factor=32768, nbytes=65536))
    """
    if buckets * 4 > _SINGLE_BYTES:
        most = _WINDOW_OF_LARGE if capability in _LARGE else _WINDOW_OF_SMALL
        window = min(most, -(-buckets // 64) * 64)
        return Plan(True, window, window * 2)
    replicas = _REPLICAS
    while replicas > 1 and buckets * replicas * 4 > _REPLICATED_BYTES:
        replicas //= 2
    return Plan(False, replicas, buckets * replicas * 4)


def _grid(card: Gpu, plan: Plan, buckets: int, shared: int) -> tuple[int, int, int]:
    """As many blocks as can be resident; in y, the windows of packed counters."""
    memory = 227 << 10 if card.capability in _LARGE else 99 << 10
    resident = max(1, min(2048 // _THREADS, memory // (plan.nbytes + shared + 1024)))
    windows = -(-buckets // plan.factor) if plan.packed else 1
    return max(1, card.multiprocessors * resident // windows), windows, 1
