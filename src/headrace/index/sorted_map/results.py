"""Defines the results of the reads of a sorted map, as arrays of the library of the given keys."""

from __future__ import annotations

from typing import Any, NamedTuple


class Found(NamedTuple):
    """The result of `SortedMap.find`.

    Parameters
    ----------
    values
        Value of each key, 0 for an absent one; None in a map of keys alone.
    mask
        Whether each key is in the map, bool.
    """

    values: Any
    mask: Any


class MapItems(NamedTuple):
    """All keys of a map in ascending order, and their values; None in a map of keys alone."""

    keys: Any
    values: Any


class RangeItems(NamedTuple):
    """The result of `SortedMap.range`.

    Parameters
    ----------
    offsets
        Begin of each range in `keys`, and the end of the last one, int64.
    keys
        Keys of all ranges, ascending in each.
    values
        Their values; None in a map of keys alone.
    """

    offsets: Any
    keys: Any
    values: Any


class Neighbours(NamedTuple):
    """The result of `SortedMap.successor` and `SortedMap.predecessor`.

    Parameters
    ----------
    keys
        Neighbour of each key, 0 if there is none.
    values
        Their values; None in a map of keys alone.
    mask
        Whether there is a neighbour, bool.
    """

    keys: Any
    values: Any
    mask: Any
