"""Defines the key of a store: columns whose values together are distinct, and the index of rows by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from headrace.arrange.sort.sort import sort
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import MissingDependencyError, OptionError, shown
from headrace.index.hash_map.hash_map import HashMap
from headrace.store.keys.key_rows import Fetch, KeyRowIndex, KeyRows
from headrace.store.keys.key_values import FoundRows, check_not_null, column_of_keys, keys_from, keys_of

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

Keys: TypeAlias = Any  # keys of rows: an array of int64 or uint64, or `KeyRows`
KeyNames: TypeAlias = tuple[str, ...]  # names of the key columns; empty for a store without a key
_ONE_THREAD = Context(threads=1)


class KeyIndex(Protocol):
    """Row numbers by key."""

    def find(self, keys: Keys) -> FoundRows:
        """Return the row of each key."""

    def insert(self, keys: Keys, numbers: Any) -> None:
        """Add the rows of distinct keys, none of which is present."""

    def erase(self, keys: Keys, numbers: Any) -> None:
        """Remove keys, given their row numbers."""


@dataclass(frozen=True, slots=True)
class StoreKey:
    """The key of a store."""

    types: Mapping[str, DataType]  # name and type of each key column, in the order of the key
    context: Context  # threads that may be used

    @property
    def names(self) -> KeyNames:
        """Names of the key columns."""
        return tuple(self.types)

    @property
    def _number(self) -> str | None:
        """Name of the only key column if its values are numbers, dates or timestamps; None for other keys."""
        (first, type_), *others = self.types.items()
        return None if others or type_.is_string else first

    def of(self, columns: Mapping[str, Column]) -> Keys:
        """Return the keys of rows. Raise OptionError if a key is null."""
        if self._number is not None:
            return keys_of(columns[self._number])
        for name in self.types:
            check_not_null(columns[name])
        return KeyRows.of({name: columns[name] for name in self.types}, self.context)

    def given(self, values: Any, name: str) -> Keys:
        """Return keys of a caller: one key, or several in a list, an array or a column; of several columns tuples; or columns.

        Raise OptionError if the values are not of the key's types, or columns have different lengths.
        """
        if isinstance(values, Mapping):
            if set(values) != set(self.types):
                raise OptionError(f"{name} have the columns {shown(list(values))}, and the key has {shown(list(self.types))}")
        else:
            values = {self.names[0]: values} if len(self.types) == 1 else self._transposed(values, name)
        if self._number is not None:
            return keys_from(values[self._number], self.types[self._number], name)
        columns = {part: column_of_keys(keys_from(values[part], type_, name)) for part, type_ in self.types.items()}
        lengths = {part: len(column) for part, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise OptionError(f"{name} have columns of different lengths: {shown(lengths)}")
        return KeyRows.of(columns, self.context)

    def index(self, fetch: Fetch) -> KeyIndex:
        """Return an empty index; `fetch` returns the key columns of rows with given numbers."""
        if self._number is None:
            return KeyRowIndex(fetch, self.context)
        is_unsigned = self.types[self._number].name.startswith("uint")
        return _NumberIndex("uint64" if is_unsigned else "int64", self.context)

    def _transposed(self, values: Any, name: str) -> dict[str, list[Any]]:
        """Return tuples of values as a list for each key column."""
        rows = [values] if isinstance(values, tuple) else values
        width = len(self.types)
        if not isinstance(rows, list) or not all(isinstance(row, tuple) and len(row) == width for row in rows):
            raise OptionError.wrong(name, f"a tuple of {width} values, or a list of them, as the key", values)
        return {part: [row[i] for row in rows] for i, part in enumerate(self.types)}


def needed_key(key: StoreKey | None, call: str) -> StoreKey:
    """Return the key of a store, for a call that needs one. Raise OptionError if there is none."""
    if key is None:
        raise OptionError(f"{call}() finds rows by key, and the store has none; create it with key=")
    return key


def first_places(keys: Keys) -> Any:
    """Return the position of the first row of each key, ascending."""
    if isinstance(keys, KeyRows):
        return keys.first_places()
    if _are_distinct(keys):
        return np.arange(len(keys))
    return np.sort(np.unique(keys, return_index=True)[1])


def _are_distinct(keys: Any) -> bool:
    """Return whether integers are distinct. Ascending ones, and a sort of the others, cost less than finding the first rows."""
    return bool((keys[1:] > keys[:-1]).all()) or bool(np.diff(sort(keys, context=_ONE_THREAD)).all())


def last_places(keys: Keys) -> Any:
    """Return the position of the last row of each key, ascending."""
    return len(keys) - 1 - first_places(keys[np.arange(len(keys))[::-1]])[::-1]


def key_value(keys: Keys, place: int) -> Any:
    """Return a key as a value of Python, or a tuple of values."""
    return keys.values(place) if isinstance(keys, KeyRows) else keys[place].item()


class _NumberIndex:
    def __init__(self, key_type: str, context: Context) -> None:
        self._rows = HashMap(key_type, "uint64", context=Context(threads=context.threads))

    def find(self, keys: Keys) -> FoundRows:
        return FoundRows(*self._rows.find(keys))

    def insert(self, keys: Keys, numbers: Any) -> None:
        self._rows.insert(keys, numbers)

    def erase(self, keys: Keys, _numbers: Any) -> None:
        self._rows.erase(keys)
