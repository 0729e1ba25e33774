"""Brings the rows of a large batch into the order of the table: by the first bits of the hash, as buckets are."""

from __future__ import annotations

from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Splitter, bits_pass, hash_pass
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS
from headrace.index.hash_map.gpu.slab_kernels import Rows


def ordered_rows(splitter: Splitter, rows: Rows, widths: tuple[int, int], bits: int, seed: int) -> tuple[Rows, Rows]:
    """Return the hashes and values of a batch, and memory for as many rows. Equal keys keep the order of the batch.

    Parameters
    ----------
    splitter
        The launcher, the number of rows, and sizes.
    rows, widths
        The batch, and bytes of its keys and values.
    bits
        Number of first bits of the hash to order by, at most twice those of a pass.
    seed
        Seed of the hash.

    Raises
    ------
    MemoryLimitError
        There is no memory for twice the rows.
    """
    (width, value_width), count = widths, rows.count
    sizes = [count * width] * 2 + [count * value_width] * (2 if value_width else 0)
    buffers = splitter.launcher.allocate_group([], sizes)
    keys, values = [rows.keys, *list(buffers)[:2]], [rows.values, *list(buffers)[2:]]
    word, high = f"u{8 * width}", 8 * width
    word_seed = seed if width == 8 else (seed ^ seed >> 32) & 0xFFFFFFFF
    middle = high - (bits // 2 if bits > DIGIT_BITS else 0)
    for low, end in [(high - bits, middle), (middle, high)]:
        if low == end:
            continue
        moved = [MovedItems(keys[0], keys[1], width)]
        if value_width:
            moved.append(MovedItems(values[0], values[1], value_width))
        by = hash_pass(word, low, end, word_seed) if keys[0] is rows.keys else bits_pass(word, low, end)
        splitter.run(by, moved, None)
        keys, values = [keys[1], keys[2], keys[1]], [*values[1:], *values[1:2]]
    ordered, spare = (Rows(keys[i], values[i] if value_width else None, count) for i in range(2))
    return ordered, spare
