"""An immutable sequence that shares its items with the longer ones that are made from it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Prefix(Generic[ItemT]):
    """The first items of a list that only grows. One thread at a time appends; any number of threads read.

    >>> one = Prefix().appended("a")
    >>> two = one.appended("b")
    >>> list(one), list(two), two.items is one.items
    (['a'], ['a', 'b'], True)
    """

    items: list[ItemT] = field(default_factory=list)
    count: int = 0  # number of the items that belong to this sequence

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[ItemT]:
        return islice(self.items, self.count)

    def appended(self, item: ItemT) -> Prefix[ItemT]:
        """Return a sequence with one more item. It shares the list, unless another one was made from this sequence before."""
        items = self.items if len(self.items) == self.count else self.items[: self.count]
        items.append(item)
        return Prefix(items, self.count + 1)

    def last_up_to(self, limit: int, key: Callable[[ItemT], int]) -> ItemT:
        """Return the last item whose key is at most a limit. Keys ascend, and there is such an item.

        >>> Prefix().appended("a").appended("ccc").last_up_to(2, len)
        'a'
        """
        return self.items[bisect_right(self.items, limit, hi=self.count, key=key) - 1]

    def after(self, earlier: Prefix[ItemT]) -> Prefix[ItemT]:
        """Return the items that are not in an earlier sequence of the same history."""
        return Prefix(self.items[earlier.count : self.count], self.count - earlier.count)
