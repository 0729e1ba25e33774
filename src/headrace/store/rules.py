"""Defines the rules of a store that its changes obey."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.core.context import Context
from headrace.store.keys.store_key import StoreKey
from headrace.store.triggers import MergeTriggers

DUPLICATE_POLICIES = ("raise", "replace", "keep")


@dataclass(frozen=True, slots=True)
class StoreRules:
    """The rules of a store that its changes obey."""

    key: StoreKey | None  # the key; None without one
    on_duplicate: str  # a value of `DUPLICATE_POLICIES`
    triggers: MergeTriggers  # thresholds of merges
    context: Context  # threads and memory of each call, on the host
    merge_context: Context  # the same of a merge, which may run on a GPU
