"""Defines the decisions of a split that the published variants make differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from headrace.arrange.bucket.functions import Rule
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS
from headrace.gpu.kernels.launcher import DeviceBuffer

Run = Callable[[Splitter, Pass, Sequence[MovedItems], DeviceBuffer | None], DeviceBuffer]  # runs one pass, as `Splitter.run` does


class Bucketing(NamedTuple):
    """Type of the keys, as the kernels name it, and rule of their buckets."""

    key: str
    rule: Rule


class BlockStrategy:
    """Splits keys, or labels of one or two bytes, block by block: the strategy ``"block"``, and the default."""

    name = "block"
    label_bits = DIGIT_BITS  # bits of a label that one pass splits by

    def check(self, splitter: Splitter, rule: Rule) -> None:
        """Raise OptionError if the strategy cannot split these keys by this rule."""

    def splits_keys(self, passes: Sequence[Pass]) -> bool:
        """Return whether there are kernels for these passes over keys; otherwise labels of the keys are split."""
        return True

    def label_bytes(self, bits: int) -> int:
        """Return the width of labels for bucket numbers of `bits` bits."""
        return 4 if bits > 16 else 2 if bits > DIGIT_BITS else 1

    @property
    def run(self) -> Run:
        """The function that runs one pass."""
        return Splitter.run

    def split_labels(self, splitter: Splitter, columns: list[MovedItems], count: int, offsets: DeviceBuffer) -> bool:
        """Split labels, the first of `columns`, in the strategy's own way; return False to split them digit by digit."""
        return False


BLOCK_STRATEGY = BlockStrategy()
