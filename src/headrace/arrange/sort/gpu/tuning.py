"""Sizes that kernels of sorts are compiled for, and which way goes to how many keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.arrange.sort.gpu.heavy_hitters.heavy_hitters import HeavyShape
from headrace.arrange.sort.gpu.lsd.lsd import DigitShapes, Tiles
from headrace.arrange.sort.gpu.msd.bin_sort import SpreadShape
from headrace.arrange.sort.gpu.msd.tuning import PartShapes
from headrace.arrange.sort.gpu.single_launch.single_launch import BlockShape, SmallShapes
from headrace.arrange.sort.gpu.top_k import TopShape

_TINY = BlockShape(6, 64, 8, 16)
_LITTLE = BlockShape(8, 256, 8, 4)
_U32, _U64 = BlockShape(8, 512, 18, 2), BlockShape(8, 512, 10, 2)
_SPREAD_U32 = SpreadShape(64, 18, 16), SpreadShape(128, 18, 8), SpreadShape(256, 18, 4), SpreadShape(512, 18, 2)
_SPREAD_U64 = SpreadShape(64, 10, 16), SpreadShape(128, 10, 8), SpreadShape(256, 10, 4), SpreadShape(512, 10, 2)
_REST = 3
"""The fourth step of 8 on: uniform keys take two or three, and of skewed ones that are worth it few go on."""


@dataclass(frozen=True, slots=True)
class SortShapes:
    """Sizes that kernels are compiled for and where one way ends and the next begins; tests have smaller ones.

    Parameters
    ----------
    digits, small, top
        Of the other files.
    kept, counted
        Of a sort by parts, by bytes of a key: as the paper has it, and with one addition a key.
    stable
        The same of pairs, whose equal keys keep their order.
    parts_from
        How many keys there must be that a sort by parts may be chosen, by bytes of a key.
    most_moved
        Bytes of values beside a key, from 4 and 8 bytes of it, that move with each digit; more are fetched by row at the end.
    stable_tiles
        Of `stable`, by bytes of a key and of the one value that it has, tiles where longer runs are better than for digits.
    heavy
        Of values that many keys have.
    stable_few
        In place of `stable` below so many keys, by bytes of a key: all steps in one launch and parts of one size, since launches
        that have nothing to do are a twentieth of a sort by digits there.
    """

    digits: DigitShapes = field(default_factory=DigitShapes)
    small: SmallShapes = field(default_factory=SmallShapes)
    top: TopShape = field(default_factory=TopShape)
    kept: tuple[tuple[int, PartShapes], ...] = (
        (4, PartShapes(8, (384, 18), (384, 18, 2), (_TINY, _LITTLE, _U32), 3000)),
        (8, PartShapes(8, (384, 9), (384, 10, 2), (_TINY, _LITTLE, _U64), 2000)),
    )
    counted: tuple[tuple[int, PartShapes], ...] = (
        (4, PartShapes(8, (512, 15), (512, 30, 2), _SPREAD_U32, 1136, _U32)),
        (8, PartShapes(8, (512, 16), (512, 16, 2), _SPREAD_U64, 1264, _U64, rest_from=_REST)),
    )
    stable: tuple[tuple[int, PartShapes], ...] = (
        (4, PartShapes(8, (384, 18), (384, 16, 2), _SPREAD_U32, 1136, _U32)),
        (8, PartShapes(8, (384, 9), (512, 12, 1), _SPREAD_U64, 1264, _U64, rest_from=_REST)),
    )
    parts_from: tuple[tuple[int, int], ...] = ((4, 1 << 25), (8, 1 << 23))
    most_moved: int = 8
    multiprocessors: int = 132
    stable_tiles: tuple[tuple[tuple[int, int], Tiles], ...] = (
        ((4, 4), Tiles((640, 24, 1), 4)),
        ((8, 8), Tiles((256, 28, 2), 8, follows=True)),
    )
    heavy: HeavyShape = field(default_factory=HeavyShape)
    stable_few: tuple[tuple[int, tuple[int, PartShapes]], ...] = (
        (8, (1 << 25, PartShapes(8, (384, 9), (512, 12, 1), (SpreadShape(256, 10, 4),), 1264, _U64, rest_from=0))),
    )
