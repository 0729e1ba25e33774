"""Lists the block sizes of the multisplit kernels for each kind of pass; launches and the program list are computed from it.

This module imports nothing native, so the program list can be read before the extension is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from headrace.gpu.device.device import LARGE_BLOCKS
from headrace.gpu.kernels.source import ANY, Programs

BY_CHUNKS, BY_LOOK_BACK = 0, 1  # values of HR_PLACES, as in split_place.cuh
MAX_KEYS_U32 = (1 << 32) - (1 << 17)  # maximum number of keys whose output positions fit in 32 bits (split_tile.cuh)
DIGIT_BITS = 8
KERNEL_BITS = (1, 5, DIGIT_BITS)
"""Digit widths that kernels for keys of 4 bytes are compiled for; all others are compiled for 8 bits."""
KEY_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
LABEL_THREADS = 256
RULES = ("BitsOf", "AnyOf", "BetweenOf")
BIT_RULES = ("BitsOf", "HashBitsOf")  # rules that take few instructions: bits of a key, or of the hash that replaces it


class PassKind(NamedTuple):
    """Properties of a pass that its kernels are compiled for."""

    key: str
    rule: str  # type of the keys and rule of the digits, as the kernels name them (rules.hpp)
    bits: int  # digit width of the kernels


class BlockTuning(NamedTuple):
    """Sizes that a split kernel is compiled for."""

    threads: int  # threads per block
    items: int  # keys per thread
    blocks: int  # blocks per multiprocessor, which bounds the registers of a thread


_KEYS = BlockTuning(512, 24, 2)
_WITH_VALUES = BlockTuning(384, 16, 2)
_LONG_KEYS = BlockTuning(512, 12, 2)
_LONG_KEYS_WITH_VALUES = BlockTuning(512, 12, 1)
_TOGETHER = BlockTuning(512, 20, 2)
_ALONE = BlockTuning(768, 24, 1)
_RESERVING = BlockTuning(512, 30, 2)
_RESERVING_LONG = BlockTuning(512, 14, 2)


@dataclass(frozen=True, slots=True)
class SplitTuning:
    """Sizes of all multisplit kernels."""

    keys: BlockTuning = _KEYS
    with_values: BlockTuning = _WITH_VALUES
    long_keys: BlockTuning = _LONG_KEYS
    long_keys_with_values: BlockTuning = _LONG_KEYS_WITH_VALUES
    """Tiles of the split kernel, by key width (at most 4 bytes, or 8) and by the presence of values."""
    together: BlockTuning = _TOGETHER
    """Tiles for keys of 4 bytes with one column of 4-byte values and at most 5 bits: pairs move together."""
    alone: BlockTuning = _ALONE  # tiles for keys of 4 bytes with 4-byte values in all other cases
    reserving: BlockTuning = _RESERVING
    reserving_long: BlockTuning = _RESERVING_LONG  # tiles of the unordered partition, for keys of 4 and of 8 bytes
    counting: tuple[int, int] = (256, 4)  # threads per block, and vectors per thread and tile, of the counting kernel
    warps: tuple[int, int] = (256, 8)  # threads per block, and keys per thread, of the warp-level kernels
    multiprocessors: int = 132  # multiprocessors of the device
    groups_per_multiprocessor: int = 4
    warps_per_multiprocessor: int = 64  # maximum number of counted groups and of warp chunks for each multiprocessor
    chunk_keys: tuple[int, int, int] = (36864, 49152, 1)
    """Keys per chunk for digits of 1, 5 and 8 bits; a chunk has at least one tile. Small chunks keep blocks that run at the same
    time writing to neighbouring addresses.
    """
    max_keys_u32: int = MAX_KEYS_U32  # maximum number of keys that kernels with 32-bit positions take

    def split(self, kind: PassKind, places: int, widths: Sequence[int]) -> BlockTuning:
        """Return the tile of a split; `widths`: bytes of each column that moves with the keys."""
        if kind.key == "u64":
            return self.long_keys_with_values if widths else self.long_keys
        if places == BY_CHUNKS and moves_together(kind, widths):
            return self.together
        if places == BY_CHUNKS and kind.key == "u32" and kind.rule in BIT_RULES and set(widths) == {4}:
            return self.alone
        return self.with_values if widths else self.keys


_ALONE_SMALL = BlockTuning(512, 16, 2)  # `SplitTuning.alone` for devices whose blocks have 99 KiB of shared memory


@cache
def tuning_of(multiprocessors: int, capability: tuple[int, int]) -> SplitTuning:
    """Return the sizes for a device, by its number of multiprocessors and compute capability."""
    tuning = replace(SplitTuning(), multiprocessors=multiprocessors)
    return tuning if capability in LARGE_BLOCKS else replace(tuning, alone=_ALONE_SMALL)


_SMALL_TILE = BlockTuning(256, 4, 1)
SMALL_TUNING = SplitTuning(
    keys=_SMALL_TILE, with_values=_SMALL_TILE, long_keys=_SMALL_TILE, long_keys_with_values=_SMALL_TILE, together=_SMALL_TILE,
    alone=_SMALL_TILE, reserving=_SMALL_TILE, reserving_long=_SMALL_TILE, counting=(256, 1), warps=(64, 2), multiprocessors=2,
    groups_per_multiprocessor=2, warps_per_multiprocessor=3, chunk_keys=(2048, 2048, 1),
)  # fmt: skip
"""Sizes for the fiber harness: a few tiles of few keys reach every edge case."""


def kernel_bits(key: str, count: int, min_bits: int = 1) -> int:
    """Return the digit width of the kernels that split keys of a type into `count` buckets.

    >>> kernel_bits("u32", 3), kernel_bits("u64", 3)
    (5, 8)
    """
    needed = max((count - 1).bit_length(), min_bits)
    return DIGIT_BITS if key != "u32" else next(bits for bits in KERNEL_BITS if bits >= needed)


def moves_together(kind: PassKind, widths: Sequence[int]) -> bool:
    """Return whether a column of values moves together with its keys, instead of after them."""
    return kind.key == "u32" and kind.rule in BIT_RULES and list(widths) == [4] and kind.bits < DIGIT_BITS


def value_mode(kind: PassKind, places: int, widths: Sequence[int]) -> int:
    """Return HR_VALUES: 0 without values, their common width if there is a kernel for it, else 1."""
    if has_wide_and_narrow_positions(kind, places) and len(set(widths)) == 1 and widths[0] in {4, KEY_BYTES[kind.key]}:
        return widths[0]
    return int(bool(widths))


def has_wide_and_narrow_positions(kind: PassKind, places: int) -> bool:
    """Return whether split kernels exist for output positions of 32 and of 64 bits, and not of 64 alone."""
    return places == BY_CHUNKS and kind.rule in BIT_RULES and kind.key in {"u32", "u64"}


def rule_defines(kind: PassKind, bucket: str = "") -> dict[str, Any]:
    """Return the macros that name keys and digits; `bucket`: the expression of the rule ``"Computed"``."""
    defines = {"HR_KEY": kind.key, "HR_RULE": kind.rule, "HR_BITS": kind.bits}
    return {**defines, "HR_BUCKET": bucket} if bucket else defines


def count_defines(tuning: SplitTuning) -> dict[str, Any]:
    """Return the macros of the counting kernels' sizes."""
    threads, rows = tuning.counting
    return {"HR_THREADS": threads, "HR_ROWS": rows}


