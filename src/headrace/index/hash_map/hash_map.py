"""Defines `HashMap`: values by key, on a CPU or a GPU, changed and searched by whole arrays.

The design on a GPU is the slab hash (Ashkiani, Farach-Colton and Owens 2018, "A Dynamic Hash Table for the GPU"; chapter 5 of
Ashkiani's dissertation). The CPU has one table with open addressing, or 64. Both give the same answers.
"""

from __future__ import annotations

from typing import Any

from headrace.arrays.placement import empty_like
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.options import choice
from headrace.index.hash_map.backend import MapBackend, new_map
from headrace.index.hash_map.container import HashContainer
from headrace.index.hash_map.operations import MAP_KINDS, ORDERS, REDUCTIONS, OperationBatch, operations_of
from headrace.index.hash_map.pair_types import PairTypes
from headrace.index.hash_map.results import FoundValues, Items


class HashMap(HashContainer[MapBackend]):
    """A map from keys to values. Each call runs the operations of a whole array, as if one by one in the array's order.

    Parameters
    ----------
    key_type, value_type
        Types of keys and values, in any spelling: ``"int32"``, ``"uint32"``, ``"int64"``, ``"uint64"``, ``"float32"`` or
        ``"float64"``; instants and durations, such as ``"datetime64[us]"``, ``"timestamp[us]"`` or ``"duration[ms]"``. Keys may
        be texts: ``"string"``. They may have several columns: a mapping from names to such types.
    capacity
        Number of pairs for which a map on a GPU allocates memory first. Maps grow in any case.
    seed
        Seed of the hash, from 0 to 2**64 - 1. No answer depends on it. If others choose the keys of a map on a GPU, take a number
        that they do not know (``secrets.randbits(64)``). Then they cannot choose keys that share a bucket. On the CPU, such
        keys are placed by a secret.
    context
        Device of the map, threads, and the limit of the memory that the map holds. None for the CPU without a limit.

    Raises
    ------
    OptionError
        A type is not supported.

    Notes
    -----
    Every key may be stored. Keys are equal if their bits are: -0.0 and 0.0 are two keys, and so are NaN of different bits. Arrays
    have the map's types; lists and single items are converted. Results are arrays in any case. Arrays of the host are copied to a
    map on a GPU.

    Texts are taken from lists, arrays, Series and columns, and returned as a column. They are numbered in a table of texts, by
    hashes of 64 bits whose matches are compared. Texts of erased keys and of operations of `apply` are there until `compact`.
    It makes a second map, if there is memory for it. If not, only a map on the CPU frees such texts.

    Keys of several columns are tables, frames, structured arrays or mappings with columns of these names. They may also be lists
    of tuples, or one tuple. `items` returns a mapping, whose rows ascend column by column.

    Instants and durations are reduced and ordered as their integers, so NaT is the smallest one.

    If memory is refused, a call raises `MemoryLimitError` and the map is as before the call.

    Several threads may use a map. Calls that change it run one at a time.

    Examples
    --------
    >>> prices = HashMap("int64", "float64")
    >>> prices.insert([7, 3, 7], [1.5, 2.0, 4.5])
    2
    >>> prices.find([7, 4])
    FoundValues(values=array([4.5, 0. ]), found=array([ True, False]))
    >>> prices.upsert([3, 9], [1.0, 8.0], reduce="sum")
    1
    >>> prices.items()
    Items(keys=array([3, 7, 9]), values=array([3. , 4.5, 8. ]))

    >>> words = HashMap("string", "int64")
    >>> words.upsert(["to", "be", "or", "not", "to", "be"], [1] * 6, reduce="sum")
    4
    >>> words.find(["be", "is"]).values
    array([2, 0])

    >>> sales = HashMap({"year": "int32", "item": "string"}, "int64")
    >>> sales.upsert({"year": [2024, 2024, 2023], "item": ["fig", "fig", "pear"]}, [1, 2, 4], reduce="sum")
    2
    >>> (2024, "fig") in sales, sales.find([(2024, "fig"), (2024, "pear")]).values
    (True, array([3, 0]))
    """

    __slots__ = ()

    def __init__(
        self, key_type: Any, value_type: Any, *, capacity: int = 0, seed: int = 0, context: Context | None = None
    ) -> None:
        if value_type is None:
            raise OptionError("value_type is None; a map has values, and headrace.HashSet has keys alone")
        super().__init__(PairTypes.of(key_type, value_type), new_map, capacity=capacity, seed=seed, context=context)

    def insert(self, keys: Any, values: Any) -> int:
        """Store pairs. Keys that are present get the new value; of equal keys in the array the last one wins.

        This is REPLACE of the paper (section 5.3.2).

        Parameters
        ----------
        keys, values
            Arrays or lists of one length, or one key and its value.

        Returns
        -------
        int
            Number of keys that were added.

        Raises
        ------
        OptionError
            An array has another type, length or device.
        MemoryLimitError
            The map does not fit the context's limit. Nothing has changed.
        """
        return self.upsert(keys, values, reduce="last")

    def upsert(self, keys: Any, values: Any, *, reduce: str = "last") -> int:
        """Store the pairs of absent keys, and reduce the values of present ones with the new value.

        Parameters
        ----------
        keys, values
            Arrays of one length.
        reduce
            ``"last"``, ``"first"``, ``"sum"``, ``"min"`` or ``"max"`` of the held value and the values of the array, in order.
            Sums of integers are modulo 2 to the number of their bits. Floats are added to the held
            value one by one in the order of the array, so sums have the same bits on any device. A NaN wins as minimum and
            maximum. A GPU sorts more than 1,024 rows by key to reduce floats.

        Returns
        -------
        int
            Number of keys that were added.

        Raises
        ------
        OptionError, MemoryLimitError
            As for `insert`.

        Examples
        --------
        >>> counts = HashMap("int32", "int64")
        >>> counts.upsert([5, 5, 6], [1, 1, 1], reduce="sum")
        2
        >>> counts.find([5]).values
        array([2])
        """
        choice("reduce", reduce, REDUCTIONS)
        found_keys, found_values = self._pairs(keys, values)
        return self._backend.upsert(found_keys, found_values, reduce)

    def replace(self, keys: Any, values: Any) -> Any:
        """Replace the values of keys that are present; of equal keys in the array the last one wins. No key is added.

        Returns
        -------
        array
            Whether each key is present.

        Raises
        ------
        OptionError
            As for `insert`.

        Examples
        --------
        >>> ages = HashMap("int32", "int32")
        >>> ages.insert([1], [30])
        1
        >>> ages.replace([1, 2], [31, 32])
        array([ True, False])
        """
        return self._backend.replace(*self._pairs(keys, values)).owner

    def find(self, keys: Any) -> FoundValues:
        """Return the value of each key, and whether it is present.

        Raises
        ------
        OptionError
            The keys have another type, or are on another device.
        MemoryLimitError
            The result exceeds the context's limit.
        """
        budget = self._context.new_budget()
        found_keys = self._keys(keys, budget)
        values = empty_like(found_keys, found_keys.length, self._types.value, budget)
        found = empty_like(found_keys, found_keys.length, "|b1", budget)
        self._backend.find(found_keys, values, found)
        return FoundValues(values.owner, found.owner)

    def erase(self, keys: Any) -> Any:
        """Remove keys, and return whether each was present. Of equal keys in the array the first one removes the pair.

        Raises
        ------
        OptionError
            As for `find`.

        Examples
        --------
        >>> ages = HashMap("int32", "int32")
        >>> ages.insert([1, 2], [30, 40])
        2
        >>> ages.erase([2, 2, 3])
        array([ True, False, False])
        """
        return self._backend.erase(self._keys(keys)).owner

    def apply(self, operations: Any, keys: Any, values: Any, *, order: str = "sequential") -> FoundValues:
        """Run operations of several kinds in one batch, and return the state that each operation has found.

        Parameters
        ----------
        operations
            List of names, or array of uint8 with numbers of `headrace.MapOperation`. ``"find"`` changes nothing, and ``"erase"``
            removes the key. ``"insert"`` stores the value, and ``"replace"`` does so if the key is present. ``"first"``,
            ``"sum"``, ``"min"`` and ``"max"`` reduce as `upsert`.
        keys, values
            Key and value of each operation. The values of ``"find"`` and ``"erase"`` are ignored.
        order
            ``"sequential"``: the result is that of the operations one by one in the order of the arrays, on any device.
            ``"any"``: the result is that of the operations one by one in some order. A GPU then runs them side by side.

        Returns
        -------
        FoundValues
            For each operation the value of its key just before it, and whether the key was present.

        Raises
        ------
        OptionError
            An operation is unknown, or an array has another type, length or device.
        MemoryLimitError
            The map does not fit the context's limit. Nothing has changed.

        Notes
        -----
        With ``"sequential"`` on a GPU, one warp runs all operations of a key, in time proportional to their number. One block
        runs up to 1,024 operations in their order, also with ``"any"``.

        Examples
        --------
        >>> stock = HashMap("int32", "int64")
        >>> stock.apply(["insert", "sum", "find", "erase", "find"], [4, 4, 4, 4, 4], [10, 5, 0, 0, 0])
        FoundValues(values=array([ 0, 10, 15, 15,  0]), found=array([False,  True,  True,  True, False]))
        """
        choice("order", order, ORDERS)
        budget = self._context.new_budget()
        found_keys, found_values = self._pairs(keys, values, budget)
        given = operations_of(operations, found_keys, MAP_KINDS, self._context, budget)
        held = empty_like(found_keys, found_keys.length, self._types.value, budget)
        found = empty_like(found_keys, found_keys.length, "|b1", budget)
        self._backend.apply(OperationBatch(MAP_KINDS, given, found_keys, found_values, held, found), order)
        return FoundValues(held.owner, found.owner)

    def items(self) -> Items:
        """Return all pairs, with ascending keys: NumPy arrays, or arrays on the map's GPU."""
        return Items(*self._columns())
