"""What was made of values that are seldom new: kept for the next call with the very same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

MadeT = TypeVar("MadeT")


class Recent(Generic[MadeT]):
    """The last few results, found again by the identity of what they were made of, which nobody may change.

    So values that cannot be hashed, or are long to hash, cost nothing. What a result was made of is held as long as it is.
    Any thread may ask; two that miss at once both make the result, and one of them is kept.

    Parameters
    ----------
    most
        So many results are kept.

    Examples
    --------
    >>> lengths, items = Recent(2), [1, 2, 3]
    >>> lengths.of(lambda: len(items), items), lengths.of(lambda: -1, items)
    (3, 3)
    """

    def __init__(self, most: int = 32) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[tuple[Any, ...], MadeT]] = {}

    def of(self, make: Callable[[], MadeT], *values: Any, key: Hashable = None) -> MadeT:
        """What `make` gave, or gives, for these very values, and for a key that is equal to this one."""
        name = (key, *map(id, values))
        found = self._kept.get(name)
        if found is None:
            found = values, make()
            while len(self._kept) >= self._most:
                for oldest in list(self._kept)[:1]:  # none, if other threads have removed them all meanwhile
                    self._kept.pop(oldest, None)
            self._kept[name] = found
        return found[1]
