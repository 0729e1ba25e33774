"""Numbers of a store's rows: each row keeps the number that it got when it was added, from 0 on.

The rows of a store are in the order of their numbers, so that numbers are runs of consecutive integers. A merge drops removed
rows, and the numbers of the others stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.core.errors import MissingDependencyError

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None


@dataclass(frozen=True, slots=True)
class RowRuns:
    """Numbers of rows, ascending."""

    starts: Any  # first number of each run, an array of uint64
    places: Any  # position of the first row of each run, and after it the number of rows: an array of uint64

    @classmethod
    def of_runs(cls, starts: Any, lengths: Any) -> RowRuns:
        """Return the numbers of runs, each from a start on; the arrays have one item a run."""
        places: Any = np.zeros(len(starts) + 1, np.uint64)
        np.cumsum(np.asarray(lengths, np.uint64), out=places[1:])
        return cls(np.asarray(starts, np.uint64), places)

    @classmethod
    def of_numbers(cls, numbers: Any) -> RowRuns:
        """Return ascending numbers, an array of uint64, as runs.

        Examples
        --------
        >>> rows = RowRuns.of_numbers(np.array([3, 4, 9], np.uint64))
        >>> rows.starts.tolist(), rows.places.tolist()
        ([3, 9], [0, 2, 3])
        """
        if not len(numbers):
            return cls.of_runs([], [])
        begins = np.flatnonzero(np.concatenate(([True], np.diff(numbers) != 1)))
        return cls.of_runs(numbers[begins], np.diff(np.concatenate((begins, [len(numbers)]))))

    def __len__(self) -> int:
        return int(self.places[-1])

    def then(self, later: RowRuns) -> RowRuns:
        """Return these numbers and then greater ones."""
        places = np.concatenate((self.places, later.places[1:] + self.places[-1]))
        return RowRuns(np.concatenate((self.starts, later.starts)), places)

    def numbers(self) -> Any:
        """Return the number of each row, an array of uint64.

        Examples
        --------
        >>> RowRuns.of_runs([3, 9], [2, 1]).numbers().tolist()
        [3, 4, 9]
        """
        steps: Any = np.ones(len(self), np.uint64)
        lengths = np.diff(self.places)
        starts, lengths = self.starts[lengths > 0], lengths[lengths > 0]
        if len(starts):
            steps[0] = starts[0]
            steps[np.cumsum(lengths[:-1])] = starts[1:] - (starts[:-1] + lengths[:-1] - np.uint64(1))
        return np.cumsum(steps)  # np.repeat holds the interpreter's lock, as does a sum to an array that is given

    def positions(self, numbers: Any) -> tuple[Any, Any]:
        """Return the position of each row number, and whether there is one: arrays of uint64 and bool.

        Examples
        --------
        >>> rows = RowRuns.of_runs([3, 9], [2, 1])
        >>> [part.tolist() for part in rows.positions(np.array([9, 4, 5], np.uint64))]
        [[2, 1, 0], [True, True, False]]
        """
        numbers = np.asarray(numbers, np.uint64)
        if not len(self.starts):
            return np.zeros(len(numbers), np.uint64), np.zeros(len(numbers), bool)
        run = np.searchsorted(self.starts, numbers, "right") - 1
        within = numbers - self.starts[run]
        found = (run >= 0) & (within < self.places[run + 1] - self.places[run])
        return np.where(found, self.places[run] + within, np.uint64(0)), found

    def at(self, positions: Any) -> Any:
        """Return the row numbers at positions, which are in range: an array of uint64.

        Examples
        --------
        >>> RowRuns.of_runs([3, 9], [2, 1]).at(np.array([2, 0])).tolist()
        [9, 3]
        """
        positions = np.asarray(positions, np.uint64)
        run = np.searchsorted(self.places, positions, "right") - 1
        return self.starts[run] + (positions - self.places[run])
