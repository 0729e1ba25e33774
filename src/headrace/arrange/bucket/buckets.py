"""Validates ranges and edges of buckets, and packs them as bucket.hpp's ``Even`` and cells.hpp's ``Cells``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.arrange.bucket.layouts import rule_layout
from headrace.core.errors import OptionError, shown
from headrace.core.options import integer, number

MIN_BUCKETS, MAX_BUCKETS = 2, 1 << 16
KEYS = {
    "|u1": "u8", "|i1": "u8", "<u2": "u16", "<i2": "u16", "<u4": "u32", "<i4": "u32", "<u8": "u64", "<i8": "u64",
    "<f4": "float", "<f8": "double",
}  # fmt: skip
"""Types of keys that kernels are compiled for, by NumPy type; kernels read signed integers as unsigned ones."""


def check_bins(bins: object) -> int:
    """Return a number of buckets.

    Raise OptionError if `bins` is not such a number. For edges, which NumPy accepts as `bins`, the message names `splitters`.
    """
    if not isinstance(bins, int | str | bytes) and hasattr(type(bins), "__len__"):
        raise OptionError(
            f"bins must be an integer from {MIN_BUCKETS} to {MAX_BUCKETS}, not {shown(bins)}; pass edges as splitters="
        )
    return integer("bins", bins, f"an integer from {MIN_BUCKETS} to {MAX_BUCKETS}", MIN_BUCKETS, MAX_BUCKETS)


def range_of(given: object) -> tuple[float, float]:
    """Return the lowest key of a range, and its end. Raise OptionError if `given` is not a pair of numbers."""
    expected = "two numbers: the lowest key and the end, which is excluded"
    is_pair = isinstance(given, tuple | list) or (type(given).__module__ == "numpy" and getattr(given, "ndim", 0) == 1)
    if not is_pair or len(given) != 2:  # type: ignore[arg-type]
        raise OptionError.wrong("range", expected, given)
    low, high = (number("range", one, expected) for one in given)  # type: ignore[attr-defined]
    return low, high


@lru_cache(256)
def even(dtype: Any, bins: int, given: tuple[float, float] | None) -> bytes:
    """Return the bytes of an ``Even``: `bins` buckets over a range, or over all values of an integer type if it is None.

    >>> import struct
    >>> import numpy as np
    >>> struct.unpack("<QII", even(np.dtype("u4"), 4, (8, 16)))
    (0, 8, 1)
    """
    import numpy as np  # arrays are optional in this package

    if dtype.kind == "f":
        if given is None:
            raise OptionError("keys are floats, so range must be given: the lowest key and the end, which is excluded")
        low, high = _floats(dtype, *given)
        with np.errstate(over="ignore"):
            parts_per_unit = dtype.type(bins / (float(high) - float(low)))
        if not np.isfinite(parts_per_unit):
            raise OptionError(f"range ({low}, {high}) is too narrow for {bins} buckets of {dtype}")
        return rule_layout("Even", dtype).pack(low, high, parts_per_unit, 0)
    limits = np.iinfo(dtype)
    low, high = (int(limits.min), int(limits.max) + 1) if given is None else given
    whole = math.isfinite(low) and math.isfinite(high) and low == int(low) and high == int(high)
    if not whole or not int(limits.min) <= low < high <= int(limits.max) + 1:
        raise OptionError(f"range must be two integers of {dtype}, the lower first, not ({shown(low)}, {shown(high)})")
    low, width = int(low), int(high) - int(low)
    if width < bins:
        raise OptionError(f"range ({low}, {high}) has fewer numbers than there are buckets ({bins})")
    each = width // bins
    by_shift = width % bins == 0 and each & (each - 1) == 0
    shift = each.bit_length() - 1 if by_shift else 0
    if dtype.itemsize == 8:
        multiplier = 0 if by_shift else -(-(bins << 128) // width)
        return rule_layout("Even", dtype).pack(multiplier >> 64, multiplier % 2**64, low % 2**64, shift)
    return rule_layout("Even", dtype).pack(0 if by_shift else -(-(bins << 64) // width), low % 2**32, shift)


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges of buckets.

    `given`: edges of the keys' type, one more than there are buckets.
    `wide`: edges as the kernels compare them: integers are distances from the first edge.
    """

    given: Any
    wide: Any

    def cells(self, count: int) -> bytes:
        """Return the bytes of a ``Cells`` with `count` cells."""
        import numpy as np

        buckets, dtype = len(self.given) - 1, self.given.dtype
        fraction = 31 - (buckets + 1).bit_length()
        low: Any = 0
        scale: Any = 0
        if dtype.kind == "f":
            low, high = self.given[0], self.given[-1]
            with np.errstate(over="ignore"):
                scale = min(dtype.type(2**32 * (1 - 2**-10) / (float(high) - float(low))), np.finfo(dtype).max)
            last = int((high - low) * scale)
        else:
            low = int(self.given[0]) % (2**64 if dtype.itemsize == 8 else 2**32)
            last = int(self.wide[-1])
            scale = max(0, last.bit_length() - 32)
            last >>= scale
        multiplier = min((count << 32) // (last + 1), 2**32 - 1)
        return rule_layout("Cells", dtype).pack(low, scale, multiplier, count, fraction, buckets)


def between(dtype: Any, given: Any) -> Edges:
    """Return buckets between ascending edges.

    >>> import numpy as np
    >>> between(np.dtype("i2"), [-3, 0, 7]).wide
    array([ 0,  3, 10], dtype=uint32)
    """
    edges = ascending(dtype, given)
    if dtype.kind == "f":
        _floats(dtype, edges[0], edges[-1])
        return Edges(edges, edges)
    if dtype.itemsize == 8:
        return Edges(edges, edges.view("u8") - edges.view("u8")[0])
    return Edges(edges, (edges.astype("i8") - int(edges[0])).astype("u4"))


def ascending(dtype: Any, given: Any) -> Any:
    """Edges as an array of the keys' type, which may reach from -inf to inf.

    Raise OptionError if the edges do not ascend, are too few or too many, or are not numbers of the type.
    """
    import numpy as np

    try:  # NumPy converts a list with 0 and 2 ** 64 - 1 to floats
        exact = dtype.kind != "f" and isinstance(given, (list, tuple)) and all(isinstance(edge, int) for edge in given)
        wanted = np.array(given, dtype) if exact else np.asarray(given)
    except OverflowError:
        raise OptionError(f"splitters must be numbers of {dtype}, as the keys are") from None
    except (TypeError, ValueError):  # lists of several depths, or of objects
        raise OptionError.wrong("splitters", "ascending numbers, one more than there are buckets", given) from None
    if getattr(given, "mask", None) is not None and np.any(given.mask):
        raise OptionError("splitters has nulls; fill them or drop them first")
    if wanted.ndim != 1 or wanted.dtype.kind not in "iuf" or not MIN_BUCKETS < len(wanted) <= MAX_BUCKETS + 1:
        raise OptionError(f"splitters must be {MIN_BUCKETS + 1} to {MAX_BUCKETS + 1} numbers, one more than there are buckets")
    with np.errstate(all="ignore"):
        edges = np.ascontiguousarray(wanted.astype(dtype))
    if dtype.kind != "f" and not np.array_equal(edges, wanted):
        raise OptionError(f"splitters must be numbers of {dtype}, as the keys are")
    if not (edges[1:] >= edges[:-1]).all() or edges[0] == edges[-1]:
        raise OptionError("splitters must ascend")
    return edges


def between_wide(given: Any) -> Edges:
    """Return buckets between ascending edges of 16 bytes: integers below 2 ** 128, pairs of words with the lower first, or items.

    >>> between_wide([0, 7, 1 << 64]).wide
    array([[0, 0],
           [7, 0],
           [0, 1]], dtype=uint64)
    """
    import numpy as np

    numbers = isinstance(given, (list, tuple)) and all(isinstance(edge, int) for edge in given)
    if numbers and all(0 <= edge < 1 << 128 for edge in given):
        words = np.array([[edge % 2**64, edge >> 64] for edge in given], np.uint64).reshape(-1, 2)
    else:
        items = np.asarray(given, None if hasattr(given, "dtype") else object)
        if items.dtype.itemsize == 16 and items.dtype.kind == "V":
            items = np.ascontiguousarray(items).view(np.uint64).reshape(-1, 2)
        if items.ndim != 2 or items.shape[1] != 2 or items.dtype != np.uint64:
            raise OptionError("splitters of keys of 16 bytes must be integers below 2 ** 128, or an array of such keys")
        words = np.ascontiguousarray(items)
    if not MIN_BUCKETS < len(words) <= MAX_BUCKETS + 1:
        raise OptionError(f"splitters must be {MIN_BUCKETS + 1} to {MAX_BUCKETS + 1} numbers, one more than there are buckets")
    low, high = words[:, 0], words[:, 1]
    rises = (high[1:] > high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] >= low[:-1]))
    if not rises.all() or (words[0] == words[-1]).all():
        raise OptionError("splitters must ascend")
    return Edges(words, words)


def _floats(dtype: Any, low: Any, high: Any) -> tuple[Any, Any]:
    import numpy as np

    with np.errstate(over="ignore"):
        low, high = dtype.type(low), dtype.type(high)
        fit = np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(high - low)
    if not fit:
        raise OptionError(
            f"range must be two finite numbers, the lower first, whose difference is finite in {dtype}, not ({low}, {high})"
        )
    return low, high
