"""Describes the size of a store, and the damage that was found in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.store.engine import StoreEngine
    from headrace.store.state import StoreState


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """The main's part of a column.

    Parameters
    ----------
    distinct
        Number of distinct values.
    bits
        Bits of a code.
    nbytes
        Bytes of the dictionary, the codes and the validity.
    """

    distinct: int
    bits: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """The size of a store.

    Parameters
    ----------
    rows
        Number of rows.
    main_rows, delta_rows
        Rows of the main and of the delta, with those that are removed.
    removed_rows
        Removed rows that the next merge drops.
    main_bytes, delta_bytes
        Bytes of the columns in memory.
    log_bytes
        Bytes of the log that is written; 0 for a store in memory, and for a reader.
    merges
        Merges since the store was opened.
    merge_error
        Text of the error of the last merge that a threshold began. None if it succeeded, or a call has raised the error.
    torn_bytes
        Bytes at the end of the log that a crash had cut off, and that were dropped when the store was opened.
    columns
        The main's part of each column.
    """

    rows: int
    main_rows: int
    delta_rows: int
    removed_rows: int
    main_bytes: int
    delta_bytes: int
    log_bytes: int
    merges: int
    merge_error: str | None
    torn_bytes: int
    columns: Mapping[str, ColumnStatistics]


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The result of `Store.salvage`.

    Parameters
    ----------
    rows
        Number of rows of the copy.
    file
        Name of the damaged file; None if none is.
    offset
        Offset of the damage in bytes.
    reason
        The check that failed.
    lost_columns
        Names of the columns whose values were lost in the rows that had been merged. The copy has nulls there.
    """

    rows: int
    file: str | None
    offset: int | None
    reason: str | None
    lost_columns: list[str]


def statistics_of(state: StoreState, engine: StoreEngine | None, torn_bytes: int) -> StoreStatistics:
    """Return the statistics of a store; `engine` is None for a reader."""
    folder = None if engine is None else engine.folder
    columns = {
        name: ColumnStatistics(len(column.dictionary), column.bits, column.nbytes) for name, column in state.main.columns.items()
    }
    return StoreStatistics(
        rows=state.num_rows,
        main_rows=len(state.main.rows),
        delta_rows=state.delta_rows,
        removed_rows=state.removed_rows,
        main_bytes=state.main.nbytes,
        delta_bytes=state.delta_bytes,
        log_bytes=0 if folder is None else folder.log.size,
        merges=0 if engine is None else engine.merge_count,
        merge_error=None if engine is None or engine.merge_error is None else str(engine.merge_error),
        torn_bytes=torn_bytes,
        columns=columns,
    )
