"""Defines the operations of a mixed batch on a map, set or multimap, and takes callers' arrays of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from headrace.arrange.histogram.histogram import bucket_counts
from headrace.arrays.arrays import Array, needed_numpy, plain_array, take
from headrace.arrays.inputs import as_line
from headrace.arrays.placement import apart_error, placed
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.index.arrow_file import on_host

ORDERS = ("sequential", "any")
REDUCTIONS = ("last", "first", "sum", "min", "max")  # in the order of Reduce of hash_map_host.hpp


class MapOperation(IntEnum):
    """An operation of `HashMap.apply`, `HashSet.apply` or `HashMultiMap.apply`, as a number for arrays of uint8.

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
    COUNT = 8
    """Change nothing, in a multimap."""
    ERASE_ALL = 9
    """Remove all values of the key, in a multimap."""


@dataclass(frozen=True)
class OperationKinds:
    """The operations that a kind of map has."""

    noun: str  # the map in error messages
    operations: tuple[MapOperation, ...]  # its operations, ascending

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [operation.name.lower() for operation in self.operations]

    @cached_property
    def known(self) -> int:
        """A bit for each operation."""
        return sum(1 << operation for operation in self.operations)


_ALL = tuple(MapOperation)
SET_KINDS = OperationKinds("a set", _ALL[: MapOperation.ERASE + 1])
MAP_KINDS = OperationKinds("a map", _ALL[: MapOperation.MAX + 1])
MULTI_KINDS = OperationKinds("a multimap", (*SET_KINDS.operations, MapOperation.COUNT, MapOperation.ERASE_ALL))
_NUMBERS = 256  # numbers of 8 bits
_CODES = {operation.name.lower(): operation.value for operation in MapOperation}


@dataclass(slots=True, eq=False)
class OperationBatch:
    """Operations on a map or set. Not frozen, because a frozen class takes a microsecond more to construct."""

    kinds: OperationKinds  # the operations that the map has
    operations: Array  # uint8, numbers of `MapOperation`; checked if the map is on the CPU
    keys: Array  # key of each operation
    values: Array | None  # value of each operation; None for sets
    held: Array | None
    found: Array  # results: the value of each key before its operation, None for sets; and whether the key was present


@dataclass(frozen=True, slots=True)
class ListBatch:
    """Operations on a multimap."""

    kinds: OperationKinds
    operations: Array
    keys: Array
    values: Array  # those of `OperationBatch`
    firsts: Array
    counts: Array
    """Results: the smallest value of each key before its operation, 0 if the operation needs none; and the number of values."""


def operations_of(given: Any, keys: Array, kinds: OperationKinds, context: Context, budget: Budget) -> Array:
    """Return the operations of a caller, on the device of the map. A map on a GPU checks them itself.

    Raise OptionError if there is not one for each key, or if a map on the CPU does not have one.

    `given`: list of names, or array of numbers of `MapOperation` as uint8.
    """
    if isinstance(given, (list, tuple)):
        np = needed_numpy("apply()")
        given = np.array([_code_of(operation, kinds) for operation in given], np.uint8)
    found = plain_array(given, "|u1", context.device)
    line = as_line(given, "operations") if found is None else given
    source = found or take(line, "operations")
    if source.typestr != "|u1":
        raise OptionError("operations must be a list of names or an array of uint8, the numbers of headrace.MapOperation")
    if source.length != keys.length:
        raise OptionError(f"operations has {source.length} items for {keys.length} keys")
    if source.device.kind == "cpu" == context.device.kind:
        check_numbers(source, kinds, context)
    if found is not None:
        return found
    source = placed(line, "operations", context, budget)
    if source.device != context.device:
        raise apart_error(source.device, context.device)
    return source


def check_numbers(source: Array, kinds: OperationKinds, context: Context) -> None:
    """Raise OptionError if a map does not have an operation of an array on its device."""
    counts = on_host(bucket_counts(source.owner, _NUMBERS, range=(0, _NUMBERS), context=context)).tolist()
    wrong = [number for number, count in enumerate(counts) if count and number not in kinds.operations]
    if wrong and wrong[-1] >= len(MapOperation):
        raise OptionError(
            f"operations has the number {wrong[-1]}; those of headrace.MapOperation are less than {len(MapOperation)}"
        )
    if wrong:
        name = MapOperation(wrong[0]).name.lower()
        raise OptionError(f"operations has {name!r}, which {kinds.noun} does not have; valid: {', '.join(kinds.names)}")


def _code_of(operation: Any, kinds: OperationKinds) -> int:
    code = operation.value if isinstance(operation, MapOperation) else None
    if isinstance(operation, str):
        code = _CODES.get(operation)
        if operation == "find_all" and kinds is MULTI_KINDS:
            raise OptionError("operations has 'find_all', whose result is a list: call HashMultiMap.find_all")
    if code is None:
        raise OptionError.unknown("operations", operation, kinds.names)
    return code
