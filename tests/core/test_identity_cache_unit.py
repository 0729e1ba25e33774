"""Tests results cached by the identity of their inputs, fast constructors, and equivalent options."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.options import PLAIN, frozen


def test_results_are_found_by_identity_and_key():
    get = IdentityCache[list[int]]().get_or_create
    one, equal = [1], [1]
    first = get(lambda: [0], one)
    assert get(lambda: [9], one) is first
    assert get(lambda: [2], equal) == [2]
    assert get(lambda: [3], one, key="other") == [3]
    assert get(lambda: [9], one, key="other") == [3]


def test_a_result_belongs_to_all_of_its_values_in_their_order():
    get = IdentityCache[int]().get_or_create
    one, other, third = [1], [2], [3]
    assert [
        get(lambda: 0, one, other),
        get(lambda: 1, one, third),
        get(lambda: 2, other, one),
    ] == [0, 1, 2]
    assert [
        get(lambda: 3, one),
        get(lambda: 4, one, other, third),
        get(lambda: 5, third, other),
    ] == [3, 4, 5]
    assert [
        get(lambda: 9, one, other),
        get(lambda: 9, one, third),
        get(lambda: 9, other, one),
    ] == [0, 1, 2]


def test_the_oldest_result_is_evicted_and_its_inputs_are_held_until_then():
    get = IdentityCache[int](2).get_or_create
    parts = [[n] for n in range(3)]
    for number, part in enumerate(parts):
        assert get(lambda number=number: number, part) == number
    assert get(lambda: -1, parts[2]) == 2 and get(lambda: -1, parts[0]) == -1
    # An identity is never taken over by another object: each of these has an address that may have been another's.
    assert [get(lambda number=number: number, [number]) for number in range(100)] == list(range(100))


def test_an_error_is_not_cached():
    get = IdentityCache[int]().get_or_create
    part = [1]
    with pytest.raises(ZeroDivisionError):
        get(lambda: 1 // 0, part)
    assert get(lambda: 5, part) == 5


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    more: list[int] = field(default_factory=list)


def test_fast_constructors_make_values_of_the_class():
    make = fast_constructor(Point)
    point = make(1, more=[3])
    assert type(point) is Point and point == Point(1, 2, [3]) and repr(point) == repr(Point(1, 2, [3]))
    assert make(1).more is not make(1).more
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(TypeError):
        make()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ([1, [2]], [1, [2]], True),
        ([1, [2]], [1, (2,)], False),
        (("a", None), ("a", None), True),
        ("a", b"a", False),
        ({"a": [None]}, {"a": [0]}, False),
        ({"a": int}, {"a": float}, False),
    ],
)
def test_frozen_options(one, other, same):
    assert (frozen(one) == frozen(other)) is same
    hash(frozen(one))


@pytest.mark.parametrize("value", [1.5, {"a": 1.5}, [[{1}]], {"a": {"b": object()}}, iter("a")])
def test_what_may_change_is_not_frozen(value):
    assert frozen(value) is None
    assert float not in PLAIN
