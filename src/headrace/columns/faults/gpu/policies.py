"""Gives the outcomes of faults as masks and ranks of their kinds, for kernels and for lists of faults."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headrace.columns.convert.gpu.layouts import FAULT_COLLECTED, FAULT_DEFERRED, FaultListing
from headrace.columns.faults.rejects import FAULT_KINDS
from headrace.columns.plan.row_policy import RowRules, fault_outcomes

ALL_KINDS = (1 << len(FAULT_KINDS)) - 1
ENCODING_FAULT, QUOTE_FAULT = FAULT_KINDS.index("encoding"), FAULT_KINDS.index("quote")
_RAISES_DEFERRED = 1 << 31


def kind_bit(kind: int) -> int:
    """Return the bit of a kind in ListedKinds (columns/faults/sort_faults.hpp)."""
    return 1 << kind % 32


@dataclass(frozen=True, slots=True)
class FaultPolicies:
    """Outcomes by kind of fault."""

    raises: NDArray[np.bool_]  # True if the load raises an error
    keeps: NDArray[np.bool_]  # True if the record remains a row
    order: list[int]  # rank of each kind among several faults of one record: the lowest counts
    raised_mask: int
    retained_mask: int  # the same as bits of kinds
    listed_masks: tuple[int, int]
    """Kinds of faults of records, and of fields, of which the list and the records' texts have all that the table shows."""
    listing: FaultListing  # the listing of a first conversion


@cache
def fault_policies(rows: RowRules, on_error: str, lenient: bool, capacity: int, replaces: bool) -> FaultPolicies:
    """Return the outcomes of a plan.

    `rows`, `on_error`: as for `headrace.columns.plan.row_policy.fault_outcomes`.
    `capacity`: faults that the first list holds.
    `replaces`: whether invalid UTF-8 is replaced.
    """
    outcomes = fault_outcomes(rows, on_error, lenient=lenient)
    raises = np.array([outcome == "raise" for outcome in outcomes])
    bits = sum(1 << kind for kind in range(len(FAULT_KINDS)) if raises[kind]) | (_RAISES_DEFERRED if raises[0] else 0)
    if replaces:  # most of the listed fields will be mended
        bits &= ~(_RAISES_DEFERRED | 1 << ENCODING_FAULT)
    keeps = np.array([outcome == "keep" for outcome in outcomes])
    # Malformed quotes rank before wrong numbers of fields. Lenient quotes leave the record as it is, so they rank last.
    order = [9, 9, 9, 3 if lenient else 1, 0, 2, 2]
    masks = [sum(1 << kind for kind in np.flatnonzero(flags).tolist()) for flags in (raises, keeps)]
    retained = masks[1] | kind_bit(FAULT_COLLECTED) | kind_bit(FAULT_DEFERRED)
    # As is_listed of columns/faults/resolve.cpp.
    counts_fields = rows.fill_short and on_error == "reject"
    of_fields = (1 << QUOTE_FAULT) - 1 & ~(replaces << ENCODING_FAULT) & ~masks[0]
    listed = (0, 0) if counts_fields or rows.collect_long else (lenient << QUOTE_FAULT & ~masks[0], of_fields)
    return FaultPolicies(raises, keeps, order, masks[0], retained, listed, FaultListing(capacity=capacity, raise_mask=bits))
