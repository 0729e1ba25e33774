"""Reads rows of delimited files on request, as texts, with a few batches in memory.

Each batch that was reached has a position from which it can be read again. So going back re-reads one batch, whatever the size
of the file. Rows are counted as far as the files were read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from headrace import Position, Table, scan_csv

_CACHED_BATCHES = 4


class LazyRows:
    """Rows by number, read when they are first asked for. `source`, `options`: what `scan_csv` takes."""

    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        self._source, self._options = source, options
        self._starts: list[int] = []  # row at which each batch begins
        self._positions: list[Position | None] = [None]
        self._cache: OrderedDict[int, Table] = OrderedDict()
        scan = scan_csv(source, **options)
        self.names = list(scan.schema_table())
        self._scanned: Iterator[Table] = scan.batches()
        self.count = 0
        self.rejected = 0
        self.is_complete = False

    def row(self, number: int) -> list[str | None] | None:
        """Return the texts of a row, None for a null; None after the last row."""
        while number >= self.count and self.read_on():
            pass
        if not 0 <= number < self.count:
            return None
        place = bisect_right(self._starts, number) - 1
        table = self._batch(place)
        at = number - self._starts[place]
        return [None if column[at] is None else str(column[at]) for column in table.columns.values()]

    def read_on(self) -> bool:
        """Read one more batch; return whether there was one."""
        batch = None if self.is_complete else next(self._scanned, None)
        if batch is None:
            self.is_complete = True
            return False
        self._starts.append(self.count)
        self._keep(len(self._starts) - 1, batch)
        self._positions.append(batch.report.end)
        self.count += batch.num_rows
        self.rejected += batch.report.rejected
        return True

    def find(self, text: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the number of the first row from `start` on, or of the last up to it, that contains the text in any case."""
        wanted = text.casefold()
        last = bisect_right(self._starts, start) - 1
        for place in range(last, -1, -1) if backwards else self._places_from(max(last, 0)):
            first, rows = self._starts[place], self._batch(place).iter_rows()
            found = [first + at for at, row in enumerate(rows) if any(v is not None and wanted in str(v).casefold() for v in row)]
            found = [number for number in found if (number <= start if backwards else number >= start)]
            if found:
                return found[-1] if backwards else found[0]
        return None

    def _places_from(self, place: int) -> Iterator[int]:
        while place < len(self._starts) or self.read_on():
            yield place
            place += 1

    def _batch(self, place: int) -> Table:
        if place not in self._cache:
            with scan_csv(self._source, **self._options, resume=self._positions[place]) as scan:
                self._keep(place, next(scan.batches()))
        self._cache.move_to_end(place)
        return self._cache[place]

    def _keep(self, place: int, batch: Table) -> None:
        self._cache[place] = batch
        while len(self._cache) > _CACHED_BATCHES:
            self._cache.popitem(last=False)
