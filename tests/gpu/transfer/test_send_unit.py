"""Tests a source sent to a card by native threads, with a driver that copies only when the host queries an event."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

from headrace import _native
from headrace.columns.plan.native_errors import native_errors
from headrace.core.errors import SourceError
from tests.gpu.transfer.send_cases import CONTEXT, LazyCard


def send(source: _native.Source, part: range, target: int, way: _native.SendWay, threads: int) -> int:
    """One part, by threads of its own; the driver's status."""
    return _native.PartSender(way, threads).begin(source, part.start, len(part), target, 0).wait()


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("slots", [1, 2, 7])
def test_all_bytes_arrive_through_slots_that_are_used_again(slots: int, threads: int) -> None:
    text = random.Random(slots).randbytes(1000)
    source = _native.Source.from_bytes(text)
    for begin, count in ((0, 0), (0, 1), (3, 64), (3, 65), (0, 1000), (999, 1)):
        card = LazyCard()
        way, target = card.way(slots, 64), ctypes.create_string_buffer(count + 8)
        assert send(source, range(begin, begin + count), ctypes.addressof(target), way, threads) == 0
        card.finish()
        assert target.raw == text[begin : begin + count] + bytes(8)
        assert card.contexts == ({CONTEXT} if count else set())
        assert len(card.copies) == -(-count // 64)


@pytest.mark.parametrize("at_once", [1, 2, 6])
def test_parts_are_sent_one_behind_the_other(at_once: int) -> None:
    text = random.Random(1).randbytes(10_000)
    source, card = _native.Source.from_bytes(text), LazyCard()
    sender, target = _native.PartSender(card.way(6, 100), 3), ctypes.create_string_buffer(len(text))
    under_way: list[_native.SentPart] = []
    for number, at in enumerate(range(0, len(text), 1700)):
        under_way.append(sender.begin(source, at, min(1700, len(text) - at), ctypes.addressof(target) + at, 500 + number))
        if len(under_way) == at_once:
            assert under_way.pop(0).wait() == 0
    assert [part.wait() for part in under_way] == [0] * len(under_way)
    behind = [card.recorded[500 + number] for number in range(6)]
    card.finish()
    assert target.raw == text
    for number, count in enumerate(behind):  # copies enqueued before the part's event: all of its own among them
        told = {to - ctypes.addressof(target) for to, _, _ in card.copies[:count]}
        assert told.issuperset(range(1700 * number, min(1700 * (number + 1), len(text)), 100))


def test_a_part_that_fails_is_no_matter_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(bytes(5000))
    with path.open("r+b") as file:
        cut, whole, card = _native.Source.from_file(file.fileno(), "text"), _native.Source.from_bytes(b"x" * 5000), LazyCard()
        file.truncate(100)
        sender = _native.PartSender(card.way(4, 64), 2)
        lost, target = ctypes.create_string_buffer(5000), ctypes.create_string_buffer(5000)
        first = sender.begin(cut, 0, 5000, ctypes.addressof(lost), 500)
        second = sender.begin(whole, 0, 5000, ctypes.addressof(target), 501)
        assert second.wait() == 0
        for _ in range(2):
            with pytest.raises(SourceError, match="text"), native_errors():
                first.wait()
        assert 500 not in card.recorded and 501 in card.recorded
    card.finish()
    assert target.raw == b"x" * 5000


def test_what_the_driver_answers_is_told() -> None:
    source, card = _native.Source.from_bytes(bytes(10_000)), LazyCard(fails_at=5)
    target = ctypes.create_string_buffer(10_000)
    assert send(source, range(10_000), ctypes.addressof(target), card.way(4, 64), 2) == 700
    assert len(card.copies) == 5


def test_a_file_that_was_cut_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(bytes(5000))
    with path.open("r+b") as file:
        source, card = _native.Source.from_file(file.fileno(), "text"), LazyCard()
        file.truncate(100)
        target = ctypes.create_string_buffer(5000)
        with pytest.raises(SourceError, match="text"), native_errors():
            send(source, range(5000), ctypes.addressof(target), card.way(4, 64), 2)


def test_bytes_that_are_not_there_are_refused() -> None:
    source, card = _native.Source.from_bytes(b"abc"), LazyCard()
    way = card.way(1, 64)
    for begin, count in ((0, 4), (4, 0), (2**64 - 1, 2)):
        with pytest.raises(IndexError):
            _native.PartSender(way, 1).begin(source, begin, count, 0, 0)
    with pytest.raises(ValueError, match="memory"):
        _native.SendWay.make(card.calls, 0, 0, [], 64)
