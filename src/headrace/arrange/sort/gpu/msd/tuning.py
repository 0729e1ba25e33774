"""What a sort by parts is compiled for, what of it can be switched off, and what memory it takes for its lists."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.arrange.sort.gpu.lsd.lsd import Tiles
from headrace.arrange.sort.gpu.msd.bin_sort import SpreadShape
from headrace.arrange.sort.gpu.single_launch.single_launch import BlockShape

RECORD_BYTES, BUCKET_BYTES = 16, 8
"""Of a block or a part in a list, and of a bucket."""


@dataclass(frozen=True, slots=True)
class PartShapes:
    """Sizes that the kernels are compiled for, of keys of one width.

    Parameters
    ----------
    bits
        Of a digit.
    counting
        Threads, and keys of a thread at a time.
    splitting
        Threads of a block, keys of a thread, blocks of a multiprocessor.
    local
        Blocks that sort parts, the smallest first; the last one's keys are the most that a part may have.
    merged_below
        Neighbours are put together below this, at most half of that; 0: never.
    left
        A block for parts that the others leave.
    tiles
        Of a stable step, `splitting` among them.
    rest_from
        Number of the step from which on one launch does all, whose blocks meet; None: every step has launches of its own. Where
        it is 0, heads of keys are not counted before.
    """

    bits: int
    counting: tuple[int, int]
    splitting: tuple[int, int, int]
    local: tuple[BlockShape | SpreadShape, ...]
    merged_below: int
    left: BlockShape | None = None
    tiles: Tiles | None = None
    rest_from: int | None = None

    def stably(self, tiles: Tiles) -> PartShapes:
        """With tiles of a stable step."""
        return replace(self, splitting=tiles.shape, tiles=tiles)

    @property
    def in_one(self) -> bool:
        """Whether all steps are one launch."""
        return self.rest_from == 0

    @property
    def block_keys(self) -> int:
        """Keys of a block that splits."""
        threads, items, _ = self.splitting
        return threads * items

    @property
    def most_in_one(self) -> int:
        """Keys of a part."""
        return self.local[-1].keys


@dataclass(frozen=True, slots=True)
class PartOptions:
    """What the paper's ablation switches off, all on as it has them.

    Parameters
    ----------
    keeps_counts
        Whether blocks' counts are kept for the scatter; otherwise, of keys alone, one addition a key counts and ranks.
    reduces, looks_ahead
        A thread adds equal digits at once; it takes up to three places at once in skewed blocks.
    merges
        Small neighbours become one part.
    by_size
        Parts of different sizes are sorted by different blocks.
    stable
        Equal keys keep their order (scatter_stable.cu), in place of all but the last two of these.
    """

    keeps_counts: bool = True
    reduces: bool = True
    looks_ahead: bool = True
    merges: bool = True
    by_size: bool = True
    stable: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long lists can get for `count` keys: the paper's I1, I4 and I3, the last with windows of positions."""

    count: int
    shapes: PartShapes
    options: PartOptions
    steps: int

    @property
    def buckets(self) -> int:
        """Of one step, each with more keys than a part may have (I1)."""
        return max(1, self.count // self.shapes.most_in_one)

    @property
    def blocks(self) -> int:
        """Of one step (I4)."""
        return self.count // self.shapes.block_keys + self.buckets + 1

    def parts(self, number: int) -> int:
        """Of all steps, in one of the lists (I3): a group begins at a sub-bucket that is not small, behind one, or at a multiple
        of the threshold. The second list and the third have parts that are too large for the classes before.
        """
        most = (1 + (self.steps - 2) * self.buckets) << self.shapes.bits
        below = self.shapes.merged_below if self.options.merges else 0
        if below:
            most = min(most, 2 * self.count // below + (3 * self.steps - 5) * self.buckets + 2)
        if number == 0 or not self.options.by_size:
            return most
        return min(most, self.count // self.shapes.local[2 * number - 1].keys + 1)

    @property
    def cursors(self) -> int:
        """Tables of a step's buckets: two save a launch a step that clears one, and are more than the paper has."""
        return 1 if self.options.keeps_counts and not self.options.stable else 2

    @property
    def lists(self) -> int:
        """Of parts, and of those that are left."""
        return -(-len(self.shapes.local) // 2)

    @property
    def nbytes(self) -> int:
        """Of all lists: M2 to M5 of the paper, and a few counters."""
        digits = 1 << self.shapes.bits
        kept = 4 * digits * self.blocks if self.options.keeps_counts else 0
        if self.options.stable:
            kept = 16 + 8 * digits * self.blocks  # states of look-back
        records = 2 * self.blocks + sum(self.parts(number) for number in range(self.lists))
        if self.shapes.left is not None:
            records += self.parts(0)
        return 4 * digits * self.buckets * self.cursors + kept + RECORD_BYTES * records + 2 * BUCKET_BYTES * self.buckets
