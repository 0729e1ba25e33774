"""Tests launches, memory and small copies as native code passes them to the driver."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from headrace import _native
from headrace.gpu.kernels.kernel import LaunchMode
from tests.gpu.kernels.noting_driver import NotingDriver

# A pointer, 32 bits, a gap, 64 bits with a sign, a double, a float, a structure of 12 bytes.
LAYOUT = [(0, 8, "Q"), (8, 4, "I"), (16, 8, "q"), (24, 8, "d"), (32, 4, "f"), (36, 12, "12s"), (48, 4, "i")]
SIZES = (8, 4, 8, 8, 4, 12, 4)


def call(driver, layout=LAYOUT):
    return _native.KernelCall(driver.calls, 77, layout)


def test_arguments_lie_where_the_kernels_parameters_do():
    driver = NotingDriver(SIZES)
    buffer = SimpleNamespace(address=2**63 + 5)
    structure = np.array([(1, 2)], [("a", "<u4"), ("b", "<u8")])
    assert call(driver).launch(3, (4, 5, 6), 128, 9, [buffer, 2**32 - 1, -2, 0.5, 1.5, structure, -(2**31)]) == 0
    assert driver.launched == [(77, (3, 1, 1, 4, 5, 6), 128, 9)]
    packed = [struct.pack(f"={code}", value) for code, value in zip("QIqdf", (2**63 + 5, 2**32 - 1, -2, 0.5, 1.5), strict=True)]
    assert driver.arguments == [[*packed, struct.pack("=IQ", 1, 2), struct.pack("=i", -(2**31))]]


@pytest.mark.parametrize(
    ("mode", "attribute"),
    [
        (LaunchMode.EARLY, 6),  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        (LaunchMode.COOPERATIVE, 2),  # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    ],
)
def test_the_driver_gets_the_launch_mode_as_an_attribute(mode, attribute):
    driver = NotingDriver((8, 4))
    kernel = _native.KernelCall(driver.calls, 77, [(0, 8, "Q"), (8, 4, "I")], mode=int(mode))
    assert kernel.launch((3, 1, 2), 5, 128, 9, [7, 8]) == 0
    assert driver.launched == [(77, (3, 1, 2, 5, 1, 1), 128, 9)]
    assert driver.arguments == [[struct.pack("=Q", 7), struct.pack("=I", 8)]]
    assert driver.attributes == [[(attribute, 0, 1)]]


def test_an_unknown_launch_mode_is_refused():
    with pytest.raises(ValueError, match="unknown launch mode"):
        _native.KernelCall(NotingDriver(()).calls, 77, [], mode=3)


def test_nothing_is_the_null_pointer_and_whole_numbers_of_others_count():
    driver = NotingDriver((8, 8))
    assert call(driver, [(0, 8, "Q"), (8, 8, "Q")]).launch(1, 1, 0, 0, (None, np.int64(7))) == 0
    assert driver.arguments == [[bytes(8), struct.pack("=Q", 7)]]


@pytest.mark.parametrize(
    ("code", "value"),
    [("B", 255), ("b", -128), ("H", 65535), ("h", -(2**15)), ("I", 2**32 - 1), ("i", -1), ("Q", 2**64 - 1), ("q", -(2**63))],
)
def test_numbers_of_every_size_reach_the_kernel(code, value):
    size = struct.calcsize("=" + code)
    driver = NotingDriver((size, 1))
    assert call(driver, [(0, size, code), (size, 1, "B")]).launch(1, 1, 0, 0, [value, 7]) == 0
    assert driver.arguments == [[struct.pack("=" + code, value), b"\x07"]]


def test_a_number_of_a_size_that_there_is_not_is_an_error():
    with pytest.raises(ValueError, match="1 to 8 bytes"):
        call(NotingDriver(), [(0, 16, "Q")])


@pytest.mark.parametrize(
    ("code", "size", "value", "error"),
    [
        ("Q", 8, -1, OverflowError),
        ("Q", 8, 2**64, OverflowError),
        ("q", 8, 2**63, OverflowError),
        ("I", 4, 2**32, OverflowError),
        ("I", 4, -1, OverflowError),
        ("i", 4, 2**31, OverflowError),
        ("B", 1, 256, OverflowError),
        ("H", 2, -1, OverflowError),
        ("h", 2, 2**15, OverflowError),
        ("Q", 8, 1.5, TypeError),
        ("Q", 8, "7", TypeError),
        ("d", 8, "7", TypeError),
        ("4s", 4, b"123", ValueError),
        ("4s", 4, b"12345", ValueError),
        ("4s", 4, 7, TypeError),
    ],
)
def test_an_argument_that_does_not_fit_is_an_error_and_nothing_is_launched(code, size, value, error):
    driver = NotingDriver((size,))
    with pytest.raises(error):
        call(driver, [(0, size, code)]).launch(1, 1, 0, 0, [value])
    assert driver.launched == []


def test_extents_are_whole_numbers_of_any_library():
    driver = NotingDriver()
    assert call(driver, []).launch(np.int64(3), (np.uint32(4), 5, np.int64(6)), np.int32(128), 9, []) == 0
    assert driver.launched == [(77, (3, 1, 1, 4, 5, 6), 128, 9)]


@pytest.mark.parametrize("grid", [-1, 2**32, 1.5, (1, 2), "1"])
def test_extents_that_are_none_are_an_error(grid):
    with pytest.raises((RuntimeError, TypeError, ValueError, OverflowError)):
        call(NotingDriver(), []).launch(grid, 1, 0, 9, [])


@pytest.mark.parametrize("arguments", [[], [1, 2], (1, 2, 3)])
def test_too_few_arguments_or_too_many_are_an_error(arguments):
    with pytest.raises(ValueError, match=f"1 parameters got {len(arguments)} arguments"):
        call(NotingDriver(), [(0, 8, "Q")]).launch(1, 1, 0, 0, arguments)


def test_the_drivers_status_comes_back():
    driver = NotingDriver()
    driver.status = 400
    assert call(driver, []).launch(1, 1, 0, 0, []) == 400


def test_a_small_copy_goes_through_pinned_memory_and_an_event_stands_behind_it():
    driver = NotingDriver()
    pinned, card = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
    here, there = ctypes.addressof(pinned), ctypes.addressof(card)
    assert driver.calls.send(b"headrace", here, there, 5, 6) == 0
    assert card.raw[:8] == b"headrace" and driver.called == [("copy", there, here, 8, 5), ("record", 6, 5)]
    driver.called.clear()
    card.raw = b"measured".ljust(16)
    assert driver.calls.fetch(there, here, 4, 5, 6) == 0
    assert pinned.raw[:8] == b"measrace"
    assert driver.called == [("copy", here, there, 4, 5), ("record", 6, 5), ("wait", 6)]


def test_a_wait_for_a_stream_records_its_event():
    driver = NotingDriver()
    assert driver.calls.wait_for(5, 6) == 0
    assert driver.called == [("record", 6, 5), ("wait", 6)]
    driver.status = 700
    driver.called.clear()
    assert driver.calls.wait_for(5, 6) == 700
    assert driver.called == [("record", 6, 5)]


def test_a_copy_that_fails_is_told_and_nothing_is_waited_for():
    driver = NotingDriver()
    driver.status = 700
    here = ctypes.addressof(pinned := ctypes.create_string_buffer(2))
    assert (driver.calls.send(b"ab", here, 0, 5, 6), driver.calls.fetch(0, here, 2, 5, 6)) == (700, 700)
    assert pinned.raw == b"ab"
    assert [what for what, *_ in driver.called] == ["copy", "copy"]


def test_memory_is_taken_with_its_first_bytes_filled():
    driver = NotingDriver()
    assert driver.calls.take(3, 1000, 5, (0, 0)) == (0, 4096)
    assert driver.calls.take(3, 100 << 20, 5, (64, 256)) == (0, 4096)
    assert driver.called == [
        ("take", 1000, 3, 5),
        ("take", 100 << 20, 3, 5),
        ("fill", 4096, 0xFF, 64, 5),
        ("fill", 4096 + 64, 0, 256, 5),
    ]


def test_memory_that_is_not_there_is_not_filled():
    driver = NotingDriver()
    driver.status = 2
    assert driver.calls.take(3, 1000, 5, (64, 256)) == (2, 0)
    assert driver.called == [("take", 1000, 3, 5)]


def test_memory_that_cannot_be_filled_is_given_back():
    driver = NotingDriver()
    driver.failing = "fill"
    assert driver.calls.take(3, 1000, 5, (0, 256)) == (700, 0)
    assert [what for what, *_ in driver.called] == ["take", "fill", "give back"]


@pytest.mark.parametrize(("current", "told"), [(7, []), (0, [7, 0]), (8, [7, 8])], ids=["ours", "none", "another card's"])
def test_memory_is_given_back_in_its_own_context_and_the_threads_is_what_it_was(current, told):
    driver = NotingDriver()
    driver.context = current
    assert driver.calls.give_back(4096, 5, 7) == 0
    assert [what[1] for what in driver.called if what[0] == "current"] == told
    assert ("give back", 4096, 5) in driver.called and driver.context == current


def test_launches_are_made_in_order_up_to_one_that_fails():
    driver = NotingDriver((8,))
    one = call(driver, [(0, 8, "Q")])
    launches = [(one, number, 32, 0, [number], "what holds it") for number in (1, 2, 3)]
    assert _native.launch_all(launches, 5) == (3, 0)
    assert [extents[0] for _, extents, _, _ in driver.launched] == [1, 2, 3]
    driver.status = 400
    assert _native.launch_all(launches, 5) == (0, 400)


def test_functions_are_as_many_as_are_called():
    with pytest.raises(IndexError):
        _native.CardCalls.make([1] * 13)
    with pytest.raises(ValueError, match="more driver functions"):
        _native.CardCalls.make([1] * 15)


WORDS = [10, 20, 30, 40, 50]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((0, [], (0, 0), []), [10, 20, 30, 40, 50]),
        ((1000, [], (0, 0), []), [1010, 20, 30, 40, 50]),
        ((0, [7, 8], (0, 0), [1]), [10, 8, 30, 40, 50, 1]),
        ((1000, [7, 8], (600, 16), [2**64 - 1]), [1010, 8, 30, 600, 616, 2**64 - 1]),
    ],
)
def test_words_with_addresses(given, expected):
    words = _native.AddressedWords(WORDS, [0], [(1, 1)], [3, 4])
    assert np.frombuffer(words.at(*given), np.uint64).tolist() == expected


@pytest.mark.parametrize("places", [([5], [], []), ([], [(5, 0)], []), ([], [], [5])])
def test_places_behind_the_words_are_an_error(places):
    with pytest.raises(ValueError, match="exceeds the number of words"):
        _native.AddressedWords(WORDS, *places)


def test_a_room_that_there_is_not_is_an_error():
    with pytest.raises(IndexError):
        _native.AddressedWords(WORDS, [], [(0, 2)], []).at(0, [1, 2], (0, 0), [])
