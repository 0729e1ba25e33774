"""Sorts the faults that kernels listed by record (columns/faults/sort_faults.cpp), and selects some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.convert.gpu.layouts import FAULT, NO_FIELD

NO_FAULTS: NDArray[np.void] = np.zeros(0, FAULT)


@dataclass(frozen=True, slots=True)
class SortedFaults:
    """Faults by record.

    Parameters
    ----------
    faults
        The faults.
    record_kinds, field_kinds, has_repeats
        The members of ListedKinds (columns/faults/sort_faults.hpp).
    """

    faults: NDArray[np.void]
    record_kinds: int
    field_kinds: int
    has_repeats: bool

    @property
    def of_records(self) -> NDArray[np.void]:
        """The faults of whole records."""
        if not self.field_kinds or not self.record_kinds:
            return self.faults if self.record_kinds else NO_FAULTS
        return self.faults[self.faults["column"] == NO_FIELD]

    @property
    def of_fields(self) -> NDArray[np.void]:
        """The faults of fields."""
        if not self.field_kinds or not self.record_kinds:
            return self.faults if self.field_kinds else NO_FAULTS
        return self.faults[self.faults["column"] != NO_FIELD]


def sort_faults(listed: NDArray[np.uint8], ranks: Sequence[int], records: int, threads: int) -> SortedFaults:
    """Return listed faults by record. In a record its own faults come first, by the rank of their kind.

    Parameters
    ----------
    listed
        The list, as the kernels wrote it.
    ranks
        Rank of each kind.
    records
        Number of records.
    threads
        Number of threads.
    """
    if not len(listed):
        return SortedFaults(NO_FAULTS, 0, 0, has_repeats=False)
    result: NDArray[np.uint8] = _native.new_bytes(len(listed))
    kinds = _native.sort_faults(listed, result, ranks, records, threads)
    return SortedFaults(result.view(FAULT), *kinds)


def kind_bit(kind: int) -> int:
    """Return the bit of a kind in ListedKinds (columns/faults/sort_faults.hpp)."""
    return 1 << kind % 32


def merged(faults: NDArray[np.void], others: NDArray[np.void]) -> NDArray[np.void]:
    """Return faults of two lists that are sorted by record, sorted by record."""
    if not len(faults) or not len(others):
        return faults if len(faults) else others
    both = np.concatenate([faults, others])
    return both[np.argsort(both["record"], kind="stable")]


def is_first(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each of sorted values whether it differs from the one before."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]
