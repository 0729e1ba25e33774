"""Compares replays of recorded splits, for other numbers of keys, with NumPy under the fiber harness."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from headrace import buckets
from headrace.arrange.bucket.functions import rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.moved_items import MovedItems
from headrace.arrange.multisplit.gpu.launches import Splitter
from headrace.arrange.multisplit.gpu.planner import split_any
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING
from headrace.gpu.kernels.launch_plan import recorded
from tests.gpu.kernels.replay_cases import replay

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("function", [buckets.bits(3, 5), buckets.bits(0, 11), buckets.modulo(7), buckets.modulo(300)])
@pytest.mark.parametrize("value_bytes", [4, 16])
def test_a_recorded_split_serves_all_lengths_up_to_its_capacity(function, value_bytes):
    capacity, bucketing = 5000, Bucketing(key_type("<u4"), rule_for(function, np.dtype("u4")))

    def code(recorder):
        keys, values, split, moved, offsets = (SimpleNamespace(address=address, nbytes=0) for address in recorder.addresses)
        columns = [MovedItems(keys, split, 4), MovedItems(values, moved, value_bytes)]
        split_any(Splitter(recorder, recorder.count, SMALL_TUNING, capacity), bucketing, columns, offsets)

    call = recorded(code, [0] * 5, range(1, capacity + 1))
    random = np.random.default_rng(function.count)
    for count in (capacity, capacity - 1, capacity - capacity // 8, 1):
        keys, values = (
            random.integers(0, 1 << 32, count, np.uint32),
            np.frombuffer(random.bytes(count * value_bytes), f"V{value_bytes}"),
        )
        own = keys >> function.parameters[0] & function.count - 1 if function.kind == "bits" else keys % function.count
        order = np.argsort(own, kind="stable")
        arrays = [keys, values, keys * 0, np.zeros_like(values), np.zeros(function.count + 1, "i8")]
        _, _, split, moved, offsets = replay(call, arrays, count, seed=count)
        assert np.array_equal(split.view(np.uint32), keys[order]) and moved.tobytes() == values[order].tobytes()
        assert np.array_equal(offsets.view("i8"), np.searchsorted(own[order], np.arange(function.count + 1)))
