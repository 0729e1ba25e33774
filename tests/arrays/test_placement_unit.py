"""Tests the device that work runs on: that of its input, or the GPU that the context names. Also tests the memory that it may
take there, and the copies between devices.
"""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import headrace
from headrace.arrays.arrays import take
from headrace.arrays.placement import empty_like, placed
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import MemoryLimitError, MissingDependencyError, OptionError, UnsupportedDeviceError
from headrace.core.transfers import Crossings
from tests.conftest import gpu_is_missing

ON_GPU = Context(device="cuda")


def select_all(items, context):
    mask = np.ones(len(items), bool)
    on_host = isinstance(items, np.ndarray)
    return headrace.select(items, mask if on_host else headrace.DeviceArray.from_host(mask), context=context)


def test_a_context_takes_a_device_by_name() -> None:
    assert Context(device="cuda:1").device == Device("cuda", 1)
    with pytest.raises(OptionError, match="unknown device 'tpu'"):
        Context(device="tpu")
    with pytest.raises(OptionError, match="GPUs have numbers"):
        Context(device="cuda:x")


def test_what_is_on_the_host_stays_there_unless_a_context_names_a_gpu() -> None:
    items, context = np.arange(5), Context()
    found = placed(items, "items", context)
    assert found.owner is items and found.device == Device()
    assert context.crossings == Crossings()


@pytest.mark.skipif(not gpu_is_missing(), reason="there is a GPU")
def test_where_there_is_no_gpu_a_context_that_names_one_says_why() -> None:
    for call in (
        headrace.scan,
        headrace.reduce,
        headrace.histogram,
        lambda x, context: headrace.select(x, x != 0, context=context),
    ):
        with pytest.raises((UnsupportedDeviceError, MissingDependencyError), match=r"GPU|NVIDIA"):
            call(np.arange(5, dtype=np.uint32), context=ON_GPU)


@pytest.mark.parametrize("items", [np.arange(7, dtype=np.int16), np.zeros(0, np.float32), memoryview(b"abc")])
def test_an_array_of_the_host_is_seen_by_numpy_without_a_copy(items) -> None:
    seen = take(np.asarray(items)).as_numpy()
    np.testing.assert_array_equal(seen, np.asarray(items))
    assert len(seen) == 0 or np.shares_memory(seen, np.asarray(items))


def test_a_result_is_charged_before_it_is_made() -> None:
    source, budget = take(np.zeros(10, np.uint32)), Context(memory_limit=100).new_budget()
    assert empty_like(source, 20, budget=budget).nbytes == 80
    with pytest.raises(MemoryLimitError, match="memory limit of 100"):
        empty_like(source, 6, budget=budget)
    assert empty_like(source, 5, budget=budget).length == 5


def test_calls_keep_to_the_memory_limit() -> None:
    keys = np.arange(1000, dtype=np.uint32)
    context = Context(memory_limit=1000)
    for call in (headrace.scan, headrace.bucket_counts, select_all):
        with pytest.raises(MemoryLimitError, match="memory limit of 1_000"):
            call(keys, context=context)
    assert headrace.reduce(keys, context=context).tolist() == [499500]


def test_many_threads_count_what_crosses_and_a_count_can_be_pickled() -> None:
    crossings = Crossings()
    threads = [threading.Thread(target=lambda: [crossings.count(to_gpu=3, to_host=1) for _ in range(1000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert crossings == Crossings(24_000, 8_000, 8_000)
    assert pickle.loads(pickle.dumps(crossings)) == crossings


@pytest.mark.gpu
def test_a_context_takes_an_input_to_the_gpu_and_counts_it() -> None:
    keys, context = np.arange(1000, dtype=np.uint32), Context(device="cuda")
    for call in (headrace.scan, headrace.reduce, lambda x, context: headrace.bucket_counts(x, 10, context=context)):
        result = call(keys, context=context)
        assert isinstance(result, headrace.DeviceArray)
        np.testing.assert_array_equal(result.to_numpy(), call(keys, context=None))
    assert context.crossings == Crossings(to_gpu=12_000, to_host=0, copies=3)
    chosen = headrace.select(keys, keys % 3 == 0, context=context)
    np.testing.assert_array_equal(chosen.to_numpy(counted=context.crossings), keys[::3])
    assert context.crossings.to_host >= chosen.length * 4


@pytest.mark.gpu
def test_a_call_on_the_gpu_keeps_to_the_memory_limit_and_leaves_nothing() -> None:
    from headrace.gpu.device.device import gpu
    from headrace.gpu.memory.pool import device_pool

    keys = headrace.DeviceArray.from_host(np.arange(1 << 20, dtype=np.uint32), gpu())
    gpu().synchronize()
    before = device_pool(gpu()).used
    for call in (headrace.scan, select_all):
        with pytest.raises(MemoryLimitError):
            call(keys, context=Context(memory_limit=1 << 20))
    assert device_pool(gpu()).used == before
    assert headrace.reduce(keys, context=Context(memory_limit=1 << 20)).to_numpy().tolist() == [(1 << 19) * ((1 << 20) - 1)]
