"""Runs the slab hash with several values for a key in the fiber harness, on arrays of NumPy."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.index.hash_map.gpu.multimap.multi_slab_hash import MultiSlabHash, SortedValues
from headrace.index.hash_map.gpu.slab_kernels import Rows
from headrace.index.hash_map.gpu.tables.mixed_slab_hash import MixedRows
from headrace.index.hash_map.gpu.tuning import SlabTuning
from headrace.index.hash_map.operations import MULTI_KINDS, MapOperation
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.hash_map_cases import bits_of
from tests.index.hash_map.slab_hash_cases import row_numbers

TYPES = {(4, 4): ("int32", "uint32"), (4, 8): ("float32", "int64"), (8, 4): ("uint64", "int32"), (8, 8): ("int64", "uint64")}


class FiberMultiMap:
    """A multimap in the harness, with arrays of NumPy."""

    def __init__(self, widths: tuple[int, int], launcher: FiberLauncher, tuning: SlabTuning, seed: int = 0) -> None:
        self.launcher, self.map = launcher, MultiSlabHash(launcher, widths, tuning=tuning, seed=seed)
        self.key, self.value = TYPES[widths]

    def rows(self, keys: NDArray[Any], values: NDArray[Any] | None = None) -> Rows:
        """Return a batch."""
        return Rows(self.launcher.put(keys), None if values is None else self.launcher.put(values), len(keys))

    def insert(self, keys: NDArray[Any], values: NDArray[Any]) -> None:
        """Insert pairs."""
        self.map.insert(self.launcher, self.rows(keys, values))

    def counts(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of values of each key."""
        return self._counted(keys)[0]

    def _counted(self, keys: NDArray[Any]) -> tuple[NDArray[np.int64], SortedValues | None]:
        counts = self.launcher.allocate(len(keys) * 8)
        ordered = self.map.count(self.launcher, self.rows(keys), counts)
        return self.launcher.fetch(counts).view(np.int64), ordered

    def find_all(self, keys: NDArray[Any]) -> list[list[int]]:
        """Return the sorted bits of the values of each key."""
        counts, ordered = self._counted(keys)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        values = self.launcher.allocate(int(offsets[-1]) * np.dtype(self.value).itemsize)
        rows = self.map.copy_values(self.launcher, self.rows(keys), self.launcher.put(offsets), values, ordered)
        found = self.launcher.fetch(values).view(self.value)
        assert self.launcher.fetch(rows).view(np.uint32).tolist() == np.repeat(np.arange(len(keys)), np.diff(offsets)).tolist()
        return [sorted(bits_of(found[begin:end])) for begin, end in pairwise(offsets)]

    def erase(self, keys: NDArray[Any]) -> list[bool]:
        """Return for each key whether it had a value."""
        launcher, found = self.launcher, self.launcher.allocate(len(keys))
        operations = launcher.allocate(len(keys), fill=MapOperation.ERASE)
        mixed = MixedRows(operations, self.rows(keys), None, found, np.dtype(self.value).kind, MULTI_KINDS.known)
        self.map.run_in_order(launcher, mixed, launcher.allocate(8 * len(keys)), launcher.put(row_numbers(keys)))
        flags: list[bool] = launcher.fetch(found).view(bool).tolist()
        return flags

    def erase_all(self, keys: NDArray[Any]) -> list[int]:
        """Return the number of erased pairs of each row."""
        counts = self.launcher.allocate(len(keys) * 8)
        self.map.erase_all(self.launcher, self.rows(keys), counts)
        found: list[int] = self.launcher.fetch(counts).view(np.int64).tolist()
        return found

    def apply(self, operations: NDArray[np.uint8], keys: NDArray[Any], values: NDArray[Any]) -> tuple[list[int], list[int]]:
        """Return the bits of the first value for each `find`, and the number of values before each operation."""
        launcher, value = self.launcher, np.dtype(self.value)
        firsts, counts = launcher.allocate(len(keys) * value.itemsize), launcher.allocate(len(keys) * 8)
        mixed = MixedRows(launcher.put(operations), self.rows(keys, values), firsts, None, value.kind, MULTI_KINDS.known)
        self.map.run_in_order(launcher, mixed, counts, launcher.put(row_numbers(keys)))
        return bits_of(launcher.fetch(firsts).view(value)), launcher.fetch(counts).view(np.int64).tolist()

    def items(self) -> Counter[tuple[int, int]]:
        """Return the bits of all pairs."""
        size = self.map.size
        keys = self.launcher.allocate(size * np.dtype(self.key).itemsize)
        values = self.launcher.allocate(size * np.dtype(self.value).itemsize)
        self.map.items(self.launcher, keys, values)
        fetched = self.launcher.fetch(keys).view(self.key), self.launcher.fetch(values).view(self.value)
        return Counter(zip(*map(bits_of, fetched), strict=True))
