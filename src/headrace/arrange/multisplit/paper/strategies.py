"""Defines the published multisplit strategies by name (dissertation of Ashkiani 2017, chapter 3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from headrace.arrange.bucket.functions import Rule
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Pass, Splitter
from headrace.arrange.multisplit.gpu.strategy import BLOCK_STRATEGY, BlockStrategy, Run
from headrace.arrange.multisplit.gpu.tuning import DIGIT_BITS
from headrace.arrange.multisplit.paper.iterative import split_iteratively
from headrace.arrange.multisplit.paper.launches import MAX_LOOK_BACK_KEYS, MAX_WARP_BUCKETS, run_by_look_back, run_by_warps
from headrace.core.errors import OptionError
from headrace.gpu.kernels.launcher import DeviceBuffer


class _ReducedBit(BlockStrategy):
    """Splits labels whatever the bucket function is (section 3.3.3)."""

    name = "reduced_bit"

    def splits_keys(self, passes: Sequence[Pass]) -> bool:
        return False


class _WordLabels(BlockStrategy):
    """Splits labels of 4 bytes, for which every kernel exists, unless the keys can be split."""

    def splits_keys(self, passes: Sequence[Pass]) -> bool:
        return False

    def label_bytes(self, bits: int) -> int:
        return 4


class _Recursive(_WordLabels):
    """Splits by one bit of the bucket number at a time (section 3.3.2)."""

    name = "recursive"
    label_bits = 1


class _Iterative(_WordLabels):
    """Splits off one bucket at a time (section 3.3.1)."""

    name = "iterative"

    def check(self, splitter: Splitter, rule: Rule) -> None:
        if rule.count > 1 << DIGIT_BITS:
            raise OptionError(f"strategy 'iterative' is for up to {1 << DIGIT_BITS} buckets, not {rule.count}")

    def split_labels(self, splitter: Splitter, columns: list[MovedItems], count: int, offsets: DeviceBuffer) -> bool:
        split_iteratively(splitter, columns, count, offsets)
        return True


class _LookBack(_WordLabels):
    """Splits in one pass over the keys, with positions by decoupled look-back (Merrill and Garland 2016)."""

    name = "look_back"

    def check(self, splitter: Splitter, rule: Rule) -> None:
        if splitter.count > MAX_LOOK_BACK_KEYS:
            raise OptionError(f"strategy 'look_back' is for up to 2**30 keys, not {splitter.count:_}")

    def splits_keys(self, passes: Sequence[Pass]) -> bool:
        return all(by.rule == "BitsOf" for by in passes)

    @property
    def run(self) -> Run:
        return run_by_look_back


class _Warps(_WordLabels):
    """Splits with one chunk per warp: directly, or with keys of a bucket brought together first (section 3.5)."""

    def __init__(self, name: str, *, reorders: bool) -> None:
        self.name = name
        self._reorders = reorders

    def check(self, splitter: Splitter, rule: Rule) -> None:
        if rule.count > MAX_WARP_BUCKETS:
            raise OptionError(f"strategy {self.name!r} is for up to {MAX_WARP_BUCKETS} buckets, not {rule.count}")

    def splits_keys(self, passes: Sequence[Pass]) -> bool:
        return all(by.rule == "BitsOf" for by in passes) and passes[0].key == "u32"

    @property
    def run(self) -> Run:
        return partial(run_by_warps, reorders=self._reorders)


_ALL = (_Warps("direct", reorders=False), _Warps("warp", reorders=True), _LookBack(), _ReducedBit(), _Recursive(), _Iterative())
PAPER_STRATEGIES: dict[str, BlockStrategy] = {strategy.name: strategy for strategy in _ALL}
"""Strategies by the names that `multisplit` takes."""


def strategy_named(name: str | None) -> BlockStrategy:
    """Return the strategy of a name that `multisplit` takes; None is the default."""
    return PAPER_STRATEGIES.get(name or "", BLOCK_STRATEGY)
