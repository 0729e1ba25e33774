"""Replays long random histories on a hash map and on plain arrays, which share no code with it.

The arrays have a value for each possible key. The operations of a batch are sorted by key. Then the first operations of all keys
run at once, then the second ones, and so on. On a GPU the arrays are CuPy's, so 10^8 operations take less than a minute.

usage: python -m tests.index.hash_map.array_history_cases [--operations N] [--seed N] [--device cpu|cuda]
"""

from __future__ import annotations

import argparse
import importlib
import secrets
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace import Context, HashMap, MapOperation

_FIND, _INSERT, _ERASE, _REPLACE, _FIRST, _SUM, _MIN, _MAX = range(MapOperation.MAX + 1)
_REDUCTIONS = {_INSERT: "last", _FIRST: "first", _SUM: "sum", _MIN: "min", _MAX: "max"}
_SPAN_LOG, _BATCH_LOG = 23, 22  # maximum numbers of keys and of operations of a batch, as powers of two
_SCATTER = 0x9E3779B97F4A7C15  # an odd factor: distinct numbers have distinct keys


@dataclass(frozen=True)
class _Batch:
    """Operations, the numbers of their keys, and their values."""

    kinds: NDArray[np.uint8]
    numbers: NDArray[np.int64]
    values: NDArray[Any]

    def keys(self, dtype: str) -> NDArray[Any]:
        """Return the key of each number; that of number 0 has all bits set."""
        return (self.numbers.astype(np.uint64) * np.uint64(_SCATTER)).astype(f"u{dtype[-1]}").view(dtype) ^ np.array(-1, dtype)


class _Arrays:
    """The oracle: whether each key is present, and its value."""

    def __init__(self, dtype: str, device: str) -> None:
        self.module: Any = np if device == "cpu" else importlib.import_module("cupy")
        self.present = self.module.zeros(1 << _SPAN_LOG, bool)
        self.values = self.module.zeros(1 << _SPAN_LOG, dtype)

    def apply(self, batch: _Batch) -> tuple[Any, Any]:
        """Return the value of each key before its operation, and whether the key was present."""
        xp, count = self.module, len(batch.kinds)
        kinds, numbers, values = (xp.asarray(part) for part in (batch.kinds, batch.numbers, batch.values))
        rows = xp.sort(numbers << 32 | xp.arange(count)) & 0xFFFFFFFF
        by_key = numbers[rows]
        turns = xp.arange(count) - xp.searchsorted(by_key, by_key)
        by_turn = xp.argsort(turns)
        ends = xp.cumsum(xp.bincount(turns)).tolist()
        held, found = xp.zeros_like(values), xp.zeros(count, bool)
        for begin, end in zip([0, *ends], ends, strict=False):
            turn = rows[by_turn[begin:end]]
            at = numbers[turn]
            found[turn] = self.present[at]
            held[turn] = xp.where(self.present[at], self.values[at], self.values.dtype.type(0))
            self._run(kinds[turn], at, values[turn])
        return held, found

    def _run(self, kinds: Any, at: Any, given: Any) -> None:
        """Run operations on distinct keys."""
        xp, present, held = self.module, self.present[at], self.values[at]
        is_stored = (kinds == _INSERT) | (~present & (kinds >= _FIRST)) | (present & (kinds == _REPLACE))
        result = xp.where(is_stored, given, held)
        with np.errstate(over="ignore"):
            result = xp.where(~is_stored & (kinds == _SUM), held + given, result)
        result = xp.where(~is_stored & (kinds == _MIN), xp.minimum(held, given), result)
        result = xp.where(~is_stored & (kinds == _MAX), xp.maximum(held, given), result)
        self.values[at] = result
        self.present[at] = (present | is_stored) & (kinds != _ERASE)


def _batch(random: np.random.Generator, dtype: str) -> _Batch:
    """Return a batch of any size and number of keys. All operations have one kind, or any."""
    count = int(2 ** random.uniform(0, _BATCH_LOG))
    span = int(2 ** random.uniform(min(6, np.log2(count)), _SPAN_LOG))
    span = max(span, count // 64)  # each key has few operations, since these run one after the other here
    numbers = random.integers(0, span, count)
    if dtype[0] == "f":
        values = random.standard_normal(count, np.float32).astype(dtype)
    else:
        values = random.integers(-(1 << 63), 1 << 63, count, dtype=np.int64, endpoint=False).astype(dtype)
    kinds = np.full(count, random.integers(0, 8), np.uint8) if random.random() < 0.6 else random.integers(0, 8, count, np.uint8)
    return _Batch(kinds, numbers, values)


def _run(table: HashMap, batch: _Batch, xp: Any) -> tuple[Any, Any]:
    """Run a batch on a map, by the call of its kind if there is one. Return values and flags; None if the call has none."""
    keys, values, kind = xp.asarray(batch.keys(table.key_type[1:])), xp.asarray(batch.values), batch.kinds[0]
    if (batch.kinds != kind).any():
        found = table.apply(xp.asarray(batch.kinds), keys, values)
        return found.values, found.found
    if kind == _FIND:
        return tuple(table.find(keys))
    if kind == _ERASE:
        return None, table.erase(keys)
    if kind == _REPLACE:
        return None, table.replace(keys, values)
    table.upsert(keys, values, reduce=_REDUCTIONS[kind])
    return None, None


def replay(operations: int, seed: int, types: tuple[str, str], *, device: str) -> int:
    """Run `operations` operations or a few more, compare each result and at last all pairs, and return their number."""
    random, (key, value) = np.random.default_rng(seed), types
    table, oracle, done = HashMap(key, value, context=Context(device=device), seed=seed), _Arrays(value, device), 0
    xp, where = oracle.module, f"seed {seed}, {types}"
    while done < operations:
        batch = _batch(random, np.dtype(value).str[1:])
        held, found = oracle.apply(batch)
        for ours, expected in zip(_run(table, batch, xp), (held, found), strict=True):
            same = ours is None or bool((xp.asarray(ours).view("u1") == expected.view("u1")).all())
            assert same, f"{where}, after {done} operations"
        assert len(table) == int(oracle.present.sum()), f"{where}, after {done} operations"
        if random.integers(0, 20) == 0:
            table.compact()
        done += len(batch.kinds)
    numbers = xp.flatnonzero(oracle.present)
    found = table.find(xp.asarray(_Batch(batch.kinds, _host(numbers), batch.values).keys(table.key_type[1:])))
    assert bool(xp.asarray(found.found).all()), where
    assert bool((xp.asarray(found.values).view("u1") == oracle.values[numbers].view("u1")).all()), where
    return done


def _host(items: Any) -> NDArray[Any]:
    return items if isinstance(items, np.ndarray) else items.get()


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(62))
    parser.add_argument("--device", default="cuda")
    given: Any = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    sys.stdout.flush()
    for types in (("int64", "int64"), ("int32", "float32"), ("int64", "float64"), ("int32", "int32")):
        begin = time.perf_counter()
        done = replay(given.operations // 4, given.seed, types, device=given.device)
        sys.stdout.write(f"{types}: {done} operations, all results are right, {time.perf_counter() - begin:.1f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
