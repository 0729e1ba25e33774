"""Tuples and mappings whose items are made when they are asked for."""

from __future__ import annotations

import copy
import pickle

import pytest

from headrace.core.lazy import LazyMapping, LazySequence


@pytest.fixture
def made() -> tuple[LazySequence[str], list[int]]:
    asked: list[int] = []

    def make(number: int) -> str:
        asked.append(number)
        return "abcd"[number]

    return LazySequence(4, make), asked


def test_an_item_is_made_once_when_it_is_asked_for(made):
    items, asked = made
    assert len(items) == 4 and asked == []
    assert (items[1], items[-3], items[-1]) == ("b", "b", "d")
    assert asked == [1, 3]
    assert items[1:3] == ("b", "c")
    with pytest.raises(IndexError):
        items[4]
    with pytest.raises(IndexError):
        items[-5]


def test_it_is_what_a_tuple_is(made):
    items, _ = made
    whole = tuple("abcd")
    assert items == whole and whole == items and items == LazySequence(4, lambda number: "abcd"[number])
    assert items != tuple("abce") and items != list(whole) and items != whole[:3]
    assert (hash(items), repr(items), list(items), "c" in items) == (hash(whole), repr(whole), [*whole], True)
    for again in (pickle.loads(pickle.dumps(items)), copy.deepcopy(items)):
        assert type(again) is tuple and again == whole


def test_items_by_name(made):
    items, asked = made
    named = LazyMapping({"y": 2, "x": 0}, items)
    assert (list(named), len(named), "x" in named, "z" in named) == (["y", "x"], 2, True, False)
    assert asked == []
    assert named["y"] == "c" and asked == [2]
    assert dict(named) == {"y": "c", "x": "a"} and repr(named) == "{'y': 'c', 'x': 'a'}"
    with pytest.raises(KeyError):
        named["z"]
