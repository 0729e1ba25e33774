"""Merges dictionaries in slices on the CPU (slices.hpp)."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrange.gather.take import address_of
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.context import Context
from headrace.store.dictionary.paper.library_merges import MergedNumbers

_SLICE_VALUES = 1 << 13  # main values of a slice, if the caller does not choose the number of slices


def merge_by_slices(main: Any, delta: Any, context: Context, slices: int | None = None) -> MergedNumbers:
    """Merge dictionaries of unsigned integers of 4 or 8 bytes in equal slices of main.

    `main`, `delta`: ascending arrays of NumPy without duplicates.
    `slices`: number of slices; None for slices that fit a core's cache.
    """
    import numpy as np

    count = max(1, len(main) // _SLICE_VALUES) if slices is None else slices
    sections: Any = np.empty(len(main) + len(delta), main.dtype)
    merged: Any = np.empty_like(sections)
    tables: list[Any] = [np.empty(len(part), np.uint32) for part in (main, delta)]
    order = KeyOrder.of(main.dtype.str).packed
    given = address_of(main), address_of(delta), (len(main), len(delta)), main.dtype.itemsize, order
    to = address_of(tables[0]), address_of(tables[1])
    found = _native.merge_in_slices(given, count, address_of(sections), address_of(merged), to, context.thread_count)
    return MergedNumbers(merged[:found], *tables)
