"""Lists the sizes of the slab hash kernels; launches and the program list are computed from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.arrange.gather.tuning import SELECTED_THREADS
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS, SplitTuning
from headrace.arrange.sort.gpu.tuning import SortTuning
from headrace.gpu.kernels.source import ANY, Programs, Value

HASH_MAP_THREADS = 128
BLOCK_ROWS = 1024


@dataclass(frozen=True, slots=True)
class BuildTuning:
    """Sizes of the kernels that build lists block by block."""

    threads: int = 256
    buckets: int = 256  # threads per block, and buckets whose first slabs a block has in shared memory, 128 bytes each
    min_rows: int = 1 << 23  # rows of a batch from which it is ordered and built, instead of inserted
    moved_buckets: int = 1 << 15
    """Buckets from which blocks move the lists of a larger table. The pairs of fewer buckets are inserted."""
    max_bits: int = 2 * DIGIT_BITS  # maximum number of bits of the hash by which a batch is ordered, in one pass or two
    split: SplitTuning | None = None  # sizes of the passes that order a batch; None if batches are always inserted


@dataclass(frozen=True, slots=True)
class SlabTuning:
    """Sizes of a slab hash."""

    threads: int = HASH_MAP_THREADS  # threads per block
    load: float = 0.65  # pairs of a table that was just sized, as a part of the slots in the buckets' first slabs
    max_load: float = 0.8
    """The same at which a table grows. From about 0.9 on, half of the lists have a second slab (the paper's section 5.6)."""
    early_load: float = 0.9
    """Part of `max_load` at which a large table begins to grow in steps. It is done with them before `max_load`."""
    step_pairs: int = 32  # pairs that a step moves for each row of the batch before it
    list_slabs: float = 0.125
    """Slabs in memory blocks, as a part of the buckets; rounded up to whole blocks of 1,024. 0: lists have one slab."""
    dense_load: float = 0.5  # part of all slots in use from which a table without slabs gets more of them, and is not rebuilt
    block_rows: int = BLOCK_ROWS  # maximum number of rows that one block inserts, a row a thread
    order_bits: int = DIGIT_BITS  # first bits of the hash by which rows are ordered before they are inserted
    order_rows: int = 1 << 23
    order_slabs: int = 1 << 20  # Rows of a batch, and slabs of a table, from which they are. Smaller tables are in the L2 cache.
    build: BuildTuning = BuildTuning()  # sizes of bulk builds
    max_looks: int = 4  # slabs that an insertion into a multimap looks at before it is postponed
    max_unsorted: int = 128
    """Maximum number of postponed insertions that are not sorted by key. A sort of few takes longer than what they wait."""
    many_postponed: int = 1 << 12  # number of postponed insertions from which all later ones may be postponed (append_pairs)
    max_walk: int = 256  # slabs of a list from which the values of its keys are counted by a sort, in small tables
    sort: SortTuning | None = None  # sizes of the sorts of frequent keys; None if there are none


SLAB_TUNING = SlabTuning()
MULTI_TUNING = SlabTuning(list_slabs=1.0)
"""Lists may be long, because a key may have any number of values. These slabs are enough for one key with all values."""

PairWidths = Mapping[str, Sequence[Value]]
WIDTHS: Sequence[PairWidths] = (
    {"HR_KEY_WIDTH": [4], "HR_VALUE_WIDTH": [0, 4, ANY]},
    {"HR_KEY_WIDTH": [8], "HR_VALUE_WIDTH": [0, 4, 8]},
)
"""Macros of the bytes of keys and values. Programs for values wider than the keys are compiled at their first use. Groups of rows
have hashes of 8 bytes, and row numbers of 4.
"""
PAIR_WIDTHS: Sequence[PairWidths] = tuple({"HR_KEY_WIDTH": [width], "HR_VALUE_WIDTH": [width, ANY]} for width in (4, 8))
SLOT_BYTES: PairWidths = {"HR_SLOT_BYTES": [4, ANY]}
"""Macro of the bytes of the number of a slot: 8 for tables with super blocks, whose programs are compiled at their first use."""
SLAB_THREADS: PairWidths = {"HR_THREADS": [HASH_MAP_THREADS], **SLOT_BYTES}
PROGRAMS: Programs = (
    *((file, {**SLAB_THREADS, **widths}) for file in ("hash_map.cu", "hash_map_updates.cu") for widths in WIDTHS),
    *(("mixed.cu", {**SLAB_THREADS, **widths}) for widths in PAIR_WIDTHS),
    ("row_groups.cu", {"HR_ROW": ["u32", ANY], "HR_THREADS": [SELECTED_THREADS]}),
)
