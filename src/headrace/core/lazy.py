"""Provides sequences, mappings and attributes that are built on first access.

A read has a column and a report for each column of its table. There may be thousands, and callers access few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

ItemT_co = TypeVar("ItemT_co", covariant=True)
ValueT_co = TypeVar("ValueT_co", covariant=True)

_UNMADE: Any = object()


class LazySequence(Sequence[ItemT_co]):
    """A lazy tuple: each item is built on first access and then kept.

    Thread-safe; two threads that access the same item at once may get two equal objects.

    `make`: builds an item from its index.

    >>> squares = LazySequence(4, lambda number: number**2)
    >>> squares[-1], squares == (0, 1, 4, 9), squares
    (9, True, (0, 1, 4, 9))
    """

    __slots__ = ("_items", "_make")

    def __init__(self, count: int, make: Callable[[int], ItemT_co]) -> None:
        self._items: list[ItemT_co] = [_UNMADE] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, key: int) -> ItemT_co: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[ItemT_co, ...]: ...
    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return tuple(self)[key]
        found = self._items[key]
        if found is _UNMADE:
            number = key + len(self._items) if key < 0 else key
            found = self._items[number] = self._make(number)
        return found

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, LazySequence | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


class LazyMapping(Mapping[str, ItemT_co]):
    """A view of a sequence's items by name, in the order of `places`.

    `places`: name to index; must not change.

    >>> dict(LazyMapping({"b": 1, "a": 0}, "xy"))
    {'b': 'y', 'a': 'x'}
    """

    __slots__ = ("_items", "_places")

    def __init__(self, places: Mapping[str, int], items: Sequence[ItemT_co]) -> None:
        self._places, self._items = places, items

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._places)

    def __getitem__(self, name: str) -> ItemT_co:
        return self._items[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(dict(self))


class LazyAttribute(Generic[ValueT_co]):
    """Decorates a method: its value is computed on first access and then is an attribute of the object.

    It works as ``functools.cached_property``, which before Python 3.12 holds one lock for all objects of a class. Two
    threads that access the attribute at once may both compute it.
    """

    def __init__(self, compute: Callable[[Any], ValueT_co]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> LazyAttribute[ValueT_co]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> ValueT_co: ...
    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
