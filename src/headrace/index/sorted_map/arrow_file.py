"""Writes the items of a sorted map to Arrow files, and reads them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from headrace.arrange.sort.sort import is_sorted
from headrace.core.errors import MissingDependencyError, OptionError
from headrace.export.target.atomic_file import final_path, moved_when_whole
from headrace.index.sorted_map.key_types import MapTypes

_KEY, _VALUE = "key", "value"
_BATCH_ROWS = 1 << 20


def write_items(path: str | os.PathLike[str], types: MapTypes, keys: Any, values: Any) -> None:
    """Write a column of keys, and one of values unless they are None.

    Raises
    ------
    MissingDependencyError
        PyArrow is not installed.
    OSError
        The file cannot be written.
    """
    arrow = _arrow("writing Arrow files")
    columns = {_KEY: keys} if values is None else {_KEY: keys, _VALUE: values}
    table = arrow.table({name: _column(arrow, items) for name, items in columns.items()})
    # The types of NumPy have durations and dates that Arrow stores by another name.
    table = table.replace_schema_metadata({b"headrace.sorted_map": f"{types.key} {types.value or ''}".encode()})
    with (
        moved_when_whole(final_path(path)) as temporary,
        arrow.OSFile(str(temporary), "wb") as sink,
        import_module("pyarrow.ipc").new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=_BATCH_ROWS)


def read_items(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """Return keys and values, or None for values, as arrays of NumPy.

    Raises
    ------
    OptionError
        The file is no Arrow file of a sorted map.
    MissingDependencyError
        PyArrow is not installed.
    OSError
        The file cannot be read.
    """
    arrow = _arrow("reading Arrow files")
    with arrow.OSFile(os.fspath(path), "rb") as source:
        try:
            table = import_module("pyarrow.ipc").open_file(source).read_all()
        except arrow.ArrowInvalid as error:
            raise OptionError(f"{os.fspath(path)!r} is no Arrow file: {error}") from None
    names, described = table.column_names, (table.schema.metadata or {}).get(b"headrace.sorted_map")
    if described is None or names not in ([_KEY], [_KEY, _VALUE]):
        raise OptionError(f"{os.fspath(path)!r} is no file of SortedMap.save: it has the columns {', '.join(names)}")
    types = described.decode().split(" ")
    columns = [column.to_numpy().view(dtype) for column, dtype in zip(table.columns, types, strict=False)]
    keys = columns[0]
    if len(keys) and not (is_sorted(keys) and bool((keys[1:] != keys[:-1]).all())):
        raise OptionError(f"{os.fspath(path)!r} has keys that are not in ascending order, or equal ones")
    return keys, columns[1] if len(columns) > 1 else None


def _column(arrow: Any, items: Any) -> Any:
    """Return an array of Arrow; times whose unit Arrow lacks are written as their number."""
    try:
        return arrow.array(items)
    except (arrow.ArrowNotImplementedError, arrow.ArrowInvalid):
        return arrow.array(items.view("i8"))


def _arrow(purpose: str) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise MissingDependencyError.of("pyarrow", "arrow", purpose) from None
