"""Runs multisplit's passes under the fiber harness."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.arrange.bucket.functions import BucketFunction, rule_for
from headrace.arrange.bucket.key_types import key_dtype, key_type
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Splitter
from headrace.arrange.multisplit.gpu.planner import split_any
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING
from headrace.arrange.multisplit.multisplit import Split
from headrace.arrange.multisplit.paper.strategies import strategy_named
from headrace.testing.fibers.launcher import FiberLauncher
from tests import examples


def few_computed(found: list[tuple[BucketFunction, NDArray[Any]]]) -> list[tuple[BucketFunction, NDArray[Any]]]:
    """Return all cases in long runs, and else those of one expression alone, since each is several programs to compile."""
    last = max(number for number, (function, _) in enumerate(found) if function.kind == "computed")
    return [case for number, case in enumerate(found) if examples.draws_all or number == last or case[0].kind != "computed"]


def launched(keys, values, function, *, strategy=None, shapes=SMALL_TUNING, order="random", seed=0, resident=4):
    launcher = FiberLauncher(order, seed, resident)
    dtype = keys.dtype if keys.ndim == 1 else np.dtype(f"V{keys.nbytes // len(keys)}")
    rule = rule_for(function, key_dtype(dtype.str), function.parameters[0] if function.kind == "splitters" else None)
    given = [launcher.put(array) for array in (keys, *values)]
    made = [launcher.allocate(array.nbytes) for array in (keys, *values)]
    offsets = launcher.allocate((rule.count + 1) * 8)
    widths = [dtype.itemsize, *(array.nbytes // len(array) for array in values)]
    columns = [MovedItems(a, b, width) for a, b, width in zip(given, made, widths, strict=True)]
    split_any(
        Splitter(launcher, len(keys), shapes), Bucketing(key_type(dtype.str), rule), columns, offsets, strategy_named(strategy)
    )
    found = [buffer.array.view(array.dtype).reshape(array.shape) for buffer, array in zip(made, (keys, *values), strict=True)]
    return Split(found[0], found[1:], offsets.array.view("i8"))
