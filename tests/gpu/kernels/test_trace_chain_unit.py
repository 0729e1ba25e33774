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
from headrace.gpu.kernels.trace_chain import ChainBegin, ChainEnd, TraceChain
from headrace.gpu.memory.slabs import LARGE
from tests.gpu.kernels.noting_driver import NotingDriver

ENTRY = Entry("primitives/copy.cu", "fill_items", "QI")
AFTER_HEAD, EVENT, STREAM, POOL = 4, 5, 9, 11
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

    def exchange(self, launch, meanwhile, stream, sizes, *, ones):
        assert (stream, ones) == (STREAM, 2)
        if launch(self.pinned.ctypes.data, (AFTER_HEAD, EVENT)):
            return None
        head, results = sizes
        if not meanwhile(self.pinned[:head].tobytes()):
            return None
        begin = -(-head // 16) * 16
        return self.pinned[begin : begin + results].tobytes()


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
BEGIN = ChainBegin(TEXT, (4,), (3,), None)
END = ChainEnd(GroupSizes(*SIZES, 1), [7, 8], (16, 40), 48, len(RESULTS), 2)


def run(driver: Driver, begin: ChainBegin = BEGIN, *, goes_on: bool = True):
    def meanwhile(head: bytes, kept: object) -> bool:
        assert kept is None
        driver.called.append(("meanwhile", head))
        return goes_on

    return driver.launcher.run_chain(chain(), begin, END, meanwhile)


def test_a_run_launches_both_traces(driver):
    group, fetched = run(driver)
    assert fetched == RESULTS
    results = driver.of("give back")[-1][0]
    table = results + 256
    assert driver.of("take")[0] == (512, POOL, STREAM) and driver.of("fill")[0] == (results, 0, 256, STREAM)
    large = 1 << 40
    sizes = [nbytes for nbytes, *_ in driver.of("take")[1:]]
    assert sizes == [-(-(LARGE + 1) // 256) * 256, 256, -(-(LARGE + 2) // 256) * 256, 256]  # three slabs, and its own
    assert driver.of("fill")[1:] == [(large, 0xFF, sizes[0], STREAM), (group.addresses[1], 0, 256, STREAM)]
    assert group.addresses[::2] == [large, large + sizes[0]] and [one.nbytes for one in group] == [*SIZES[0], *SIZES[1]]
    words = struct.pack("=6Q", table + 100, group.addresses[0], group.addresses[2], results + 16, 7, 8)
    assert ctypes.string_at(table, 48) == words
    assert driver.of("copy")[0][0] == table
    own = driver.of("give back")[0][0]
    assert driver.arguments == [packed(TEXT.address, 4), packed(results, 0), packed(own, 1)]
    assert [grid[0] for _, grid, *_ in driver.launched] == [1, 3, 1]
    assert driver.called[-1] == ("meanwhile", b"") and driver.of("record") == [(EVENT, STREAM)]


def test_a_head_is_copied_before_all_work(driver):
    text = np.frombuffer(b"head of a text, 21 b.", np.uint8)
    head = SimpleNamespace(address=text.ctypes.data, nbytes=len(text))
    found = run(driver, BEGIN._replace(head=head))
    assert found is not None and found[1] == RESULTS
    assert driver.called[-1] == ("meanwhile", text.tobytes())
    kinds = [kind for kind, *_ in driver.called if kind in {"copy", "record", "meanwhile"}]
    assert kinds == ["copy", "record", "copy", "copy", "record", "meanwhile"]
    assert driver.of("record") == [(AFTER_HEAD, STREAM), (EVENT, STREAM)]


def test_buffers_of_the_first_trace_are_kept_on_request(driver):
    found: list[object] = []

    def meanwhile(head: bytes, kept: object) -> bool:
        found.append(kept)
        return True

    result = driver.launcher.run_chain(chain(), BEGIN, END._replace(keeps=True), meanwhile)
    (kept,) = found
    assert result is not None and kept is not None
    assert [one.nbytes for one in kept] == [4 * 8, 64]
    assert len(driver.of("give back")) == 1  # the second trace's own buffer
    assert driver.of("copy")[0][0] == kept.addresses[1]
    del kept, result
    found.clear()
    assert len(driver.of("give back")) == len(driver.of("take"))


def test_a_run_that_is_dropped_gives_its_memory_back(driver):
    assert run(driver, goes_on=False) is None
    assert len(driver.of("give back")) == len(driver.of("take"))


def packed(address: int, number: int) -> list[bytes]:
    return [struct.pack("=Q", address), struct.pack("=I", number)]


@pytest.mark.parametrize("failing", ["take", "copy", "record"])
def test_a_run_that_the_driver_refuses_leaves_no_memory(driver, failing):
    driver.failing = failing
    assert run(driver) is None
    assert len(driver.of("give back")) == len(driver.of("take")) - (failing == "take")
    assert len(driver.of("record")) == 1  # after a failure too: a copy may be under way


@pytest.mark.parametrize(
    ("last", "ones", "kept"), [(b"", 0, 4), (b"\xff" * 9, 9, 4), (b"\xff" * 9, 4, 9), (b"\xff\xfe\xff", 3, 7)]
)
def test_results_have_no_ones_at_their_end(last, ones, kept):
    pinned = np.frombuffer(b"head" + last + b"\xff", np.uint8)
    assert _native.results_at(pinned.ctypes.data, 4 + len(last), ones) == (b"head" + last)[:kept]
