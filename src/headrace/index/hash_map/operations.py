"""Defines the operations of a mixed batch on a map or set, and takes callers' arrays of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from headrace.arrays.arrays import Array, needed_numpy, take
from headrace.arrays.inputs import as_line
from headrace.arrays.placement import apart_error, placed
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.primitives.scan import reduce

ORDERS = ("sequential", "any")


class MapOperation(IntEnum):
    """An operation of `HashMap.apply`, as a number for arrays of uint8.

    Examples
    --------
    >>> MapOperation.SUM.value, MapOperation["ERASE"].value
    (5, 2)
    """

    FIND = 0
    """Change nothing."""
    INSERT = 1
    """Store the value."""
    ERASE = 2
    """Remove the key."""
    REPLACE = 3
    """Store the value if the key is present."""
    FIRST = 4
    """Store the value if the key is absent."""
    SUM = 5
    """Add the value to the held one; store it if the key is absent."""
    MIN = 6
    """Store the smaller one of the held and the new value."""
    MAX = 7
    """Store the greater one of the held and the new value."""


_CODES = {operation.name.lower(): operation.value for operation in MapOperation}
_SET_NAMES = [name for name, code in _CODES.items() if code <= MapOperation.ERASE]


@dataclass(frozen=True, slots=True)
class OperationBatch:
    """Operations on a map or set.

    Parameters
    ----------
    operations
        uint8, numbers of `MapOperation`.
    keys
        Key of each operation.
    values
        Value of each operation; None for sets.
    held, found
        Results: the value of each key before its operation, None for sets; and whether the key was present.
    """

    operations: Array
    keys: Array
    values: Array | None
    held: Array | None
    found: Array


def operations_of(given: Any, keys: Array, is_set: bool, context: Context, budget: Budget) -> Array:
    """Return the operations of a caller, on the device of the map, after a check of each.

    Parameters
    ----------
    given
        List of names, or array of numbers of `MapOperation` as uint8.
    keys
        The keys.
    is_set
        Whether the keys have no values.
    context, budget
        The map's context, and the budget of a copy to a GPU.

    Raises
    ------
    OptionError
        There is an unknown operation, one that sets do not have, or not one for each key.
    """
    np = needed_numpy("apply()")
    if isinstance(given, (list, tuple)):
        given = np.array([_code_of(operation, is_set) for operation in given], np.uint8)
    line = as_line(given, "operations")
    source = take(line, "operations")
    if source.typestr != "|u1":
        raise OptionError("operations must be a list of names or an array of uint8, the numbers of headrace.MapOperation")
    if source.length != keys.length:
        raise OptionError(f"operations has {source.length} items for {keys.length} keys")
    if source.length:
        _check_largest(_largest(source, context), is_set)
    source = placed(line, "operations", context, budget)
    if source.device != context.device:
        raise apart_error(source.device, context.device)
    return source


def _largest(source: Array, context: Context) -> int:
    if source.device.kind == "cpu":
        return int(source.as_numpy().max())
    found = reduce(source.owner, "max", context=context)
    return int(found.to_numpy()[0] if hasattr(found, "to_numpy") else found)


def _check_largest(largest: int, is_set: bool) -> None:
    if largest >= len(MapOperation):
        raise OptionError(
            f"operations has the number {largest}; those of headrace.MapOperation are less than {len(MapOperation)}"
        )
    if is_set and largest > MapOperation.ERASE:
        raise OptionError(f"operations has {MapOperation(largest).name.lower()!r}, which needs values; a set has none")


def _code_of(operation: Any, is_set: bool) -> int:
    code = operation.value if isinstance(operation, MapOperation) else None
    if isinstance(operation, str):
        code = _CODES.get(operation)
    if code is None:
        raise OptionError.unknown("operations", operation, _SET_NAMES if is_set else _CODES)
    return code
