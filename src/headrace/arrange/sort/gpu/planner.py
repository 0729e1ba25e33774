"""Which way keys are sorted on a GPU, and what goes with them: by a launcher, so that tests run it without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from headrace.arrange.multisplit.gpu.launches import MOST_BY_U32
from headrace.arrange.sort.gpu.common.launch import MOST_COLUMNS, ROW_BYTES_UP_TO, Common, Keys, Moved, row_bytes
from headrace.arrange.sort.gpu.heavy_hitters.heavy_hitters import HeavyKeys
from headrace.arrange.sort.gpu.lsd.lsd import MAY, MUST, Case, DigitSort, Plan, Tiles
from headrace.arrange.sort.gpu.msd.msd import MOST_KEYS, PartSort
from headrace.arrange.sort.gpu.msd.tuning import PartOptions, PartShapes
from headrace.arrange.sort.gpu.single_launch.single_launch import (
    BlockShape,
    RankShape,
    Way,
    sort_alone,
    sort_by_ranks,
    sort_together,
)
from headrace.arrange.sort.gpu.top_k import Top, is_in_order
from headrace.arrange.sort.gpu.tuning import SortShapes
from headrace.arrange.sort.key_order import KeyOrder
from headrace.core.errors import OptionError
from headrace.gpu.kernels.launcher import Launcher, Room


@dataclass(frozen=True, slots=True)
class Given:
    """What is sorted.

    Parameters
    ----------
    order
        Of the keys.
    keys, target
        Where they are and where they go; no target: nobody wants them.
    values
        For each array where it is, where it goes, and bytes of an item.
    indices
        Where places of keys go, and bytes of one.
    stable
        Whether equal keys keep their order.
    strategy
        ``"digits"``, ``"hybrid"``, or None.
    options
        Of the hybrid.
    """

    order: KeyOrder
    keys: Room
    target: Room | None
    values: tuple[tuple[Room, Room, int], ...] = ()
    indices: tuple[Room, int] | None = None
    stable: bool = True
    strategy: str | None = None
    options: PartOptions = field(default_factory=PartOptions)

    @property
    def width(self) -> int:
        """Bytes of a key."""
        return self.order.bits // 8


class Sorter:
    """Sorts of `count` keys.

    Parameters
    ----------
    launcher
        Where kernels run.
    count
        How many keys there are.
    shapes
        Of the kernels.
    counters
        Gives 16 bytes that are zero, and are so again behind every launch.
    """

    def __init__(self, launcher: Launcher, count: int, shapes: SortShapes, counters: Callable[[], Room]) -> None:
        self._launcher, self._count, self._shapes, self._counters = launcher, count, shapes, counters
        self._common = Common(launcher, count, shapes.multiprocessors)

    def sort(self, given: Given) -> None:
        """Put keys, and what goes with them, to their targets.

        Memory besides the targets, for n keys of w bytes and v bytes of values that move with them: none where each block ranks
        its own keys among all (of a card with 128 multiprocessors up to 2**14 keys, of 8 bytes 2**15); 2 n (w + 4) and 1 KiB a
        block where blocks meet; else n (w + v), n w more where nobody wants the keys, and by tiles of 6,000 to 12,000 keys 2 KiB
        for each, and 80 KiB; by parts some n w / 10 besides, or up to n w / 3 where something goes with the keys and equal ones
        keep their order. Values that are fetched at the end take 8 n, or 16 n above 2**32 keys, instead of their own, and n times
        their width where they are sorted in place.

        Raises
        ------
        MemoryLimitError
            It does not fit; nothing has changed.
        OptionError
            The strategy cannot do it.
        """
        if self._count == 0:
            return
        carries = bool(given.values) or given.indices is not None
        if given.strategy == "hybrid":
            self._check_hybrid(given, carries=carries)
        if self._must_fetch(given):
            self._sort_by_rows(given)
        else:
            self._sort_directly(given)

    def is_sorted(self, given: Given) -> bool:
        """Whether keys are in order; the host waits."""
        if self._count < 2:
            return True
        return is_in_order(self._common, Keys(given.width, given.order.packed), given.keys, self._shapes.top)

    def top_k(self, given: Given, k: int) -> None:
        """The first `k` keys to the target, and their places to the indices.

        Besides it takes 12 or 16 bytes for each of them, and what a sort of so many takes.
        """
        if k == 0 or given.target is None or given.indices is None:
            return None
        if k == self._count:
            return self.sort(given)
        places, width = given.indices
        keys = Keys(given.width, given.order.packed)
        taken, taken_places = self._launcher.room(k * given.width), self._launcher.room(k * width)
        chosen = replace(given, keys=taken, values=((taken_places, places, width),), indices=None, strategy=None)
        Top(self._common, keys, self._shapes.top).run(given.keys, k, (taken, taken_places, width))
        return Sorter(self._launcher, k, self._shapes, self._counters).sort(chosen)

    def _check_hybrid(self, given: Given, *, carries: bool) -> None:
        if given.width not in dict(self._shapes.kept):
            raise OptionError("strategy 'hybrid' is for keys of 4 and 8 bytes")
        if self._count > MOST_KEYS:
            raise OptionError(f"strategy 'hybrid' is for less than 2**32 keys, not {self._count:_}; 'digits' is for any number")
        if carries and given.stable:
            raise OptionError("strategy 'hybrid' does not keep the order of equal keys; 'digits' does, or pass stable=False")

    def _small_way(self, given: Given) -> Way | None:
        """How one launch sorts it, if it does; the hybrid has a block for what fits one."""
        if given.strategy == "hybrid":
            largest = dict(self._shapes.kept)[given.width].local[-1]
            assert isinstance(largest, BlockShape)
            return largest if self._count <= largest.keys else None
        carries = bool(given.values) or given.indices is not None
        return self._shapes.small.way(given.width, self._count, self._shapes.multiprocessors, has_values=carries)

    def _must_fetch(self, given: Given) -> bool:
        """Whether values are better fetched by row at the end, or must be."""
        columns = len(given.values) + (given.indices is not None)
        if columns > MOST_COLUMNS:
            return True
        if self._small_way(given) is not None:
            return False
        if given.indices is not None and given.indices[1] == 8 and self._count <= ROW_BYTES_UP_TO:
            return True  # places of 4 bytes are moved
        return sum(width for _, _, width in given.values) > self._shapes.most_moved

    def _sort_by_rows(self, given: Given) -> None:
        """Rows go with the keys, and tell where all else is."""
        width = row_bytes(self._count)
        places, place_width = given.indices or (None, 0)
        rows = places if places is not None and place_width == width else self._launcher.room(self._count * width)
        copies = [self._launcher.room(self._count * w) if a.address == b.address else None for a, b, w in given.values]
        self._sort_directly(replace(given, values=(), indices=(rows, width)))
        for (source, target, item), copy in zip(given.values, copies, strict=True):
            if copy is not None:
                self._common.gather(None, source, copy, item)
            self._common.gather(rows, source if copy is None else copy, target, item)
        if places is not None and places is not rows:
            self._common.rows_as(rows, places, place_width)

    def _sort_directly(self, given: Given) -> None:
        carries = bool(given.values) or given.indices is not None
        keys = Keys(given.width, given.order.packed, equals=given.order.has_equals and carries)
        way = self._small_way(given)
        if way is not None:
            return self._sort_few(given, keys, way)
        moved = self._moved(given.keys, given.target, given.width, keys)
        columns = [self._moved(source, target, width, keys) for source, target, width in given.values]
        if given.indices is not None:
            columns.append(self._rows(*given.indices))
        return self._sort_many(given, keys, moved, columns)

    def _sort_few(self, given: Given, keys: Keys, way: Way) -> None:
        moved = Moved(given.keys, given.target, None, given.width)
        columns = [Moved(source, target, None, width) for source, target, width in given.values]
        if given.indices is not None:
            columns.append(Moved(None, given.indices[0], None, given.indices[1]))
        arrays, writes, launcher, count = (moved, columns), given.target is not None, self._launcher, self._count
        if isinstance(way, RankShape):
            return sort_by_ranks(launcher, keys, way, arrays, count, writes_keys=writes, counters=self._counters)
        if way.meets:
            return sort_together(launcher, keys, way, arrays, count, writes_keys=writes, counters=self._counters)
        return sort_alone(launcher, keys, way, arrays, count, writes_keys=writes)

    def _sort_many(self, given: Given, keys: Keys, moved: Moved, columns: Sequence[Moved]) -> None:
        common, shapes = self._common, self._shapes.digits
        has_values, writes_keys = bool(columns), given.target is not None
        in_place = any(one.in_place for one in (moved, *columns))
        widths = [column.width for column in columns]
        by_parts = self._parts(given, widths)
        part_shapes, options, may = by_parts or (None, given.options, 0)
        tiles = shapes.of(keys.width, widths, self._count)
        value_bytes = sum(widths)
        takes_heads = may == MAY and not keys.equals and part_shapes is not None and not part_shapes.in_one
        sets_aside = self._may_set_aside(given, value_bytes)
        zeros = [  # states last: what is large is cleared by a fill of its own
            Plan.nbytes(keys, shapes, takes_heads=takes_heads),
            PartSort.counts_bytes(keys, part_shapes) if part_shapes else 0,
            HeavyKeys.nbytes(keys, self._shapes.heavy) if sets_aside else 0,
            self._states_bytes(tiles, by_parts),
        ]
        plan_zeros, counts, of_heavy, states = self._launcher.rooms(zeros)
        plan = Plan(common, keys, shapes, plan_zeros, takes_heads=takes_heads)
        digits = DigitSort(common, keys, shapes, tiles, states) if may < MUST else None
        parts = PartSort(common, keys, part_shapes, options, (states, counts)) if part_shapes else None
        if in_place and keys.digits(shapes.bits) % 2:  # steps in an even number end where they began
            moved, *columns = [self._from_copy(one) for one in (moved, *columns)]
            in_place = False
        assert moved.source is not None
        case = Case(in_place, has_values, may, part_shapes.most_in_one if part_shapes else 1, value_bytes)
        heavy = None
        if sets_aside:
            heavy = HeavyKeys(common, keys, self._shapes.heavy, (moved, columns), (tiles, states, of_heavy))
            heavy.set_aside(plan, case)
        plan.make(moved.source, case, None if heavy is None else heavy.lights)
        if digits is not None:
            digits.run(plan, (moved, columns), writes_keys=writes_keys)
        if digits is not None and heavy is not None:
            digits.run(plan, (moved, columns), are_light=True)
        if parts is not None:
            parts.run(plan, (moved, columns), writes_keys=writes_keys)
        plan.run_straight((moved, columns), writes_keys=writes_keys)
        if heavy is not None:
            heavy.put_back(plan, writes_keys=writes_keys)

    def _may_set_aside(self, given: Given, value_bytes: int) -> bool:
        """Whether a sample is looked at for values that many keys have: positions have 32 bits, and steps one portion."""
        enough = self._count * (given.width + value_bytes) >= self._shapes.heavy.from_bytes
        return given.strategy is None and given.width >= 4 and enough and self._shapes.digits.portions(self._count) == 1

    def _states_bytes(self, tiles: Tiles, by_parts: tuple[PartShapes, PartOptions, int] | None) -> int:
        """Of look-back, for both: a sort goes by digits or by parts."""
        nbytes = DigitSort.states_bytes(self._count, self._shapes.digits, tiles)
        if by_parts is not None and by_parts[1].stable and not by_parts[0].in_one:
            nbytes = max(nbytes, PartSort.states_bytes(self._count, *by_parts[:2]))
        return nbytes

    def _from_copy(self, moved: Moved) -> Moved:
        if not moved.in_place:
            return moved
        assert moved.source is not None
        copy = self._launcher.room(self._count * moved.width)
        self._common.gather(None, moved.source, copy, moved.width)
        return replace(moved, source=copy)

    def _parts(self, given: Given, widths: Sequence[int]) -> tuple[PartShapes, PartOptions, int] | None:
        """Shapes and options of a sort by parts, and whether it may be done or must."""
        if given.strategy == "hybrid":
            shapes = dict(self._shapes.kept)[given.width]
            options = replace(given.options, keeps_counts=given.options.keeps_counts or bool(widths))
            if not options.keeps_counts:
                shapes = replace(shapes, splitting=dict(self._shapes.counted)[given.width].splitting)
            return shapes, options, MUST
        least = dict(self._shapes.parts_from).get(given.width)
        if given.strategy is not None or least is None or not least <= self._count <= MOST_BY_U32:
            return None
        if widths:
            alone = dict(self._shapes.stable_tiles).get((given.width, widths[0])) if len(widths) == 1 else None
            most, few = dict(self._shapes.stable_few).get(given.width, (0, None))
            sizes = few if few is not None and self._count < most else dict(self._shapes.stable)[given.width]
            shapes = sizes.stably(alone or self._shapes.digits.of(given.width, widths, self._count))
            return shapes, replace(given.options, reduces=False, stable=True), MAY
        return dict(self._shapes.counted)[given.width], replace(given.options, keeps_counts=False, reduces=False), MAY

    def _moved(self, source: Room, target: Room | None, width: int, keys: Keys) -> Moved:
        """With the room that steps take: none for one step."""
        if keys.digits(self._shapes.digits.bits) == 1:
            return Moved(source, target, None, width)
        between = self._launcher.room(self._count * width)
        return Moved(source, target or self._launcher.room(self._count * width), between, width)

    def _rows(self, target: Room, width: int) -> Moved:
        """Numbers of rows; of 8 bytes they are written down first."""
        between = self._launcher.room(self._count * width)
        if width == 4:
            return Moved(None, target, between, width)
        written = self._launcher.room(self._count * width)
        self._common.rows_as(None, written, width)
        return Moved(written, target, between, width)
