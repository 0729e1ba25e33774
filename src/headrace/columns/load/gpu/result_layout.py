"""Places the results of a search and a conversion in one buffer, which the host reads with one copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.layouts import SIGHTINGS, TOTALS_WORDS
from headrace.core.layouts.layout import layout
from headrace.structure.gpu.launches import VARIANTS_BYTES

_LEFT_WORD = layout("ConvertTotals").offset("left") // 8
FIRST_SEEN_BYTES = 2 * SIGHTINGS * 8  # bytes of a column's first occurrences: position and record of each kind


COUNTS_BEGIN = TOTALS_WORDS * 8  # first byte of the values of each column in a conversion's counts


def counts_bytes(columns: int) -> int:
    """Return the bytes of a conversion's counts: totals of faults, and the values of each column."""
    return (TOTALS_WORDS + columns) * 8


def has_declined(results: NDArray[np.uint8]) -> bool:
    """Return whether the fast conversion has left tiles or fields to the general one, from the results of a conversion."""
    return bool(results[8 * _LEFT_WORD : 8 * _LEFT_WORD + 8].any())


def results_bytes(columns: int, infers: bool) -> int:
    """Return the bytes of a conversion's results: the counts, and the first occurrences of each column."""
    return counts_bytes(columns) + columns * FIRST_SEEN_BYTES * infers


class ResultLayout:
    """Offsets of results in the buffer that begins with the search's totals, so that the host fetches all with one copy.

    The totals are followed by the bytes of each column of strings, the word of `validate_estimate` (`word`), and the results of
    the first conversion (`results`).
    """

    def __init__(self, columns: int, infers: bool) -> None:
        self.word = VARIANTS_BYTES + -(-columns // 2) * 16
        self.results = self.word + 16
        self.end = self.results + -(-results_bytes(columns, infers) // 16) * 16
