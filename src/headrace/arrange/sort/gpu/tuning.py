"""Combines the tuning tables of all ways to sort on a GPU, for each kind of device and for tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

from headrace.arrange.sort.gpu.heavy_hitters.tuning import HeavyHitterTuning
from headrace.arrange.sort.gpu.lsd import tuning as lsd_tuning
from headrace.arrange.sort.gpu.lsd.tuning import (
    ANY_WIDTH,
    DigitHistogramTuning,
    LsdTuning,
    PrefixHistogramTuning,
    SplitterTuning,
    TileTuning,
)
from headrace.arrange.sort.gpu.msd import tuning as msd_tuning
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning, BlockSortTuning
from headrace.arrange.sort.gpu.msd.tuning import KeyMsdTuning, MsdTuning
from headrace.arrange.sort.gpu.row_tuning import TopKTuning
from headrace.arrange.sort.gpu.single_launch.tuning import CooperativeTuning, KeySingleLaunch, RankSortTuning, SingleLaunchTuning
from headrace.gpu.device.device import LARGE_BLOCKS


@dataclass(frozen=True, slots=True)
class SortTuning:
    """Sizes that kernels are compiled for, and the numbers of keys at which one way replaces another."""

    lsd: LsdTuning = lsd_tuning.LARGE_BLOCK_TUNING
    msd: tuple[KeyMsdTuning, ...] = msd_tuning.LARGE_BLOCK_TUNING
    single_launch: SingleLaunchTuning = field(default_factory=SingleLaunchTuning)
    heavy_hitters: HeavyHitterTuning = field(default_factory=HeavyHitterTuning)
    top_k: TopKTuning = field(default_factory=TopKTuning)
    """Tables of the algorithms; `msd` has a row for each width of keys that the MSD sort supports."""
    max_moved_bytes: int = 8
    """Maximum bytes of values of a key that move in each pass, for keys of 4 and 8 bytes. Wider values are gathered by row number
    at the end.
    """
    multiprocessors: int = 132  # number of multiprocessors of the device

    def msd_of(self, key_bytes: int) -> KeyMsdTuning | None:
        """Return the MSD sort's row for keys of one width; None if it does not support them."""
        return next((row for row in self.msd if row.key_bytes == key_bytes), None)


_LARGEST_BLOCKS_FROM = 9, 0  # compute capability of `LARGE_BLOCKS` from which blocks have 227 KiB of shared memory


@cache
def tuning_of(multiprocessors: int, capability: tuple[int, int]) -> SortTuning:
    """Return the sizes for a device, by its number of multiprocessors and compute capability."""
    if capability in LARGE_BLOCKS:
        rows = msd_tuning.LARGEST_BLOCK_TUNING if capability >= _LARGEST_BLOCKS_FROM else msd_tuning.LARGE_BLOCK_TUNING
        return SortTuning(msd=rows, multiprocessors=multiprocessors)
    lsd, msd = lsd_tuning.SMALL_BLOCK_TUNING, msd_tuning.SMALL_BLOCK_TUNING
    return SortTuning(lsd=lsd, msd=msd, multiprocessors=multiprocessors)


_HARNESS_BLOCK = BlockSortTuning(4, 64, 4, 1)
_HARNESS_TILE, _HARNESS_VALUE_TILE = TileTuning(64, 4, 1), TileTuning(64, 4, 1, ANY_WIDTH)
_HARNESS_PAPER = MsdTuning(
    4, 32, 9, _HARNESS_TILE, (BlockSortTuning(4, 32, 2, 1), BlockSortTuning(4, 32, 4, 1), _HARNESS_BLOCK), 100
)
_HARNESS_MSD = replace(
    _HARNESS_PAPER, local=(BinSortTuning(32, 3, 1), BinSortTuning(64, 4, 1)), leftover=_HARNESS_BLOCK, tail_from=2
)


HARNESS_TUNING = SortTuning(
    lsd=LsdTuning(
        4,
        tuple(
            replace(row, keys_only=_HARNESS_TILE, any_values=_HARNESS_VALUE_TILE) for row in lsd_tuning.LARGE_BLOCK_TUNING.tiles
        ),
        DigitHistogramTuning(64, 1, 2, 64),
        PrefixHistogramTuning(64, 1, 512),
        SplitterTuning(64, 1, 2),
    ),
    msd=tuple(KeyMsdTuning(width, 900, paper=_HARNESS_PAPER, keys_only=_HARNESS_MSD, pairs=_HARNESS_MSD) for width in (4, 8)),
    single_launch=SingleLaunchTuning(
        tuple(
            KeySingleLaunch(width, (RankSortTuning(128, 64, 1),), *[(CooperativeTuning(600, 4, 64, 4),)] * 2)
            for width in (1, 2, 4, 8)
        )
    ),
    top_k=TopKTuning(256, 1),
    multiprocessors=4,
)
"""Small sizes with which a few hundred keys take every path, for the fiber harness. Up to 128 keys are sorted by ranks, up to 600
by a cooperative launch, up to 256 by one block (strategy "hybrid"). The MSD sort takes 900 keys or more.
"""