def split_defines(tuning: SplitTuning, kind: PassKind, places: int, widths: Sequence[int], count: int) -> dict[str, Any]:
    """Return the macros of a split kernel's sizes for `count` keys."""
    threads, items, blocks = tuning.split(kind, places, widths)
    defines: dict[str, Any] = {"HR_VALUES": value_mode(kind, places, widths), "HR_PLACES": places}
    defines |= {"HR_THREADS": threads, "HR_ITEMS": items, "HR_BLOCKS": blocks}
    if has_wide_and_narrow_positions(kind, places):
        defines["HR_TOGETHER"] = int(moves_together(kind, widths))
        defines["HR_TO"] = "u32" if count <= tuning.max_keys_u32 else "u64"
    return defines


def reserve_defines(tuning: SplitTuning, key: str, digits: int, count: int) -> dict[str, Any]:
    """Return the macros of an unordered partition's sizes."""
    threads, items, blocks = tuning.reserving_long if key == "u64" else tuning.reserving
    bin_size = bin_keys(threads * items, digits)
    to = "u32" if count < 1 << 32 else "u64"
    return {"HR_THREADS": threads, "HR_ITEMS": items, "HR_BLOCKS": blocks, "HR_BIN": bin_size, "HR_TO": to}


def bin_keys(tile_keys: int, digits: int) -> int:
    """Return the capacity of a digit's bin (reserve_tile.cuh), odd.

    Of uniformly distributed digits, 1 in 10,000 has more keys than this in a tile.
    """
    mean = tile_keys / digits
    return int(mean + 3.75 * math.sqrt(mean)) | 1


