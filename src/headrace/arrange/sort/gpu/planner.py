"""Chooses how keys are sorted on a GPU, and moves columns with them. It runs on a launcher, so tests need no GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.common.key_type import KeyType
from headrace.arrange.sort.gpu.common.launch import MAX_COLUMNS, MAX_U32_ROWS, MovedColumn, SortArrays, SortContext, row_bytes
from headrace.arrange.sort.gpu.heavy_hitters.heavy_hitters import ExtractionBuffers, HeavyHitters
from headrace.arrange.sort.gpu.lsd.lsd import DevicePlan, LsdSort, MsdUse, PlanInputs
from headrace.arrange.sort.gpu.lsd.tuning import SPLITTER_KEY_BYTES, TileTuning, needs_u64_positions
from headrace.arrange.sort.gpu.msd.local_sorts import sort_in_one_block
from headrace.arrange.sort.gpu.msd.local_tuning import BlockSortTuning
from headrace.arrange.sort.gpu.msd.msd import MAX_KEYS, MsdSort
from headrace.arrange.sort.gpu.msd.tuning import HybridOptions, MsdTuning
from headrace.arrange.sort.gpu.single_launch.single_launch import cooperative_sort, rank_sort
from headrace.arrange.sort.gpu.single_launch.tuning import RankSortTuning, SingleLaunch
from headrace.arrange.sort.gpu.top_k import TopKSearch, TopKTargets, is_in_order
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.errors import OptionError
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher


@dataclass(frozen=True, slots=True)
class SortRequest:
    """Keys to sort, in device memory, and the columns that move with them."""

    order: KeyOrder
    keys: DeviceBuffer
    target: DeviceBuffer | None  # input and output; no target: the sorted keys are not needed
    values: tuple[MovedItems, ...] = ()  # columns that move with the keys
    indices: RowNumbers | None = None  # output for the positions of the keys
    stable: bool = True  # True if equal keys keep their order
    strategy: str | None = None  # `"digits"`, `"hybrid"`, or None for the planner's choice
    options: HybridOptions = field(default_factory=HybridOptions)  # switches of the hybrid sort

    @property
    def width(self) -> int:
        """Return the bytes of a key."""
        return self.order.bits // 8

    @property
    def has_columns(self) -> bool:
        """Return whether anything moves with the keys."""
        return bool(self.values) or self.indices is not None

    @property
    def key_type(self) -> KeyType:
        """Return the keys as kernels see them.

        The hybrid sort does not keep the order of equal keys, so it may order those of different bits by their bits.
        """
        equals = self.order.has_equals and self.has_columns and self.strategy != "hybrid"
        return KeyType(self.width, self.order.packed if equals else self.order.packed_by_bits, equals=equals)


@dataclass(frozen=True, slots=True)
class MsdChoice:
    """An MSD sort that the device's plan may or must choose: its sizes and switches."""

    tuning: MsdTuning
    options: HybridOptions
    use: MsdUse


@dataclass(frozen=True, slots=True)
class _Sorts:
    """The plan of a sort on the device, and what it may choose: None for sorts that are not launched."""

    plan: DevicePlan
    lsd: LsdSort | None
    msd: MsdSort | None
    extraction: ExtractionBuffers | None  # buffers of the sampled heavy hitters


