"""Tests copies by several threads that are interrupted or fail: the caller's memory is not touched afterwards."""

from __future__ import annotations

import ctypes
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from headrace.core.budget import Budget
from headrace.core.errors import MemoryLimitError
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import GpuError, gpu
from headrace.gpu.kernels.launcher import BufferSlice, GpuLauncher
from headrace.gpu.transfer import staging as staged
from headrace.gpu.transfer.staging import Staging
from headrace.primitives.copy import copier

PIECES = [(number, 0, 1) for number in range(40)]


class Slow(Staging):
    """Pieces that take a while, and leave their number."""

    def __init__(self, gpu=None):
        super().__init__(gpu or SimpleNamespace(make_current=lambda: None, current=nullcontext), threads=2)
        self.touched = []

    def _copy_piece(self, copy, piece, stream):
        time.sleep(0.02)
        self.touched.append(piece[0])


def test_after_an_interrupt_nobody_touches_the_callers_memory(monkeypatch):
    calls = []

    def interrupted(futures):
        calls.append(futures)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(futures)

    real, slow = staged.wait, Slow()
    monkeypatch.setattr(staged, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        slow._run(None, PIECES, 7)
    touched = len(slow.touched)
    time.sleep(0.1)
    assert len(slow.touched) == touched < len(PIECES)


def test_a_process_without_the_parents_threads_is_an_error_and_no_wait():
    def refused():
        raise GpuError("CUDA_ERROR_NOT_INITIALIZED")

    slow = Slow(SimpleNamespace(make_current=refused, current=refused))
    slow._workers = SimpleNamespace(submit=lambda *given: pytest.fail("nobody would do it"))
    with pytest.raises(GpuError):
        slow._run(None, PIECES, 7)


def test_work_of_a_threads_own_stream_stays_in_that_thread():
    slow = Slow()
    slow._workers = SimpleNamespace(submit=lambda *given: pytest.fail("it means another stream there"))
    slow._run(None, PIECES[:3], 2)
    assert slow.touched == [0, 1, 2]


def test_host_memory_that_cannot_be_pinned_is_a_memory_error_and_the_next_may_try(monkeypatch):
    results = SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2)
    answers = [(2, None), (0, 4096)]
    made = SimpleNamespace(CUresult=results, CU_MEMHOSTALLOC_PORTABLE=1, cuMemHostAlloc=lambda *given: answers.pop(0))
    monkeypatch.setattr(staged, "driver", lambda: made)
    monkeypatch.setattr(staged, "Event", lambda gpu: SimpleNamespace(wait=lambda: None))
    copies = Staging(SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda"), threads=1, chunk_bytes=4096)
    with pytest.raises(MemoryLimitError, match="4_096 bytes of the host cannot be pinned"):
        copies.take_chunk()
    assert copies.take_chunk().address == 4096


def test_a_chunk_whose_copy_is_under_way_is_not_waited_for_while_there_may_be_others(monkeypatch):
    places = iter([4096, 8192])
    results = SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2)
    made = SimpleNamespace(CUresult=results, CU_MEMHOSTALLOC_PORTABLE=1, cuMemHostAlloc=lambda *given: (0, next(places)))
    waited = []

    def event(gpu):
        own = SimpleNamespace()
        return SimpleNamespace(wait=lambda: waited.append(own), is_done=False, own=own)

    monkeypatch.setattr(staged, "driver", lambda: made)
    monkeypatch.setattr(staged, "Event", event)
    copies = Staging(SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda"), threads=1, chunk_bytes=4096)
    first = copies.take_chunk()
    first.under_way = True
    copies._chunks.put(first)
    second = copies.take_chunk()
    assert (second.address, waited) == (8192, [])
    second.under_way = True
    copies._chunks.put(second)
    assert copies.take_chunk() is first and waited == [first.event.own] and not first.under_way  # there may be two
    copies._chunks.put(first)
    second.event.is_done = True
    assert copies.take_chunk() is second and len(waited) == 1 and not second.under_way


@pytest.mark.parametrize("verb", ["put", "fetch", "answer", "exchange"])
def test_after_an_interrupt_a_chunk_is_given_back_when_the_stream_is_done(monkeypatch, verb):
    """The interrupt comes after the launch, before an event marks the chunk as in use."""

    def interrupted(*given):
        raise KeyboardInterrupt

    memory = [ctypes.create_string_buffer(16) for _ in range(2)]
    places = [ctypes.addressof(chunk) for chunk in memory]
    left, done = iter(places), []
    functions = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2),
        CU_MEMHOSTALLOC_PORTABLE=1,
        cuMemHostAlloc=lambda *given: (0, next(left)),
        cuStreamSynchronize=lambda stream: done.append((stream, copies.take_chunk())),
    )
    monkeypatch.setattr(staged, "driver", lambda: functions)
    monkeypatch.setattr(staged, "Event", lambda gpu: SimpleNamespace(is_done=True, handle=5))
    card = SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda")
    copies = Staging(card, threads=1, chunk_bytes=16)
    calls = {
        "exchange": lambda: copies.exchange(lambda pinned, events: 0, interrupted, 7, (0, 3)),
        "put": lambda: copies.put(4096, 7, b"abc", counted=Crossings(), by=interrupted),
        "fetch": lambda: copies.fetch(4096, 7, 3, counted=Crossings(), by=interrupted),
        "answer": lambda: copies.answer(interrupted, 7, 3, counted=Crossings()),
    }
    with pytest.raises(KeyboardInterrupt):
        calls[verb]()
    # Others cannot take the first chunk before the stream is done.
    assert [(stream, chunk.address) for stream, chunk in done] == [(7, places[1])]
    assert copies.take_chunk().address == places[0]


