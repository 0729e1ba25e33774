"""Immutable values at the cost of others.

A frozen dataclass sets its fields one by one through `object.__setattr__`, which for ten fields costs about 2 us. A read makes a
column and a report for each of a table's columns, and there may be thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from typing import Any, TypeVar

MadeT = TypeVar("MadeT")


def quick(cls: type[MadeT]) -> Callable[..., MadeT]:
    """What makes values of a frozen dataclass with slots, as the class itself does, without its ``__post_init__``.

    A twin of the class that is not frozen has the same fields; its value becomes one of the class when it is made.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> quick(Point)(1)
    Point(x=1, y=0)
    """
    return _maker(cls)  # type: ignore[arg-type]


@cache
def _maker(cls: type) -> Callable[..., Any]:
    """Made once for a class, which takes half a millisecond."""
    own: list[tuple[str, Any, Any]] = []
    for one in fields(cls):
        how = {"default": one.default} if one.default is not MISSING else {}
        if one.default_factory is not MISSING:
            how = {"default_factory": one.default_factory}
        own.append((one.name, object, field(kw_only=one.kw_only, **how)))

    def become(made: Any) -> None:
        made.__class__ = cls

    how_made = {"__post_init__": become}
    return make_dataclass(f"Quick{cls.__name__}", own, bases=cls.__bases__, slots=True, eq=False, repr=False, namespace=how_made)
