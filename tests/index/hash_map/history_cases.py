"""Replays random histories of mixed batches on a hash map and on a Python dictionary.

usage: python -m tests.index.hash_map.history_cases [--operations N] [--seed N] [--device cpu|cuda]
"""

from __future__ import annotations

import argparse
import secrets
import sys
from typing import Any

import numpy as np

from headrace import Context, HashMap, MapOperation

_FIND, _INSERT, _ERASE, _REPLACE, _FIRST, _SUM, _MIN, _MAX = _OPERATIONS = list(MapOperation)[: MapOperation.MAX + 1]
_WRAP, _HALF = 1 << 64, 1 << 63


def replay(operations: int, seed: int, *, device: str = "cpu", max_batch: int = 200_000) -> int:
    """Run `operations` operations or a few more, compare each result and at last all pairs, and return their number."""
    random = np.random.default_rng(seed)
    table, pairs, done = HashMap("int64", "int64", context=Context(device=device), seed=seed), dict[int, int](), 0
    while done < operations:
        count = int(2 ** random.uniform(0, np.log2(max_batch)))
        span = int(2 ** random.uniform(0, 22))
        keys = random.integers(-1, span, count)
        values = random.integers(-_HALF, _HALF - 1, count, endpoint=True)
        weights = random.dirichlet(np.ones(len(_OPERATIONS)))
        kinds = random.choice(len(_OPERATIONS), count, p=weights).astype(np.uint8)
        found = table.apply(kinds, keys, values)
        held, flags = (part if isinstance(part, np.ndarray) else part.to_numpy() for part in found)
        expected = _applied(pairs, kinds.tolist(), keys.tolist(), values.tolist())
        before = np.array([0 if one is None else one for one in expected], np.int64)
        assert (held == before).all(), f"seed {seed}, after {done} operations"
        assert flags.tolist() == [one is not None for one in expected], f"seed {seed}, after {done} operations"
        assert len(table) == len(pairs), f"seed {seed}, after {done} operations"
        if random.integers(0, 9) == 0:
            table.compact()
        done += count
    items = [part if isinstance(part, np.ndarray) else part.to_numpy() for part in table.items()]
    assert dict(zip(*(part.tolist() for part in items), strict=True)) == pairs, f"seed {seed}"
    return done


def _applied(pairs: dict[int, int], kinds: list[int], keys: list[int], values: list[int]) -> list[int | None]:
    """Run the operations on the dictionary, and return the value of each key before its operation."""
    before: list[int | None] = []
    for kind, key, value in zip(kinds, keys, values, strict=True):
        held = pairs.get(key)
        before.append(held)
        if kind == _ERASE:
            pairs.pop(key, None)
        elif kind == _INSERT or (held is None and kind >= _FIRST) or (held is not None and kind == _REPLACE):
            pairs[key] = value
        elif held is not None and kind >= _SUM:
            pairs[key] = _reduced(kind, held, value)
    return before


def _reduced(kind: int, held: int, value: int) -> int:
    if kind == _SUM:
        return (held + value + _HALF) % _WRAP - _HALF
    return min(held, value) if kind == _MIN else max(held, value)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(62))
    parser.add_argument("--device", default="cpu")
    given: Any = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    sys.stdout.flush()
    done = replay(given.operations, given.seed, device=given.device)
    sys.stdout.write(f"{done} operations: all results are right\n")


if __name__ == "__main__":
    _main()