@pytest.mark.parametrize("place", ["is_done", "get"])
def test_a_chunk_that_an_interrupted_thread_loses_is_free_again(monkeypatch, place):
    memory = ctypes.create_string_buffer(16)
    functions = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2),
        CU_MEMHOSTALLOC_PORTABLE=1,
        cuMemHostAlloc=lambda *given: (0, ctypes.addressof(memory)),
    )

    class Event:
        interrupts = True

        def __init__(self, gpu):
            pass

        @property
        def is_done(self):
            if Event.interrupts:
                raise KeyboardInterrupt
            return True

    monkeypatch.setattr(staged, "driver", lambda: functions)
    monkeypatch.setattr(staged, "Event", Event)
    copies = Staging(SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda"), threads=1, chunk_bytes=16)
    copies._untaken = 1
    chunk = copies.take_chunk()
    if place == "is_done":
        chunk.under_way = True
        copies._chunks.put(chunk)
        with pytest.raises(KeyboardInterrupt):
            copies.take_chunk()
    del chunk
    Event.interrupts = False
    for _ in range(3):  # each one is lost
        assert copies.take_chunk().address == ctypes.addressof(memory)


def test_results_that_are_dropped_keep_their_chunk_in_use(monkeypatch):
    """The device may still copy to it."""
    memory = [ctypes.create_string_buffer(b"head", 16) for _ in range(2)]
    left = iter(ctypes.addressof(chunk) for chunk in memory)
    functions = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2),
        CU_MEMHOSTALLOC_PORTABLE=1,
        cuMemHostAlloc=lambda *given: (0, next(left)),
    )
    handles, waited = iter(range(4)), []
    monkeypatch.setattr(staged, "driver", lambda: functions)
    monkeypatch.setattr(staged, "card_calls", lambda: SimpleNamespace(wait=lambda event: waited.append(event) or 0))
    monkeypatch.setattr(staged, "Event", lambda gpu: SimpleNamespace(is_done=False, handle=next(handles)))
    copies = Staging(SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda"), threads=1, chunk_bytes=16)
    heads = []
    assert copies.exchange(lambda pinned, events: 0, heads.append, 7, (4, 7)) is None
    assert heads == [b"head"] and len(waited) == 1  # for the head alone
    assert copies.take_chunk().address == ctypes.addressof(memory[1])


def test_threads_that_have_all_chunks_take_second_ones(monkeypatch):
    """A thread that waits for a load's results copies a sample of the text meanwhile."""
    memory = ctypes.create_string_buffer(b"results", 16)
    functions = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2),
        CU_MEMHOSTALLOC_PORTABLE=1,
        cuMemHostAlloc=lambda *given: (0, ctypes.addressof(memory)),
    )
    calls = SimpleNamespace(fetch=lambda *given: 0, wait=lambda event: 0)
    monkeypatch.setattr(staged, "driver", lambda: functions)
    monkeypatch.setattr(staged, "card_calls", lambda: calls)
    monkeypatch.setattr(staged, "Event", lambda gpu: SimpleNamespace(is_done=True, handle=5, wait=lambda: None))
    copies = Staging(SimpleNamespace(make_current=lambda: None, current=nullcontext, device="cuda"), threads=1, chunk_bytes=16)
    all_there, found = threading.Barrier(2), []

    def sample(head):
        all_there.wait(10)
        found.append(copies.fetch(4096, 7, 3, counted=Crossings()))
        all_there.wait(10)
        return True

    def load():
        found.append(copies.exchange(lambda pinned, events: 0, sample, 7, (0, 7)))

    threads = [threading.Thread(target=load, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == [b"res", b"res", b"results", b"results"]


@pytest.mark.parametrize("given", [b"abc", np.arange(5, dtype=np.uint8)])
def test_little_is_copied_by_whom_the_caller_names(monkeypatch, given):
    memory, there = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
    told = []

    def copy(source, target, nbytes, stream):
        told.append((nbytes, stream))
        ctypes.memmove(target, source, nbytes)

    event = SimpleNamespace(record=lambda stream, is_current: told.append(stream) or event, wait=lambda: told.append("wait"))
    chunk = SimpleNamespace(address=ctypes.addressof(memory), event=event, under_way=False)
    slow, crossings = Slow(), Crossings()
    monkeypatch.setattr(slow, "take_chunk", lambda: chunk)
    slow.put(ctypes.addressof(there), 7, given, counted=crossings, by=copy)
    assert there.raw == bytes(given).ljust(16, b"\0") and told == [(len(given), 7), 7] and chunk.under_way
    ctypes.memset(memory, 0xEE, 16)
    assert slow.fetch(ctypes.addressof(there), 7, len(given), counted=crossings, by=copy) == bytes(given)
    assert told[2:] == [(len(given), 7), 7, "wait"] and not chunk.under_way
    assert (crossings.to_gpu, crossings.to_host) == (len(given), len(given))


@pytest.mark.gpu
@pytest.mark.parametrize("nbytes", [1, 3, 17, 2048, 2049, 100_001])
def test_a_kernel_copies_little_to_the_card_and_back(nbytes):
    card, text = gpu(), np.random.default_rng(nbytes).bytes(nbytes)
    launcher = GpuLauncher(card, stream=None, budget=Budget(), crossings=Crossings(), copier=copier(card))
    with launcher.current():
        buffer = launcher.put(b"\xee" * (nbytes + 64))
        launcher.put(text, BufferSlice(buffer, 3, nbytes))
        found = bytes(launcher.fetch(buffer))
    assert found == b"\xee" * 3 + text + b"\xee" * 61
