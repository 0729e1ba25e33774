"""A sorted dictionary that a sorted map must equal, and keys that are hard to order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from headrace import SortedMap

try:
    from sortedcontainers import SortedDict
except ImportError:  # the keys of a plain dictionary are sorted for each check
    SortedDict = None

KEY_TYPES = ["u4", "i4", "f4", "u8", "i8", "f8", "M8[ms]", "m8[s]"]


def hard_keys(dtype: str, count: int, spread: int, seed: int) -> np.ndarray[Any, Any]:
    """Return `count` keys out of about `spread` values, with the extremes of the type, NaN, NaT and both zeros."""
    kind, random = np.dtype(dtype), np.random.default_rng(seed)
    keys = random.integers(0, spread, count).astype("i8").astype(kind)
    if kind.kind == "f":
        keys -= kind.type(spread // 2)
    for number, special in enumerate(special_keys(dtype)):
        keys[random.integers(0, 4 * spread, count) == number] = special
    return keys


def special_keys(dtype: str) -> list[Any]:
    """Return the extremes of a type, NaN, NaT and both zeros."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return [np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf, np.finfo(kind).max]
    if kind.kind in "mM":
        return [kind.type("NaT"), np.array(2**63 - 1).astype(kind)]
    return [np.iinfo(kind).min, np.iinfo(kind).max]


class Model:
    """A sorted map by `sortedcontainers.SortedDict`. Keys are ranked by their order in `headrace.sort`."""

    def __init__(self) -> None:
        self.items: dict[Any, int] = {} if SortedDict is None else SortedDict()

    def update(self, keys: Any, values: Any, deletes: Any) -> None:
        """Apply a batch."""
        gone = {_rank(key) for key, is_deleted in zip(keys, deletes, strict=True) if is_deleted}
        for key, value in zip(keys, values, strict=True):
            self.items[_rank(key)] = value
        for key in gone:
            self.items.pop(key, None)

    @property
    def ranks(self) -> list[Any]:
        """The keys in ascending order."""
        return sorted(self.items) if SortedDict is None else list(self.items)

    def copy(self) -> Model:
        """Return a model that does not change with this one."""
        result = Model()
        result.items = self.items.copy()
        return result

    def check(self, found: Any, queries: Any) -> None:
        """Compare all reads of a map or snapshot but those of all items with the dictionary."""
        ranks = self.ranks
        wanted = [_rank(key) for key in queries]
        values, mask = found.find(queries)
        assert mask.tolist() == [key in self.items for key in wanted]
        assert values.tolist() == [self.items.get(key, 0) for key in wanted]
        lows, highs = queries[: len(queries) // 2], queries[-(len(queries) // 2) :]
        spans = [
            ranks[bisect_left(ranks, _rank(low)) : bisect_right(ranks, _rank(high))] if _rank(low) <= _rank(high) else []
            for low, high in zip(lows, highs, strict=True)
        ]
        assert found.count(lows, highs).tolist() == [len(span) for span in spans]
        offsets, keys, values = found.range(lows, highs)
        assert offsets.tolist() == [0, *np.cumsum([len(span) for span in spans]).tolist()]
        flat = [key for span in spans for key in span]
        assert [_rank(key) for key in keys] == flat
        assert values.tolist() == [self.items[key] for key in flat]
        for inclusive in (False, True):
            after = bisect_left if inclusive else bisect_right
            places = [after(ranks, key) for key in wanted]
            self._check_neighbours(found.successor(queries, inclusive=inclusive), [ranks[i : i + 1] for i in places])
            before = bisect_right if inclusive else bisect_left
            expected = [ranks[max(before(ranks, key) - 1, 0) : before(ranks, key)] for key in wanted]
            self._check_neighbours(found.predecessor(queries, inclusive=inclusive), expected)
        ends = (None, None) if not ranks else ((ranks[0], self.items[ranks[0]]), (ranks[-1], self.items[ranks[-1]]))
        for end, expected in zip((found.min(), found.max()), ends, strict=True):
            assert expected == (None if end is None else (_rank(end[0]), end[1]))

    def check_items(self, found: Any) -> None:
        """Compare all items in order, which merges levels."""
        ranks = self.ranks
        assert len(found) == len(ranks)
        keys, values = found.items()
        assert [_rank(key) for key in keys] == ranks
        assert values.tolist() == [self.items[key] for key in ranks]

    def _check_neighbours(self, found: Any, expected: list[list[Any]]) -> None:
        assert found.mask.tolist() == [len(key) > 0 for key in expected]
        assert [_rank(key) for key in found.keys[found.mask]] == [key for span in expected for key in span]
        assert found.values.tolist() == [self.items[key[0]] if key else 0 for key in expected]
        assert not found.keys[~found.mask].view("u1").any()


def _rank(key: Any) -> tuple[bool, Any]:
    """Return a key of Python that is ordered as the map orders it: NaN and NaT last and equal, -0 equal to 0."""
    if isinstance(key, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(key)), 0 if np.isnat(key) else int(key.astype("i8"))
    return bool(np.isnan(key)), 0 if np.isnan(key) else key.item() + 0  # -0.0 + 0 is 0.0


def filled(dtype: str, batches: list[Any], **options: Any) -> SortedMap:
    """Return a map after batches of keys, values and deletes, none of which waits for the next one."""
    result = SortedMap(dtype, "i8", **options)
    for keys, values, deletes in batches:
        result.update(keys, values, deletes=deletes)
        result.snapshot()
    return result


def random_batch(dtype: str, count: int, spread: int, seed: int) -> tuple[Any, Any, Any]:
    """Return keys, values and deletes, a quarter of which are set."""
    random = np.random.default_rng(seed)
    return hard_keys(dtype, count, spread, seed), random.integers(1, 1 << 60, count), random.integers(0, 4, count) == 0


def pattern_batch(dtype: str, number: int) -> tuple[Any, Any, Any]:
    """Return a batch of 5 keys: an extreme one, one that is deleted and never inserted, and others of 60, a quarter deleted."""
    keys, values, deletes = random_batch(dtype, 5, 60, number)
    specials = special_keys(dtype)
    keys[0] = specials[number % len(specials)]
    keys[1], deletes[1] = np.array(100 + number).astype(dtype), True
    return keys, values, deletes


def pattern_queries(dtype: str, number: int) -> Any:
    """Return keys for reads of a map of such batches: all extremes, keys that were deleted only, and others."""
    absent = np.arange(99, 102 + number, 9).astype(dtype)
    return np.concatenate([hard_keys(dtype, 20, 60, 1000 + number), np.array(special_keys(dtype), dtype), absent])
