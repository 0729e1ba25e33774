"""Applies the policy for duplicates to the rows of a change, which are added in one part or in several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headrace.arrange.gather.take import take_rows
from headrace.columns.column import Column
from headrace.core.errors import MissingDependencyError, OptionError, shown
from headrace.store.change import Change
from headrace.store.keys.key_values import FoundRows
from headrace.store.keys.store_key import Keys, StoreKey, first_places, key_value, last_places
from headrace.store.main import Main
from headrace.store.published_rows import PublishedRows
from headrace.store.rules import StoreRules
from headrace.store.state import StoreState

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_ACCEPT = "on_duplicate='replace' or 'keep' accepts such rows"


class NewRows:
    """The rows of one change that remain by the policy for duplicates.

    `rules`: the rules of the store. `find`: returns the row of each key in the store as it is before the change.
    """

    def __init__(self, rules: StoreRules, find: Callable[[Keys], FoundRows]) -> None:
        self._rules = rules
        self._find = find
        self._removed: list[Any] = []
        self._earlier: PublishedRows | None = None
        self._unnoted: list[Change] = []
        self._highest: Any = None

    @property
    def removed(self) -> Any:
        """Numbers of the rows that the change removes, ascending: of the store, and of earlier parts."""
        none: Any = np.empty(0, np.uint64)
        return np.sort(np.concatenate([none, *self._removed]))

    def of(self, columns: Mapping[str, Column], first_row: int) -> Mapping[str, Column]:
        """Return the rows of the next part that remain; the first of them gets the number `first_row`.

        Raise OptionError if a key is null, or with ``on_duplicate="raise"`` is in the store, in an earlier part, or twice
        in this one.
        """
        key, policy = self._rules.key, self._rules.on_duplicate
        if key is None:
            return columns
        keys = key.of(columns)
        places = last_places(keys) if policy == "replace" else first_places(keys)
        chosen = keys if len(places) == len(keys) else keys[places]
        present, earlier = self._find(chosen), self._find_earlier(key, chosen)
        again: Any = np.empty(0, np.uint64)
        if policy == "replace":
            again = np.sort(earlier.numbers[earlier.found])
            self._removed += [present.numbers[present.found & ~earlier.found], again]
        elif policy == "keep":
            places = places[~(present.found | earlier.found)]
        else:
            _refuse(keys, places[present.found], "in the store")
            _refuse(keys, places[earlier.found], "twice in the rows")
            if len(places) < len(keys):
                _refuse(keys, np.setdiff1d(np.arange(len(keys)), places), "twice in the rows")
        remaining = self._selected(columns, places)
        if len(places):
            self._unnoted.append(Change(first_row, again, {name: remaining[name] for name in key.names}))
        return remaining

    def _find_earlier(self, key: StoreKey, keys: Keys) -> FoundRows:
        """Return the row of each key in earlier parts. They are indexed only when a part needs it: not by ascending numbers."""
        if not len(keys) or self._are_higher(keys):
            return FoundRows(np.zeros(len(keys), np.uint64), np.zeros(len(keys), bool))
        if self._earlier is None:
            self._earlier = PublishedRows(StoreState(key.types, Main.empty(key.types)), key, self._rules.context)
        for change in self._unnoted:
            self._earlier.publish(self._earlier.state.after(change), change.removed, [change])
        self._unnoted = []
        return self._earlier.find(keys)[1]

    def _are_higher(self, keys: Keys) -> bool:
        """Return whether keys are numbers that are higher than those of all earlier parts, or there is no earlier part."""
        if not isinstance(keys, np.ndarray):
            return self._earlier is None and not self._unnoted
        before, highest = self._highest, keys.max()
        self._highest = highest if before is None else max(before, highest)
        return before is None or bool(keys.min() > before)

    def _selected(self, columns: Mapping[str, Column], places: Any) -> Mapping[str, Column]:
        if len(places) == len(next(iter(columns.values()))):
            return columns
        return {name: take_rows(column, places, self._rules.context.thread_count) for name, column in columns.items()}


def _refuse(keys: Keys, places: Any, where: str) -> None:
    """Raise OptionError if there are places of keys that are present."""
    if len(places):
        raise OptionError(f"the key {shown(key_value(keys, places[0]))} is {where}; {_ACCEPT}")
