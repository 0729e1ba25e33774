"""Holds the sizes of the kernels that sort few keys in one launch, and up to how many keys each is chosen.

The table here is the one source for launches and for the list of programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.lsd.tuning import tile_bytes

_WARP_KEYS = 32


@dataclass(frozen=True, slots=True)
class RankSortTuning:
    """Size of rank_sort.cu."""

    max_keys: int  # number of keys up to which it is chosen
    threads: int  # threads of a block
    block_groups: int  # groups of 32 keys that a block ranks, at most one key a thread

    def grid(self, count: int) -> int:
        """Return the blocks for `count` keys."""
        return -(-count // (_WARP_KEYS * self.block_groups))

    def defines(self, keys: KeyType) -> Mapping[str, Any]:
        """Return the macros of a program."""
        return keys.by_equal_codes.defines(HR_THREADS=self.threads, HR_BLOCK_GROUPS=self.block_groups)


@dataclass(frozen=True, slots=True)
class CooperativeTuning:
    """Size of cooperative_sort.cu."""

    max_keys: int  # number of keys up to which it is chosen
    items: int  # keys of a thread
    threads: int = 512
    bits: int = 8  # threads of a block, and bits of a digit

    def grid(self, count: int) -> int:
        """Return the blocks for `count` keys."""
        return -(-count // (self.threads * self.items))

    def defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of a program. One block is resident on a multiprocessor."""
        return keys.defines(
            HR_BITS=self.bits, HR_THREADS=self.threads, HR_ITEMS=self.items, HR_BLOCKS=1, HR_VALUES=int(has_values)
        )

    def shared_bytes(self, width: int, *, has_values: bool) -> int:
        """Return the bytes of dynamic shared memory for keys of `width` bytes."""
        return tile_bytes(self.threads, self.items, width + 4 * has_values, 1 << self.bits)


SingleLaunch = RankSortTuning | CooperativeTuning


@dataclass(frozen=True, slots=True)
class KeySingleLaunch:
    """Kernels for keys of one width, in the order in which they are tried."""

    key_bytes: int  # width of a key
    ranks: tuple[RankSortTuning, ...]
    """Blocks that rank their keys among all. 8-byte keys use ranks up to more keys: eight digits take more barriers than four."""
    keys_only: tuple[CooperativeTuning, ...]
    with_values: tuple[CooperativeTuning, ...]  # blocks that wait for each other, for keys alone and for keys that carry columns


_RANKS = RankSortTuning(1 << 13, 512, 2), RankSortTuning(1 << 14, 512, 4)
"""64 keys a block serve up to 2**13 keys: 32 keys a block are no faster up to 2**12."""
_SHORT = (CooperativeTuning(1 << 19, 8),)
_WORDS = (
    CooperativeTuning(1 << 16, 2),
    CooperativeTuning(1 << 17, 4),
    CooperativeTuning(1 << 18, 8),
    CooperativeTuning(1 << 20, 16),
)
_ROWS = (
    KeySingleLaunch(1, _RANKS, _SHORT, _SHORT),
    KeySingleLaunch(2, _RANKS, _SHORT, _SHORT),
    KeySingleLaunch(4, _RANKS, _WORDS, _WORDS),
    KeySingleLaunch(
        8,
        (*_RANKS, RankSortTuning(1 << 15, 512, 8)),
        (*_WORDS[:3], CooperativeTuning(1 << 19, 16)),
        (*_WORDS[:2], CooperativeTuning(1 << 19, 8)),
    ),
)


@dataclass(frozen=True, slots=True)
class SingleLaunchTuning:
    """Table of the kernels that sort in one launch, a row for each width of keys."""

    rows: tuple[KeySingleLaunch, ...] = _ROWS

    def select(self, key_bytes: int, count: int, multiprocessors: int, *, has_values: bool) -> SingleLaunch | None:
        """Return the kernel for `count` keys; None if one launch cannot sort them.

        Blocks wait for each other, those that rank only in place. All must be resident, so a grid has at most one block a
        multiprocessor.
        """
        for row in self.rows:
            if row.key_bytes == key_bytes:
                candidates: tuple[SingleLaunch, ...] = (*row.ranks, *(row.with_values if has_values else row.keys_only))
                fitting = (one for one in candidates if count <= one.max_keys and one.grid(count) <= multiprocessors)
                return next(fitting, None)
        return None
