"""Runs sorts under the fiber harness with small tuning, and compares them with Python's own sort of codes."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.lsd.lsd import MsdUse
from headrace.arrange.sort.gpu.lsd.tuning import TileTuning
from headrace.arrange.sort.gpu.msd.tuning import KeyMsdTuning
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.single_launch.tuning import (
    CooperativeTuning,
    KeySingleLaunch,
    RankSortTuning,
    SingleLaunchTuning,
)
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING, SortTuning
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher

RANKED, ALONE, MEETING, PARTS_FROM = 128, 256, 600, 900
"""Keys up to which `HARNESS_TUNING` ranks, sorts in one block (hybrid) and cooperatively; from the last on MSD is possible."""
TILE = TileTuning(64, 4, 1)
"""The tile of `HARNESS_TUNING`."""


def single_launches(ranks: tuple[RankSortTuning, ...], cooperative: tuple[CooperativeTuning, ...]) -> SingleLaunchTuning:
    """Return a table with the same kernels for all widths of keys."""
    return SingleLaunchTuning(tuple(KeySingleLaunch(width, ranks, cooperative, cooperative) for width in (1, 2, 4, 8)))


def with_same_width(tuning: SortTuning, tile: TileTuning) -> SortTuning:
    """Return a tuning by which LSD and MSD move a value as wide as its key by this tile."""

    def of_rows(rows):
        return tuple(replace(row, same_width=tile) if row.key_bytes == tile.value_bytes else row for row in rows)

    return replace(tuning, lsd=replace(tuning.lsd, tiles=of_rows(tuning.lsd.tiles)), msd=of_rows(tuning.msd))


ODDITIES = (np.nan, -0.0, 0.0, 1, -1, np.inf, -np.inf, 2.5, -7)


def entropy_keys(dtype: str, count: int, ands: int) -> Any:
    """Return uniform words ANDed with `ands` others (Thearling and Smith 1992); -1: zeros."""
    random = np.random.default_rng(zlib.crc32(f"{dtype} {count} {ands}".encode()))
    words = np.zeros(count, np.uint64) if ands < 0 else random.integers(0, 2**64, count, np.uint64)
    for _ in range(ands):
        words &= random.integers(0, 2**64, count, np.uint64)
    return words.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)


def deep_keys(dtype: str, count: int) -> Any:
    """Return keys for many passes: half share all but their lowest 12 bits with many others, a fifth is one value."""
    random = np.random.default_rng(count)
    bits = 8 * np.dtype(dtype).itemsize
    made = random.integers(0, 1 << bits, count, np.uint64)
    first, second, third, _ = np.split(random.permutation(count), [count // 3, count // 2, count * 7 // 10])
    for some, prefix in ((first, 0x5A5A5A5A5A5A5000), (second, 0x8765432112345000)):
        made[some] = random.integers(0, 1 << 12, some.size, np.uint64) | np.uint64(prefix >> (64 - bits) & ~0xFFF)
    made[third] = 0x1111111111111111 >> (64 - bits)
    return made.astype(f"u{bits // 8}").view(dtype)


def with_tail(tuning: SortTuning, number: int | None) -> SortTuning:
    """Return a tuning by which one launch does all MSD passes from `number` on; 0 only for pairs, None for no pass."""

    def of_row(row: KeyMsdTuning) -> KeyMsdTuning:
        keys_only = replace(row.keys_only, tail_from=2 if number == 0 else number)
        return replace(row, keys_only=keys_only, pairs=replace(row.pairs, tail_from=number), few_pairs=())

    return replace(tuning, msd=tuple(map(of_row, tuning.msd)))


def keys_of(dtype: str, count: int, kind: str = "random") -> Any:
    """Return keys of a type; floats have few values, among them NaN of several bits and both zeros."""
    if kind in {"sorted", "reversed", "constant", "few", "rising"}:
        numbers = np.arange(count) % 120
        made = {"sorted": np.sort(numbers), "reversed": np.sort(numbers)[::-1], "few": np.arange(count) % 3}
        made |= {"constant": np.full(count, 7), "rising": np.arange(count)}
        return made[kind].astype(dtype)
    if np.dtype(dtype).kind != "f":
        return entropy_keys(dtype, count, 1)
    random = np.random.default_rng(count)
    keys = random.choice(np.array(ODDITIES, dtype), count)
    words = keys.view(f"u{keys.itemsize}")
    words[::7] ^= np.isnan(keys[::7]) * words.dtype.type(5)  # other bits of NaN
    return np.where(np.arange(count) % 5 == 0, -keys, keys)


def words(keys: Any) -> Any:
    """Return the bits of keys."""
    return keys.view(f"u{keys.itemsize}")


def columns_of(count: int, columns: int) -> list[Any]:
    """Return columns of several widths; the first has row numbers."""
    rows = np.arange(count)
    made = [rows.astype("u4"), rows * 1.5, rows.astype(np.longdouble), rows.astype("u1"), rows.astype("i2")]
    return (made * 3)[:columns]


def expected_rows(keys: Any, order: KeyOrder, *, by_equals: bool) -> Any:
    """Return row numbers in the order of keys."""
    code = order.equal_code if by_equals else order.code
    own = words(keys).tolist()
    return np.array(sorted(range(len(own)), key=lambda row: code(own[row])), np.int64)


class MsdSorter(Sorter):
    """Always sorts by MSD if the plan may choose it."""

    def _msd_choice(self, request, widths):
        choice = super()._msd_choice(request, widths)
        return choice and replace(choice, use=MsdUse.ALWAYS)


class Sorted:
    """The result of a sort: keys, values, indices."""

    def __init__(self, keys: Any, values: list[Any], indices: Any) -> None:
        self.keys, self.values, self.indices = keys, values, indices


def sort_under_harness(keys, values=(), *, order=None, index_bytes=0, in_place=False, how=("random", 0), **options):
    """`options` are `tuning`, `sorter`, `wants_keys`, `launcher` in place of `how`, and those of `SortRequest`."""
    launcher = options.pop("launcher", None) or FiberLauncher(*how)
    tuning = options.pop("tuning", HARNESS_TUNING)
    sorter, counters = options.pop("sorter", Sorter), []

    def moved(array):
        source = launcher.put(array)
        return MovedItems(source, source if in_place else launcher.allocate(array.nbytes), array.itemsize)

    def zeroed():
        counters.append(launcher.allocate(16, fill=0))
        return counters[-1]

    source, target, _ = moved(keys)
    columns = [moved(array) for array in values]
    indices = RowNumbers(launcher.allocate(len(keys) * index_bytes), index_bytes) if index_bytes else None
    wants_keys = options.pop("wants_keys", True)
    order = order or KeyOrder.of(keys.dtype.str)
    request = SortRequest(order, source, target if wants_keys else None, tuple(columns), indices, **options)
    sorter(launcher, len(keys), tuning, zeroed).sort(request)
    assert not any(buffer.array.any() for buffer in counters)  # as the next launch must find them
    found = [buffer.array.view(array.dtype) for (_, buffer, _), array in zip(columns, values, strict=True)]
    return Sorted(target.array.view(keys.dtype), found, indices and indices.buffer.array.view(f"u{index_bytes}"))


def check(keys, values=(), *, order=None, index_bytes=0, **options) -> None:
    """Compare with Python's stable sort; an unstable sort must be a permutation that sorts the keys."""
    order = order or KeyOrder.of(keys.dtype.str)
    found = sort_under_harness(keys, values, order=order, index_bytes=index_bytes, **options)
    carries = bool(values) or bool(index_bytes)
    rows = expected_rows(keys, order, by_equals=carries)
    if not options.get("stable", True):
        own = np.asarray(found.indices if index_bytes else found.values[0]).astype(np.int64)
        np.testing.assert_array_equal(np.sort(own), np.arange(len(keys)))
        codes = [order.equal_code(word) for word in words(keys)[own].tolist()]
        assert codes == sorted(codes)
        rows = own
    if options.get("wants_keys", True):
        np.testing.assert_array_equal(words(found.keys), words(keys)[rows])
    for made, given in zip(found.values, values, strict=True):
        np.testing.assert_array_equal(made, given[rows])
    if index_bytes:
        np.testing.assert_array_equal(found.indices, rows)
