"""Tests device memory: budgets, exhaustion without damage, buffers that other streams use, and the bytes that cross the bus."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from headrace.arrays.device_array import DeviceArray
from headrace.core.budget import Budget
from headrace.core.errors import MemoryLimitError, OptionError
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import device_pool
from headrace.gpu.transfer.staging import Staging, staging
from headrace.primitives.copy import COPY_THREADS, COPY_TILE, blocks_of, copy_kernel, fill_kernel


def test_a_budget_counts_and_refuses():
    budget = Budget(100)
    budget.charge(60)
    with pytest.raises(MemoryLimitError, match="50 bytes more do not fit the memory limit of 100: 60 are in use"):
        budget.charge(50)
    budget.charge(40)
    budget.refund(60)
    assert (budget.used, budget.peak) == (40, 100)
    Budget().charge(2**60)


def test_a_budget_counts_for_many_threads():
    budget = Budget()

    def work():
        for _ in range(2000):
            budget.charge(3)
            budget.refund(3)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.used == 0


@pytest.mark.gpu
def test_a_buffer_is_counted_until_nobody_holds_it():
    budget, pool = Budget(1 << 20), device_pool(gpu())
    before = pool.used
    first = pool.take(700_000, budget=budget)
    assert first.address % 256 == 0 and budget.used == 700_000 and pool.used > before
    with pytest.raises(MemoryLimitError):
        pool.take(700_000, budget=budget)
    assert budget.used == 700_000
    del first
    gc.collect()
    assert budget.used == 0
    second = pool.take(700_000, budget=budget)
    second.close()
    second.close()
    assert budget.used == 0 and second.nbytes == 0
    gpu().synchronize()
    assert pool.used == before


@pytest.mark.gpu
def test_more_than_the_card_has_is_an_error_and_everything_stays():
    pool, budget = device_pool(gpu()), Budget()
    array = DeviceArray.from_host(np.arange(1000), gpu())
    with pytest.raises(MemoryLimitError, match=r"do not fit the memory of cuda: [\d_]+ of [\d_]+ are free"):
        pool.take(2**45, budget=budget)
    assert budget.used == 0
    assert array.to_numpy().tolist() == list(range(1000))
    assert pool.take(1 << 20).nbytes == 1 << 20


@pytest.mark.gpu
def test_memory_that_is_kept_serves_the_next_and_can_be_released():
    pool = device_pool(gpu())
    pool.take(64 << 20).close()
    gpu().synchronize()
    assert pool.reserved >= 64 << 20
    pool.release_unused()
    assert pool.reserved < 64 << 20


@pytest.mark.gpu
def test_the_most_that_was_used_at_one_time_is_told():
    pool = device_pool(gpu())
    gpu().synchronize()
    before = pool.used
    pool.reset_peak()
    pool.take(64 << 20).close()
    pool.take(32 << 20).close()
    assert 64 << 20 <= pool.peak_used - before < 65 << 20
    pool.reset_peak()
    pool.take(16 << 20).close()
    assert 16 << 20 <= pool.peak_used - before < 17 << 20
    held = pool.take(8 << 20)
    pool.reset_peak()
    assert pool.peak_used == pool.used >= before + held.nbytes  # nothing was taken since


@pytest.mark.gpu
def test_nothing_takes_no_memory():
    buffer = device_pool(gpu()).take(0)
    assert (buffer.address, buffer.nbytes) == (0, 0)
    assert DeviceArray.from_host(np.zeros(0, np.int32), gpu()).to_numpy().tolist() == []


@pytest.mark.gpu
def test_a_buffer_that_another_stream_uses_is_not_given_away_before():
    card, pool = gpu(), device_pool(gpu())
    with card.current():
        other = int(checked(driver().cuStreamCreate(1)))  # which does not wait for the default stream
    fill, copy = fill_kernel(4, card), copy_kernel(4, card)
    count = 32 << 20
    blocks = blocks_of(count * 4, COPY_TILE)
    for turn in range(5):
        taken = pool.take(count * 4)
        kept = pool.take(count * 4)
        fill.launch(blocks, COPY_THREADS, (taken.address, count, turn))
        Event(card).record(card.stream).hold(other)
        for _ in range(4):
            copy.launch(blocks, COPY_THREADS, (taken.address, kept.address, count), stream=other)
        taken.used_by(other)
        kept.used_by(other)
        taken.close()
        again = pool.take(count * 4)  # very likely the same memory
        fill.launch(blocks, COPY_THREADS, (again.address, count, 99))
        Event(card).record(other).hold(card.stream)
        result = DeviceArray(kept, "<u4", count).to_numpy()
        assert result.min() == result.max() == turn


@pytest.mark.gpu
@pytest.mark.parametrize("nbytes", [1, 4095, 1 << 20, (1 << 20) + 1, 10_000_019])
def test_copies_through_pinned_memory(nbytes):
    small = Staging(gpu(), threads=3, chunk_bytes=1 << 20)
    source = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    buffer, counted = device_pool(gpu()).take(nbytes + 3), Crossings()
    small.upload(source, buffer, offset=2, counted=counted)
    back = np.zeros(nbytes, np.uint8)
    small.download(buffer, back, offset=2, counted=counted)
    assert np.array_equal(source, back)
    assert (counted.to_gpu, counted.to_host, counted.copies) == (nbytes, nbytes, 2)


@pytest.mark.gpu
def test_read_only_sources_and_wrong_places():
    buffer, counted = device_pool(gpu()).take(8), Crossings()
    staging(gpu()).upload(b"12345678", buffer, counted=counted)
    back = bytearray(8)
    staging(gpu()).download(buffer, back, counted=counted)
    assert back == b"12345678"
    for call in (
        lambda: staging(gpu()).upload(b"123456789", buffer, counted=counted),
        lambda: staging(gpu()).upload(b"1", buffer, offset=8, counted=counted),
        lambda: staging(gpu()).upload(b"1", buffer, offset=-1, counted=counted),
        lambda: staging(gpu()).download(buffer, b"12345678", counted=counted),
    ):
        with pytest.raises(OptionError):
            call()
    assert counted.copies == 2


@pytest.mark.gpu
def test_events_tell_time_and_order():
    card = gpu()
    buffer = device_pool(card).take(1 << 28)
    fill = fill_kernel(8, card)
    begin = Event(card, timing=True).record(card.stream)
    fill.launch(blocks_of(1 << 28, COPY_TILE), COPY_THREADS, (buffer.address, 1 << 25, 1))
    end = Event(card, timing=True).record(card.stream)
    end.wait()
    assert end.is_done and 1e-6 < end.seconds_since(begin) < 1
