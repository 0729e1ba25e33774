"""Counts keys by bins as NumPy does: bins of equal width or between edges, of which the last includes its right edge."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

from headrace.arrange.bucket.buckets import MAX_BUCKETS
from headrace.arrange.histogram.histogram import bucket_counts
from headrace.arrange.search.bincount import bincount
from headrace.arrange.search.searchsorted import searchsorted
from headrace.arrays.arrays import Array, integers_of_times, needed_numpy
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.inputs import as_line, converted, flattened, plain, type_of
from headrace.arrays.placement import placed
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnsupportedDeviceError
from headrace.core.options import flag, integer
from headrace.gpu.device.device import gpu
from headrace.primitives.scan import reduce

_AS = {"bool": "uint8", "float16": "float32", "bfloat16": "float32"}  # types that keys are counted as, if not as their own
_TEXTS = (str, bytes, bytearray, memoryview)  # types whose items are numbers by accident
_EXACT = 2**52  # integers up to it, and halves of them, are floats


class Histogram(NamedTuple):
    """The result of `histogram`, as NumPy's pair.

    Parameters
    ----------
    counts
        Count of each bin, int64; sums of weights or densities, float64.
    edges
        Edges of the bins, one more than there are bins: an array of NumPy.
    """

    counts: Any
    edges: Any


def histogram(
    keys: Any,
    bins: Any = 10,
    range: tuple[float, float] | None = None,  # noqa: A002 (NumPy's name)
    density: bool = False,
    weights: Any = None,
    *,
    context: Context | None = None,
) -> Histogram:
    """Count the keys of each bin, with NumPy's defaults. `bucket_counts` has exact, half-open buckets and functions of keys.

    Parameters
    ----------
    keys
        Array of any shape, a list or a Series: integers, floats or bools. The work runs on its device.
    bins
        Number of bins of equal width, 1 to 65,536, or ascending edges. Bin `i` has the keys from edge `i` up to, and without,
        edge `i` + 1; the last bin includes its right edge. The host reads the edges.
    range
        First and last edge; None for the smallest and the largest key, for which the host waits. Not used with edges.
    density
        Whether to return the counts divided by their sum and by the width of their bins.
    weights
        Weights of the keys, of the same shape, on the CPU. They are added as float64 in the order of the keys.
    context
        Threads, instruction set and memory that may be used, and the GPU to which host arrays are copied.

    Returns
    -------
    Histogram
        Counts, of the library of `keys` and on their device, and edges on the host. Keys outside of the bins, and NaN, are not
        counted.

    Raises
    ------
    OptionError
        `keys` has another type; edges do not ascend; or keys without a `range` are not finite.
    UnsupportedDeviceError
        `weights` are given for an array on a GPU.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> counts, edges = histogram([1, 2, 2, 7, 9], 4)
    >>> counts, edges
    (array([3, 0, 0, 2]), array([1., 3., 5., 7., 9.]))
    >>> histogram([0.5, 1.5, 4.0], [0, 1, 4], density=True).counts
    array([0.33333333, 0.22222222])
    """
    np = needed_numpy("histogram()")
    density = False if density is None else flag("density", density)
    keys = flattened(keys, "keys")
    dtype = _AS.get(type_of(keys))
    keys = keys if dtype is None else converted(keys, dtype, "keys")
    context = context_of(context)
    source = placed(keys, "keys", context, context.new_budget())
    if source.typestr[1] not in "iuf":
        how = integers_of_times(source.typestr)
        raise OptionError(f"keys are of type {source.typestr!r}; histogram counts numbers and bools{how}")
    edges = _edges(source, bins, range, context)
    if weights is not None:
        found = _weighted(source, weights, edges, context)
    else:
        found = _counts(source, _splitters(np.dtype(source.typestr), edges), edges, context)
    if density:
        with np.errstate(divide="ignore", invalid="ignore"):  # no keys, or bins without width
            found = found / np.diff(edges) / found.sum()
    return Histogram(_returned(found, source, context), edges)


def _edges(source: Array, bins: Any, given: Any, context: Context) -> Any:
    """Return the edges, computed as NumPy does, in its type."""
    import numpy as np

    if not isinstance(bins, (int, np.integer)) and not isinstance(bins, _TEXTS):
        edges = bins.to_numpy() if isinstance(bins, DeviceArray) else plain(as_line(bins, "bins"), "bins")
        edges = placed(edges, "bins", Context()).as_numpy()
        if edges.ndim != 1 or edges.dtype.kind not in "iuf" or not 2 <= len(edges) <= MAX_BUCKETS:
            raise OptionError(f"bins must be an integer, or 2 to {MAX_BUCKETS} ascending edges of one dimension")
        if not (edges[1:] >= edges[:-1]).all():
            raise OptionError("bins must ascend; sort the edges with headrace.sort")
        return edges
    bins = integer("bins", bins, f"an integer from 1 to {MAX_BUCKETS}, or ascending edges", 1, MAX_BUCKETS)
    low, high = _range(source, given, context)
    wide = np.dtype(source.typestr) if source.typestr[1] == "f" else np.dtype("f8")
    with np.errstate(over="ignore", invalid="ignore"):
        edges = np.linspace(low, high, bins + 1, dtype=wide)
    if not (edges[:-1] < edges[1:]).all():
        raise OptionError(
            f"bins={bins} are too many for keys between {low} and {high}, where {wide} has no such edges; pass fewer bins"
        )
    return edges


def _range(source: Array, given: Any, context: Context) -> tuple[Any, Any]:
    import numpy as np

    low: Any
    high: Any
    if given is not None:
        try:
            low, high = given
            low, high = float(low), float(high)
        except (TypeError, ValueError):
            low = None
        if low is None or isinstance(given, _TEXTS):
            raise OptionError.wrong("range", "two numbers: the first and the last edge", given)
    elif source.length == 0:
        low, high = 0.0, 1.0
    else:
        # As in NumPy, edges between keys of float32 are computed in float32.
        scalar = np.dtype(source.typestr).type if source.typestr[1] == "f" else float
        low, high = (scalar(_first(reduce(source.owner, operator, context=context))) for operator in ("min", "max"))
    if not abs(low) < float("inf") or not abs(high) < float("inf"):
        raise OptionError(f"the range of the keys is from {low} to {high}, which is not finite; pass range=")
    if low > high:
        raise OptionError.wrong("range", "two numbers, the first edge and a last edge that is not smaller", given)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _first(found: Any) -> Any:
    return found.to_numpy()[0] if isinstance(found, DeviceArray) else found[0].item()


def _splitters(dtype: Any, edges: Any) -> Any:
    """Return half-open edges of the keys' type: a key is at or after one if it is at or after the given edge.

    The last of them is after the given last edge. It may be one more than the largest key of the type, so integers are Python's.
    """
    import numpy as np

    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            found = edges.astype(dtype)
        wide = np.result_type(edges, dtype)
        up = np.nextafter(found, dtype.type(np.inf))
        down = found.astype(wide) < edges.astype(wide)
        found = np.where(down, up, found)
        is_above = found[-1].astype(wide) > edges[-1].astype(wide)
        return np.append(found[:-1], found[-1] if is_above else np.nextafter(found[-1], dtype.type(np.inf)))
    low, end = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max) + 1
    given = edges.tolist()
    after = given[-1] + 1 if isinstance(given[-1], int) else math.nextafter(given[-1], math.inf)
    return [low if edge <= low else end if edge > end else min(_first_at(edge), end) for edge in (*given[:-1], after)]


def _first_at(edge: float) -> int:
    """Return the smallest integer that NumPy finds at or after an edge: it compares with floats as floats.

    Examples
    --------
    >>> _first_at(1.5), _first_at(2.0**53 + 4) - 2**53, _first_at(2**53 + 4) - 2**53
    (2, 3, 4)
    """
    whole = math.ceil(edge)
    if isinstance(edge, int) or abs(edge) < _EXACT:
        return whole
    middle = (int(math.nextafter(edge, -math.inf)) + whole) // 2
    return middle if float(middle) >= edge else middle + 1


def _counts(source: Array, splitters: Any, edges: Any, context: Context) -> Any:
    """Return the counts between half-open edges, on the host."""
    import numpy as np

    is_float = source.typestr[1] == "f"
    if splitters[0] == splitters[-1]:
        counts: Any = np.zeros(len(edges) - 1, np.int64)
    elif not is_float and splitters[-1] > np.iinfo(source.typestr).max:
        # The end is no key. The last bin with keys counts all keys that are not before it.
        low, end = int(np.iinfo(source.typestr).min), splitters[-1]
        inner = [edge for edge in splitters if edge < end]
        before = _between(source, [low, *inner], context)
        counts = np.zeros(len(edges) - 1, np.int64)
        counts[: len(inner) - 1] = before[1:]
        counts[len(inner) - 1] = source.length - before.sum()
    else:
        counts = _between(source, splitters, context)
    if is_float and np.isposinf(splitters[-1]) and np.isposinf(edges[-1]):
        counts[-1] += _infinite(source)
    return counts


def _between(source: Array, edges: Any, context: Context) -> Any:
    """Return the counts between half-open edges of the keys' type, on the host. There may be one bin, and it may be empty."""
    import numpy as np

    if edges[0] == edges[-1]:
        return np.zeros(len(edges) - 1, np.int64)
    padded = list(edges) if isinstance(edges, list) else edges.tolist()
    short = len(padded) == 2
    found = bucket_counts(source.owner, splitters=[padded[0], *padded] if short else padded, context=context)
    host = _on_host(placed(found, "counts", Context()), context)
    return host[1:] if short else host


