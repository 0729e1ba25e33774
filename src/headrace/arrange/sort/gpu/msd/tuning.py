"""Holds the sizes of the MSD sort's kernels, the switches of the paper's ablation, and the bounds of the sort's lists.

The table here is the one source for launches and for the list of programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace.arrange.multisplit.gpu.tuning import bin_keys, bins_bytes
from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.lsd.tuning import ANY_WIDTH, LsdTuning, TileTuning
from headrace.arrange.sort.gpu.msd.local_tuning import BinSortTuning, BlockSortTuning, LocalSortTuning

RECORD_BYTES, BUCKET_BYTES = 16, 24  # bytes of a block or a leaf bucket in a list, and of a bucket that is split further


@dataclass(frozen=True, slots=True)
class MsdTuning:
    """Sizes of the kernels for keys of one width."""

    bits: int  # bits of a digit
    count_threads: int
    count_items: int  # threads of a block that counts digits, and keys that a thread loads at a time
    scatter: TileTuning  # tile of a scatter pass
    local: tuple[LocalSortTuning, ...]  # Local sorts, the smallest first. The last one bounds the size of a leaf bucket.
    merge_below: int
    """Neighbouring buckets merge if each is smaller than this and both begin between the same multiples of it; 0: never."""
    leftover: BlockSortTuning | None = None  # local sort for the buckets that bin_sort.cu declines; None without bin_sort.cu
    tail_from: int | None = None
    """Number of the pass from which one launch does all the rest with grid barriers. None: each pass has its own launches. If it
    is 0, prefixes are not counted beforehand.
    """
    has_one_pass: bool = False
    """True if one pass is launched. Then the plan chooses this sort only if that pass leaves leaf buckets alone, and prefixes are
    not counted. With one bit more than other digits, it goes by the highest bits.
    """

    @property
    def is_one_launch(self) -> bool:
        """Return whether one launch does all passes."""
        return self.tail_from == 0

    @property
    def counts_prefixes(self) -> bool:
        """Return whether 16-bit prefixes may be counted first. Few keys have few launches that may be in vain."""
        return not self.is_one_launch and not self.has_one_pass

    @property
    def max_leaf_keys(self) -> int:
        """Return the maximum number of keys of a leaf bucket."""
        return self.local[-1].keys

    def count_defines(self, keys: KeyType) -> Mapping[str, Any]:
        """Return the macros of bucket_count.cu."""
        return keys.defines(HR_BITS=self.bits, HR_THREADS=self.count_threads, HR_ITEMS=self.count_items)

    def reserve_defines(self, keys: KeyType) -> Mapping[str, Any]:
        """Return the macros of scatter_reserve.cu."""
        return keys.defines(HR_BITS=self.bits, **self._scatter_sizes, HR_BIN=self._bin_keys)

    def reserve_shared(self, keys: KeyType) -> int:
        """Return the bytes of shared memory of scatter_reserve.cu."""
        return bins_bytes(self._bin_keys, 1 << self.bits, keys.width)

    def scatter_defines(self, keys: KeyType, *, has_values: bool) -> Mapping[str, Any]:
        """Return the macros of paper/scatter.cu."""
        return keys.defines(HR_BITS=self.bits, **self._scatter_sizes, HR_VALUES=int(has_values))

    @property
    def _scatter_sizes(self) -> dict[str, int]:
        tile = self.scatter
        return {"HR_THREADS": tile.threads, "HR_ITEMS": tile.items, "HR_BLOCKS": tile.blocks}

    @property
    def _bin_keys(self) -> int:
        return bin_keys(self.scatter.keys, 1 << self.bits)


@dataclass(frozen=True, slots=True)
class HybridOptions:
    """Switches of the hybrid sort's ablation; by default all parts of the paper's algorithm are on."""

    keeps_counts: bool = True
    """True if the scatter reads the blocks' counts. If not, keys alone are counted and ranked by one atomic addition each."""
    reduces: bool = True  # True if a thread adds equal digits at once
    looks_ahead: bool = True  # True if a thread reserves up to three places at once in skewed blocks
    merges: bool = True  # True if small neighbouring buckets merge
    by_size: bool = True  # True if leaf buckets of different sizes have different local sorts
    stable: bool = False
    """True if equal keys keep their order (scatter_stable.cu). Then only `merges` and `by_size` have an effect."""


