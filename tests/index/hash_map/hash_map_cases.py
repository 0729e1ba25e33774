"""Replays histories of operations on Python dictionaries: the oracle of the hash maps, which shares no code with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import MapOperation

NAMES = [operation.name.lower() for operation in MapOperation if operation <= MapOperation.MAX]
"""Operations of a map, by their numbers."""
MULTI_NAMES = ["find", "insert", "erase", "count", "erase_all"]
"""Operations of a multimap."""
TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")
PAIRS = [(key, value) for key in TYPES for value in TYPES if TYPES.index(key) == (TYPES.index(value) + 2) % 6 or key == value]
"""Pairs of types of keys and values with each width of both."""


def numbers_of(dtype: str, random: np.random.Generator, count: int, span: int = 200) -> NDArray[Any]:
    """Return `count` numbers of few distinct bits, among them all bits set, none set, NaN and both zeros."""
    kind = np.dtype(dtype)
    bits = np.dtype(f"u{kind.itemsize}")
    numbers = random.integers(0, span, count).astype(bits)
    special = [0, np.iinfo(bits).max, np.iinfo(bits).max - 1, 1 << (8 * kind.itemsize - 1)]
    for number, item in enumerate(special):
        numbers[random.integers(0, 20, count) == number] = bits.type(item)
    if kind.kind == "f":
        numbers[random.integers(0, 20, count) == 5] = np.array([np.nan], kind).view(bits)[0]
    return numbers.view(kind)


def bits_of(items: Any) -> list[int]:
    """Return the bits of numbers as Python integers."""
    array = items if isinstance(items, np.ndarray) else items.to_numpy()
    return array.view(f"u{array.dtype.itemsize}").tolist()


class MapOracle:
    """A map of bits in a dictionary; values are reduced one by one by NumPy."""

    def __init__(self) -> None:
        self.pairs: dict[int, Any] = {}

    def upsert(self, keys: NDArray[Any], values: NDArray[Any], reduce: str) -> int:
        """Return the number of keys added."""
        before = len(self.pairs)
        with np.errstate(all="ignore"):
            for key, value in zip(bits_of(keys), values, strict=True):
                held = self.pairs.get(key)
                self.pairs[key] = value if held is None else _reduced(held, value, reduce)
        return len(self.pairs) - before

    def replace(self, keys: NDArray[Any], values: NDArray[Any]) -> list[bool]:
        """Return for each key whether it is present."""
        found = [key in self.pairs for key in bits_of(keys)]
        for key, value, is_found in zip(bits_of(keys), values, found, strict=True):
            if is_found:
                self.pairs[key] = value
        return found

    def erase(self, keys: NDArray[Any]) -> list[bool]:
        """Return for each key whether it was present."""
        return [self.pairs.pop(key, None) is not None for key in bits_of(keys)]

    def apply(self, operations: list[str], keys: NDArray[Any], values: NDArray[Any]) -> tuple[list[int], list[bool]]:
        """Return the bits of the value of each key before its operation, and whether the key is present then."""
        held = np.zeros(len(keys), values.dtype)
        found = []
        for row, (operation, key) in enumerate(zip(operations, bits_of(keys), strict=True)):
            one = slice(row, row + 1)
            found.append(key in self.pairs)
            if found[row]:
                held[row] = self.pairs[key]
            match operation:
                case "find":
                    pass
                case "erase":
                    self.pairs.pop(key, None)
                case "replace":
                    self.replace(keys[one], values[one])
                case _:
                    self.upsert(keys[one], values[one], "last" if operation == "insert" else operation)
        return bits_of(held), found

    def find(self, keys: NDArray[Any], dtype: str) -> tuple[list[int], list[bool]]:
        """Return the bits of values, and whether each key is present."""
        zero = np.dtype(dtype).type(0)
        found = np.array([self.pairs.get(key, zero) for key in bits_of(keys)], dtype)
        return bits_of(found), [key in self.pairs for key in bits_of(keys)]

    def items(self, dtype: str) -> list[tuple[int, int]]:
        """Return the bits of all pairs, by key."""
        values = bits_of(np.array(list(self.pairs.values()), dtype))
        return sorted(zip(self.pairs, values, strict=True))


@dataclass(frozen=True)
class History:
    """A batch of mixed operations and its results: the bits of values before each, and whether the key was present."""

    operations: list[str]
    keys: NDArray[Any]
    values: NDArray[Any]
    held: list[int]
    found: list[bool]

    def check_linearised(self, before: dict[int, Any], after: list[tuple[int, int]]) -> None:
        """Check that the operations of each key have an order that leads from its state before the batch to that after it.

        The states of a key are nodes, and an operation is an edge from the state that it has found to the next one. An order of
        all operations is a path that uses each edge once (Euler). The edges must be connected with the first state. Each state
        must be left as often as it is entered. The first one is left once more, the last one entered once more.
        """
        zero = np.zeros(1, self.values.dtype)[0]
        last = dict(after)
        edges: dict[int, list[tuple[int | None, int | None]]] = defaultdict(list)
        for row, key in enumerate(bits_of(self.keys)):
            one = slice(row, row + 1)
            oracle = MapOracle()
            if self.found[row]:
                oracle.pairs[key] = np.array([self.held[row]], f"u{zero.itemsize}").view(zero.dtype)[0]
            else:
                assert self.held[row] == 0
            start = self.held[row] if self.found[row] else None
            oracle.apply([self.operations[row]], self.keys[one], self.values[one])
            edges[key].append((start, _bits_or_none(oracle.pairs.get(key), zero)))
        for key in {*before, *last, *edges}:
            ends = _bits_or_none(before.get(key), zero), last.get(key)
            assert _has_path(edges[key], *ends), (key, ends, edges[key])


def _bits_or_none(value: Any, zero: Any) -> int | None:
    return None if value is None else bits_of(np.array([value], zero.dtype))[0]


def _has_path(edges: list[tuple[int | None, int | None]], first: int | None, last: int | None) -> bool:
    """Return whether a path from `first` to `last` uses each edge once (Euler)."""
    left = Counter(start for start, _ in edges)
    left.subtract(end for _, end in edges)
    left[first] -= 1
    left[last] += 1
    reached, fresh = {first}, {first}
    while fresh:
        fresh = {end for start, end in edges if start in fresh} - reached
        reached |= fresh
    return not any(left.values()) and all(start in reached for start, _ in edges)


def _reduced(held: Any, value: Any, reduce: str) -> Any:
    if reduce == "last":
        return value
    if reduce == "first":
        return held
    if reduce == "sum":
        return held + value
    if np.isnan(held):
        return held
    if np.isnan(value):
        return value
    return value if (value < held if reduce == "min" else value > held) else held


class MultiMapOracle:
    """A multimap of bits: a sorted list of values for each key."""

    def __init__(self) -> None:
        self.lists: dict[int, list[Any]] = defaultdict(list)

    def insert(self, keys: NDArray[Any], values: NDArray[Any]) -> None:
        """Add pairs."""
        for key, value in zip(bits_of(keys), values, strict=True):
            self.lists[key].append(value)
            self.lists[key].sort(key=total_order)

    def erase(self, keys: NDArray[Any]) -> list[bool]:
        """Remove the smallest value of each key."""
        return [bool(self.lists[key]) and self.lists[key].pop(0) is not None for key in bits_of(keys)]

    def erase_all(self, keys: NDArray[Any]) -> list[int]:
        """Remove all values of each key."""
        return [len(self.lists.pop(key, [])) for key in bits_of(keys)]

    def apply(self, operations: list[str], keys: NDArray[Any], values: NDArray[Any]) -> tuple[list[int], list[int]]:
        """Return the bits of the first value for each `find` and `erase`, 0 for others, and the number of values before each."""
        firsts, counts = np.zeros(len(keys), values.dtype), []
        for row, (operation, key) in enumerate(zip(operations, bits_of(keys), strict=True)):
            one, held = slice(row, row + 1), self.lists[key]
            counts.append(len(held))
            if held and operation in {"find", "erase"}:
                firsts[row] = held[0]
            match operation:
                case "insert":
                    self.insert(keys[one], values[one])
                case "erase":
                    self.erase(keys[one])
                case "erase_all":
                    self.erase_all(keys[one])
        return bits_of(firsts), counts

    def pairs(self, dtype: str) -> list[tuple[int, int]]:
        """Return the bits of all pairs, sorted."""
        return sorted((key, bits) for key, many in self.lists.items() for bits in bits_of(np.array(many, dtype)))

    def find_all(self, keys: NDArray[Any]) -> list[list[Any]]:
        """Return the values of each key."""
        return [self.lists[key] for key in bits_of(keys)]


def total_order(value: Any) -> Any:
    """Return a key that sorts numbers as IEEE's totalOrder does."""
    if value.dtype.kind != "f":
        return int(value)
    width = value.dtype.itemsize
    bits = int(value.view(f"i{width}"))
    return bits if bits >= 0 else -(bits & ((1 << (8 * width - 1)) - 1)) - 1
