"""Summarises the values of a column batch by batch, in bounded memory.

Range and nulls are exact. Histogram and frequent values are those of a sample of rows: every row at first, and half of the
sample whenever it is full. A hash of the row number chooses, because evenly spaced rows misrepresent periodic values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

_HASH_FACTOR = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: multiplicative hashing
_BINS = 24
_FREQUENT = 8
_TEXT_LENGTH = 200
"""Characters of a text that the sample and the range keep."""


@dataclass(slots=True)
class RowSample:
    """Chooses the rows of a sample, the same ones for all columns.

    Parameters
    ----------
    size
        Greatest number of rows.
    step
        One of `step` rows is chosen, a power of two.
    rows, count
        Number of rows up to here, and of chosen ones.
    """

    size: int
    step: int = 1
    rows: int = 0
    count: int = 0

    def places(self, length: int) -> list[int]:
        """Return the chosen ones among the next `length` rows, as numbers of rows."""
        rows = range(self.rows, self.rows + length)
        places = [row for row in rows if self.has(row)]
        self.rows += length
        self.count += len(places)
        while self.count > self.size:
            self.step *= 2
            self.count //= 2
        return [row for row in places if self.has(row)]

    def has(self, row: int) -> bool:
        """Return whether a row is chosen."""
        return (row * _HASH_FACTOR >> 32) & (self.step - 1) == 0


@dataclass(slots=True)
class ColumnSummary:
    """The values of a column up to here.

    Parameters
    ----------
    nulls, lowest, highest
        Exact figures of all rows; NaN has no place in the range.
    sample, step
        Rows of the sample with values that are not null, and the step of the sample.
    rows
        Number of rows.
    """

    nulls: int = 0
    lowest: Any = None
    highest: Any = None
    sample: list[tuple[int, Any]] = field(default_factory=list)
    step: int = 1
    rows: int = 0

    def add(self, values: Sequence[Any], chosen: RowSample, places: Sequence[int]) -> None:
        """Add the values of the next rows, of which `places` are in the sample."""
        present = [value for value in values if value is not None and not _is_nan(value)]
        self.nulls += values.count(None)
        if present:
            low, high = _shortened(min(present)), _shortened(max(present))
            self.lowest = low if self.lowest is None else min(self.lowest, low)
            self.highest = high if self.highest is None else max(self.highest, high)
        if self.step < chosen.step:
            self.step = chosen.step
            self.sample = [(row, value) for row, value in self.sample if chosen.has(row)]
        own = [(row, values[row - self.rows]) for row in places]
        self.sample += [(row, _shortened(value)) for row, value in own if value is not None]
        self.rows += len(values)

    def frequent(self) -> list[tuple[Any, int]]:
        """Return the most frequent values of the sample with their counts; none if all differ."""
        found = Counter(value for _, value in self.sample).most_common(_FREQUENT)
        return found if found and found[0][1] > 1 else []

    def histogram(self) -> list[int]:
        """Return the number of values of the sample in equal parts of the range; none for values without a distance."""
        low, high = _number(self.lowest), _number(self.highest)
        if low is None or high is None or not high - low < float("inf"):
            return []
        bins = [0] * _BINS
        scale = _BINS / (high - low) if high > low else 0.0
        for _, value in self.sample:
            place = _number(value)
            if place is not None and low <= place <= high:
                bins[min(int((place - low) * scale), _BINS - 1)] += 1
        return bins


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | Decimal) and math.isnan(value)


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
