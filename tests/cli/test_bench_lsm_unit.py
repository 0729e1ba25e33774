"""Tests the measurements of sorted maps: printed figures, workloads, and that a wrong answer is not timed."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import harmonic_mean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headrace import SortedMap, searchsorted
from headrace.cli.bench.experiment import Setting, WrongAnswerError
from headrace.cli.bench.lsm_figures import (
    ABSENT,
    ARRAY,
    COUNT,
    LEAST,
    LEVELS,
    MEAN,
    MOST,
    PRESENT,
    RANGE,
    TABLE_4_2,
    TABLE_4_3,
    TABLE_4_4,
    Figures,
)
from headrace.cli.bench.lsm_workloads import Keys, Ranges, Stream
from headrace.cli.main import main

SMALL = Setting(is_small=True)
PRINTED: list[tuple[Figures, float]] = [
    (TABLE_4_2[LEVELS], 225.3),
    (TABLE_4_2[ARRAY], 16.7),
    (TABLE_4_3[LEVELS, ABSENT], 67.9),
    (TABLE_4_3[LEVELS, PRESENT], 75.7),
    (TABLE_4_3[ARRAY, ABSENT], 119.0),
    (TABLE_4_3[ARRAY, PRESENT], 133.3),
    (TABLE_4_4[LEVELS, COUNT, 8], 32.7),
    (TABLE_4_4[LEVELS, COUNT, 1024], 2.8),
    (TABLE_4_4[LEVELS, RANGE, 8], 23.3),
    (TABLE_4_4[LEVELS, RANGE, 1024], 1.3),
]
"""Figures, and the harmonic mean over all sizes of a batch in the text of the paper."""


@pytest.mark.parametrize(("figures", "mean"), PRINTED)
def test_means_over_all_batches_are_those_of_the_text(figures: Figures, mean: float) -> None:
    assert harmonic_mean(list(figures[MEAN].values())) == pytest.approx(mean, rel=0.03)  # the text rounds


@pytest.mark.parametrize("table", [TABLE_4_2, TABLE_4_3, TABLE_4_4])
def test_printed_means_lie_between_the_extremes(table: Mapping[Any, Figures]) -> None:
    for figures in table.values():
        for batch, mean in figures[MEAN].items():
            assert figures.get(LEAST, {}).get(batch, 0) <= mean <= figures.get(MOST, {}).get(batch, 1e9)


def test_keys_are_distinct() -> None:
    known = Keys(SMALL, 1 << 16)
    assert len(np.unique(np.concatenate([known.host, known.absent]))) == 1 << 17
    assert [len(keys) for keys, _ in Stream(known, 1 << 10).parts()] == [1 << 10] * 64
    assert 0.45 < (known.host < 1 << 31).mean() < 0.55


@pytest.mark.parametrize("batches", [1, 2, 16, 256])
def test_answers_are_checked_at_few_sizes(batches: int) -> None:
    stream = Stream(Keys(SMALL, 4 * batches), 4)
    checked = [number for number in range(1, batches + 1) if stream.is_checked(4 * number)]
    powers = {1 << bits for bits in range(batches.bit_length())}
    assert powers <= set(checked) and checked[-1] == batches
    assert len(checked) <= len(powers) + 3


def test_places_of_searchsorted_are_compared() -> None:
    stream = Stream(Keys(SMALL, 1 << 10), 1 << 10)
    ascending = np.sort(stream.known.host)
    for name in (PRESENT, ABSENT):
        places = searchsorted(ascending, stream.wanted(name, 1 << 10))
        stream.check_places(ascending, places, name)
        places[5] += 1
        with pytest.raises(WrongAnswerError, match=f"searchsorted of {name} keys"):
            stream.check_places(ascending, places, name)


def test_batches_in_a_row_are_timed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, sizes = Stream(Keys(SMALL, 1 << 13), 1 << 6), []
    monkeypatch.setattr(Stream, "check_items", lambda self, grown, call: sizes.append((grown.level_sizes, call)))
    assert stream.seconds_in_a_row() > 0
    assert sizes == [((64 * 63, 64 * 65), "inserts of 64 keys, levels, in a row")]


@pytest.mark.parametrize(("batches", "timed"), [(1, 1), (2, 2), (32, 32), (256, 32)])
def test_batches_into_an_array_are_timed_at_32_sizes(batches: int, timed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, ...]] = []
    monkeypatch.setattr(Stream, "check_items", lambda self, grown, call: sizes.append(grown.level_sizes))
    assert len(Stream(Keys(SMALL, 16 * batches), 16).array_seconds()) == timed
    assert sizes == [(16 * batches,)]


@pytest.mark.parametrize(("count", "stale"), [(1 << 10, 0), (1 << 21, 0), (1 << 21, 1 << 19)])
@pytest.mark.parametrize("place", [0, -1])
def test_items_of_a_map_are_compared(count: int, stale: int, place: int) -> None:
    stream = Stream(Keys(SMALL, count, stale), count)
    ((_, grown),) = stream.prefixes()
    stream.check_items(grown, "items")
    items = grown.items()
    items.values[place] += 1
    with pytest.raises(WrongAnswerError, match="items: another answer"):
        stream.check_items(SimpleNamespace(items=lambda: items), "items")
    with pytest.raises(WrongAnswerError, match="items: another answer"):
        Stream(Keys(SMALL, count, stale + 1), count).check_items(grown, "items")


@pytest.mark.parametrize("length", [1, 8, 1024, 1 << 20])
def test_ranges_have_about_their_length(length: int) -> None:
    stream = Stream(Keys(SMALL, 1 << 14), 1 << 14)
    ((_, grown),) = stream.prefixes()
    asked = Ranges.of(stream, 1 << 14, length, 1 << 14)
    asked.check(grown, stream.ascending(1 << 14), "ranges")
    lows, highs = asked.given
    assert len(lows) == len(asked) == max(1, (1 << 14) // length)
    assert (highs >= lows).all()
    if length in {8, 1024}:
        inner = highs < (1 << 32) - 1
        assert 0.8 * length < grown.count(lows[inner], highs[inner]).mean() < 1.2 * length


@pytest.mark.parametrize("wrong", [COUNT, RANGE])
def test_ranges_are_compared(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(Keys(SMALL, 1 << 14), 1 << 14)
    ((_, grown),) = stream.prefixes()
    right = getattr(SortedMap, wrong)

    def answer(self: Any, *given: Any) -> Any:
        found = right(self, *given)
        (found if wrong == COUNT else found.values)[7] += 1
        return found

    monkeypatch.setattr(f"headrace.index.sorted_map.sorted_map.MapReader.{wrong}", answer)
    with pytest.raises(WrongAnswerError, match="ranges: another answer"):
        Ranges.of(stream, 1 << 14, 8, 1 << 14).check(grown, stream.ascending(1 << 14), "ranges")


def test_steps_are_timed_one_by_one() -> None:
    states: list[list[int]] = []

    def begin() -> list[int]:
        states.append([])
        return states[-1]

    seconds = Setting(repeats=3).step_seconds(begin, [lambda state: state.append(1), lambda state: state.append(2)])
    assert len(seconds) == 2 and all(0 <= each < 1 for each in seconds)
    assert len(states) >= 3 and all(state == [1, 2] for state in states)


@pytest.mark.parametrize(
    ("method", "experiment", "message"),
    [
        ("items", "table-4.2", "inserts of 1024 keys, levels"),
        ("find", "table-4.3", "find of present keys, levels of 1024 pairs"),
        ("count", "table-4.4", "count of ranges of 8 keys, levels of 1024 pairs"),
        ("items", "cleanup", "cleanup of 1008 items, 10 % stale"),
    ],
)
def test_a_wrong_answer_is_not_timed(
    method: str, experiment: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(SortedMap, method)

    def wrong(self: Any, *given: Any) -> Any:
        found = right(self, *given)
        (found if method == "count" else found.values)[-1] += 1
        return found

    monkeypatch.setattr(f"headrace.index.sorted_map.sorted_map.MapReader.{method}", wrong)
    assert main(["bench", "paper", "lsm", "--quick", "--experiment", experiment]) == 1
    assert f"{message}: another answer than the reference; it was not timed" in capsys.readouterr().err
