"""Tests replays of calls with other addresses: the driver calls of native code."""

from __future__ import annotations

import struct
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from headrace.core.budget import Budget
from headrace.gpu.device.device import GpuError
from headrace.gpu.kernels import launch_plan
from headrace.gpu.kernels.kernel import Kernel
from headrace.gpu.kernels.launch_plan import RecordedBuffer, repeated, replayed
from headrace.gpu.kernels.launcher import BufferSlice, Entry, GpuLauncher, Shape
from tests.gpu.kernels.noting_driver import NotingDriver

ENTRY = Entry("primitives/copy.cu", "fill_items", "QI32s")
STRUCTURE = struct.Struct("<QQIIQ")
POOL, CONTEXT, STREAM, SCRATCH, COUNTERS = 31, 7, 9, 1 << 20, 1 << 30


class Status(int):
    name = "REFUSED"


@pytest.fixture
def driver(monkeypatch):
    made = NotingDriver((8, 4, 32))
    made.memory = SCRATCH
    made.card = SimpleNamespace(index=0, stream=STREAM, current=nullcontext, context=CONTEXT)
    for module in ("kernels.launch_plan", "kernels.kernel"):
        monkeypatch.setattr(f"headrace.gpu.{module}.card_calls", lambda: made.calls)
    layout = [(0, 8, "Q"), (8, 4, "I"), (16, 32, "32s")]
    monkeypatch.setattr("headrace.gpu.kernels.kernel.layout_of", lambda *given: layout)
    monkeypatch.setattr(launch_plan, "device_pool", lambda card: SimpleNamespace(handle=POOL))
    monkeypatch.setattr(launch_plan, "kernel", lambda *given, **_: Kernel(77, "fill_items", "QI32s", made.card))
    monkeypatch.setattr(launch_plan, "known_plans", {})
    counters = nullcontext((SimpleNamespace(address=COUNTERS), 1))
    monkeypatch.setattr(launch_plan, "Scratch", lambda *given: counters)
    monkeypatch.setattr("headrace.gpu.device.device.driver", lambda: SimpleNamespace(CUresult=Status, cuGetErrorString=said))
    return made


def said(_status):
    return 0, b"no"


def record(launcher):
    """Launch with every use of an address that the package has: whole, with an offset, inside a structure, none."""
    source, target = launcher.addresses
    zeroed, other = launcher.allocate_group([40], [1000])
    second = launcher.allocate(8, fill=0)
    structure = STRUCTURE.pack(target + 24, 5, 6, 7, second.address)
    launcher.launch(ENTRY, Shape({}, (3, 2, 1), 32, 0), [source, 12, structure])
    launcher.fill(BufferSlice(other, 256, 16), 0xFF)
    structure = STRUCTURE.pack(zeroed.address + 8, launcher.counters().address, 0, 1, 0)
    launcher.launch(ENTRY, Shape({}, 4, 64, 0), [BufferSlice(zeroed, 16), 13, structure])
    launcher.launch(ENTRY, Shape({}, 1, 64, 0), [None, 14, STRUCTURE.pack(1 << 63, source, 0, 0, other.address)])


def call(driver, source=4096, target=8192, *, code=record, key="call"):
    driver.launched.clear(), driver.arguments.clear(), driver.called.clear()
    return replayed(key, code, [source, target], driver.card, None)


def packed(first, second, structure):
    return [struct.pack("=Q", first), struct.pack("=I", second), structure]


def test_a_replay_launches_with_its_own_addresses(driver):
    assert not call(driver) and not driver.called  # the first call of its kind is the caller's
    for source, target in [(4096, 8192), (1 << 40, 256 * 77)]:
        assert call(driver, source, target)
        others = SCRATCH + 512  # after two cleared buffers of 256 bytes
        assert driver.called == [
            ("take", 512 + 1024, POOL, STREAM),
            ("fill", SCRATCH, 0, 512, STREAM),
            ("fill", others + 256, 0xFF, 16, STREAM),
            ("give back", SCRATCH, STREAM),
        ]
        assert [(grid, stream) for _, grid, _, stream in driver.launched] == [
            ((3, 2, 1, 32, 1, 1), STREAM),
            ((4, 1, 1, 64, 1, 1), STREAM),
            ((1, 1, 1, 64, 1, 1), STREAM),
        ]
        assert driver.arguments == [
            packed(source, 12, STRUCTURE.pack(target + 24, 5, 6, 7, SCRATCH + 256)),
            packed(SCRATCH + 16, 13, STRUCTURE.pack(SCRATCH + 8, COUNTERS, 0, 1, 0)),
            packed(0, 14, STRUCTURE.pack(1 << 63, source, 0, 0, others)),
        ]


