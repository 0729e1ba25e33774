"""Tests scratch memory of launches: shared by the launches of a stream, and freed only after the last of them."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace.gpu.memory import scratch as module
from headrace.gpu.memory.scratch import Scratch
from tests.gpu.kernels.noting_driver import NotingDriver


class Buffer:
    """Notes which streams use it, and when."""

    def __init__(self, nbytes, told):
        self.nbytes, self.address, self.stream, self._told = nbytes, 4096, 9, told

    def used_by(self, stream):
        self._told.append(("used", self.nbytes, stream))


@pytest.fixture
def told(monkeypatch):
    made = []
    functions = SimpleNamespace(cuMemsetD8Async=lambda *given: (0,))
    monkeypatch.setattr(module, "driver", lambda: functions)
    monkeypatch.setattr(module, "card_calls", lambda: SimpleNamespace(stream_state=lambda stream, context: (0, False, stream)))
    monkeypatch.setattr(module, "device_pool", lambda card: SimpleNamespace(take=lambda nbytes, stream: Buffer(nbytes, made)))
    monkeypatch.setattr(module, "scratch_entries", {})
    return made


CARD = SimpleNamespace(index=0, stream=9, current=nullcontext, context=7)
SMALL, LARGE = 64 << 10, 1 << 20


def test_launches_of_a_stream_share_memory_and_have_epochs_of_their_own(told):
    with Scratch(CARD, SMALL, 9, 8) as (first, epoch):
        pass
    with Scratch(CARD, SMALL, 9, 8) as (second, next_epoch):
        assert second is first
        assert next_epoch == epoch + 1
    assert told == []


def test_memory_that_grows_while_a_launch_is_prepared_is_used_until_after_that_launch(told):
    with Scratch(CARD, SMALL, 9, 8) as (old, _):
        with Scratch(CARD, LARGE, 9, 8) as (new, _):  # another thread, on the same stream
            assert new is not old
        before_launch = list(told)
    assert before_launch == [("used", SMALL, 9)]
    assert told == [("used", SMALL, 9)] * 2


def test_sizes_of_states_do_not_mix(told):
    with Scratch(CARD, SMALL, 9, 8) as (eight, _), Scratch(CARD, SMALL, 9, 16) as (sixteen, _):
        assert eight is not sixteen


def test_a_captured_stream_is_not_asked_for_its_id():
    driver = NotingDriver()
    assert driver.calls.stream_state(9, driver.context) == (0, False, 109)
    driver.is_capturing = True
    assert driver.calls.stream_state(9, driver.context) == (0, True, 0)


def test_a_launch_in_a_graph_has_memory_of_its_own(told, monkeypatch):
    with Scratch(CARD, SMALL, 9, 8) as (shared, _):
        pass
    driver = NotingDriver()
    driver.is_capturing = True
    monkeypatch.setattr(module, "card_calls", lambda: driver.calls)
    with Scratch(CARD, SMALL, 9, 8) as (captured, epoch):
        assert captured is not shared
        assert epoch == 1
