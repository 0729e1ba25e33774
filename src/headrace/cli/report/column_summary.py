"""Summarises the values of a column batch by batch, in bounded memory.

Range and nulls are exact. Histogram and frequent values are those of a sample of rows: every row at first, and half of the
sample whenever it is full. The sample has one row of each group of `step` rows. A hash chooses it, because evenly spaced rows
misrepresent periodic values.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from headrace import Column
from headrace.api.column_values import take_rows, value_range

_HASH_FACTOR = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: multiplicative hashing
_BINS = 24
_FREQUENT = 8
_TEXT_LENGTH = 200  # characters of a text that the sample and the range keep


@dataclass(slots=True)
class RowSample:
    """Chooses the rows of a sample, the same ones for all columns."""

    size: int  # greatest number of rows, about
    step: int = 1  # one of `step` rows is chosen, a power of two
    rows: int = 0  # number of rows up to here
    chosen: list[int] = field(default_factory=list)  # rows of the sample, ascending
    remaining: list[int] | None = None
    """Positions in the sample before the last call of `places` that are still in it; None for all."""

    def places(self, length: int) -> array[int]:
        """Return the chosen ones among the next `length` rows, counted from the first of them."""
        before, count = self.step, len(self.chosen)
        while count * before // self.step + length // self.step > self.size:
            self.step *= 2
        self.remaining = None
        if self.step > before:
            self.remaining = [position for position, row in enumerate(self.chosen) if self.has(row)]
            self.chosen = [self.chosen[position] for position in self.remaining]
        begin, self.rows = self.rows, self.rows + length
        groups = range(begin // self.step, (self.rows - 1) // self.step + 1)
        rows = [row for row in map(self._row_of, groups) if begin <= row < self.rows]
        self.chosen += rows
        return array("Q", [row - begin for row in rows])

    def has(self, row: int) -> bool:
        """Return whether a row is chosen."""
        return self._row_of(row // self.step) == row

    def _row_of(self, group: int) -> int:
        """Return the chosen row of a group of `step` rows. It is chosen in smaller groups too: a bit of a hash selects a half."""
        size = self.step
        while size > 1:
            group = 2 * group + ((group + size) * _HASH_FACTOR >> 61 & 1)
            size //= 2
        return group


@dataclass(slots=True)
class ColumnSummary:
    """The values of a column up to here."""

    nulls: int = 0
    lowest: Any = None
    highest: Any = None  # exact figures of all rows; NaN has no place in the range
    sample: list[Any] = field(default_factory=list)
    step: int = 1  # values of the sample's rows, None for null; and the step of the sample
    rows: int = 0  # number of rows

    def add(self, column: Column, chosen: RowSample, places: array[int]) -> None:
        """Add the values of the next rows, of which `places` are in the sample."""
        self.nulls += column.null_count
        if (found := value_range(column)) is not None:
            low, high = map(_shortened, found)
            self.lowest = low if self.lowest is None else min(self.lowest, low)
            self.highest = high if self.highest is None else max(self.highest, high)
        if chosen.remaining is not None:
            self.sample = [self.sample[position] for position in chosen.remaining]
        values = take_rows(column, places).to_pylist()
        self.sample += map(_shortened, values) if isinstance(next(filter(None, values), None), str) else values
        self.step = chosen.step
        self.rows += len(column)

    def frequent(self) -> list[tuple[Any, int]]:
        """Return the most frequent values of the sample with their counts; none if all differ."""
        found = Counter(value for value in self.sample if value is not None).most_common(_FREQUENT)
        return found if found and found[0][1] > 1 else []

    def histogram(self) -> list[int]:
        """Return the number of values of the sample in equal parts of the range; none for values without a distance."""
        low, high = _number(self.lowest), _number(self.highest)
        if low is None or high is None or not high - low < float("inf"):
            return []
        bins = [0] * _BINS
        scale = _BINS / (high - low) if high > low else 0.0
        for value in self.sample:
            place = _number(value)
            if place is not None and low <= place <= high:
                bins[min(int((place - low) * scale), _BINS - 1)] += 1
        return bins


def _shortened(value: Any) -> Any:
    return value[:_TEXT_LENGTH] if isinstance(value, str) else value


def _number(value: Any) -> float | None:
    """Return a number that grows with a value; None for a value without distances, and for values beyond floats."""
    if isinstance(value, date):
        clock = value.time() if hasattr(value, "time") else time()  # a datetime has the time of a day
        return value.toordinal() * 86_400.0 + _seconds(clock)
    if isinstance(value, time):
        return _seconds(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def _seconds(value: time) -> float:
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
