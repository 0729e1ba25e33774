"""Defines the results of hash maps and multimaps."""

from __future__ import annotations

from typing import Any, NamedTuple


class FoundValues(NamedTuple):
    """The result of `HashMap.find`.

    Parameters
    ----------
    values
        Value of each key; 0 for absent keys.
    found
        Whether each key is present.
    """

    values: Any
    found: Any


class Items(NamedTuple):
    """The pairs of a map.

    Parameters
    ----------
    keys
        The keys, ascending; floats in IEEE's totalOrder.
    values
        The value of each key.
    """

    keys: Any
    values: Any


class FoundLists(NamedTuple):
    """The result of `HashMultiMap.find_all`.

    Parameters
    ----------
    offsets
        int64, one more than there are keys: the values of key `i` are ``values[offsets[i]:offsets[i + 1]]``.
    values
        The values of all keys, ascending for each key; floats in IEEE's totalOrder.
    """

    offsets: Any
    values: Any
