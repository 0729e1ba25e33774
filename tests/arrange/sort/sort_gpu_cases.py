"""Sorts under the fiber harness by small shapes, and what they must give, by Python's own sort of codes."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from headrace.arrange.sort.gpu.lsd.lsd import MUST, DigitShapes
from headrace.arrange.sort.gpu.msd.bin_sort import SpreadShape
from headrace.arrange.sort.gpu.msd.tuning import PartShapes
from headrace.arrange.sort.gpu.planner import Given, Sorter
from headrace.arrange.sort.gpu.single_launch.single_launch import BlockShape, RankShape, SmallShapes
from headrace.arrange.sort.gpu.top_k import TopShape
from headrace.arrange.sort.gpu.tuning import SortShapes
from headrace.arrange.sort.key_order import KeyOrder
from headrace.testing.fibers.launcher import FiberLauncher

RANKED, ALONE, MEETING, PARTS_FROM = 128, 256, 600, 900
"""Keys that are ranked among all, that a hybrid's block sorts, that blocks which meet do, and from which on parts may be."""
_BLOCK = BlockShape(4, 64, 4, 1)
_TILE = tuple((width, (64, 4, 1)) for width in (1, 2, 4, 8))
_PARTS = PartShapes(4, (32, 9), (64, 4, 1), (BlockShape(4, 32, 2, 1), BlockShape(4, 32, 4, 1), _BLOCK), 100)
_SPREADING = replace(_PARTS, local=(SpreadShape(32, 3, 1), SpreadShape(64, 4, 1)), left=_BLOCK, rest_from=2)
RANKING, MET = ((RANKED, RankShape(64, 1)),), ((MEETING, replace(_BLOCK, meets=True)),)


def small_shapes(ranked, meeting) -> SmallShapes:
    """The same for all widths."""

    def of_all(shapes):
        return tuple((width, shapes) for width in (1, 2, 4, 8))

    return SmallShapes(of_all(ranked), of_all(meeting), of_all(meeting))


SHAPES = SortShapes(
    DigitShapes(4, _TILE, _TILE, (64, 1), 64, 2, (64, 1, 512)),
    small_shapes(RANKING, MET),
    TopShape(256, 1),
    ((4, _PARTS), (8, _PARTS)),
    ((4, _SPREADING), (8, _SPREADING)),
    ((4, _SPREADING), (8, _SPREADING)),
    ((4, PARTS_FROM), (8, PARTS_FROM)),
    8,
    4,
    (),
    stable_few=(),
)
ODDITIES = (np.nan, -0.0, 0.0, 1, -1, np.inf, -np.inf, 2.5, -7)


def entropy_keys(dtype: str, count: int, ands: int) -> Any:
    """Uniform words with as many others ANDed to them (Thearling and Smith 1992); -1: zeros."""
    random = np.random.default_rng(zlib.crc32(f"{dtype} {count} {ands}".encode()))
    words = np.zeros(count, np.uint64) if ands < 0 else random.integers(0, 2**64, count, np.uint64)
    for _ in range(ands):
        words &= random.integers(0, 2**64, count, np.uint64)
    return words.astype(f"u{np.dtype(dtype).itemsize}").view(dtype)


def deep_keys(dtype: str, count: int) -> Any:
    """Of many steps: half share all but their lowest 12 bits with many others, a fifth is one value, the others are uniform."""
    random = np.random.default_rng(count)
    bits = 8 * np.dtype(dtype).itemsize
    made = random.integers(0, 1 << bits, count, np.uint64)
    first, second, third, _ = np.split(random.permutation(count), [count // 3, count // 2, count * 7 // 10])
    for some, prefix in ((first, 0x5A5A5A5A5A5A5000), (second, 0x8765432112345000)):
        made[some] = random.integers(0, 1 << 12, some.size, np.uint64) | np.uint64(prefix >> (64 - bits) & ~0xFFF)
    made[third] = 0x1111111111111111 >> (64 - bits)
    return made.astype(f"u{bits // 8}").view(dtype)


def with_rest(shapes: SortShapes, number: int | None) -> SortShapes:
    """All steps by parts from this number on are one launch, all of them only of pairs; None: none are."""

    def of_all(some, number):
        return tuple((width, replace(one, rest_from=number)) for width, one in some)

    alone = of_all(shapes.counted, 2 if number == 0 else number)
    return replace(shapes, counted=alone, stable=of_all(shapes.stable, number), stable_few=())


def keys_of(dtype: str, count: int, kind: str = "random") -> Any:
    """Keys of a type; of floats a few values, NaN of several bits and both zeros among them."""
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
    """Their bits."""
    return keys.view(f"u{keys.itemsize}")


def columns_of(count: int, columns: int) -> list[Any]:
    """Values of several widths; the first tell the row."""
    rows = np.arange(count)
    made = [rows.astype("u4"), rows * 1.5, rows.astype(np.longdouble), rows.astype("u1"), rows.astype("i2")]
    return (made * 3)[:columns]


def expected_rows(keys: Any, order: KeyOrder, *, by_equals: bool) -> Any:
    """Rows in the order of keys."""
    code = order.equal_code if by_equals else order.code
    own = words(keys).tolist()
    return np.array(sorted(range(len(own)), key=lambda row: code(own[row])), np.int64)


class ByParts(Sorter):
    """Goes by parts, as far as it may, whatever the keys are."""

    def _parts(self, given, widths):
        found = super()._parts(given, widths)
        return found and (*found[:2], MUST)


class Sorted:
    """What a sort gave: keys, values, places."""

    def __init__(self, keys: Any, values: list[Any], indices: Any) -> None:
        self.keys, self.values, self.indices = keys, values, indices


def sort_under_harness(keys, values=(), *, order=None, index_bytes=0, in_place=False, how=("random", 0), **options):
    """`options` are `shapes`, `sorter`, `wants_keys`, `launcher` in place of `how`, and those of `Given`."""
    launcher = options.pop("launcher", None) or FiberLauncher(*how)
    shapes = options.pop("shapes", SHAPES)
    sorter, counters = options.pop("sorter", Sorter), []

    def moved(array):
        source = launcher.put(array)
        return source, source if in_place else launcher.room(array.nbytes), array.itemsize

    def zeroed():
        counters.append(launcher.room(16, fill=0))
        return counters[-1]

    source, target, _ = moved(keys)
    columns = [moved(array) for array in values]
    indices = (launcher.room(len(keys) * index_bytes), index_bytes) if index_bytes else None
    wants_keys = options.pop("wants_keys", True)
    order = order or KeyOrder.of(keys.dtype.str)
    given = Given(order, source, target if wants_keys else None, tuple(columns), indices, **options)
    sorter(launcher, len(keys), shapes, zeroed).sort(given)
    assert not any(room.array.any() for room in counters)  # as the next launch must find them
    found = [room.array.view(array.dtype) for (_, room, _), array in zip(columns, values, strict=True)]
    return Sorted(target.array.view(keys.dtype), found, indices and indices[0].array.view(f"u{index_bytes}"))


def check(keys, values=(), *, order=None, index_bytes=0, **options) -> None:
    """Against Python's stable sort; of what is not stable that it is a permutation by which keys are in order."""
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
