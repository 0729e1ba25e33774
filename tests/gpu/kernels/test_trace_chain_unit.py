"""Tests chains of two traces: the driver calls of native code, with memory of the host in place of a GPU's."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from headrace import _native
from headrace.core.budget import Budget
from headrace.core.transfers import Crossings
from headrace.gpu.kernels import launcher as launchers
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.launcher import Entry, GpuLauncher, GroupSizes, Shape
from headrace.gpu.kernels.trace import Recorder
from headrace.gpu.kernels.trace_chain import ChainEnd, TraceChain
from headrace.gpu.memory.slabs import LARGE
from tests.gpu.kernels.noting_driver import NotingDriver

ENTRY = Entry("primitives/copy.cu", "fill_items", "QI")
EVENT, STREAM, POOL = 5, 9, 11
RESULTS = b"results."


class Driver(NotingDriver):
    """A driver whose memory is the host's. Large memory has an address alone."""

    def __init__(self) -> None:
        super().__init__((8, 4))
        self.held: list[np.ndarray] = []
        self.next_large = 1 << 40

    def _take(self, made: int, nbytes: int, pool: int, stream: int) -> int:
        if nbytes > LARGE:
            self.memory, self.next_large = self.next_large, self.next_large + nbytes
        else:
            self.held.append(np.frombuffer(RESULTS * (nbytes // 8 + 1), np.uint8).copy())
            self.memory = self.held[-1].ctypes.data
        return super()._take(made, nbytes, pool, stream)

    def of(self, kind: str) -> list[tuple[object, ...]]:
        return [called[1:] for called in self.called if called[0] == kind]


class Staging:
    """Pinned memory."""

    def __init__(self) -> None:
        self.pinned = np.zeros(4096, np.uint8)

    def exchange(self, launch, meanwhile, stream, nbytes, *, ones):
        assert (stream, ones) == (STREAM, 2)
        if launch(self.pinned.ctypes.data, EVENT):
            return None
        meanwhile()
        return self.pinned[:nbytes].tobytes()


@pytest.fixture
def driver(monkeypatch):
    made, card = Driver(), SimpleNamespace(index=0, stream=STREAM, context=7)
    for module in ("kernels.launcher", "kernels.kernel", "memory.pool"):
        monkeypatch.setattr(f"headrace.gpu.{module}.card_calls", lambda: made.calls)
    monkeypatch.setattr("headrace.gpu.kernels.kernel.layout_of", lambda *_: [(0, 8, "Q"), (8, 4, "I")])
    monkeypatch.setattr(launchers, "staging", lambda _: Staging())
    monkeypatch.setattr(launchers, "device_pool", lambda _: SimpleNamespace(handle=POOL))
    monkeypatch.setattr(launchers, "kernel", lambda *_, **__: Kernel(77, "fill_items", "QI", card))
    monkeypatch.setattr(launchers, "load_programs", lambda *_: None)
    monkeypatch.setattr(launchers, "known_kernels", {})
    made.launcher = GpuLauncher(card, stream=None, budget=Budget(), crossings=Crossings())
    return made


def chain() -> TraceChain:
    """Return a chain: the first trace allocates results and a table, and the second one a buffer of its own."""
    first = Recorder(1, 1)
    results, table = first.allocate(first.numbers[0] * 8, fill=0), first.allocate(64)
    first.launch(ENTRY, Shape({}, 1, 32), [first.given[0], first.numbers[0]])
    second = Recorder(1, 2)
    own = second.allocate(second.numbers[0])
    second.launch(ENTRY, Shape({}, second.numbers[0], 32), [second.given[1], 0])
    second.launch(ENTRY, Shape({}, 1, 32), [own, 1])
    words = _native.AddressedWords([100, 200, 300, 400], [0], [(1, 0), (2, 2)], [3])
    recordings = first.done(), second.done()
    return TraceChain(*recordings, (first.number_made(results),), words, first.number_made(table), first.number_made(results))


TEXT = SimpleNamespace(address=1 << 20, nbytes=1000)
SIZES = [LARGE + 1, 8], [LARGE + 2]
END = ChainEnd((3,), GroupSizes(*SIZES, 1), [7, 8], (16, 40), 48, len(RESULTS), 2)


def test_a_run_launches_both_traces(driver):
    started = driver.launcher.start_chain(chain(), TEXT, (4,))
    assert driver.arguments == [packed(TEXT.address, 4)]
    (slab,) = driver.of("take")
    results = driver.memory
    table = results + 256
    assert slab == (512, POOL, STREAM) and driver.of("fill") == [(results, 0, 256, STREAM)]
    assert not driver.of("copy") and not driver.of("record")
    group, fetched = driver.launcher.finish_chain(started, END, lambda: driver.called.append(("meanwhile",)))
    assert fetched == RESULTS
    large = 1 << 40
    sizes = [nbytes for nbytes, *_ in driver.of("take")[1:]]
    assert sizes == [-(-(LARGE + 1) // 256) * 256, 256, -(-(LARGE + 2) // 256) * 256, 256]  # three slabs, and its own
    assert driver.of("fill")[1:] == [(large, 0xFF, sizes[0], STREAM), (group.addresses[1], 0, 256, STREAM)]
    assert group.addresses[::2] == [large, large + sizes[0]] and [one.nbytes for one in group] == [*SIZES[0], *SIZES[1]]
    words = struct.pack("=6Q", table + 100, group.addresses[0], group.addresses[2], results + 16, 7, 8)
    assert ctypes.string_at(table, 48) == words
    assert driver.of("copy")[0][0] == table
    assert driver.arguments[1:] == [packed(results, 0), packed(driver.of("give back")[0][0], 1)]
    assert [grid[0] for _, grid, *_ in driver.launched] == [1, 3, 1]
    assert driver.called[-1] == ("meanwhile",) and driver.of("record") == [(EVENT, STREAM)]
    assert [memory for memory, _ in driver.of("give back")][1:] == [results]
    with pytest.raises(ValueError, match="launched once"):
        driver.launcher.finish_chain(started, END, None)


def packed(address: int, number: int) -> list[bytes]:
    return [struct.pack("=Q", address), struct.pack("=I", number)]


def test_a_run_that_is_not_finished_gives_its_memory_back_in_its_context(driver):
    started = driver.launcher.start_chain(chain(), TEXT, (4,))
    memory, driver.context = driver.memory, 3
    driver.called.clear()
    del started
    assert driver.called == [("current", 7), ("give back", memory, STREAM), ("current", 3)]


@pytest.mark.parametrize("failing", ["take", "copy", "record"])
def test_a_run_that_the_driver_refuses_leaves_no_memory(driver, failing):
    known = chain()
    started = driver.launcher.start_chain(known, TEXT, (4,))
    driver.failing = failing
    assert driver.launcher.finish_chain(started, END, None) is None
    taken = len(driver.of("take")) - (failing == "take")
    assert len(driver.of("give back")) == taken
    if failing == "take":
        assert driver.launcher.start_chain(known, TEXT, (4,)) is None


@pytest.mark.parametrize(
    ("last", "ones", "kept"), [(b"", 0, 4), (b"\xff" * 9, 9, 4), (b"\xff" * 9, 4, 9), (b"\xff\xfe\xff", 3, 7)]
)
def test_results_have_no_ones_at_their_end(last, ones, kept):
    pinned = np.frombuffer(b"head" + last + b"\xff", np.uint8)
    assert _native.results_at(pinned.ctypes.data, 4 + len(last), ones) == (b"head" + last)[:kept]
