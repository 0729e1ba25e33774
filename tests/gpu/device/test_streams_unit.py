"""Tests the waits between streams with a driver that only records calls: default streams, several streams, memory that other
streams have used.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace.arrays import placement
from headrace.arrays.arrays import Array
from headrace.core.device import Device
from headrace.gpu.device import device as gpu
from headrace.gpu.device import event
from headrace.gpu.device.event import Event
from headrace.gpu.memory import pool
from headrace.gpu.memory.pool import PoolBuffer
from headrace.primitives import copy as device_copy


class Notes:
    """Records the name and arguments of every call, in order; a call returns success."""

    def __init__(self):
        self.called = []
        self.CUevent_flags = SimpleNamespace(
            CU_EVENT_DEFAULT=SimpleNamespace(value=0), CU_EVENT_DISABLE_TIMING=SimpleNamespace(value=2)
        )
        self.events = 0

    def __getattr__(self, name):
        def call(*given):
            self.called.append((name, *given))
            self.events += name == "cuEventCreate"
            return 0, f"event {self.events}"

        return call

    def said(self, *names):
        return [call for call in self.called if call[0] in names]


@pytest.fixture
def notes(monkeypatch):
    made = Notes()
    card = SimpleNamespace(
        index=0,
        stream=9,
        context=77,
        device=Device("cuda"),
        current=lambda: nullcontext(made.called.append(("current",))),
        synchronize=lambda: made.called.append(("synchronize",)),
    )
    for module in (gpu, event, pool):
        monkeypatch.setattr(module, "driver", lambda: made)
    calls = SimpleNamespace(give_back=lambda address, stream, context: made.called.append(("give back", address, stream)))
    monkeypatch.setattr(pool, "card_calls", lambda: calls)
    monkeypatch.setattr(event, "spare_events", {})
    for module in (placement, device_copy):
        monkeypatch.setattr(module, "gpu", lambda device: card)
    made.card = card
    return made


def array_on(stream):
    return Array(256, 4, "<u4", Device("cuda"), "cupy", stream)


@pytest.mark.parametrize(("stream", "currents"), [(0, 1), (1, 1), (2, 1), (3, 0), (9, 0)])
def test_a_default_stream_is_that_of_the_events_card(notes, stream, currents):
    made = Event(notes.card)
    for tell in (made.record, made.hold):
        notes.called.clear()
        tell(stream)
        assert len(notes.said("current")) == currents and notes.called[-1][0].startswith("cu")


def test_a_copy_between_streams_waits_for_the_source_and_the_source_for_it(notes, monkeypatch):
    launched = SimpleNamespace(launch=lambda *given, **how: notes.called.append(("launch", how["stream"])))
    monkeypatch.setattr(device_copy, "copy_kernel", lambda width, card: launched)
    device_copy.copy(array_on(5), array_on(7))
    assert notes.said("cuEventRecord", "cuStreamWaitEvent", "launch") == [
        ("cuEventRecord", "event 1", 5),
        ("cuStreamWaitEvent", 7, "event 1", 0),
        ("launch", 7),
        ("cuEventRecord", "event 1", 7),  # the event serves again
        ("cuStreamWaitEvent", 5, "event 1", 0),
    ]
    notes.called.clear()
    device_copy.copy(array_on(7), array_on(7))
    assert notes.called == [("current",), ("launch", 7)]


def test_memory_that_others_have_known_is_given_back_by_a_driver_that_cannot_record_a_context(notes):
    def missing(*given):
        raise RuntimeError('Function "cuCtxRecordEvent" is not found')

    notes.cuCtxRecordEvent = missing
    buffer = PoolBuffer(256, 64, notes.card, 9, None)
    buffer.show()
    buffer.close()
    assert [call[0] for call in notes.said("synchronize", "give back")] == ["synchronize", "give back"]


@pytest.mark.parametrize(("stream", "behind_all"), [(1, 0), (2, 1), (9, 0)])
def test_memory_of_a_threads_own_stream_is_given_back_behind_all_since_any_thread_may_do_it(notes, stream, behind_all):
    PoolBuffer(256, 64, notes.card, stream, None).close()
    assert len(notes.said("cuCtxRecordEvent")) == behind_all and notes.called[-1] == ("give back", 256, stream)
