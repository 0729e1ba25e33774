"""Checks that a sort launches listed programs only, with arguments as in their signatures, and within every device's limits."""

from __future__ import annotations

import itertools
import os
import struct
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.msd.tuning import HybridOptions, ListBounds
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.tuning import SortTuning, tuning_of
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.arguments import signature_codes
from headrace.gpu.kernels.source import Variant, all_variants
from tests.gpu.kernels.some_programs import log_without_optimisations

pytestmark = pytest.mark.pure

OF_EVERY_CARD, OF_LARGE_CARDS, OF_LARGEST_CARDS = 99 << 10, 163 << 10, 227 << 10


class DeviceBuffer:
    address, nbytes = 16, 8


class Lister:
    """A launcher that looks programs up and runs nothing."""

    def __init__(self, max_shared: int = OF_LARGE_CARDS) -> None:
        self.max_shared = max_shared
        self.programs: set[str] = set()
        self.variants: set[Variant] = set()
        self.launches: list[str] = []
        self.meeting_blocks = 0
        self.buffer_bytes = 0

    def allocate(self, nbytes, fill=None):
        self.buffer_bytes += nbytes
        return DeviceBuffer()

    def allocate_group(self, zeroed):
        return [self.allocate(nbytes) for nbytes in zeroed]

    def fill(self, buffer, byte):
        pass

    def put(self, values, buffer=None):
        return DeviceBuffer()

    def fetch(self, buffer):
        return np.zeros(4, np.uint8)

    def launch(self, entry, shape, args):
        self.variants.add(Variant.of(entry.file, shape.defines))
        self.programs.add(entry.file.rpartition("/")[2])
        self.launches.append(entry.name)
        if entry.name in {"tail_passes", "tail_passes_keys", "rank_sort", "cooperative_sort"}:
            self.meeting_blocks = max(self.meeting_blocks, shape.blocks)
        assert shape.shared <= self.max_shared
        assert shape.threads <= 1024 and 0 < shape.blocks < 1 << 31
        codes = signature_codes(entry.signature)
        assert len(codes) == len(args)
        for code, arg in zip(codes, args, strict=True):
            assert not isinstance(arg, bytes) or len(arg) == struct.calcsize("=" + code)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("typestr", ["|u1", "|b1", "<i2", "<f2", "<u4", "<f4", "<i8", "<f8", "<M8[us]"])
