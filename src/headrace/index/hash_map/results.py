"""Defines the results of hash maps and multimaps."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace.arrays.device_array import DeviceArray


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


class DeviceRef(NamedTuple):
    """The table of a map on a GPU, for kernels of users. It is valid until the next change of the map.

    Parameters
    ----------
    table
        Array of bytes on the GPU: a ``SlabTable`` of gpu/containers/slab_table.hpp, passed to kernels as a pointer.
    memory
        The memory of the table, which lives as long as this object.
    """

    table: DeviceArray
    memory: Any


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


class FoundCounts(NamedTuple):
    """The result of `HashMultiMap.apply`: the state of each operation's key just before the operation.

    Parameters
    ----------
    values
        For ``"find"`` and ``"erase"`` the smallest value of the key. 0 for absent keys and for other operations.
    counts
        int64, number of values of the key.
    """

    values: Any
    counts: Any
