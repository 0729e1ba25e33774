"""Counts floats by their bits, for edges whose difference is not finite, such as -inf, 0 and inf.

The bits of positive floats, as unsigned integers, ascend with the floats. The bits of negative floats lie above and descend. So
the keys of a bucket are one range of bits if they are positive and another if they are negative. A NaN is in neither range, and
-0.0 is counted with 0.0.
"""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.buckets import MAX_BUCKETS, Edges, between
from headrace.core.errors import OptionError


def reaches_far(edges: Any) -> bool:
    """Return whether the difference of the last and the first edge is not finite.

    >>> import numpy as np
    >>> reaches_far(np.array([0, np.inf])), reaches_far(np.array([-1.5, 2.0]))
    (True, False)
    """
    import numpy as np  # arrays are optional in this package

    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(edges[-1] - edges[0])


def bit_edges(edges: Any) -> Edges:
    """Return unsigned edges: m + 1 for the positive keys of m buckets, then m + 1 for the negative keys, in reverse.

    Raise OptionError if there are too many buckets.

    >>> import numpy as np
    >>> [hex(edge) for edge in bit_edges(np.array([-np.inf, 0, np.inf], np.float32)).given.tolist()]
    ['0x0', '0x0', '0x7f800000', '0x80000000', '0x80000001', '0xff800001']
    """
    import numpy as np

    max_buckets = MAX_BUCKETS // 2 - 1
    if len(edges) - 1 > max_buckets:
        raise OptionError(
            f"splitters whose difference is not finite in {edges.dtype} have at most {max_buckets} buckets, not {len(edges) - 1}"
        )
    unsigned = np.dtype(f"u{edges.itemsize}")
    magnitudes = np.abs(edges).view(unsigned)
    sign = unsigned.type(1 << (8 * edges.itemsize - 1))
    positive = np.where(edges > 0, magnitudes, 0)
    negative = sign + np.where(edges > 0, 0, magnitudes + 1)
    return between(unsigned, np.concatenate([positive, negative[::-1]]).astype(unsigned))


def folded(counts: Any) -> Any:
    """Return the counts of the buckets from the counts between `bit_edges`.

    >>> import numpy as np
    >>> folded(np.array([1, 2, 100, 30, 40]))
    array([41, 32])
    """
    buckets = len(counts) // 2
    return counts[:buckets] + counts[buckets + 1 :][::-1]
