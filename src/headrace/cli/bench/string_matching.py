"""Measures searches for one pattern on the inputs of Ashkiani 2017, chapter 2.

The paper's machines: a Tesla K40c (288 GB/s), and a Xeon E5-2637 v2 with 16 threads. Texts are 2^25 characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import headrace
from headrace.cli.bench.experiment import Experiment, Row, Setting

_SIZE, _SMALL_SIZE = 1 << 25, 1 << 14
_LENGTHS = (4, 16, 64, 256, 1024)
_BEST_ON_2 = dict(zip(_LENGTHS, (54.84, 64.50, 35.06, 12.98, 4.86), strict=True))
_BEST_ON_256 = dict(zip(_LENGTHS, (62.68, 53.77, 53.73, 53.51, 53.04), strict=True))
"""GB/s of the fastest method on the K40c, by the length of the pattern (tables 2.2 and 2.3)."""


def _best(bits: int, printed: Mapping[int, float], setting: Setting) -> Iterator[Row]:
    """Yield the rate of `headrace.count` on random characters of `bits` bits, beside the paper's fastest method."""
    import numpy as np

    random = np.random.default_rng(bits)
    host = random.integers(0, 1 << bits, setting.size(_SIZE, _SMALL_SIZE), dtype=np.uint8)
    text, limit = setting.array(host), setting.read_rate(len(host))
    for length, paper in printed.items():
        pattern = headrace.Pattern(host[len(host) // 2 :][:length].tobytes())
        found = setting.host(headrace.find(text, pattern))
        setting.check(found.tolist() == _positions(host.tobytes(), pattern.pattern), f"find of {length} bytes")
        rate = len(host) / setting.seconds(partial(headrace.count, text, pattern)) / 1e9
        yield Row({"m": length}, rate, paper, share=rate / limit)


def _positions(text: bytes, pattern: bytes) -> list[int]:
    """Return all positions of a pattern."""
    found, at = [], text.find(pattern)
    while at >= 0:
        found.append(at)
        at = text.find(pattern, at + 1)
    return found


EXPERIMENTS = (
    Experiment("table-2.2", "binary text, 2^25 characters", "GB/s", "m", partial(_best, 1, _BEST_ON_2), "the read rate"),
    Experiment("table-2.3", "8-bit text, 2^25 characters", "GB/s", "m", partial(_best, 8, _BEST_ON_256), "the read rate"),
)
