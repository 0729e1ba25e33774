"""Tests launches of a launcher that are passed on together: in order, before anything else, with their memory held."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace.core.budget import Budget
from headrace.core.transfers import Crossings
from headrace.gpu.kernels import launcher as launchers
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.launcher import BufferSlice, Entry, GpuLauncher, Shape
from tests.gpu.kernels.noting_driver import NotingDriver

ENTRY = Entry("primitives/copy.cu", "fill_items", "Q")
SHAPE = Shape({"HR_WIDTH": 4}, 5, 32)


class Memory:
    """DeviceBuffer as a launcher sees it."""

    def __init__(self, address: int) -> None:
        self.address, self.nbytes = address, 16


@pytest.fixture
def driver(monkeypatch):
    made = NotingDriver((8,))
    card = SimpleNamespace(index=0, stream=9, current=nullcontext)
    pool = SimpleNamespace(take=lambda nbytes, *given: made.called.append(("take", nbytes)) or Memory(4096))
    put = lambda address, *given, **how: made.called.append(("put", address))  # noqa: E731
    fetch = lambda address, *given, **how: made.called.append(("fetch", address)) or b"answer"  # noqa: E731
    for module in (launchers, "headrace.gpu.kernels.kernel"):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.card_calls", lambda: made.calls)
    monkeypatch.setattr("headrace.gpu.kernels.kernel.layout_of", lambda *given: [(0, 8, "Q")])
    monkeypatch.setattr(launchers, "staging", lambda card: SimpleNamespace(put=put, fetch=fetch))
    monkeypatch.setattr(launchers, "device_pool", lambda card: pool)
    monkeypatch.setattr(launchers, "kernel", lambda *given, **_: Kernel(77, "fill_items", "Q", card))
    monkeypatch.setattr(launchers, "known_kernels", {})
    made.launcher = GpuLauncher(card, stream=None, budget=Budget(), crossings=Crossings())
    return made


def launched(driver):
    return [int.from_bytes(argument, "little") for (argument,) in driver.arguments]


def test_alone_a_launch_is_made_at_once(driver):
    driver.launcher.launch(ENTRY, SHAPE, [1])
    assert launched(driver) == [1] and driver.launched == [(77, (5, 1, 1, 32, 1, 1), 0, 9)]


def test_together_they_are_made_in_order_at_the_end_of_the_outermost_block(driver):
    with driver.launcher.together():
        driver.launcher.launch(ENTRY, SHAPE, [1])
        with driver.launcher.together():
            driver.launcher.launch(ENTRY, SHAPE, [2])
        driver.launcher.launch(ENTRY, SHAPE, [3])
        assert launched(driver) == []
    assert launched(driver) == [1, 2, 3]
    driver.launcher.launch(ENTRY, SHAPE, [4])
    assert launched(driver) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("what", "asked"),
    [
        ("fill", lambda launcher: launcher.fill(Memory(256), 0)),
        ("put", lambda launcher: launcher.put(b"told", Memory(256))),
        ("fetch", lambda launcher: launcher.fetch(Memory(256))),
        ("take", lambda launcher: launcher.allocate(64)),
    ],
)
def test_what_is_asked_for_in_between_comes_behind_the_launches_before_it(driver, what, asked):
    with driver.launcher.together():
        driver.launcher.launch(ENTRY, SHAPE, [1])
        asked(driver.launcher)
        assert launched(driver) == [1] and driver.called[-1][0] == what
        driver.launcher.launch(ENTRY, SHAPE, [2])
        assert launched(driver) == [1]
    assert launched(driver) == [1, 2]


def test_memory_is_held_until_the_launch_is_made(driver):
    memory = Memory(512)
    held = weakref.ref(memory)
    with driver.launcher.together():
        driver.launcher.launch(ENTRY, SHAPE, [BufferSlice(memory, 0)])
        del memory
        gc.collect()
        assert held() is not None
    assert held() is None and launched(driver) == [512]


def test_behind_an_error_nothing_is_launched_any_more(driver):
    def fail():
        with driver.launcher.together():
            driver.launcher.launch(ENTRY, SHAPE, [1])
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    driver.launcher.launch(ENTRY, SHAPE, [2])
    assert launched(driver) == [2]