@pytest.mark.parametrize(
    "count",
    [
        1,
        100,
        5000,
        9000,
        10_000,
        1 << 15,
        1 << 16,
        70_000,
        300_000,
        *(1 << bits for bits in range(18, 24)),
        1 << 26,
        (1 << 32) - 1000,
        1 << 33,
    ],
)
def test_launches_are_listed(typestr: str, count: int) -> None:
    order, lister = KeyOrder.of(typestr), Lister()
    sorter = Sorter(lister, count, SortTuning(), DeviceBuffer)
    for values in ((), (MovedItems(DeviceBuffer(), DeviceBuffer(), 4),), (MovedItems(DeviceBuffer(), DeviceBuffer(), 16),) * 3):
        for indices in (None, RowNumbers(DeviceBuffer(), 4), RowNumbers(DeviceBuffer(), 8)):
            if indices is None or indices.width == 8 or count < 1 << 32:
                sorter.sort(SortRequest(order, DeviceBuffer(), DeviceBuffer(), values, indices))
    sorter.top_k(SortRequest(order, DeviceBuffer(), DeviceBuffer(), (), RowNumbers(DeviceBuffer(), 8)), max(1, count // 2))
    if typestr[2] in "48" and count < 1 << 32:
        for options in (HybridOptions(), HybridOptions(merges=False, by_size=False)):
            sorter.sort(SortRequest(order, DeviceBuffer(), DeviceBuffer(), strategy="hybrid", options=options))
            values = (MovedItems(DeviceBuffer(), DeviceBuffer(), 4),)
            sorter.sort(
                SortRequest(order, DeviceBuffer(), DeviceBuffer(), values, stable=False, strategy="hybrid", options=options)
            )


@pytest.mark.parametrize(("width", "count"), [(4, 500_000_000), (8, 250_000_000)])
def test_a_hybrid_takes_a_twentieth_of_its_keys_besides(width: int, count: int) -> None:
    """M2 to M5 of the paper's section 4.6. Its own example amounts to 4.85 and 5.06 percent of keys and their second buffer."""
    row = SortTuning().msd_of(width)
    share = ListBounds(count, row.paper, HybridOptions(), width).nbytes / (2 * count * width)
    assert 0.02 < share < 0.052


@pytest.mark.parametrize("width", [4, 8])
def test_lists_by_parts_take_a_tenth_of_the_keys_or_a_quarter_where_stable(width: int) -> None:
    tuning, count = SortTuning(), 1 << 26
    row = tuning.msd_of(width)
    unkept = HybridOptions(keeps_counts=False, reduces=False)
    for some, options in ((row.paper, HybridOptions()), (row.keys_only, unkept)):
        assert 0.07 < ListBounds(count, some, options, width).nbytes / (count * width) < 0.105
    for value in (1, 4, 8):
        for one in (row, replace(row, same_width=None)):
            stable = one.select_pairs([value], count, tuning.lsd)
            assert (
                0.15 < ListBounds(count, stable, HybridOptions(reduces=False, stable=True), width).nbytes / (count * width) < 0.25
            )


def test_few_pairs_of_8_bytes_have_few_launches_that_may_be_in_vain() -> None:
    """In a sort by digits, all of the last four launches may be in vain. The lists of an MSD sort take up to 0.3 of the keys."""
    lister = Lister()
    Sorter(lister, 1 << 23, SortTuning(), DeviceBuffer).sort(
        SortRequest(KeyOrder.of("<u8"), DeviceBuffer(), DeviceBuffer(), (MovedItems(DeviceBuffer(), DeviceBuffer(), 8),))
    )
    lsd = ["sample_prefixes", "count_digits", "choose_plan", *["onesweep_pass"] * 8]
    assert lister.launches == [*lsd, "tail_passes", "bin_sort", "block_radix_sort", "copy_or_reverse"]
    few = SortTuning().msd_of(8).select_pairs([8], 1 << 23, SortTuning().lsd)
    share = ListBounds(1 << 23, few, HybridOptions(reduces=False, stable=True), 8).nbytes / (1 << 26)
    assert 0.2 < share < 0.3


@pytest.mark.parametrize("width", [4, 8])
def test_one_pass_leaves_few_uniform_keys_in_leaf_buckets(width: int) -> None:
    """Of 2**8 or 2**9 buckets. In a sort by digits, the launches after its passes may be in vain."""
    row = tuning_of(132, (9, 0)).msd_of(width)
    assert row is not None
    for few in (*row.few_keys, *row.few_pairs):
        if few.sizes.has_one_pass:
            mean = few.below / (1 << few.sizes.bits)
            assert mean + 4 * mean**0.5 < few.sizes.max_leaf_keys <= (few.sizes.leftover or few.sizes.local[0]).keys
    lister = Lister()
    keys = SortRequest(KeyOrder.of(f"<u{width}"), DeviceBuffer(), DeviceBuffer())
    Sorter(lister, 1 << 21, SortTuning(), DeviceBuffer).sort(keys)
    lsd = ["count_digits", "choose_plan", *["onesweep_pass"] * width]
    msd = ["msd_begin_and_assign", "scatter_reserve", "bin_sort", "block_radix_sort"]
    assert lister.launches == [*lsd, *msd, "copy_or_reverse"]
    lister = Lister()
    values = (MovedItems(DeviceBuffer(), DeviceBuffer(), width),)
    Sorter(lister, row.few_pairs[0].below - 1, SortTuning(), DeviceBuffer).sort(replace(keys, values=values))
    assert lister.launches == [*lsd, "msd_begin_and_assign", "scatter_stable", "block_radix_sort", "copy_or_reverse"]


@pytest.mark.parametrize(("width", "largest"), [(4, 970_000_000), (8, 640_000_000)])
def test_two_passes_leave_uniform_keys_in_leaf_buckets(width: int, largest: int) -> None:
    """Of 2**16 buckets of a mean of m keys, the largest has about m + 4 sqrt(m)."""
    row, lsd = SortTuning().msd_of(width), SortTuning().lsd
    assert row is not None
    for count in (row.min_keys, row.many_from - 1, row.many_from, largest):
        mean = count / (1 << 16)
        for chosen in (row.select_keys(count), row.select_pairs([width], count, lsd)):
            assert mean + 4 * mean**0.5 < chosen.max_leaf_keys
            assert chosen.leftover is not None
            assert chosen.leftover.keys >= chosen.max_leaf_keys


@pytest.mark.parametrize(
    ("capability", "most"),
    [((8, 0), OF_LARGE_CARDS), ((9, 0), OF_LARGEST_CARDS), ((8, 9), OF_EVERY_CARD), ((12, 0), OF_EVERY_CARD)],
)
def test_cards_of_small_blocks_have_programs_that_fit(capability: tuple[int, int], most: int) -> None:
    for typestr in ("<u2", "<u4", "<u8"):
        lister = Lister(most)
        for values in ((), (MovedItems(DeviceBuffer(), DeviceBuffer(), 4),), (MovedItems(DeviceBuffer(), DeviceBuffer(), 8),)):
            Sorter(lister, 1 << 26, tuning_of(100, capability), DeviceBuffer).sort(
                SortRequest(KeyOrder.of(typestr), DeviceBuffer(), DeviceBuffer(), values)
            )
        assert typestr != "<u8" or {"scatter_stable", "tail_passes"} <= set(lister.launches)
        assert ("prefix_histogram.cu" in lister.programs) == (most != OF_EVERY_CARD and typestr != "<u2")


@pytest.mark.parametrize("count", [4096, 1 << 13, 1 << 14, 1 << 15, 300_000, 1 << 23])
def test_blocks_that_meet_are_one_a_multiprocessor(count: int) -> None:
    """More would not surely be resident together; and the strategy of the paper has none."""
    for values in ((), (MovedItems(DeviceBuffer(), DeviceBuffer(), 8),), (MovedItems(DeviceBuffer(), DeviceBuffer(), 4),)):
        lister, given = Lister(), SortRequest(KeyOrder.of("<u8"), DeviceBuffer(), DeviceBuffer(), values)
        Sorter(lister, count, tuning_of(100, (9, 0)), DeviceBuffer).sort(given)
        assert 0 < lister.meeting_blocks <= 100
    lister = Lister()
    Sorter(lister, 1 << 23, tuning_of(100, (9, 0)), DeviceBuffer).sort(replace(given, stable=False, strategy="hybrid"))
    assert lister.meeting_blocks == 0


@cache
def reached_variants() -> frozenset[Variant]:
    """Return the programs that calls launch, for keys of all widths and a few numbers of keys."""
    reached: set[Variant] = set()
    for typestr, capability in itertools.product(("|u1", "<u2", "<f2", "<u4", "<f4", "<u8", "<f8"), ((9, 0), (8, 9))):
        order, width = KeyOrder.of(typestr), int(typestr[2])
        for count in (100, 10_000, 2_200_000, 4_400_000, *(1 << bits for bits in (*range(14, 24), 26, 29, 30, 33))):
            lister = Lister(OF_LARGEST_CARDS)
            sorter = Sorter(lister, count, tuning_of(132, capability), DeviceBuffer)
            for values in (
                (),
                (MovedItems(DeviceBuffer(), DeviceBuffer(), width),),
                (MovedItems(DeviceBuffer(), DeviceBuffer(), 1),),
                (MovedItems(DeviceBuffer(), DeviceBuffer(), 16),),
            ):
                sorter.sort(SortRequest(order, DeviceBuffer(), DeviceBuffer(), values))
                if width >= 4 and count < 1 << 32:
                    sorter.sort(SortRequest(order, DeviceBuffer(), DeviceBuffer(), values, stable=False, strategy="hybrid"))
            sorter.top_k(SortRequest(order, DeviceBuffer(), DeviceBuffer(), (), RowNumbers(DeviceBuffer(), 8)), 10)
            reached |= lister.variants
    return frozenset(reached)


def listed_variants() -> set[Variant]:
    return {variant for variant in all_variants() if variant.file.startswith("arrange/sort/")}


def test_every_listed_program_is_reached_by_a_call() -> None:
    """Except that of null_partition.cu, which columns use."""
    unreached = listed_variants() - reached_variants()
    assert {str(variant) for variant in unreached} == {"arrange/sort/gpu/null_partition.cu HR_THREADS=256"}


def test_only_rare_programs_are_compiled_at_their_first_use() -> None:
    """Programs for 2**32 keys or more, for the leaf buckets of 3 * 10**8, and for keys of 1 or 2 bytes.

    Also those for the frequent values of 2**29 bytes of keys with values, those for float32 with values of another width, and
    the paper's kernels.
    """
    reasons: Counter[str] = Counter()
    for variant in reached_variants() - listed_variants():
        defines = dict(variant.defines)
        if defines.get("HR_TO") == "u64":
            reasons["2**32 keys"] += 1
        elif defines["HR_KEY"] in {"u8", "u16"}:
            reasons["short keys"] += 1
        elif "heavy_hitters" in variant.file:
            reasons["heavy hitters"] += 1
        elif defines["HR_THREADS"] == 1024:
            reasons["large leaf buckets"] += 1
        elif variant.file.rpartition("/")[2] in {"onesweep_pass.cu", "scatter_stable.cu"}:
            assert (defines["HR_KEY"], defines["HR_EQUALS"], defines["HR_VALUES"]) == ("u32", 1, 1)
            reasons["float32 with columns"] += 1
        else:
            assert variant.file.rpartition("/")[2] in {"scatter.cu", "block_radix_sort.cu"}
            reasons["paper"] += 1
    floats = {"float32 with columns": 2}
    assert reasons == {"2**32 keys": 15, "large leaf buckets": 4, "short keys": 22, "heavy hitters": 10, "paper": 12, **floats}


def first_use() -> list[Variant]:
    """Programs that are compiled at their first use."""
    return sorted(reached_variants() - listed_variants(), key=str)


def one_of_each_file() -> list[Variant]:
    return list({variant.file: variant for variant in first_use()}.values())


def others() -> list[Variant]:
    return [variant for variant in first_use() if variant not in one_of_each_file()]


@pytest.mark.long
@pytest.mark.parametrize("programs", [one_of_each_file, pytest.param(others, marks=pytest.mark.nightly)])
def test_programs_of_the_first_use_compile(programs: Callable[[], list[Variant]]) -> None:
    pytest.importorskip("cuda.core", reason="NVRTC comes with the extra cuda13", exc_type=ImportError)
    variants = programs()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        logs = pool.map(lambda variant: log_without_optimisations(variant, "sm_90"), variants)
        assert {str(variant): log for variant, log in zip(variants, logs, strict=True) if log} == {}
