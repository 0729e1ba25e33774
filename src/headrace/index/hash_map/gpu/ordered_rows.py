"""Brings the rows of a large batch into the order of the table: by the first bits of the hash, as buckets are."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter, bits_pass, hash_pass
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS, SplitTuning
from headrace.gpu.kernels.launch_plan import repeated
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.index.hash_map.gpu.slab_kernels import Rows


def ordered_rows(launcher: Launcher, rows: Rows, widths: tuple[int, int], order: tuple[int, int], tuning: SplitTuning) -> Rows:
    """Return the hashes and values of a batch. Rows of equal keys keep their order.

    Memory for n rows: n keys and n values, and twice that if there are two passes.

    Parameters
    ----------
    launcher, rows, widths
        The launcher, the batch, and bytes of its keys and values.
    order
        Number of first bits of the hash to order by, at most those of two passes; and the seed of the hash.
    tuning
        Sizes of a pass.

    Raises
    ------
    MemoryLimitError
        There is no memory for the ordered rows.
    """
    columns = [width for width in widths if width]
    sizes = [rows.count * width for width in columns]
    given = [rows.keys, rows.values][: len(columns)]
    ordered = list(launcher.allocate_group([], sizes))

    def run(launcher: Launcher, buffers: Sequence[DeviceBuffer]) -> None:
        splitter = Splitter(launcher, rows.count, tuning)
        bits, seed = order
        word, high = f"u{8 * widths[0]}", 8 * widths[0]
        of_word = seed if widths[0] == 8 else (seed ^ seed >> 32) & 0xFFFFFFFF  # as seeded_hash of seeded_hash.hpp
        sources, targets = buffers[: len(columns)], buffers[len(columns) :]
        if bits <= DIGIT_BITS:
            return _split(splitter, hash_pass(word, high - bits, high, of_word), sources, targets, columns)
        between = list(launcher.allocate_group([], sizes))
        middle = high - bits // 2
        _split(splitter, hash_pass(word, high - bits, middle, of_word), sources, between, columns)
        return _split(splitter, bits_pass(word, middle, high), between, targets, columns)

    repeated(launcher, (ordered_rows, rows.count, widths, order, tuning), run, [*given, *ordered])
    return Rows(ordered[0], ordered[1] if len(ordered) > 1 else None, rows.count)


def _split(
    splitter: Splitter, by: Pass, sources: Sequence[DeviceBuffer], targets: Sequence[DeviceBuffer], widths: Sequence[int]
) -> None:
    splitter.run(by, [MovedItems(*column) for column in zip(sources, targets, widths, strict=True)], None)
