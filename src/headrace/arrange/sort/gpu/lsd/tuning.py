"""Holds the sizes of the LSD sort's kernels: the one table for their launches and their list of programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.arrange.multisplit.gpu.tuning import MAX_KEYS_U32
from headrace.arrange.sort.gpu.common.key_type import KeyType

ANY_WIDTH = 1  # `TileTuning.value_bytes` of a tile that moves columns of any number and width


@dataclass(frozen=True, slots=True)
class TileTuning:
    """Size and value handling of a tile that one block sorts stably by one digit (split_tile.cuh)."""

    threads: int
    items: int
    blocks: int  # threads of a block, keys of a thread, and resident blocks of a multiprocessor
    value_bytes: int = 0
    """0 without values; 4 or 8 if each key has one value of that width; `ANY_WIDTH` for columns that move after the keys."""
    values_follow: bool = False  # True if the one value is loaded while keys are written. If not, key and value move together.

    @property
    def keys(self) -> int:
        """Return the keys of a tile."""
        return self.threads * self.items

    def defines(self, keys: KeyType, bits: int, *, is_large: bool) -> Mapping[str, Any]:
        """Return the macros of a program. `is_large`: whether target positions need 64 bits."""
        is_pair = self.value_bytes > ANY_WIDTH and not self.values_follow
        return keys.defines(
            HR_BITS=bits, HR_THREADS=self.threads, HR_ITEMS=self.items, HR_BLOCKS=self.blocks, HR_VALUES=self.value_bytes,
            HR_TOGETHER=int(is_pair), HR_TO="u64" if is_large else "u32",
        )  # fmt: skip

    def free_macro(self, keys: KeyType) -> str:
        """Return `SortProgram.free_macro` of a pass: few floats of 4 bytes carry columns of another width, or several."""
        is_rare = keys.equals and keys.width == 4 and self.value_bytes == ANY_WIDTH
        return "HR_EQUALS" if is_rare else keys.free_macro

    def shared_bytes(self, width: int, bits: int) -> int:
        """Return the bytes of dynamic shared memory for keys of `width` bytes."""
        item_bytes = width + (1 if self.values_follow else self.value_bytes)
        return tile_bytes(self.threads, self.items, item_bytes, 1 << bits)


def needs_u64_positions(count: int) -> bool:
    """Return whether positions of `count` keys, plus a tile, exceed 32 bits."""
    return count > MAX_KEYS_U32


def tile_bytes(threads: int, items: int, item_bytes: int, digits: int) -> int:
    """Return the bytes of a tile's items and of a ``SplitShared`` of split_tile.cuh, in multiples of 16."""
    shared = threads * items * item_bytes + digits * (16 + threads // 8) + threads // 8 + 136
    return -(-shared // 16) * 16


@dataclass(frozen=True, slots=True)
class KeyTiles:
    """Tiles for keys of one width."""

    key_bytes: int  # width of a key
    keys_only: TileTuning
    any_values: TileTuning  # tiles for keys alone, and for columns of any number and width
    same_width: TileTuning | None = None  # tile for one column as wide as the keys; None: `any_values` serves it
    few_same_width: TileTuning | None = None
    few_keys: int = 0  # replaces `same_width` up to `few_keys` keys, where larger tiles leave blocks idle in the last round

    def select(self, value_widths: Sequence[int], count: int) -> TileTuning:
        """Return the tile for `count` keys and columns of `value_widths` bytes an item."""
        if not value_widths:
            return self.keys_only
        if self.same_width is None or tuple(value_widths) != (self.key_bytes,):
            return self.any_values
        return self.few_same_width if self.few_same_width is not None and count <= self.few_keys else self.same_width

    @property
    def with_values(self) -> tuple[TileTuning, ...]:
        """Return the tiles for many keys that carry values."""
        return (self.any_values,) if self.same_width is None else (self.any_values, self.same_width)


@dataclass(frozen=True, slots=True)
class DigitHistogramTuning:
    """Size of digit_histogram.cu: threads of a block, 16-byte vectors of a thread, resident blocks of a multiprocessor."""

    threads: int = 1024
    rows: int = 4
    blocks: int = 1
    plan_threads: int = 256  # threads of the one block that makes the plan

    def defines(self, keys: KeyType, bits: int) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.defines(HR_BITS=bits, HR_THREADS=self.threads, HR_ROWS=self.rows, HR_PLAN_THREADS=self.plan_threads)


@dataclass(frozen=True, slots=True)
class PrefixHistogramTuning:
    """Size of prefix_histogram.cu."""

    threads: int = 1024
    rows: int = 4  # threads of a block, and 16-byte vectors of a thread
    count_limit: int = 1 << 16  # counters are drained before one can reach this value

    def defines(self, keys: KeyType, bits: int) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.defines(HR_BITS=bits, HR_THREADS=self.threads, HR_ROWS=self.rows, HR_FULL=self.count_limit)


SPLITTER_KEY_BYTES = 8  # width of keys that may be divided by splitters of a sample, and then by ranges
RANKED_KEY_BYTES = 4  # width of keys that may be divided by estimated ranks


@dataclass(frozen=True, slots=True)
class SplitterTuning:
    """Size of splitters.cu: threads of a block, 16-byte vectors of a thread, resident blocks of a multiprocessor."""

    threads: int = 512
    rows: int = 4
    blocks: int = 4

    def defines(self, keys: KeyType, bits: int) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.defines(HR_BITS=bits, HR_THREADS=self.threads, HR_ROWS=self.rows)


_ANY_VALUES = TileTuning(384, 16, 2, ANY_WIDTH)
_TILES = (
    KeyTiles(1, TileTuning(512, 24, 2), _ANY_VALUES),
    KeyTiles(2, TileTuning(512, 24, 2), _ANY_VALUES),
    KeyTiles(4, TileTuning(384, 32, 2), _ANY_VALUES, TileTuning(256, 32, 2, 4)),
    KeyTiles(
        8,
        TileTuning(256, 32, 2),
        TileTuning(512, 12, 1, ANY_WIDTH),
        TileTuning(256, 24, 2, 8, values_follow=True),
        TileTuning(256, 16, 2, 8, values_follow=True),
        1 << 21,
    ),
)


@dataclass(frozen=True, slots=True)
class LsdTuning:
    """Sizes of all kernels of the LSD sort."""

    bits: int = 8  # bits of a digit
    tiles: tuple[KeyTiles, ...] = _TILES  # tiles of a pass, a row for each width of keys
    histogram: DigitHistogramTuning = field(default_factory=DigitHistogramTuning)  # size of the kernel that counts all digits
    prefix_histogram: PrefixHistogramTuning | None = field(default_factory=PrefixHistogramTuning)
    """Size of the kernel that counts 16-bit prefixes; None if a block's shared memory cannot hold that many counters."""
    splitters: SplitterTuning = field(default_factory=SplitterTuning)  # size of the kernels that choose splitters from a sample
    portion: int = 1 << 30  # maximum number of keys of a launch: look-back counts below 2**31

    def tiles_of(self, key_bytes: int) -> KeyTiles:
        """Return the row for keys of one width."""
        return next(row for row in self.tiles if row.key_bytes == key_bytes)

    def portions(self, count: int) -> int:
        """Return the launches of a pass."""
        return -(-count // self.portion)

    def all_tiles(self) -> Iterator[tuple[int, TileTuning, bool]]:
        """Yield each width of keys with its tiles and whether each is used for more keys than 32-bit positions reach."""
        for row in self.tiles:
            yield from ((row.key_bytes, tile, True) for tile in (row.keys_only, *row.with_values))
            if row.few_same_width is not None:
                yield row.key_bytes, row.few_same_width, False


LARGE_BLOCK_TUNING = LsdTuning()  # for devices whose blocks may have 163 KiB of shared memory or more
SMALL_BLOCK_TUNING = replace(LARGE_BLOCK_TUNING, histogram=DigitHistogramTuning(256, 4, 4), prefix_histogram=None)
"""For all other devices, whose blocks may have 99 KiB."""
TUNINGS = (LARGE_BLOCK_TUNING, SMALL_BLOCK_TUNING)