def _on_host(array: Array, context: Context) -> Any:
    import numpy as np

    if array.device.kind == "cpu":
        return array.as_numpy()
    if isinstance(array.owner, DeviceArray):
        return array.owner.to_numpy(counted=context.crossings)
    return np.asarray(array.owner.cpu() if array.library == "torch" else array.owner.get())


def _infinite(source: Array) -> int:
    """Return the number of keys that are infinity."""
    if isinstance(source.owner, DeviceArray):
        raise UnsupportedDeviceError("the last edge is inf, which CuPy and PyTorch arrays can have; pass one of these")
    if source.device.kind == "cpu":
        return int((source.as_numpy() == float("inf")).sum())
    return int((source.owner == float("inf")).sum())


def _weighted(source: Array, weights: Any, edges: Any, context: Context) -> Any:
    """Return the sums of weights of each bin, added in the order of the keys."""
    import numpy as np

    if source.device.kind != "cpu":
        raise UnsupportedDeviceError("weights are summed on the CPU; copy keys and weights to the host, or pass none")
    given = placed(converted(flattened(weights, "weights"), "float64", "weights"), "weights", Context()).as_numpy()
    keys = source.as_numpy()
    if len(given) != len(keys):
        raise OptionError(f"weights has {len(given)} items for {len(keys)} keys")
    splitters = _splitters(keys.dtype, edges)
    end, last = splitters[-1], np.finfo(keys.dtype).max if keys.dtype.kind == "f" else np.iinfo(keys.dtype).max
    lower = np.array([edge for edge in splitters[:-1] if keys.dtype.kind == "f" or edge <= last], keys.dtype)
    is_inside = (keys <= end) if end > last and keys.dtype.kind == "f" else (keys < end)
    numbers = searchsorted(lower, keys, "right", context=context)
    is_inside &= numbers > 0
    return bincount(numbers[is_inside] - 1, given[is_inside], len(edges) - 1, context=context)


def _returned(found: Any, source: Array, context: Context) -> Any:
    """Return a result of the host as an array of the library and device of the keys."""
    if source.device.kind == "cpu":
        if source.library == "torch":
            return sys.modules["torch"].from_numpy(found)
        return found
    if source.library == "torch":
        return sys.modules["torch"].from_numpy(found).to(source.owner.device)
    if source.library in {"cupy", "cudf"}:
        return sys.modules["cupy"].asarray(found)
    return DeviceArray.from_host(found, gpu(source.device), stream=source.stream, counted=context.crossings)
