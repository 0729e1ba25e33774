"""Writes the items of maps to Arrow files, and reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from headrace.columns.column import Column
from headrace.core.errors import MemoryLimitError, MissingDependencyError, OptionError
from headrace.export.arrow.from_arrow import column_from_arrow
from headrace.export.target.atomic_file import final_path, moved_when_whole

_KEY, _VALUE = "key", "value"
_TEXT = "string"  # type of keys that are texts, in the description
_BATCH_ROWS = 1 << 20


class MapFile(NamedTuple):
    """The content of a file."""

    words: Sequence[str]  # description of the map, words without blanks
    keys: Any  # a dictionary of arrays if the keys have several columns
    values: Any  # arrays of NumPy; texts are a `Column`, and `values` is None if the map has keys alone


def write_items(path: str | os.PathLike[str], label: str, content: MapFile) -> None:
    """Write the columns of keys, and one of values unless they are None. A crash leaves the old file or the new one.

    Raise MissingDependencyError if PyArrow is not installed. Raise OSError if the file cannot be written.

    `path`: path of the file, which is replaced if it exists.
    `label`: kind of the map, the name of the description in the file.
    """
    arrow = _arrow("writing Arrow files")
    named = {f"{_KEY}.{name}": items for name, items in content.keys.items()} if isinstance(content.keys, dict) else None
    columns = named or {_KEY: content.keys}
    if content.values is not None:
        columns[_VALUE] = content.values
    table = arrow.table({name: _column(arrow, items) for name, items in columns.items()})
    # The types of NumPy have durations and dates that Arrow stores by another name.
    table = table.replace_schema_metadata({_metadata_key(label): " ".join(content.words).encode()})
    with (
        moved_when_whole(final_path(path), is_durable=True) as temporary,
        arrow.OSFile(os.fsencode(temporary), "wb") as sink,
        import_module("pyarrow.ipc").new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table, max_chunksize=_BATCH_ROWS)


def read_items(path: str | os.PathLike[str], label: str, writer: str) -> MapFile:
    """Return the content of a file. Keys and values are of the types that Arrow has.

    `path`, `label`: as for `write_items`. `writer`: name of the method that writes such files, for errors. Raise OptionError
    if the file is no Arrow file of such a map, or is damaged. Raise MemoryLimitError if the file has more items than memory.
    Raise MissingDependencyError if PyArrow is not installed. Raise OSError if the file cannot be read.
    """
    arrow, name = _arrow("reading Arrow files"), repr(os.fspath(path))
    with arrow.OSFile(os.fsencode(path), "rb") as source:
        try:
            table = import_module("pyarrow.ipc").open_file(source).read_all()
            table.validate(full=True)
            names, described = table.column_names, (table.schema.metadata or {}).get(_metadata_key(label))
        except MemoryError as error:
            raise MemoryLimitError(f"{name} does not fit in memory, or is damaged: {error}") from None
        except (arrow.ArrowException, UnicodeDecodeError) as error:
            raise OptionError(f"{name} is no Arrow file, or is damaged: {error}") from None
        except OSError as error:  # without a number it is PyArrow's for a file that ends early
            if error.errno is not None:
                raise
            raise OptionError(f"{name} is damaged: {error}") from None
    keys = names[:-1] if names[-1:] == [_VALUE] else names
    is_composite = bool(keys) and all(title.startswith(f"{_KEY}.") for title in keys) and len(set(keys)) == len(keys)
    if described is None or not (keys == [_KEY] or is_composite):
        raise OptionError(f"{name} is no file of {writer}: it has the columns {', '.join(names)}")
    words = described.decode(errors="replace").split(" ")
    types = "".join(words[1:2]).split(",")
    if len(types) != len(keys):
        raise OptionError(f"{name} is damaged: {len(keys)} columns of keys have {len(types)} types")
    columns = [
        _items(column, f"column {title!r} of {name}", has_texts=typestr == _TEXT)
        for title, column, typestr in zip(names, table.columns, [*types, ""][: len(names)], strict=True)
    ]
    values = columns[-1] if len(columns) > len(keys) else None
    if not is_composite:
        return MapFile(words, columns[0], values)
    return MapFile(words, {title[len(_KEY) + 1 :]: items for title, items in zip(keys, columns, strict=False)}, values)


def _items(column: Any, name: str, *, has_texts: bool) -> Any:
    """Return the items of a column of Arrow as an array of NumPy, or a column of texts."""
    if column.null_count > 0:
        raise OptionError(f"{name} has nulls, which no map has")
    if has_texts:
        return column_from_arrow(column, name, "a column of texts")
    items = column.to_numpy()
    if items.dtype.kind not in "iufmM":
        raise OptionError(f"{name} is of type {column.type}, which no map has")
    return items


def on_host(items: Any) -> Any:
    """Return an array of a GPU as one of NumPy, and others as they are."""
    return items.to_numpy() if hasattr(items, "to_numpy") else items


def _metadata_key(label: str) -> bytes:
    return f"headrace.{label}".encode()


def _column(arrow: Any, items: Any) -> Any:
    """Return an array of Arrow for items of NumPy, or for a column of texts.

    Times whose unit Arrow lacks, times with NaT, and dates outside of its 32 bits are written as their number: PyArrow makes
    a null of NaT.
    """
    if isinstance(items, Column):
        return arrow.array(items)
    if items.dtype.kind in "mM" and len(items) > 0:
        numbers = items.view("i8")
        is_date = items.dtype.str == "<M8[D]"
        if numbers.min() == -(1 << 63) or (is_date and (numbers.min() < -(1 << 31) or numbers.max() >= 1 << 31)):
            return arrow.array(numbers)
    try:
        return arrow.array(items)
    except (arrow.ArrowNotImplementedError, arrow.ArrowInvalid):
        return arrow.array(items.view("i8"))


def _arrow(purpose: str) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise MissingDependencyError.of("pyarrow", "arrow", purpose) from None
