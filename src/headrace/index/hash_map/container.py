"""Defines the base class of hash maps, sets and multimaps: all that does not depend on the values of a key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, Generic, Never, Self, TypeVar

from headrace.arrange.sort.sort import sort, sort_pairs
from headrace.arrays.arrays import Array
from headrace.columns.column import Column
from headrace.core.budget import Budget
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.foreign_names import ForeignNames
from headrace.core.options import integer
from headrace.index.arrow_file import MapFile, on_host, read_items, write_items
from headrace.index.hash_map.backend import TableBackend
from headrace.index.hash_map.pair_types import HashStatistics, PairTypes, array_of, check_length
from headrace.index.hash_map.results import DeviceRef
from headrace.index.item_types import time_type

_LABEL = "hash_map"
BackendType = TypeVar("BackendType", bound=TableBackend)


class HashContainer(ForeignNames, Generic[BackendType]):
    """Keys, perhaps with values, in a table on one device.

    Parameters
    ----------
    types
        Types of keys and values.
    new_backend
        Function that returns an empty table.
    capacity, seed, context
        As for `headrace.HashMap`.
    """

    __slots__ = ("_backend", "_context", "_seed", "_types")

    _noun = "pairs"
    _has_lists = False

    def __init__(
        self,
        types: PairTypes,
        new_backend: Callable[[PairTypes, Context, int, int], BackendType],
        *,
        capacity: int,
        seed: int,
        context: Context | None,
    ) -> None:
        self._types = types
        self._context = context_of(context)
        capacity = integer("capacity", capacity, "an integer from 0 on", 0)
        self._seed = integer("seed", seed, "an integer from 0 to 2**64 - 1", 0, (1 << 64) - 1)
        self._backend = new_backend(types, self._context, capacity, self._seed)

    def __len__(self) -> int:
        """Return the number of pairs, or of a set's keys."""
        return len(self._backend)

    def __repr__(self) -> str:
        return f"<headrace.{type(self).__name__} ({self._types}) on {self._context.device}, {len(self)} {self._noun}>"

    @property
    def key_type(self) -> str | dict[str, str]:
        """Type of the keys in NumPy's notation, or ``"string"``. For several columns, the type of each by its name."""
        return self._types.key_type

    @property
    def value_type(self) -> str | None:
        """Type of the values in NumPy's notation; None for a set."""
        return self._types.value or None

    def contains(self, keys: Any) -> Any:
        """Return whether each key is present. Errors are those of `headrace.HashMap.find`."""
        budget = self._context.new_budget()
        return self._backend.contains(self._keys(keys, budget), budget).owner

    def __contains__(self, key: Any) -> bool:
        """Return whether one key is present. On a GPU the host waits."""
        if isinstance(key, tuple) and self._types.columns:
            return bool(on_host(self.contains(key))[0])
        if isinstance(key, (list, tuple, range, Column)) or getattr(key, "ndim", 0) > 0:
            raise OptionError.wrong("key", "one key; contains takes arrays", key)
        return bool(on_host(self.contains([key]))[0])

    def clear(self) -> None:
        """Remove all pairs and free their memory."""
        self._backend.clear()

    def compact(self) -> None:
        """Free the memory that the pairs do not need (FLUSH of the paper).

        Raises
        ------
        MemoryLimitError
            On the CPU, a smaller table does not fit beside the old one. All pairs are there, and some memory may be free.
        """
        self._backend.compact()

    def statistics(self) -> HashStatistics:
        """Return counts of pairs, slots and bytes."""
        return self._backend.statistics()

    def device_ref(self) -> DeviceRef:
        """Return the table of a map on a GPU, for kernels that search it. docs/guide/gpu.md has an example.

        The work of earlier calls is in the stream ``device_ref().table.stream``. Kernels in other streams wait for it first.

        Raises
        ------
        UnsupportedDeviceError
            The map is on the CPU, or its keys are texts or have several columns.
        """
        return self._backend.device_ref()

    def snapshot(self) -> Self:
        """Return a copy of the map as it is now, for reads while updates go on. Neither changes with the other.

        All tables are copied, which takes their memory once more, charged to the same limit. Updates wait meanwhile.

        Raises
        ------
        MemoryLimitError
            The copy does not fit.

        Examples
        --------
        >>> from headrace import HashSet
        >>> seen = HashSet("int64")
        >>> seen.insert([4, 5])
        2
        >>> before = seen.snapshot()
        >>> seen.clear()
        >>> len(before), len(seen)
        (2, 0)
        """
        result = object.__new__(type(self))
        for name in HashContainer.__slots__:
            setattr(result, name, getattr(self, name))
        result._backend = self._backend.snapshot()
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all items to an Arrow file, in the order of `items`. A crash leaves the old file or the new one.

        Parameters
        ----------
        path
            Path of the file, which is replaced at the end if it exists. It has the columns ``key`` and ``value``. A column
            ``name`` of the keys is called ``key.name``.

        Raises
        ------
        MissingDependencyError
            PyArrow is not installed.
        MemoryLimitError
            The items exceed the context's limit.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from headrace import HashSet
        >>> seen = HashSet("int64")
        >>> seen.insert([5, 1, 9])
        3
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     seen.save(pathlib.Path(folder, "seen.arrow"))
        ...     HashSet.load(pathlib.Path(folder, "seen.arrow")).items()
        array([1, 5, 9])
        """
        keys, values = self._columns()
        key_types = ",".join(typestr for _, typestr in self._types.columns) or self._types.key
        words = type(self).__name__, key_types, self._types.value or "-", str(self._seed)
        write_items(
            path,
            _LABEL,
            MapFile(words, _saved(keys), None if values is None else on_host(values)),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, context: Context | None = None) -> Self:
        """Return a map of the items of a file that `save` has written, with the types and the seed of the saved map.

        Parameters
        ----------
        path
            Path of the file.
        context
            As for a new map.

        Raises
        ------
        OptionError
            The file is none of this class, is damaged, or has other types or equal keys.
        MissingDependencyError
            PyArrow is not installed.
        MemoryLimitError
            The map does not fit the context's limit.
        OSError
            The file cannot be read.

        Examples
        --------
        See `save`.
        """
        words, keys, values = read_items(path, _LABEL, f"{cls.__name__}.save")
        file, is_set = repr(os.fspath(path)), len(words) > 2 and words[2] == "-"
        is_known = len(words) == 4 and re.fullmatch("[0-9]{1,20}", words[3]) and is_set == (words[0] == "HashSet")
        if not is_known:
            raise OptionError(f"{file} has a description that no map has written: {' '.join(words)}")
        name, *types, seed = words
        if name != cls.__name__:
            raise OptionError(f"{file} was written by {name}.save: load it by headrace.{name}.load")
        if is_set != (values is None):
            raise OptionError(f"{file} has {'a column' if is_set else 'no column'} of values, unlike a {name}")
        make: Any = cls
        try:
            key_type, keys, count = _keys_of_file(keys, types[0])
            pairs = [keys] if values is None else [keys, _of_time(values, types[1])]
            result: Self = make(*[key_type, types[1]][: len(pairs)], capacity=count, seed=int(seed), context=context)
            added = make.insert(result, *pairs)
        except OptionError as error:
            raise OptionError(f"{file}: {error}") from None
        if added not in {None, count}:
            raise OptionError(f"{file} has equal keys")
        return result

    def __copy__(self) -> Self:
        return self.snapshot()

    def __reduce__(self) -> Never:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be pickled; write it by save(path), and read it by {name}.load(path)")

    def _columns(self) -> tuple[Any, Any]:
        """Return keys and values, ascending by key and then by value; None for the values of a set."""
        keys, values = self._backend.items()
        if self._types.has_text_keys:  # they are sorted
            return keys.owner, None if values is None else values.owner
        if values is None:
            return sort(keys.owner, total_order=True, context=self._context), None
        if not self._has_lists:
            return sort_pairs(keys.owner, values.owner, total_order=True, context=self._context)
        by_value = sort_pairs(values.owner, keys.owner, total_order=True, context=self._context)
        return sort_pairs(by_value.values, by_value.keys, total_order=True, context=self._context)

    def _keys(self, keys: Any, budget: Budget | None = None) -> Array:
        if self._types.has_text_keys:
            from headrace.index.hash_map.text_map import placed_keys  # needs NumPy

            return placed_keys(keys, self._types, self._context)
        return array_of(keys, "keys", self._types.key, self._context, budget or self._context.new_budget())

    def _pairs(self, keys: Any, values: Any, budget: Budget | None = None) -> tuple[Array, Array]:
        budget = budget or self._context.new_budget()
        found_keys = self._keys(keys, budget)
        found_values = array_of(values, "values", self._types.value, self._context, budget)
        check_length(found_values, found_keys)
        return found_keys, found_values


def _saved(keys: Any) -> Any:
    """Return keys in host memory: an array, a column, or a mapping of these."""
    if isinstance(keys, dict):
        return {name: _saved(column) for name, column in keys.items()}
    return keys.to("cpu") if isinstance(keys, Column) else on_host(keys)


def _keys_of_file(keys: Any, typestr: str) -> tuple[Any, Any, int]:
    """Return the type, the keys and their number, given the columns of a file. Raise OptionError if it has other columns."""
    if not isinstance(keys, dict):
        return typestr, _of_time(keys, typestr), len(keys)
    types = dict(zip(keys, typestr.split(","), strict=True))
    found = {name: _of_time(column, types[name]) for name, column in keys.items()}
    return types, found, len(next(iter(keys.values())))


def _of_time(items: Any, typestr: str) -> Any:
    """Return integers of a file as instants or durations if these have a unit that Arrow lacks; other items as they are."""
    if isinstance(items, Column):
        return items
    is_number = items.dtype.str == "<i8" and time_type(typestr) == typestr
    return items.view(typestr) if is_number else items
