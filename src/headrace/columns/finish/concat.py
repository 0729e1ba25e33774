"""Combines several loads into one table: finds types that all files share, and concatenates their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from headrace import _native
from headrace.columns.buffers.load_result import Evidence, evidence_of
from headrace.columns.column import Column
from headrace.columns.native_columns import column_of, type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

JoinPart: TypeAlias = int | Column | tuple[Column, int, int]
"""A part of a concatenated column: a number of nulls, a column, or (column, row, times)."""


@dataclass(slots=True)
class SharedLoads:
    """State that the loads of several files share: the kinds of text in their columns, and their memory limit.

    Each `load` with this state begins with the types that the preceding files imply. A file whose final types differ from `types`
    must be loaded again, until there is none. One more round follows if the state then makes columns text.
    """

    native: _native.LoadShare  # the native state
    threads: int  # number of threads of `join`

    @classmethod
    def of(cls, columns: int, context: Context) -> SharedLoads:
        """Return the state for a number of columns in all files together."""
        return cls(_native.LoadShare(columns, context.memory_limit or 0), context.thread_count)

    def types(self) -> list[DataType]:
        """Return the type that the text of each column implies up to here."""
        return [type_named(name) for name in self.native.types()]

    def include_unfit(self) -> None:
        """Make a column text in all files from now on if its type cannot represent one of its values.

        Every file must have been loaded with the type that the kinds of all files imply, so that the first such value is known.
        """
        self.native.with_unfit = True

    def evidence(self, files: Sequence[str] | None) -> list[Evidence | None]:
        """Return the field that decided each type: the first by file, then byte. `files`: names of the files, if several."""
        return [evidence_of(found, files) for found in self.native.evidence()]

    def join(self, parts: Sequence[JoinPart], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        """Concatenate parts of one type; string and large_string count as one.

        Raise OptionError if a column is a slice, whose rows do not begin at the begin of its buffers.

        `kind`: their type.
        `shrink`: whether int64 and float64 get the smallest type that represents the values.
        Result: the column, and the row that decided its shrunk type.
        """
        for part in parts:
            column = part[0] if isinstance(part, tuple) else part
            if isinstance(column, Column) and column.offset:
                raise OptionError(f"a column begins at row {column.offset} of its buffers; copy it before it is concatenated")
        length = sum(part if isinstance(part, int) else part[2] if isinstance(part, tuple) else part.length for part in parts)
        with native_errors():
            joined, deciding_row = _native.join_columns(list(parts), kind, self.native, self.threads, shrink)
        column = column_of(joined, length)
        # Native types have no name of a zone.
        return replace(column, type=kind) if kind.name == "timestamp" else column, deciding_row


def locate(
    source: OpenSource, dialect: Dialect, plan: LoadPlan, rows: Sequence[int | None], rejected: Sequence[int]
) -> list[Evidence | None]:
    """Return the field of each column in the given row.

    `rows`: a row for each column, from 0, or None.
    `rejected`: numbers of the rejected records, ascending.
    """
    with native_errors():
        found = _native.locate_rows(source.native, _native.Dialect.make(dialect), plan, list(rows), list(rejected))
    return [evidence_of(field) for field in found]