class Sorter:
    """Sorts `count` keys.

    `counters`: returns 16 bytes that are zero before and after every launch.
    `capacity`: number of keys for which kernels, grids and memory are chosen, not less than `count`; 0 for `count`.
    """

    def __init__(
        self, launcher: Launcher, count: int, tuning: SortTuning, counters: Callable[[], DeviceBuffer], capacity: int = 0
    ) -> None:
        self._launcher, self._count, self._tuning, self._counters = launcher, count, tuning, counters
        self._capacity = capacity or count
        self._context = SortContext(launcher, count, tuning.multiprocessors, capacity)

    def sort(self, request: SortRequest) -> None:
        """Sort keys, and move columns with them.

        Memory besides the targets, for a capacity of n keys of w bytes, and v bytes of values that move with them:

        - rank sort: none. With 128 multiprocessors it serves up to 2**14 keys, 2**15 of 8 bytes.
        - cooperative sort: 2 n (w + 4), and 1 KiB a block.
        - LSD: n (w + v); n w more if the keys are not needed; 2 KiB for each tile of 6,000 to 12,000 keys, and 80 KiB.
        - MSD: n w / 10 more than LSD, or up to n w / 3 if columns move with the keys and equal keys keep their order.

        Values that are gathered at the end take 8 n instead of their own bytes (16 n above 2**32 keys). If they are sorted in
        place, they also take n times their width.

        Raise MemoryLimitError if the buffers do not fit the budget; nothing has changed. Raise OptionError if the
        strategy does not support the request.
        """
        if self._count == 0:
            return
        if request.strategy == "hybrid":
            self._check_hybrid(request)
        if self._must_gather(request):
            self._sort_rows_and_gather(request)
        else:
            self._sort_directly(request)

    def is_sorted(self, request: SortRequest) -> bool:
        """Return whether keys are in order; the host waits."""
        if self._count < 2:
            return True
        return is_in_order(self._context, KeyType(request.width, request.order.packed), request.keys, self._tuning.top_k)

    def top_k(self, request: SortRequest, k: int) -> None:
        """Write the first `k` keys to the target, and their positions to the indices.

        It takes 12 or 16 bytes for each of them, and the memory of a sort of `k` keys.
        """
        if k == 0 or request.target is None or request.indices is None:
            return None
        if k == self._count:
            return self.sort(request)
        indices, index_bytes = request.indices
        keys = KeyType(request.width, request.order.packed)
        chosen = TopKTargets(self._launcher.allocate(k * request.width), self._launcher.allocate(k * index_bytes), index_bytes)
        sort = replace(
            request, keys=chosen.keys, values=(MovedItems(chosen.indices, indices, index_bytes),), indices=None, strategy=None
        )
        TopKSearch(self._context, keys, self._tuning.top_k).run(request.keys, k, chosen)
        return Sorter(self._launcher, k, self._tuning, self._counters).sort(sort)

    def _check_hybrid(self, request: SortRequest) -> None:
        if self._tuning.msd_of(request.width) is None:
            raise OptionError("strategy 'hybrid' supports keys of 4 and 8 bytes")
        if self._capacity > MAX_KEYS:
            raise OptionError(f"strategy 'hybrid' supports fewer than 2**32 keys, not {self._capacity:_}; 'digits' has no limit")
        if request.has_columns and request.stable:
            raise OptionError("strategy 'hybrid' does not keep the order of equal keys; use 'digits' or pass stable=False")

    def _single_launch(self, request: SortRequest) -> SingleLaunch | BlockSortTuning | None:
        """Return the kernel that sorts all keys in one launch, if any. The hybrid uses its local sort."""
        if request.strategy == "hybrid":
            row = self._tuning.msd_of(request.width)
            largest = None if row is None else row.paper.local[-1]
            assert isinstance(largest, BlockSortTuning)
            return largest if self._capacity <= largest.keys else None
        table, multiprocessors = self._tuning.single_launch, self._tuning.multiprocessors
        return table.select(request.width, self._capacity, multiprocessors, has_values=request.has_columns)

    def _must_gather(self, request: SortRequest) -> bool:
        """Return whether values are gathered by row number at the end instead of moving in each pass."""
        columns = len(request.values) + (request.indices is not None)
        if columns > MAX_COLUMNS:
            return True
        if self._single_launch(request) is not None:
            return False
        if request.indices is not None and request.indices.width == 8 and self._capacity <= MAX_U32_ROWS:
            return True  # row numbers of 4 bytes move
        return sum(width for _, _, width in request.values) > self._tuning.max_moved_bytes

    def _sort_rows_and_gather(self, request: SortRequest) -> None:
        """Sort row numbers with the keys, then gather every column by them."""
        width = row_bytes(self._capacity)
        indices, index_bytes = request.indices or (None, 0)
        rows = indices if indices is not None and index_bytes == width else self._launcher.allocate(self._capacity * width)
        copies = [self._launcher.allocate(self._capacity * w) if a.address == b.address else None for a, b, w in request.values]
        self._sort_directly(replace(request, values=(), indices=RowNumbers(rows, width)))
        for (source, target, item), copy in zip(request.values, copies, strict=True):
            if copy is not None:
                self._context.gather(None, source, copy, item)
            self._context.gather(rows, source if copy is None else copy, target, item)
        if indices is not None and indices is not rows:
            self._context.convert_rows(rows, indices, index_bytes)

    def _sort_directly(self, request: SortRequest) -> None:
        keys, single = request.key_type, self._single_launch(request)
        if single is not None:
            return self._sort_in_one_launch(request, keys, single)
        moved = self._moved(request.keys, request.target, request.width, keys)
        columns = [self._moved(source, target, width, keys) for source, target, width in request.values]
        if request.indices is not None:
            columns.append(self._row_numbers(*request.indices))
        return self._sort_many(request, keys, SortArrays(moved, columns))

    def _sort_in_one_launch(self, request: SortRequest, keys: KeyType, tuning: SingleLaunch | BlockSortTuning) -> None:
        moved = MovedColumn(request.keys, request.target, None, request.width)
        columns = [MovedColumn(source, target, None, width) for source, target, width in request.values]
        if request.indices is not None:
            columns.append(MovedColumn(None, request.indices.buffer, None, request.indices.width))
        arrays, writes, launcher, context = SortArrays(moved, columns), request.target is not None, self._launcher, self._context
        if isinstance(tuning, BlockSortTuning):
            return sort_in_one_block(launcher, keys, tuning, arrays, self._count, writes_keys=writes)
        if isinstance(tuning, RankSortTuning):
            return rank_sort(context, keys, tuning, arrays, writes_keys=writes, counters=self._counters)
        return cooperative_sort(context, keys, tuning, arrays, writes_keys=writes, counters=self._counters)

    def _sort_many(self, request: SortRequest, keys: KeyType, arrays: SortArrays) -> None:
        """Launch every sort that the plan may choose. The device decides, so the host does not wait."""
        widths, writes_keys = [column.width for column in arrays.columns], request.target is not None
        choice = self._msd_choice(request, widths)
        sorts = self._prepare(request, keys, widths, choice)
        plan, lsd, msd, heavy = sorts.plan, sorts.lsd, sorts.msd, None
        in_place = any(column.in_place for column in arrays.all)
        if in_place and keys.digit_count(self._tuning.lsd.bits) % 2:  # an even number of passes ends where it began
            moved, *columns = [self._from_copy(column) for column in arrays.all]
            arrays, in_place = SortArrays(moved, columns), False
        assert arrays.keys.source is not None
        use, max_block_keys = (MsdUse.NEVER, 1) if choice is None else (choice.use, choice.tuning.max_leaf_keys)
        inputs = PlanInputs(in_place, bool(widths), use, max_block_keys, sum(widths))
        if sorts.extraction is not None:
            heavy = HeavyHitters(self._context, keys, self._tuning.heavy_hitters, arrays, sorts.extraction)
            heavy.extract(plan, inputs)
        plan.make(arrays.keys.source, inputs, None if heavy is None else heavy.remainder)
        if lsd is not None:
            lsd.run(plan, arrays, writes_keys=writes_keys)
        if lsd is not None and heavy is not None:
            lsd.run(plan, arrays, is_remainder=True)
        if msd is not None:
            msd.run(plan, arrays, writes_keys=writes_keys)
        plan.copy_or_reverse(arrays, writes_keys=writes_keys)
        if heavy is not None:
            heavy.merge(plan, writes_keys=writes_keys)

    def _prepare(self, request: SortRequest, keys: KeyType, widths: Sequence[int], choice: MsdChoice | None) -> _Sorts:
        """Allocate the memory of the plan and of the sorts that it may choose, with one fill for what must be zero.

        `widths`: bytes of an item of each column that moves with the keys. `choice`: the MSD sort, if any.
        """
        context, lsd_tuning, msd_tuning = self._context, self._tuning.lsd, choice.tuning if choice else None
        tile = lsd_tuning.tiles_of(keys.width).select(widths, self._capacity)
        samples = choice is not None and choice.use is MsdUse.IF_CHEAPER and not keys.equals
        counts_prefixes = samples and choice is not None and choice.tuning.counts_prefixes
        has_splitters = counts_prefixes and not widths and keys.width == SPLITTER_KEY_BYTES
        counts_top_bits = msd_tuning is not None and msd_tuning.has_one_pass and msd_tuning.bits > lsd_tuning.bits
        may_extract = self._may_extract_heavy(request, sum(widths))
        zeros = [  # states last: a large buffer is cleared by a fill of its own
            DevicePlan.nbytes(keys, lsd_tuning, counts_prefixes=counts_prefixes, counts_top_bits=counts_top_bits),
            MsdSort.counts_bytes(keys, msd_tuning) if msd_tuning else 0,
            HeavyHitters.nbytes(keys, self._tuning.heavy_hitters) if may_extract else 0,
            self._states_bytes(tile, choice),
        ]
        plan_zeros, counts, heavy_table, states = self._launcher.allocate_group(zeros)
        plan = DevicePlan(
            context, keys, lsd_tuning, plan_zeros,
            samples=samples, counts_prefixes=counts_prefixes, has_splitters=has_splitters, counts_top_bits=counts_top_bits,
        )  # fmt: skip
        uses_lsd = choice is None or choice.use is not MsdUse.ALWAYS
        return _Sorts(
            plan,
            LsdSort(context, keys, lsd_tuning, tile, states) if uses_lsd else None,
            MsdSort(context, keys, choice.tuning, choice.options, (states, counts)) if choice else None,
            ExtractionBuffers(tile, states, heavy_table) if may_extract else None,
        )

    def _may_extract_heavy(self, request: SortRequest, value_bytes: int) -> bool:
        """Return whether the keys are sampled for heavy hitters. Positions have 32 bits, and a pass is one portion."""
        is_enough = self._capacity * (request.width + value_bytes) >= self._tuning.heavy_hitters.min_bytes
        return request.strategy is None and request.width >= 4 and is_enough and self._tuning.lsd.portions(self._capacity) == 1

    def _states_bytes(self, tile: TileTuning, choice: MsdChoice | None) -> int:
        """Return the bytes of look-back states. LSD and MSD share them, as only one of the two runs."""
        nbytes = LsdSort.states_bytes(self._capacity, self._tuning.lsd, tile)
        if choice is not None and choice.options.stable and not choice.tuning.is_one_launch:
            nbytes = max(nbytes, MsdSort.states_bytes(self._capacity, choice.tuning, choice.options))
        return nbytes

    def _from_copy(self, moved: MovedColumn) -> MovedColumn:
        if not moved.in_place:
            return moved
        assert moved.source is not None
        copy = self._launcher.allocate(self._capacity * moved.width)
        self._context.gather(None, moved.source, copy, moved.width)
        return replace(moved, source=copy)

    def _msd_choice(self, request: SortRequest, widths: Sequence[int]) -> MsdChoice | None:
        """Return the MSD sort that may or must be chosen, if any."""
        row = self._tuning.msd_of(request.width)
        if row is None:
            return None
        if request.strategy == "hybrid":
            options = replace(request.options, keeps_counts=request.options.keeps_counts or bool(widths))
            tuning = row.paper if options.keeps_counts else replace(row.paper, scatter=row.keys_only.scatter)
            return MsdChoice(tuning, options, MsdUse.ALWAYS)
        if request.strategy is not None or needs_u64_positions(self._capacity):
            return None
        if widths:
            options = replace(request.options, reduces=False, stable=True)
            sizes = row.select_pairs(widths, self._capacity, self._tuning.lsd)
        else:
            options = replace(request.options, keeps_counts=False, reduces=False)
            sizes = row.select_keys(self._capacity)
        if sizes is None or (sizes.bits > self._tuning.lsd.bits and request.key_type.equals):
            return None
        return MsdChoice(sizes, options, MsdUse.IF_ONE_PASS if sizes.has_one_pass else MsdUse.IF_CHEAPER)

    def _moved(self, source: DeviceBuffer, target: DeviceBuffer | None, width: int, keys: KeyType) -> MovedColumn:
        """Return a column with the scratch buffer that two or more passes need."""
        if keys.digit_count(self._tuning.lsd.bits) == 1:
            return MovedColumn(source, target, None, width)
        between = self._launcher.allocate(self._capacity * width)
        return MovedColumn(source, target or self._launcher.allocate(self._capacity * width), between, width)

    def _row_numbers(self, target: DeviceBuffer, width: int) -> MovedColumn:
        """Return the column of row numbers. Those of 8 bytes are written to memory first."""
        between = self._launcher.allocate(self._capacity * width)
        if width == 4:
            return MovedColumn(None, target, between, width)
        written = self._launcher.allocate(self._capacity * width)
        self._context.convert_rows(None, written, width)
        return MovedColumn(written, target, between, width)
