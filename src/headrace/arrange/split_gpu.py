"""Launches of arrange/split.cu: one digit's pass over keys and what goes with them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from headrace.core.device_memory import Budget, DeviceBuffer, device_pool
from headrace.core.gpu import Gpu, checked, driver
from headrace.core.kernels import kernel
from headrace.core.scratch import COUNTERS, scratch

BY_CHUNKS, BY_LOOK_BACK, BY_RESERVING = 0, 1, 2
"""As split_place.cuh has them."""
MOST_COLUMNS = 8
DIGIT_BITS = 8

_VALUE_BYTES = 4
_COUNT_THREADS, _COUNT_ROWS = 256, 4
_TILES_OF_CHUNK = {1: 3, 5: 2, 8: 1}
"""A chunk's keys of one digit should be side by side with those of chunks that are split at the same time."""
_GROUPS_OF_MULTIPROCESSOR = 8
_LOOK_BACK_KEYS = 1 << 30
_KEY_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


@dataclass(frozen=True, slots=True)
class Column:
    """Items that move: where they are, where they go, and bytes of an item."""

    source: int
    target: int
    width: int


@dataclass(frozen=True, slots=True)
class Pass:
    """What a pass is done by.

    Parameters
    ----------
    key
        Type of the keys in the sources.
    rule
        Name of the rule there.
    digit
        Bytes of a ``Digit``.
    count
        How many digits there are, 256 at most.
    bucket
        Of rule ``"Computed"`` the expression's text.
    is_total
        Whether every key has a digit.
    """

    key: str
    rule: str
    digit: bytes
    count: int
    bucket: str | None = None
    is_total: bool = True

    @property
    def bits(self) -> int:
        """Bits of a digit that kernels are compiled for."""
        need = max(1, (self.count - 1).bit_length())
        least = 1 if self.key == "u32" else 5
        return next(bits for bits in (1, 5, 8) if bits >= max(need, least))

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros of all kernels of the pass."""
        found: dict[str, int | str] = {"HR_KEY": self.key, "HR_RULE": self.rule, "HR_BITS": self.bits}
        return found if self.bucket is None else {**found, "HR_BUCKET": self.bucket}


def bits_pass(key: str, low: int, high: int) -> Pass:
    """By the bits `low` to below `high`."""
    count = 1 << (high - low)
    return Pass(key, "BitsOf", struct.pack("<4I", low, count - 1, count - 1, 0), count)


class Splitter:
    """Passes over so many keys of a card, in the order of one stream."""

    def __init__(self, card: Gpu, stream: int | None, count: int, budget: Budget) -> None:
        self.card = card
        self.stream = stream
        self.count = count
        self.budget = budget

    def room(self, nbytes: int) -> DeviceBuffer:
        """Memory until nobody holds it."""
        return device_pool(self.card).take(nbytes, self.stream, self.budget)

    def zeros(self, nbytes: int) -> DeviceBuffer:
        """The same, cleared."""
        made = self.room(nbytes)
        self.card.make_current()
        checked(driver().cuMemsetD8Async(made.address, 0, nbytes, made.stream))
        return made

    def count_all(self, by: Pass, keys: int) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Where each digit begins, 64 bits each, and the end; and counts of all, behind them of keys without a digit."""
        length = max(1, -(-self.count // (self.card.multiprocessors * _GROUPS_OF_MULTIPROCESSOR)))
        length = -(-length // 16384) * 16384
        blocks = -(-self.count // length)
        totals, starts = self.zeros((by_digits(by) + 1) * 8), self.room((by_digits(by) + 1) * 8)
        self._count(by, keys, (length, 1, blocks), (0, 0, totals.address))
        self._bases(by, (0, totals.address, blocks, 0, starts.address))
        return starts, totals

    def run(self, by: Pass, keys: Column, columns: Sequence[Column]) -> tuple[DeviceBuffer, DeviceBuffer]:
        """Split by chunks; gives what `count_all` gives."""
        shape = shape_of(by, bool(columns), BY_CHUNKS)
        tile = shape["HR_THREADS"] * shape["HR_ITEMS"]
        length = tile * _TILES_OF_CHUNK[by.bits]
        chunks = -(-self.count // length)
        group = -(-chunks // (self.card.multiprocessors * _GROUPS_OF_MULTIPROCESSOR))
        groups = -(-chunks // group)
        digits = by_digits(by)
        counts, of_groups = self.room(chunks * digits * 4), self.room(groups * digits * 4)
        bases, starts = self.room(groups * digits * 8), self.room((digits + 1) * 8)
        totals = self.zeros((digits + 1) * 8)
        self._count(by, keys.source, (length, group, groups), (counts.address, of_groups.address, totals.address))
        self._bases(by, (of_groups.address, totals.address, groups, bases.address, starts.address))
        places = struct.pack("<4Q2I", bases.address, counts.address, length, 0, 0, group)
        self._split(by, BY_CHUNKS, chunks, places, keys, columns)
        return starts, totals

    def run_by_look_back(self, by: Pass, keys: Column, columns: Sequence[Column]) -> tuple[DeviceBuffer, DeviceBuffer]:
        """The same by decoupled look-back; of 2**30 keys at most."""
        starts, totals = self.count_all(by, keys.source)
        tile = tile_of(by, bool(columns), BY_LOOK_BACK)
        tiles = -(-self.count // tile)
        memory, epoch = scratch(self.card, 16 + tiles * by_digits(by) * 8, self.stream, 8)
        places = struct.pack("<4Q2I", starts.address, 0, 0, memory.address, epoch, 0)
        self._split(by, BY_LOOK_BACK, self._resident(by, bool(columns), BY_LOOK_BACK, tiles), places, keys, columns)
        return starts, totals

    def run_by_reserving(self, by: Pass, keys: Column, cursors: int) -> None:
        """In no order within a digit: each tile takes room at `cursors`, where each digit's next key goes."""
        tiles = -(-self.count // tile_of(by, False, BY_RESERVING))
        memory, _ = scratch(self.card, COUNTERS, self.stream, 0)
        places = struct.pack("<4Q2I", cursors, 0, 0, memory.address, 0, 0)
        self._split(by, BY_RESERVING, self._resident(by, False, BY_RESERVING, tiles), places, keys, ())

    def can_look_back(self, by: Pass) -> bool:
        """Whether there are kernels for it, and counts that hold so many keys."""
        return by.key == "u32" and by.rule == "BitsOf" and self.count <= _LOOK_BACK_KEYS

    def _count(self, by: Pass, keys: int, chunks: tuple[int, int, int], results: tuple[int, int, int]) -> None:
        length, group, groups = chunks
        defines = {**by.defines, "HR_THREADS": _COUNT_THREADS, "HR_ROWS": _COUNT_ROWS}
        found = kernel("arrange/split_count.cu", "split_count", f"P24s{len(by.digit)}sPPP", defines, self.card)
        args = (keys, struct.pack("<QQII", self.count, length, group, 0), by.digit, *results)
        found.launch(groups, _COUNT_THREADS, args, stream=self.stream)

    def _bases(self, by: Pass, args: tuple[int, ...]) -> None:
        defines = {**by.defines, "HR_THREADS": _COUNT_THREADS, "HR_ROWS": _COUNT_ROWS}
        found = kernel("arrange/split_count.cu", "split_bases", "PPIPP", defines, self.card)
        found.launch(-(-by_digits(by) // 32), 1024, args, stream=self.stream)

    def _split(self, by: Pass, how: int, blocks: int, places: bytes, keys: Column, columns: Sequence[Column]) -> None:
        shape = shape_of(by, bool(columns), how)
        defines = {**by.defines, "HR_VALUES": int(bool(columns)), "HR_PLACES": how, **shape}
        found = kernel("arrange/split.cu", "split", f"PPQ{len(by.digit)}s40s168s", defines, self.card)
        shared = shared_bytes(by, shape, bool(columns))
        for first in range(0, max(1, len(columns)), MOST_COLUMNS):
            args = (keys.source, keys.target, self.count, by.digit, places, packed(columns[first : first + MOST_COLUMNS]))
            found.launch(blocks, shape["HR_THREADS"], args, shared=shared, stream=self.stream)

    def _resident(self, by: Pass, has_values: bool, how: int, tiles: int) -> int:
        return min(tiles, self.card.multiprocessors * shape_of(by, has_values, how)["HR_BLOCKS"])


def by_digits(by: Pass) -> int:
    """Digits that the kernels of a pass have."""
    return 1 << by.bits


def shape_of(by: Pass, has_values: bool, how: int) -> dict[str, int]:
    """Threads, keys of a thread and resident blocks, as core/variants.toml lists them."""
    if by.key == "u64":
        return {"HR_THREADS": 512, "HR_ITEMS": 12, "HR_BLOCKS": 2 if how == BY_RESERVING else 1}
    if has_values:
        return {"HR_THREADS": 512, "HR_ITEMS": 16, "HR_BLOCKS": 1}
    return {"HR_THREADS": 512, "HR_ITEMS": 24, "HR_BLOCKS": 2}


def tile_of(by: Pass, has_values: bool, how: int) -> int:
    """Keys of a tile."""
    shape = shape_of(by, has_values, how)
    return shape["HR_THREADS"] * shape["HR_ITEMS"]


def shared_bytes(by: Pass, shape: dict[str, int], has_values: bool) -> int:
    """Dynamic shared memory of a block of split.cu."""
    digits, warps = by_digits(by), shape["HR_THREADS"] // 32
    room = shape["HR_THREADS"] * shape["HR_ITEMS"] * (_KEY_BYTES[by.key] + _VALUE_BYTES * has_values)
    return -(-(room + digits * (16 + 4 * warps) + 4 * warps + 8) // 16) * 16


def packed(columns: Sequence[Column]) -> bytes:
    """A ``Columns``."""
    empty = [0] * (MOST_COLUMNS - len(columns))
    sources = [*(column.source for column in columns), *empty]
    targets = [*(column.target for column in columns), *empty]
    widths = [*(column.width for column in columns), *empty]
    return struct.pack("<16Q8I2I", *sources, *targets, *widths, len(columns), 0)
