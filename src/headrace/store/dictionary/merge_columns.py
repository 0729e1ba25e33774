"""Merges the columns of a table side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from math import ceil, sqrt
from typing import Any

from headrace.columns.column import Column
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import instance
from headrace.store.dictionary.encode import merge
from headrace.store.dictionary.encoded_column import EncodedColumn


def merge_columns(
    mains: Mapping[str, EncodedColumn],
    deltas: Mapping[str, EncodedColumn | Column],
    keep: Any = None,
    *,
    context: Context | None = None,
) -> dict[str, EncodedColumn]:
    """Merge each main column with the delta of its name, several columns at a time.

    Parameters
    ----------
    mains
        The main columns by name.
    deltas
        The deltas by name, the same names.
    keep
        As of `merge`, for the rows of all columns.
    context
        Threads, which the columns share, and memory that may be used. One column at a time is on a GPU, while others are
        read and encoded.

    Returns
    -------
    dict
        The merged columns, in the order of `mains`.

    Raises
    ------
    OptionError
        The names differ, or as `merge`.

    Examples
    --------
    >>> from headrace import read_csv
    >>> from headrace.store.dictionary.decode import decode
    >>> from headrace.store.dictionary.encode import encode
    >>> main = {"x": encode(read_csv(b"x\\n3\\n")["x"])}
    >>> merged = merge_columns(main, {"x": read_csv(b"x\\n1\\n")["x"]})
    >>> {name: decode(column).to_pylist() for name, column in merged.items()}
    {'x': [3, 1]}
    """
    for side, given in (("mains", mains), ("deltas", deltas)):
        if not isinstance(given, Mapping):
            raise OptionError.wrong(side, "a mapping of names to columns", given)
    for main in mains.values():
        instance("mains", main, EncodedColumn)
    if set(mains) != set(deltas):
        raise OptionError(f"deltas have the columns {sorted(deltas)}, and mains {sorted(mains)}")
    with merging_columns(mains, deltas.__getitem__, keep, context_of(context)) as found:
        return {name: column.result() for name, column in found.items()}


@contextmanager
def merging_columns(
    mains: Mapping[str, EncodedColumn], delta_of: Callable[[str], EncodedColumn | Column], keep: Any, context: Context
) -> Iterator[dict[str, Future[EncodedColumn]]]:
    """Merge each main column with the delta that a function returns for its name, as by `merge_columns`, during the body.

    The function is called when the column's merge begins, in its thread. So few deltas are in memory at a time.
    """

    def merged(name: str) -> EncodedColumn:
        return merge(mains[name], delta_of(name), keep, context=shared)

    # Columns with many distinct values take longest. They begin first, and each column has several of many threads.
    workers = max(1, min(ceil(sqrt(context.thread_count)), len(mains)))
    shared = replace(context, threads=max(1, context.thread_count // workers))
    longest_first = sorted(mains, key=lambda name: len(mains[name].dictionary), reverse=True)
    with ThreadPoolExecutor(workers) as pool:
        found = {name: pool.submit(merged, name) for name in longest_first}
        try:
            yield {name: found[name] for name in mains}
        finally:
            pool.shutdown(cancel_futures=True)  # if the body has failed, as on a full disk
