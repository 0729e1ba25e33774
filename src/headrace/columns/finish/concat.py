"""Several loads to one table: types that hold for all of them, and their columns below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from headrace import _native
from headrace.columns.buffers.load_result import Evidence, evidence_of
from headrace.columns.column import Column
from headrace.columns.native_columns import column_of, type_named
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

JoinPart: TypeAlias = int | Column | tuple[Column, int, int]
"""Rows of a joined column: so many nulls; a column's; or one row of a column, so many times."""


@dataclass(slots=True)
class SharedLoads:
    """What the loads of several files have in common: the kinds of text in their columns, and the memory they may take.

    Each `load` with this in its plan begins with the types that the files before it call for. A file whose types differ from
    `types` in the end has to be loaded again, until none does; and once more after `settle`.

    Parameters
    ----------
    native
        The state.
    threads
        For `join`.
    """

    native: _native.LoadShare
    threads: int

    @classmethod
    def of(cls, columns: int, context: Context) -> SharedLoads:
        """For so many columns in all files."""
        return cls(_native.LoadShare(columns, context.memory_limit or 0), context.thread_count)

    def types(self) -> list[DataType]:
        """The type that the text of each column calls for so far."""
        return [type_named(name) for name in self.native.types()]

    def settle(self) -> None:
        """From now on a value that its column's type does not hold makes the column text in all files.

        Every file has been loaded with the type that the kinds of all files call for, so the first such value is known.
        """
        self.native.with_unfit = True

    def evidence(self, files: Sequence[str]) -> list[Evidence | None]:
        """The field that settled each type, by file, then byte; `files` are their names."""
        return [evidence_of(found, files) for found in self.native.evidence()]

    def join(self, parts: Sequence[JoinPart], kind: DataType, *, shrink: bool = False) -> tuple[Column, int | None]:
        """Parts of one type (string and large_string are one) below each other, as a column; and the row that settled its type.

        Parameters
        ----------
        parts
            From the top.
        kind
            Their type.
        shrink
            Whether to give int64 and float64 the smallest type that holds the values.
        """
        length = sum(part if isinstance(part, int) else part[2] if isinstance(part, tuple) else part.length for part in parts)
        with native_errors():
            joined, settled = _native.join_columns(list(parts), kind, self.native, self.threads, shrink)
        return column_of(joined, length), settled


def locate(
    source: OpenSource, dialect: Dialect, plan: LoadPlan, rows: Sequence[int | None], rejected: Sequence[int]
) -> list[Evidence | None]:
    """The field of each column in the row that `rows` names.

    Parameters
    ----------
    source, dialect, plan
        As they were loaded.
    rows
        One for each column, from 0; None for none.
    rejected
        Numbers of the records that are no rows, ascending.
    """
    with native_errors():
        found = _native.locate_rows(source.native, _native.Dialect.make(dialect), plan, list(rows), list(rejected))
    return [evidence_of(field) for field in found]