@dataclass(frozen=True, slots=True)
class LargeLeaves:
    """Local sorts of the largest buckets of keys alone and of pairs, and that of the buckets which they decline."""

    keys_only: BinSortTuning
    pairs: BinSortTuning
    leftover: BlockSortTuning


@dataclass(frozen=True, slots=True)
class FewMsdTuning:
    """Sizes for few keys: leaf buckets of one size, and few launches. An idle launch costs a hundredth of the sort."""

    min_keys: int
    below: int  # numbers of keys that it serves: from `min_keys` on, and less than `below`
    sizes: MsdTuning  # sizes of the kernels


@dataclass(frozen=True, slots=True)
class KeyMsdTuning:
    """Sizes for keys of one width, in each variant of the MSD sort."""

    key_bytes: int  # width of a key
    min_keys: int  # number of keys from which the planner may choose the MSD sort
    paper: MsdTuning  # strategy `"hybrid"`: the algorithm as published
    keys_only: MsdTuning  # keys alone, counted and ranked by one addition each
    pairs: MsdTuning  # Keys that carry values; stable. Its `scatter` tile is for columns of any width.
    same_width: TileTuning | None = None
    """Tile for one value as wide as the key. Runs are longer than in the LSD sort's tile; None: that one serves."""
    few_keys: tuple[FewMsdTuning, ...] = ()
    few_pairs: tuple[FewMsdTuning, ...] = ()
    """Sizes that replace `keys_only` or `pairs` for few keys, and serve below `min_keys`. Sizes with one pass are for one value
    as wide as the key, and their tile is that of the LSD sort.
    """
    many: LargeLeaves | None = None
    many_from: int = 0
    """Largest local sorts from this number of keys on, where two passes leave uniform keys in larger buckets than those of
    `keys_only` and `pairs`. A third pass would read and write all keys again.
    """

    def select_keys(self, count: int) -> MsdTuning | None:
        """Return the sizes for `count` keys alone; None if the MSD sort does not serve them."""
        few = _few(self.few_keys, count)
        if few is not None or count < self.min_keys:
            return few
        many = self._many(count)
        return self.keys_only if many is None else _with_leaves(self.keys_only, many.keys_only, many.leftover)

    def select_pairs(self, value_widths: Sequence[int], count: int, lsd: LsdTuning) -> MsdTuning | None:
        """Return the sizes for `count` keys that carry columns of `value_widths` bytes an item; None as `select_keys`."""
        few, is_same_width = _few(self.few_pairs, count), tuple(value_widths) == (self.key_bytes,)
        if few is not None and few.has_one_pass and not is_same_width:
            few = None
        if few is None and count < self.min_keys:
            return None
        tile = self.same_width if is_same_width and not (few and few.has_one_pass) else None
        if few is not None and few.bits > lsd.bits:
            tile = few.scatter  # a thread for each digit
        found = replace(few or self.pairs, scatter=tile or lsd.tiles_of(self.key_bytes).select(value_widths, count))
        many = self._many(count)
        return found if many is None else _with_leaves(found, many.pairs, many.leftover)

    def _many(self, count: int) -> LargeLeaves | None:
        return self.many if count >= self.many_from else None


def _few(rows: Sequence[FewMsdTuning], count: int) -> MsdTuning | None:
    return next((row.sizes for row in rows if row.min_keys <= count < row.below), None)


def _with_leaves(tuning: MsdTuning, largest: BinSortTuning, leftover: BlockSortTuning) -> MsdTuning:
    return replace(tuning, local=(*tuning.local[:-1], largest), leftover=leftover)


