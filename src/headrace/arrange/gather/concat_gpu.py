"""Concatenates columns of several tables on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headrace.arrange.gather.take_gpu import Taker, columns_launcher
from headrace.arrange.gather.tuning import TAKE_THREADS
from headrace.columns.column import Column
from headrace.columns.finish.gpu.concat import concat_on_gpu
from headrace.columns.types import DataType
from headrace.core.context import Context
from headrace.gpu.kernels.launcher import Launcher


def concat_columns(columns: Mapping[str, Sequence[Column]], kinds: Mapping[str, DataType], context: Context) -> dict[str, Column]:
    """Concatenate columns on one GPU.

    `columns`: the parts of each column by name. Parts that are not of type null have the column's type; ``string`` and
    ``large_string`` count as one.
    `kinds`: type of each column, which is no dictionary.
    """
    every = [part for parts in columns.values() for part in parts if part.type.name != "null"]
    if not every:
        return {name: _nulls(parts) for name, parts in columns.items()}
    with columns_launcher({str(number): part for number, part in enumerate(every)}, context) as (launcher, _):
        return {name: concat_column_with(launcher, parts, kinds[name]) for name, parts in columns.items()}


def concat_column_with(launcher: Launcher, parts: Sequence[Column], kind: DataType, *, threads: int = TAKE_THREADS) -> Column:
    """Concatenate parts of one column; tests use fewer threads per block."""
    if kind.name == "null":
        return _nulls(parts)
    whole = [len(part) if part.type.name == "null" else _from_first_row(launcher, part, threads) for part in parts]
    return concat_on_gpu(launcher, whole, kind)[0]


def _nulls(parts: Sequence[Column]) -> Column:
    rows = sum(map(len, parts))
    return replace(parts[0], length=rows, null_count=rows, offset=0)


def _from_first_row(launcher: Launcher, part: Column, threads: int) -> Column:
    """Return a column that begins at the begin of its buffers, and whose number of nulls is known."""
    if not part.offset and part.null_count >= 0:
        return part
    taker = Taker.of_all(launcher, len(part), threads=threads)
    given = replace(part, null_count=0 if part.validity is None else -1)  # that of a slice may be of all rows
    return taker.columns({"": given}, are_all=True)[""]
