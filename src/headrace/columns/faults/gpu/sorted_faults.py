"""Sorts the faults that kernels listed by record (columns/faults/sort_faults.cpp), and keeps those of a load on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import _native
from headrace.columns.convert.gpu.layouts import FAULT, FAULT_COLLECTED, NO_FIELD
from headrace.columns.faults.gpu.policies import FaultPolicies, kind_bit

NO_FAULTS: NDArray[np.void] = np.zeros(0, FAULT)
NO_RECORDS: NDArray[np.uint64] = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True)
class SortedFaults:
    """Faults by record."""

    faults: NDArray[np.void]
    record_kinds: int
    field_kinds: int
    has_repeats: bool  # the members of ListedKinds (columns/faults/sort_faults.hpp)

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

    `listed`: the list, as the kernels wrote it.
    `ranks`: rank of each kind.
    """
    if not len(listed):
        return SortedFaults(NO_FAULTS, 0, 0, has_repeats=False)
    result: NDArray[np.uint8] = _native.new_bytes(len(listed))
    kinds = _native.sort_faults(listed, result, ranks, records, threads)
    return SortedFaults(result.view(FAULT), *kinds)


def merged(faults: NDArray[np.void], others: NDArray[np.void]) -> NDArray[np.void]:
    """Return faults of two lists that are sorted by record, sorted by record."""
    if not len(faults) or not len(others):
        return faults if len(faults) else others
    both = np.concatenate([faults, others])
    return both[np.argsort(both["record"], kind="stable")]


def is_first(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each of sorted values whether it differs from the one before."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


class HostFaults:
    """The faults of one load that are on the host, sorted by record. `policies`: outcomes by kind of fault."""

    def __init__(self, policies: FaultPolicies) -> None:
        self._policies = policies
        self._of_records = self._of_fields = NO_FAULTS
        self.kinds = 0  # a bit for each kind of the faults
        self.collected = NO_FAULTS  # records whose further fields are collected
        self.rejected = NO_RECORDS  # records that their own faults reject, ascending

    def sort(self, listed: NDArray[np.uint8], records: int, threads: int) -> SortedFaults:
        """Return faults as `sort_faults` does, and note their kinds."""
        result = sort_faults(listed, self._policies.order, records, threads)
        self.kinds |= result.record_kinds | result.field_kinds
        return result

    def take_records(self, listed: SortedFaults) -> None:
        """Take the faults of whole records: one for each record."""
        faults, kinds = listed.of_records, listed.record_kinds
        self.collected, self.rejected = NO_FAULTS, NO_RECORDS
        if kinds & kind_bit(FAULT_COLLECTED):
            is_collected = faults["kind"] == FAULT_COLLECTED
            self.collected, faults = faults[is_collected], faults[~is_collected]
        self._of_records = faults[is_first(faults["record"])] if listed.has_repeats else faults
        if kinds & ~self._policies.retained_mask:
            self.rejected = np.ascontiguousarray(self._rejecting(self._of_records)["record"])
            self.collected = self.collected[~np.isin(self.collected["record"], self.rejected)]

    def take_fields(self, faults: NDArray[np.void], columns: Sequence[int] = ()) -> None:
        """Take faults of fields, which replace those of some columns."""
        others = self._of_fields[~np.isin(self._of_fields["column"], columns)] if len(columns) else self._of_fields
        self._of_fields = merged(others, faults)

    def retained(self, faults: NDArray[np.void]) -> NDArray[np.void]:
        """Return the faults outside of records that their own faults reject."""
        if not len(faults) or not len(self.rejected):
            return faults
        return faults[~np.isin(faults["record"], self.rejected)]

    def listed(self) -> NDArray[np.void]:
        """Return all faults, by record."""
        return merged(self._of_records, self._of_fields)

    def first_raised(self, listed: NDArray[np.void]) -> int | None:
        """Return the first record with a fault that raises; None without one."""
        if not self.kinds & self._policies.raised_mask:
            return None
        is_raised = self._policies.raises[listed["kind"]]
        return int(listed["record"][np.argmax(is_raised)]) if is_raised.any() else None

    @property
    def may_reject(self) -> bool:
        """True if some kind of fault rejects its record."""
        return bool(self.kinds & ~self._policies.retained_mask)

    def rejected_in(self, listed: NDArray[np.void]) -> NDArray[np.uint64]:
        """Return the records that some listed fault rejects, ascending."""
        rejected = self._rejecting(listed)["record"]
        return rejected[is_first(rejected)]

    def _rejecting(self, faults: NDArray[np.void]) -> NDArray[np.void]:
        return faults[~self._policies.keeps[faults["kind"]]]