_TINY = BlockSortTuning(6, 64, 8, 16)
_SMALL = BlockSortTuning(8, 256, 8, 4)
_FULL_U32, _FULL_U64 = BlockSortTuning(8, 512, 18, 2), BlockSortTuning(8, 512, 10, 2)
_BINS_U32 = tuple(BinSortTuning(threads, 18, 1024 // threads) for threads in (64, 128, 256, 512))
_BINS_U64 = tuple(BinSortTuning(threads, 10, 1024 // threads) for threads in (64, 128, 256, 512))
_PAIRS_U32, _PAIRS_U64 = TileTuning(384, 16, 2, ANY_WIDTH), TileTuning(512, 12, 1, ANY_WIDTH)
_TAIL_FROM = 3
"""Fourth of eight passes. Uniform keys need two or three passes, and few skewed inputs that take this path need more."""

_KEYS_U64 = MsdTuning(8, 512, 16, TileTuning(512, 16, 2), _BINS_U64, 1264, _FULL_U64, _TAIL_FROM)
_LARGE_U32 = LargeLeaves(BinSortTuning(1024, 18, 1), BinSortTuning(1024, 15, 1), BlockSortTuning(8, 1024, 18, 1))
_LARGE_U64 = LargeLeaves(BinSortTuning(1024, 10, 1), BinSortTuning(1024, 10, 1), BlockSortTuning(8, 1024, 10, 1))


def _few_keys(below: int, scatter: TileTuning, leaf: BinSortTuning, leftover: BlockSortTuning, merged: int) -> FewMsdTuning:
    sizes = MsdTuning(8, 512, 16, scatter, (leaf,), merged, leftover, has_one_pass=True)
    return FewMsdTuning(1 << 19, below, sizes)


def _by_top_bits(row: FewMsdTuning, below: int, scatter: TileTuning | None = None) -> FewMsdTuning:
    """Return the row for more keys than 2^8 leaf buckets hold."""
    return replace(row, below=below, sizes=replace(row.sizes, bits=9, scatter=scatter or row.sizes.scatter))


def _few_pairs(min_keys: int, below: int, leaf: BlockSortTuning) -> FewMsdTuning:
    return FewMsdTuning(min_keys, below, MsdTuning(8, 384, 9, _PAIRS_U32, (leaf,), 1136, has_one_pass=True))


_FEW_U32 = _few_keys(4_500_000, TileTuning(512, 16, 2), _LARGE_U32.keys_only, _LARGE_U32.leftover, 1136)
_FEW_PAIRS_U32 = _few_pairs(2_400_000, 4_500_000, _LARGE_U32.leftover)
_U32 = KeyMsdTuning(
    4,
    1 << 24,
    paper=MsdTuning(8, 384, 18, TileTuning(384, 18, 2), (_TINY, _SMALL, _FULL_U32), 3000),
    keys_only=MsdTuning(8, 512, 15, TileTuning(512, 30, 2), _BINS_U32, 1136, _FULL_U32, _TAIL_FROM),
    pairs=MsdTuning(8, 384, 18, _PAIRS_U32, _BINS_U32, 1136, _FULL_U32),
    same_width=TileTuning(640, 24, 1, 4),
    few_keys=(_FEW_U32, _by_top_bits(_FEW_U32, 9_000_000)),
    few_pairs=(_FEW_PAIRS_U32, _by_top_bits(_FEW_PAIRS_U32, 9_000_000, TileTuning(512, 24, 1, 4))),
    many=_LARGE_U32,
    many_from=577_000_000,
)
_U64 = KeyMsdTuning(
    8,
    1 << 23,
    paper=MsdTuning(8, 384, 9, TileTuning(384, 10, 2), (_TINY, _SMALL, _FULL_U64), 2000),
    keys_only=_KEYS_U64,
    pairs=MsdTuning(8, 384, 9, _PAIRS_U64, _BINS_U64, 1264, _FULL_U64, _TAIL_FROM),
    same_width=TileTuning(256, 28, 2, 8, values_follow=True),
    few_keys=(_few_keys(2_400_000, TileTuning(512, 8, 2), _LARGE_U64.keys_only, _LARGE_U64.leftover, 1264),),
    few_pairs=(
        _few_pairs(1 << 19, 2_400_000, _LARGE_U64.leftover),
        FewMsdTuning(1 << 23, 1 << 25, MsdTuning(8, 384, 9, _PAIRS_U64, _BINS_U64[2:3], 1264, _FULL_U64, 0)),
    ),
    many=_LARGE_U64,
    many_from=314_000_000,
)

LARGE_BLOCK_TUNING = (_U32, _U64)  # for devices whose blocks may have 163 KiB of shared memory or more
_WIDE_U64 = BlockSortTuning(8, 1024, 18, 1)
_WIDE_FEW_U64 = _few_keys(4_250_000, TileTuning(512, 8, 2), BinSortTuning(1024, 17, 1), _WIDE_U64, 1264)
LARGEST_BLOCK_TUNING = (
    _U32,
    replace(
        _U64,
        few_keys=(*_U64.few_keys, _WIDE_FEW_U64, _by_top_bits(_WIDE_FEW_U64, 1 << 23)),
        few_pairs=(*_U64.few_pairs, _few_pairs(2_400_000, 4_500_000, _WIDE_U64)),
    ),
)  # for devices whose blocks may have 227 KiB
SMALL_BLOCK_TUNING = (
    replace(_U32, same_width=None, few_keys=(), few_pairs=(), many=None),
    replace(
        _U64,
        few_keys=(),
        few_pairs=_U64.few_pairs[1:],
        many=None,
        keys_only=replace(_KEYS_U64, count_items=14, scatter=TileTuning(512, 14, 2)),
    ),
)  # for all other devices, whose blocks may have 99 KiB
TUNINGS = (LARGE_BLOCK_TUNING, SMALL_BLOCK_TUNING, LARGEST_BLOCK_TUNING)


def _limits() -> Iterator[int]:
    for row in (row for table in TUNINGS for row in table):
        yield from (row.min_keys - 1, row.many_from - 1)
        for few in (*row.few_keys, *row.few_pairs):
            yield from (few.min_keys - 1, few.below - 1)


LIMITS = tuple(sorted(set(_limits())))  # numbers of keys after which other sizes are chosen


@dataclass(frozen=True, slots=True)
class ListBounds:
    """Maximum lengths of the lists for `count` keys: I1, I4 and I3 of the paper, the last with windows of positions."""

    count: int
    tuning: MsdTuning
    options: HybridOptions
    passes: int

    @property
    def buckets(self) -> int:
        """Return the maximum number of buckets that one pass splits (I1)."""
        return max(1, self.count // self.tuning.max_leaf_keys)

    @property
    def blocks(self) -> int:
        """Return the maximum number of blocks of one pass (I4)."""
        return self.count // self.tuning.scatter.keys + self.buckets + 1

    def leaves(self, number: int) -> int:
        """Return the maximum length of list `number` of leaf buckets, of all passes (I3).

        A group of merged buckets begins at a sub-bucket that is not small, after one, or at a multiple of the threshold. The
        second and third list hold only buckets that are too large for the preceding size classes.
        """
        longest = (1 + (self.passes - 2) * self.buckets) << self.tuning.bits
        below = self.tuning.merge_below if self.options.merges else 0
        if below:
            longest = min(longest, 2 * self.count // below + (3 * self.passes - 5) * self.buckets + 2)
        if number == 0 or not self.options.by_size:
            return longest
        return min(longest, self.count // self.tuning.local[2 * number - 1].keys + 1)

    @property
    def cursor_tables(self) -> int:
        """Return the number of cursor tables. Two save a launch a pass that clears one; the paper has one."""
        return 1 if self.options.keeps_counts and not self.options.stable else 2

    @property
    def lists(self) -> int:
        """Return the number of lists of leaf buckets, without that of leftovers."""
        return -(-len(self.tuning.local) // 2)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all lists: M2 to M5 of the paper, and a few counters."""
        digits = 1 << self.tuning.bits
        counts = 4 * digits * self.blocks if self.options.keeps_counts else 0
        if self.options.stable:
            counts = 16 + 8 * digits * self.blocks  # look-back states
        records = 2 * self.blocks + sum(self.leaves(number) for number in range(self.lists))
        if self.tuning.leftover is not None:
            records += self.leaves(0)
        return 4 * digits * self.buckets * self.cursor_tables + counts + RECORD_BYTES * records + 2 * BUCKET_BYTES * self.buckets