def test_a_replay_of_a_class_of_sizes_launches_with_its_own_number_of_items(driver):
    def counted(launcher):
        source, target = launcher.addresses
        launcher.launch(ENTRY, Shape({}, 5, 32, 0), [source, launcher.count, STRUCTURE.pack(target, launcher.count, 5, 6, 0)])
        launcher.launch(ENTRY, Shape({}, 5, 32, 0), [launcher.counters(), 100, STRUCTURE.pack(99, source, 0, 0, launcher.count)])

    def launched(count):
        driver.launched.clear(), driver.arguments.clear(), driver.called.clear()
        return replayed("class", counted, [4096, 8192], driver.card, None, count=count, counts=range(90, 101))

    assert not launched(100)
    for count in (100, 99, 90):
        assert launched(count)
        assert driver.arguments == [
            packed(4096, count, STRUCTURE.pack(8192, count, 5, 6, 0)),
            packed(COUNTERS, 100, STRUCTURE.pack(99, 4096, 0, 0, count)),
        ]
    assert not launched(101) and not launched(89) and not launched(0) and not driver.launched


def test_a_number_of_items_that_is_changed_is_found(driver):
    def doubled(launcher):
        launcher.launch(ENTRY, Shape({}, 1, 32, 0), [launcher.addresses[0], 2 * launcher.count, bytes(32)])

    assert not replayed("doubled", doubled, [4096], driver.card, None, count=9, counts=range(9, 11))
    with pytest.raises(AssertionError, match="by more than addition"):
        replayed("doubled", doubled, [4096], driver.card, None, count=9, counts=range(9, 11))


def test_alignments_of_addresses_are_part_of_a_call(driver):
    assert not call(driver) and call(driver)
    assert not call(driver, 4096 + 16)
    assert call(driver, 8192 + 16) and driver.arguments[0][0] == struct.pack("=Q", 8192 + 16)


def test_a_call_of_another_kind_is_the_callers(driver):
    assert not call(driver) and call(driver)
    assert not call(driver, key="another") and not driver.called


def test_plans_that_were_used_last_are_kept(driver):
    """256 further calls leave the plan that was used after half of them, and drop another one."""
    for key in ("used", "unused"):
        assert not call(driver, key=key) and call(driver, key=key)
    for number in range(255):
        assert not call(driver, key=number)
        assert number != 100 or call(driver, key="used")
    assert call(driver, key="used")
    assert not call(driver, key="unused")
    assert len(launch_plan.known_plans) == 256


def test_a_number_that_an_address_gives_by_more_than_addition_is_found(driver):
    def doubled(launcher):
        launcher.launch(ENTRY, Shape({}, 1, 32, 0), [2 * launcher.addresses[0], 0, bytes(32)])

    assert not call(driver, code=doubled)
    with pytest.raises(AssertionError, match="more than addition"):
        call(driver, code=doubled)


def test_refused_memory_leaves_the_launches_to_the_caller(driver):
    call(driver)
    driver.failing = "take"
    assert not call(driver) and not driver.launched and "give back" not in [one[0] for one in driver.called]


def test_a_refused_launch_names_its_kernel_and_frees_the_memory(driver):
    call(driver)
    driver.answers = [0, 700]
    with pytest.raises(GpuError, match="kernel fill_items: REFUSED"):
        call(driver)
    assert driver.called[-1] == ("give back", SCRATCH, STREAM)
    driver.answers = [700]
    assert not call(driver)  # none was launched, so the caller's launch reports it


class ListingLauncher(GpuLauncher):
    """Lists what is launched directly."""

    def __init__(self, card, budget):
        self._card, self._stream, self._budget = card, STREAM, budget
        self.names = []

    def launch(self, entry, shape, args):
        self.names.append(args[0].address)


@pytest.mark.parametrize(("limit", "direct"), [(None, [4096]), (1000, [4096, 8192])])
def test_the_second_of_equal_calls_is_replayed_unless_memory_is_limited(driver, limit, direct):
    launcher = ListingLauncher(driver.card, Budget(limit))
    for address in (4096, 8192):
        code = lambda launcher, buffers: launcher.launch(ENTRY, Shape({}, 1, 32, 0), [buffers[0], 3, bytes(32)])  # noqa: E731
        repeated(launcher, "call", code, [RecordedBuffer(address, 64)])
    assert launcher.names == direct
    assert [argument[0] for argument in driver.arguments] == [struct.pack("=Q", 8192)][: 2 - len(direct)]
