"""Tests large copies from a card, with a driver whose memory is the host's and which copies only when the host waits. Covers the
bytes that arrive, their memory, and when that memory is used again.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headrace.columns.buffers import fetch_gpu
from headrace.columns.buffers.fetch_gpu import FetchShape, FetchWay, fetch_columns
from headrace.columns.column import Column
from headrace.columns.types import parse_type
from headrace.core.transfers import Crossings
from headrace.gpu.device import event
from headrace.gpu.memory import pinned, pinned_results
from headrace.gpu.memory.pinned import PinnedRing
from headrace.gpu.memory.pinned_results import PinnedResults, lent_bytes
from tests.gpu.memory.pinned_cases import LazyDriver


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> LazyDriver:
    made = LazyDriver()
    for module in (event, pinned, pinned_results):
        monkeypatch.setattr(module, "driver", lambda: made)
    return made


CARD: Any = SimpleNamespace(index=0, stream=9, device="cuda", current=nullcontext, make_current=lambda: None)


def columns_of(seed: int, rows: int = 5000) -> tuple[dict[str, Column], list[Any]]:
    """Columns whose buffers are arrays of the host, and those."""
    rng = np.random.default_rng(seed)
    arrays: list[Any] = []

    def buffer(array: Any) -> Any:
        arrays.append(array)
        return SimpleNamespace(address=array.ctypes.data, nbytes=array.nbytes)

    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, rows))]).astype(np.int32)
    number = Column(
        parse_type("int64"), rows, 1, buffer(rng.integers(0, 99, rows)), buffer(rng.integers(0, 255, rows // 8, np.uint8))
    )
    text = Column(parse_type("string"), rows, 0, buffer(rng.integers(0, 255, offsets[-1], np.uint8)), offsets=buffer(offsets))
    none = Column(parse_type("string"), 0, 0, buffer(np.empty(0, np.uint8)), offsets=buffer(np.zeros(1, np.int32)))
    return {"n": number, "s": text, "e": none}, arrays


def bytes_of(columns: dict[str, Column]) -> list[bytes]:
    buffers = [part for one in columns.values() for part in (one.values, one.validity, one.offsets)]
    return [bytes(memoryview(buffer)) for buffer in buffers if buffer is not None]


@pytest.mark.parametrize("max_pending", [1, 2])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("chunk_bytes", [64, 1000, 1 << 16])
def test_columns_through_the_ring(lazy: LazyDriver, max_pending: int, streamed: bool, chunk_bytes: int) -> None:
    ring = PinnedRing(CARD, chunk_bytes=chunk_bytes, threads=2)
    crossings = Crossings()
    shape = FetchShape(pinned=False, max_pending=max_pending, streamed=streamed)
    for seed in range(3):
        columns, arrays = columns_of(seed)
        found = fetch_columns(columns, event.Event(CARD), FetchWay(ring, None, shape), crossings)
        assert bytes_of(found) == [array.tobytes() for array in arrays]
    assert crossings.to_host == sum(sum(array.nbytes for array in columns_of(seed)[1]) for seed in range(3))
    if chunk_bytes == 1000:
        assert lazy.max_waiting >= max_pending  # while one is emptied, `max_pending` are on their way
    ring.close()
    assert not lazy.held


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000, 4096 + 17])
@pytest.mark.parametrize("skew", [0, 1, 15, 16, 63])
def test_streamed_copies(size: int, skew: int) -> None:
    from headrace import _native

    source = np.random.default_rng(size).integers(0, 255, size + skew, np.uint8)
    target = np.full(size + skew + 64, 0xEE, np.uint8)
    _native.copy_parts([(source.ctypes.data, target.ctypes.data + skew, size)], 1, True)
    assert (target[skew : skew + size] == source[:size]).all()
    assert (np.delete(target, range(skew, skew + size)) == 0xEE).all()


def test_columns_straight_into_pinned_memory(lazy: LazyDriver) -> None:
    ring = PinnedRing(CARD, chunk_bytes=64)
    results = PinnedResults(CARD, max_bytes=64 << 20, waits=True)
    way = FetchWay(ring, results)
    found = {}
    for seed in range(2):
        columns, arrays = columns_of(seed)
        found[seed] = fetch_columns(columns, event.Event(CARD), way, Crossings())
        assert bytes_of(found[seed]) == [array.tobytes() for array in arrays]
    assert bytes_of(found[0]) == [array.tobytes() for array in columns_of(0)[1]]  # its memory has not been used
    assert results.nbytes == 2 * (16 << 20)
    first = found.pop(0)["s"].values.address
    columns, arrays = columns_of(5)
    again = fetch_columns(columns, event.Event(CARD), way, Crossings())
    assert abs(again["s"].values.address - first) < 16 << 20  # the same block
    assert bytes_of(again) == [array.tobytes() for array in arrays]
    assert results.nbytes == 2 * (16 << 20)


def test_a_block_is_held_by_whoever_holds_one_of_its_buffers(lazy: LazyDriver) -> None:
    results = PinnedResults(CARD, waits=True)
    batch = results.take(lent_bytes(10))
    assert batch is not None
    buffer = batch.buffer(10)
    view = memoryview(buffer)
    del batch, buffer
    results.trim(0)
    assert results.nbytes == 16 << 20
    del view
    results.trim(0)
    assert results.nbytes == 0
    assert not lazy.held


def test_where_there_is_no_pinned_memory_results_go_through_the_ring(lazy: LazyDriver) -> None:
    ring = PinnedRing(CARD, chunk_bytes=4096)
    columns, arrays = columns_of(1)
    for results in (PinnedResults(CARD, max_bytes=100, waits=True), PinnedResults(CARD, waits=True)):
        lazy.pinned_most = 3 * 4096  # of the ring alone
        found = fetch_columns(columns, event.Event(CARD), FetchWay(ring, results), Crossings())
        assert bytes_of(found) == [array.tobytes() for array in arrays]
        assert results.nbytes == 0


def test_what_is_not_pinned_yet_is_not_waited_for(lazy: LazyDriver) -> None:
    may_go = threading.Event()
    allocate = lazy.cuMemHostAlloc

    def slow(nbytes: int, flags: int) -> tuple[int, int]:
        assert may_go.wait(10)
        return allocate(nbytes, flags)

    lazy.cuMemHostAlloc = slow  # type: ignore[method-assign]
    results = PinnedResults(CARD)
    assert results.take(1000) is None
    assert results.take(1000) is None
    may_go.set()
    assert results._pinning is not None
    results._pinning.join()
    assert results.take(1000) is not None
    assert len(lazy.held) == 1


def test_default_share_is_a_thirty_second_of_the_memory_limit(lazy: LazyDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned_results._native, "usable_memory", lambda: 32 * (48 << 20))  # a container of 1.5 GiB
    results = PinnedResults(CARD, waits=True)
    first, second = results.take(14 << 20), results.take(28 << 20)
    assert first is not None
    assert second is not None
    held = first.buffer(1), second.buffer(1)
    assert results.nbytes == 48 << 20
    assert results.take(1000) is None
    del held


def test_smaller_blocks_make_way(lazy: LazyDriver) -> None:
    results = PinnedResults(CARD, max_bytes=48 << 20, waits=True)
    small = results.take(1000)
    assert small is not None
    held = small.buffer(1)
    large = results.take(20 << 20)
    assert large is not None
    assert results.nbytes == 48 << 20
    assert results.take(30 << 20) is None  # nothing is free
    del small, held, large
    assert results.take(30 << 20) is not None
    assert results.nbytes == 48 << 20


def test_shapes_are_those_of_the_ring() -> None:
    assert 0 < fetch_gpu.FETCH_SHAPE.max_pending < pinned.CHUNKS
