"""Tests recorded launches, with symbols for the sizes of a text: the driver calls of native code."""

from __future__ import annotations

import struct
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace.core.budget import Budget
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import GpuError
from headrace.gpu.kernels import launcher as launchers
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.launcher import BufferSlice, Entry, GpuLauncher, Shape
from headrace.gpu.kernels.trace import Recorder, Run
from headrace.gpu.kernels.trace_expressions import Operation, Symbol, evaluate, least, most, packed
from headrace.gpu.memory.pool import PoolBuffer
from tests.gpu.kernels.noting_driver import NotingDriver

ENTRY = Entry("primitives/copy.cu", "fill_items", "QI12s")
TASK = struct.Struct("=QI")


class Memory:
    """DeviceBuffer as a launcher sees it."""

    def __init__(self, address: int) -> None:
        self.address, self.nbytes = address, 4096


@pytest.fixture
def driver(monkeypatch):
    made = NotingDriver((8, 4, 12))
    made.made_current, made.loaded = 0, []

    def current():
        made.made_current += 1
        return nullcontext()

    card = SimpleNamespace(index=0, stream=9, current=current, context=7)

    def take(nbytes, stream, budget, *, is_current, ones_and_zeros):
        made.called.append(("take", nbytes, ones_and_zeros))
        return PoolBuffer(1 << 20, nbytes, card, stream, budget)

    for module in ("kernels.launcher", "kernels.kernel", "memory.pool"):
        monkeypatch.setattr(f"headrace.gpu.{module}.card_calls", lambda: made.calls)
    layout = [(0, 8, "Q"), (8, 4, "I"), (12, 12, "12s")]
    monkeypatch.setattr("headrace.gpu.kernels.kernel.layout_of", lambda *given: layout)
    monkeypatch.setattr(launchers, "staging", lambda card: None)
    monkeypatch.setattr(launchers, "device_pool", lambda card: SimpleNamespace(take=take))
    monkeypatch.setattr(launchers, "kernel", lambda *given, **_: Kernel(77, "fill_items", "QI12s", card))
    monkeypatch.setattr(launchers, "load_programs", lambda programs, card: made.loaded.append(programs))
    monkeypatch.setattr(launchers, "known_kernels", {})
    monkeypatch.setattr("headrace.gpu.device.device.driver", lambda: SimpleNamespace(CUresult=Status, cuGetErrorString=said))
    made.launcher = GpuLauncher(card, stream=None, budget=Budget(), crossings=Crossings())
    return made


class Status(int):
    name = "REFUSED"


def said(_status):
    return 0, b"no"


def told(driver):
    several = zip(driver.launched, driver.arguments, strict=True)
    return [(extents, *arguments) for (_, extents, *_), arguments in several]


