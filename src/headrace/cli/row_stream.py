"""Passes the batches of a read to writers as Arrow streams, and keeps their rejects in a temporary file."""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headrace import Table
from headrace.api.files import ArrowBatch, stream_of_batches, write_csv, write_table

STDOUT = "-"
_FIRST_FAULTS = 5


@dataclass(slots=True)
class RowStream:
    """Tables of the same columns as an Arrow stream, whose failure a writer cannot hide."""

    like: Table  # a table of these columns without rows
    tables: Iterator[Table]  # the tables, each read on request
    failure: BaseException | None = None
    """The exception that ended `tables`. Through Arrow's interface a writer sees its text only."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow C stream. `requested_schema` is ignored, as Arrow allows."""
        return stream_of_batches(self.like.columns, self._batches())

    def _batches(self) -> Iterator[ArrowBatch]:
        try:
            for table in self.tables:
                yield ArrowBatch(table.to("cpu").columns, table.num_rows)
        except GeneratorExit:  # the writer failed
            raise
        except BaseException as failure:
            self.failure = failure
            raise

    def write(self, target: str) -> None:
        """Write to a file, or to standard output as CSV. Errors are those of `tables` and of the writer."""
        try:
            if target == STDOUT:
                write_csv(self, sys.stdout.buffer)
            else:
                write_table(self, target)
        except Exception:
            if self.failure is not None:
                raise self.failure from None
            raise


@dataclass(slots=True)
class RejectSpool:
    """The rejects of all batches, in a temporary file, so that bad data does not fill the memory."""

    like: Table  # a table of rejects without rows
    first: list[dict[str, Any]] = field(default_factory=list)  # the first five faults
    _file: Any = field(default_factory=tempfile.TemporaryFile)

    def add(self, rejects: Table) -> None:
        """Keep the rejects of a batch."""
        if rejects.num_rows:
            self.first += rejects[: _FIRST_FAULTS - len(self.first)].iter_rows(named=True)
            pickle.dump(rejects, self._file)

    def write(self, target: str) -> None:
        """Write all rejects to a file."""
        self._file.seek(0)
        RowStream(self.like, self._tables()).write(target)

    def _tables(self) -> Iterator[Table]:
        while True:
            try:
                yield pickle.load(self._file)
            except EOFError:
                return


class RowCutter:
    """Cuts batches into runs of rows, for one output file each, without a copy."""

    def __init__(self, batches: Iterator[Table]) -> None:
        self._batches = batches
        self._rest: Table | None = None

    def has_rows(self) -> bool:
        """Return whether rows are left; reads a batch if needed."""
        while self._rest is None or not self._rest.num_rows:
            self._rest = next(self._batches, None)
            if self._rest is None:
                return False
        return True

    def take(self, rows: int) -> Iterator[Table]:
        """Yield tables of `rows` rows together, or of those that are left."""
        while rows and self.has_rows():
            assert self._rest is not None
            piece, self._rest = self._rest[:rows], self._rest[rows:]
            rows -= piece.num_rows
            yield piece
