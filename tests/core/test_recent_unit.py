"""Tests results cached by the identity of their inputs, immutable values that are made quickly, and equivalent options."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.core.options import PLAIN, frozen


def test_results_are_found_by_identity_and_key():
    made = IdentityCache[list[int]]()
    one, equal = [1], [1]
    first = made.of(lambda: [0], one)
    assert made.of(lambda: [9], one) is first
    assert made.of(lambda: [2], equal) == [2]
    assert made.of(lambda: [3], one, key="other") == [3]
    assert made.of(lambda: [9], one, key="other") == [3]


def test_a_result_belongs_to_all_of_its_values_in_their_order():
    made = IdentityCache[int]()
    one, other, third = [1], [2], [3]
    assert [made.of(lambda: 0, one, other), made.of(lambda: 1, one, third), made.of(lambda: 2, other, one)] == [0, 1, 2]
    assert [made.of(lambda: 3, one), made.of(lambda: 4, one, other, third), made.of(lambda: 5, third, other)] == [3, 4, 5]
    assert [made.of(lambda: 9, one, other), made.of(lambda: 9, one, third), made.of(lambda: 9, other, one)] == [0, 1, 2]


def test_the_oldest_result_goes_and_what_it_was_made_of_is_held_until_then():
    made = IdentityCache[int](2)
    parts = [[n] for n in range(3)]
    for number, part in enumerate(parts):
        assert made.of(lambda number=number: number, part) == number
    assert made.of(lambda: -1, parts[2]) == 2 and made.of(lambda: -1, parts[0]) == -1
    # An identity is never taken over by another object: each of these has an address that may have been another's.
    assert [made.of(lambda number=number: number, [number]) for number in range(100)] == list(range(100))


def test_an_error_is_not_kept():
    made = IdentityCache[int]()
    part = [1]
    with pytest.raises(ZeroDivisionError):
        made.of(lambda: 1 // 0, part)
    assert made.of(lambda: 5, part) == 5


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    more: list[int] = field(default_factory=list)


def test_quick_values_are_those_of_the_class():
    make = fast_constructor(Point)
    made = make(1, more=[3])
    assert type(made) is Point and made == Point(1, 2, [3]) and repr(made) == repr(Point(1, 2, [3]))
    assert make(1).more is not make(1).more
    with pytest.raises(FrozenInstanceError):
        made.x = 2
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