def recorded():
    """Return a recording for a text of given bytes and tiles: a launch, memory that is filled, and a launch that uses it."""
    recorder = Recorder(2, 1)
    nbytes, tiles = recorder.numbers
    text = recorder.given[0].of_size(nbytes)
    made = recorder.allocate(tiles * 8 + 4, fill=0)
    other = recorder.allocate(16)
    task = packed(TASK, nbytes, 5)
    recorder.launch(ENTRY, Shape({}, (least(tiles, 3), 2, 1), 32, 0), [BufferSlice(text, 16), tiles, task])
    recorder.fill(BufferSlice(made, 8, 16), 0xFF)
    second = [BufferSlice(made, tiles * 4), most(tiles, 9) % 7, packed(TASK, 1, tiles)]
    recorder.launch(ENTRY, Shape({}, -(-nbytes // 10), 64, 0), second)
    recorder.launch(ENTRY, Shape({}, 1, 64, 0), [None, 0, bytes(12)])
    recording = recorder.done()
    assert (made.number, other.number) == (1, 2)  # the input buffer has number 0
    return recording


def test_a_run_tells_what_was_recorded_with_its_own_numbers(driver):
    recording = recorded()
    for nbytes, tiles, text in [(25, 2, 4096), (1000, 100, 8192)]:
        driver.launched.clear(), driver.arguments.clear(), driver.called.clear()
        made = driver.launcher.replay(recording, (nbytes, tiles), (Memory(text),))
        assert [buffer.nbytes for buffer in made] == [tiles * 8 + 4, 16]
        slab = -(-(tiles * 8 + 4) // 256) * 256
        del made
        assert driver.called.pop() == ("give back", 1 << 20, 9)
        assert driver.called == [("take", slab + 256, (0, slab)), ("fill", (1 << 20) + 8, 0xFF, 16, 9)]
        assert told(driver) == [
            ((min(tiles, 3), 2, 1, 32, 1, 1), *arguments(text + 16, tiles, TASK.pack(nbytes, 5))),
            ((-(-nbytes // 10), 1, 1, 64, 1, 1), *arguments((1 << 20) + tiles * 4, max(tiles, 9) % 7, TASK.pack(1, tiles))),
            ((1, 1, 1, 64, 1, 1), *arguments(0, 0, bytes(12))),
        ]
    assert driver.loaded == [[(ENTRY.file, {})] * 3]  # once


def arguments(address, number, task):
    return struct.pack("=Q", address), struct.pack("=I", number), task


def test_what_steps_one_by_one_are_told_is_the_same():
    run = Run(recorded(), (1000, 100), (Memory(8192),), (Memory(1 << 20), Memory(2 << 20)))
    first, fill, second, third = recorded().steps
    buffer = run.argument(first.args[0])
    assert (buffer.address, buffer.nbytes, run.argument(first.args[1])) == (8192 + 16, 984, 100)
    assert run.argument(first.args[2]) == TASK.pack(1000, 5) and run.shape(first.shape).blocks == (3, 2, 1)
    assert (run.buffer(fill.buffer).address, run.buffer(fill.buffer).nbytes) == ((1 << 20) + 8, 16)
    assert run.shape(second.shape).blocks == 100 and run.argument(second.args[1]) == 2
    assert [run.argument(arg) for arg in third.args] == [None, 0, bytes(12)]


@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize(("first", "second"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, 5), (2**40, 3)])
def test_native_code_works_out_what_python_does(driver, operation, first, second):
    recorder = Recorder(2, 0)
    found = recorder._expressions.combine(operation, *recorder.numbers)
    recorder.launch(ENTRY, Shape({}, 1, 32, 0), [0, 0, packed(TASK, found + (1 << 50), 0)])
    driver.launcher.replay(recorder.done(), (first, second), ())
    assert driver.arguments[0][2] == TASK.pack(evaluate(operation, first, second) + (1 << 50), 0)


def test_numbers_of_a_recording_decide_nothing():
    number = Recorder(1, 0).numbers[0]
    for asked in (bool, lambda one: one < 3, lambda one: one == 3, lambda one: max(one, 3), lambda one: 3 if one else 4):
        with pytest.raises(TypeError, match="cannot be a condition"):
            asked(number)
    assert isinstance(number + 0, Symbol) and isinstance(2 * number, Symbol) and (least(2, 3), most(2, 3)) == (2, 3)


@pytest.mark.parametrize(
    ("launch", "given"),
    [
        (lambda number: (1, [0, number, bytes(12)]), 2**32),
        (lambda number: (1, [0, number, bytes(12)]), -1),
        (lambda number: (number, [0, 0, bytes(12)]), 2**32),
        (lambda number: (number, [0, 0, bytes(12)]), -1),
    ],
    ids=["argument", "negative argument", "grid", "negative grid"],
)
def test_what_does_not_fit_is_an_error_and_nothing_is_launched(driver, launch, given):
    recorder = Recorder(1, 0)
    blocks, args = launch(recorder.numbers[0])
    recorder.launch(ENTRY, Shape({}, blocks, 32, 0), args)
    recording = recorder.done()
    with pytest.raises(OverflowError):
        driver.launcher.replay(recording, (given,), ())
    assert driver.launched == []
    driver.launcher.replay(recording, (7,), ())
    assert len(driver.launched) == 1


def test_a_division_by_nothing_and_other_numbers_than_recorded_are_errors(driver):
    recorder = Recorder(1, 0)
    recorder.launch(ENTRY, Shape({}, 1, 32, 0), [0, 8 // 2 + (recorder.numbers[0] // recorder.numbers[0]), bytes(12)])
    recording = recorder.done()
    with pytest.raises(ValueError, match="divided by 0"):
        driver.launcher.replay(recording, (0,), ())
    with pytest.raises(ValueError, match="another count of inputs"):
        driver.launcher.replay(recording, (1, 2), ())


def test_a_context_that_another_library_changed_is_made_current_and_no_step_is_told_twice(driver):
    driver.answers = [0, 201]
    before = driver.made_current
    driver.launcher.replay(recorded(), (25, 2), (Memory(4096),))
    assert driver.made_current == before + 1
    assert [extents[3] for _, extents, *_ in driver.launched] == [32, 64, 64, 64]
    assert [what for what, *_ in driver.called].count("fill") == 1


def test_what_the_driver_refuses_is_told_by_the_kernels_name(driver):
    driver.status = 700
    with pytest.raises(GpuError, match="kernel fill_items: REFUSED: no"):
        driver.launcher.replay(recorded(), (25, 2), (Memory(4096),))


def test_several_threads_find_a_recording_compiled_once_for_each_card(driver):
    recording, found = recorded(), []
    start = threading.Barrier(4)

    def ask(card):
        start.wait()
        found.append(recording.compiled(card, driver.calls, driver.launcher._kernel))

    threads = [threading.Thread(target=ask, args=(number % 2,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [names for _, names in found] == [["fill_items", "fill", "fill_items", "fill_items"]] * 4
    assert len({id(native) for native, _ in found}) == 2
    assert len(recording.expressions.constants) == len(set(recording.expressions.constants))
    inputs = [1000, 100, 4096, 1 << 20, 2 << 20]
    for native, _ in found:
        assert native.sizes(inputs[:3]) == [804, 16] and native.replay(inputs, 9, 0) == (4, 0)
    assert len(driver.arguments) == 12 and driver.arguments == driver.arguments[:3] * 4
