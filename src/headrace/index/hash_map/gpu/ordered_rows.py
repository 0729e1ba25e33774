"""Brings the rows of a large batch into the order of the table: by the first bits of the hash, as buckets are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.labels import DigitRule, find_buckets
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter, bits_pass, hash_pass
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS, SplitTuning
from headrace.gpu.kernels.launch_plan import repeated
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.slab_kernels import Rows


@dataclass(frozen=True, slots=True)
class HashOrder:
    """An order of rows: by some of the first bits of the hash."""

    bits: int  # number of bits, at most those of two passes
    seed: int  # seed of the hash
    tuning: SplitTuning  # sizes of a pass


def ordered_rows(
    launcher: Launcher, rows: Rows, widths: tuple[int, int], order: HashOrder, starts: DeviceBuffer | None = None
) -> Rows:
    """Return the hashes and values of a batch. Rows of equal keys keep their order.

    Raise MemoryLimitError if there is no memory for the ordered rows.

    Memory for n rows: n keys and n values, and twice that if there are two passes.

    `starts`: buffer for the first row of each number of the order's bits, and for the number of rows; 8 bytes each.
    """
    columns = [width for width in widths if width]
    sizes = [rows.count * width for width in columns]
    given = [rows.keys, rows.values][: len(columns)]
    ordered = list(launcher.allocate_group([], sizes))

    def run(launcher: Launcher, buffers: Sequence[DeviceBuffer]) -> None:
        splitter, bits, high = Splitter(launcher, rows.count, order.tuning), order.bits, 8 * widths[0]
        seed = order.seed if high == 64 else (order.seed ^ order.seed >> 32) & 0xFFFFFFFF  # as in seeded_hash.hpp
        word, middle = f"u{high}", high - (bits // 2 if bits > DIGIT_BITS else 0)
        sources, targets = buffers[: len(columns)], buffers[len(columns) : 2 * len(columns)]
        between = targets if middle == high else list(launcher.allocate_group([], sizes))
        _split(splitter, hash_pass(word, high - bits, middle, seed), sources, between, columns)
        if middle < high:
            _split(splitter, bits_pass(word, middle, high), between, targets, columns)
        if starts is not None:
            rule = DigitRule(word, "BitsOf", bits_pass(word, high - bits, high).digit)
            find_buckets(splitter, rule, targets[0], 1 << bits, buffers[-1])

    key = ordered_rows, rows.count, widths, order, starts is None
    repeated(launcher, key, run, [*given, *ordered, *([] if starts is None else [starts])])
    return Rows(ordered[0], ordered[1] if len(ordered) > 1 else None, rows.count)


def _split(
    splitter: Splitter, by: Pass, sources: Sequence[DeviceBuffer], targets: Sequence[DeviceBuffer], widths: Sequence[int]
) -> None:
    splitter.run(by, [MovedItems(*column) for column in zip(sources, targets, widths, strict=True)], None)
