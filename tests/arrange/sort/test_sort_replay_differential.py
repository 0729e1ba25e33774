"""Compares replays of recorded sorts, with other addresses and other keys, with NumPy under the fiber harness."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from headrace.arrange.gather.moved_items import MovedItems, RowNumbers
from headrace.arrange.sort.gpu.msd.tuning import LIMITS
from headrace.arrange.sort.gpu.planner import Sorter, SortRequest
from headrace.arrange.sort.gpu.sort import counts_like
from headrace.arrange.sort.gpu.tuning import HARNESS_TUNING, tuning_of
from headrace.arrange.sort.key_order import KeyOrder
from headrace.gpu.kernels.launch_plan import RecordedCall, recorded
from tests.gpu.kernels.replay_cases import replay

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("count", [100, 600, 1200])  # by ranks, cooperatively, and by passes
def test_a_recorded_sort_of_pairs_sorts_other_arrays(count, in_place):
    def code(launcher):
        source, target, values, moved = (SimpleNamespace(address=address, nbytes=4 * count) for address in launcher.addresses)
        if in_place:
            target, moved = source, values
        request = SortRequest(KeyOrder("unsigned", 32), source, target, (MovedItems(values, moved, 4),))
        Sorter(launcher, count, HARNESS_TUNING, launcher.counters).sort(request)

    call = recorded(code, [0, 0, 0, 0])
    random = np.random.default_rng(count)
    for seed in range(2):
        keys, values = random.integers(0, 300, count, np.uint32), random.integers(0, 2**32, count, np.uint32)
        check_replay(call, keys, values.tobytes(), in_place=in_place, seed=seed)


def check_replay(call: RecordedCall, keys: np.ndarray, values: bytes, *, in_place: bool, seed: int) -> None:
    """Replay a sort of pairs, and compare it with NumPy."""
    items = np.frombuffer(values, f"V{len(values) // len(keys)}")
    arrays = replay(call, [keys, np.zeros_like(keys), items, np.zeros_like(items)], len(keys), seed=seed)
    places = np.argsort(keys, kind="stable")
    sorted_keys, moved = (arrays[number] for number in ((0, 2) if in_place else (1, 3)))
    assert np.array_equal(sorted_keys.view(keys.dtype), keys[places])
    assert moved.tobytes() == items[places].tobytes()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("value_bytes", [4, 16])  # that move with the keys, and that are gathered
@pytest.mark.parametrize("capacity", [112, 640, 1280, 2048])  # by ranks, cooperatively, by passes of a digit and of buckets
def test_a_recorded_sort_serves_all_lengths_up_to_itscapacity_of(capacity, width, value_bytes, in_place):
    def code(recorder):
        source, target, values, moved = (SimpleNamespace(address=address, nbytes=0) for address in recorder.addresses)
        if in_place:
            target, moved = source, values
        request = SortRequest(KeyOrder("unsigned", 8 * width), source, target, (MovedItems(values, moved, value_bytes),))
        Sorter(recorder, recorder.count, HARNESS_TUNING, recorder.counters, capacity).sort(request)

    call = recorded(code, [0, 0, 0, 0], range(1, capacity + 1))
    random = np.random.default_rng(capacity)
    for seed, count in enumerate((capacity, capacity - 1, capacity - capacity // 8, 1, 2)):
        for most in (1, 300, 1 << 8 * width - 1):
            keys = random.integers(0, most, count, f"u{width}")
            check_replay(call, keys, random.bytes(count * value_bytes), in_place=in_place, seed=seed)


@pytest.mark.parametrize("capacity", [112, 640, 1280, 2048])
def test_a_recorded_sort_of_keys_alone_serves_all_lengths_up_to_itscapacity_of(capacity):
    def code(recorder):
        source, target = (SimpleNamespace(address=address, nbytes=0) for address in recorder.addresses)
        sorter = Sorter(recorder, recorder.count, HARNESS_TUNING, recorder.counters, capacity)
        sorter.sort(SortRequest(KeyOrder("unsigned", 32), source, target))

    call = recorded(code, [0, 0], range(1, capacity + 1))
    random = np.random.default_rng(capacity)
    for count in (capacity, capacity - capacity // 8):
        keys = random.integers(0, 1 << 32, count, np.uint32)
        assert np.array_equal(np.sort(keys), replay(call, [keys, keys * 0], count, seed=count)[1].view(np.uint32))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("indices", [0, 4, 8])
def test_launches_depend_on_the_length_by_their_number_of_items_alone(width, indices):
    """The sizes of an H100, for all numbers of keys whose launches are shared."""
    tuning, order = tuning_of(132, (9, 0)), KeyOrder("signed", 8 * width)
    for length in [16, 1024, *(9 << shift for shift in range(8, 21)), *LIMITS, (1 << 25) - (1 << 21)]:
        counts = counts_like(length)
        if not counts:
            continue

        def code(recorder, counts=counts):
            keys, target, values, moved, places = (SimpleNamespace(address=address, nbytes=0) for address in recorder.addresses)
            request = SortRequest(order, keys, target, (MovedItems(values, moved, width),))
            if indices:
                request = SortRequest(order, keys, None, (), RowNumbers(places, indices))
            Sorter(recorder, recorder.count, tuning, recorder.counters, counts.stop - 1).sort(request)

        assert recorded(code, [0] * 5, counts).recording.steps
        assert length in counts and counts.stop - 1 < max(17, length + length // 7)


def test_lengths_of_a_class_have_launches_of_the_same_sizes():
    for length in (*range(1, 1 << 25, 9973), *LIMITS, *(limit + 1 for limit in LIMITS)):
        counts = counts_like(length)
        assert not counts or (length in counts and not any(limit in counts[:-1] for limit in LIMITS))
    counts = (counts_like(length) for length in (1, 1000, 8_600_000, 9_000_000, (1 << 25) - 1, 1 << 26))
    assert [(each.start, each.stop) for each in counts] == [
        (1, 17), (961, 1025), (8_388_609, 9_000_000), (9_000_000, 9_437_185), (0, 0), (0, 0),
    ]  # fmt: skip