def bins_bytes(bin_size: int, digits: int, width: int) -> int:
    """Return the shared memory of all bins of `bin_size` keys."""
    return -(-bin_size * digits * width // 16) * 16


_WIDTHS = ((), (4,), (4, 4), (8,), (1,))  # columns of values, one example of each kind that kernels distinguish


_Program = tuple[str, Mapping[str, Sequence[Any]]]  # a file, and the values of each macro


def programs() -> Iterator[_Program]:
    """Yield each program that `multisplit`, `partition` and the row partition can launch.

    Rows with `ANY` are compiled when they are first used.
    """
    tunings = [tuning_of(132, capability) for capability in ((9, 0), (12, 0))]
    yield from _splits_of_keys(tunings)
    yield from _splits_of_maps(tunings[0])
    yield from _rare_programs(tunings[0])


def _splits_of_keys(tunings: Sequence[SplitTuning]) -> Iterator[_Program]:
    """Yield the splits of keys by each rule.

    Compiled at the first use: user expressions, two buckets by another rule than bits, and labels of 1 or 2 bytes. So are
    columns that move by bits into up to 32 buckets, except one of 4 bytes. With keys of 8 bytes, columns of other widths than 4
    and 8 are.
    """
    for key, rule in product(("u8", "u16", "u32", "u64"), (*RULES[:2], "Computed")):
        if key in {"u8", "u16"} and rule != "BitsOf":
            continue  # labels alone have these widths
        for bits in KERNEL_BITS if key == "u32" else (DIGIT_BITS,):
            kind = PassKind(key, rule, bits)
            named = {**rule_defines(kind), **({"HR_BUCKET": [ANY]} if rule == "Computed" else {})}
            if (rule, bits) == ("AnyOf", 1):
                named["HR_BITS"] = [ANY]
            if key in {"u8", "u16"}:
                named["HR_KEY"] = [ANY]
            yield "count.cu", _listed({**named, **count_defines(tunings[0])})
            for tuning, widths in product(tunings, _WIDTHS):  # tunings differ for several columns only
                if (key in {"u8", "u16"} and not widths) or (bits < DIGIT_BITS and len(widths) > 1):
                    continue  # labels are never split alone
                defines = {**named, **split_defines(tuning, kind, BY_CHUNKS, widths, 1)}
                if rule == "BitsOf" and defines["HR_VALUES"] == 1 and (key == "u64" or bits < DIGIT_BITS):
                    defines["HR_VALUES"] = [ANY]
                yield "split.cu", _listed(defines)


def _splits_of_maps(tuning: SplitTuning) -> Iterator[_Program]:
    """Yield the splits of a map's keys by their hashes, with values that are not wider than keys."""
    for key, widths, bits in product(("u32", "u64"), ((), (4,), (8,)), KERNEL_BITS[1:]):
        if (key == "u64" and bits != DIGIT_BITS) or sum(widths) > KEY_BYTES[key]:
            continue
        kind = PassKind(key, "HashBitsOf", bits)
        yield "count.cu", _listed({**rule_defines(kind), **count_defines(tuning)})
        yield "split.cu", _listed({**rule_defines(kind), **split_defines(tuning, kind, BY_CHUNKS, widths, 1)})


def _rare_programs(tuning: SplitTuning) -> Iterator[_Program]:
    """Yield labels of keys of 4 and 8 bytes, and programs that are compiled at their first use.

    These are the unordered partition and labels of other keys. So are splits of more keys than 32-bit positions reach, those
    with look-back, and those by the block sizes that bench.multisplit.tune tries.
    """
    for key in ("u32", "u64"):
        sizes = {**reserve_defines(tuning, key, 1 << DIGIT_BITS, 1), "HR_TO": [ANY]}
        yield "reserve.cu", _listed({**rule_defines(PassKind(key, "BitsOf", DIGIT_BITS)), **sizes})
    yield "label.cu", {"HR_KEY": ["u32", "u64", ANY], "HR_THREADS": [LABEL_THREADS]}
    for key in ("u8", "u16", "u32", "u64", "WideKey"):
        yield "label.cu", _listed({"HR_KEY": key, "HR_BUCKET": ANY, "HR_THREADS": LABEL_THREADS})
    sizes = {"HR_THREADS": ANY, "HR_ITEMS": ANY, "HR_BLOCKS": ANY}
    keys = {"HR_KEY": ["u32", "u64"], "HR_RULE": [*BIT_RULES], "HR_BITS": [*KERNEL_BITS], "HR_PLACES": BY_CHUNKS}
    yield "split.cu", _listed({**keys, **sizes, "HR_VALUES": [0, 1, 4, 8], "HR_TOGETHER": [0, 1], "HR_TO": ["u32", "u64"]})
    yield "split.cu", _listed({**keys, **sizes, "HR_VALUES": [0, 1], "HR_PLACES": BY_LOOK_BACK})


def _listed(defines: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return macros as a row of a program list, in which each value is a list."""
    return {name: value if isinstance(value, list) else [value] for name, value in defines.items()}


def _distinct() -> Programs:
    found: list[_Program] = []
    for row in programs():
        if row not in found:
            found.append(row)
    return tuple(found)


PROGRAMS: Programs = _distinct()
