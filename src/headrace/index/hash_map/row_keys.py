"""Packs keys of several columns into texts, by which a map in host memory finds them, and unpacks these texts.

A text has the values of a row one after another (packed_rows.hpp). The order of the texts is that of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace import _native
from headrace.arrange.gather.take import take_rows
from headrace.arrange.partition_rows.rows import compared_columns
from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import needed_numpy, width_of
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of, empty_buffer
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import OptionError, shown
from headrace.export.arrow.from_arrow import column_from_arrow
from headrace.index.hash_map.pair_types import MAX_BATCH, TEXT, array_of

_TEXTS = "a text, or a list, an array, a Series or a column of texts"
_ROWS = "a table, a frame or a mapping with these columns, a list of tuples, or a tuple"
_CPU = Device()
KeyColumns = Sequence[tuple[str, str]]  # name and type of each column of the keys


@dataclass(frozen=True, slots=True)
class _Part:
    """A column of rows that are packed."""

    length: int
    described: tuple[Any, int, int]  # the fields of a ``PackedColumn`` (packed_rows.hpp)
    held: Any  # the owners of its memory


def packed_rows(keys: Any, columns: KeyColumns, context: Context) -> Column:
    """Return the keys of a caller as a column of texts. Raise OptionError if they are not rows with columns of these types."""
    given = columns_by_name(keys, [name for name, _ in columns])
    parts = [_part(given[name], f"keys[{name!r}]", typestr, context) for name, typestr in columns]
    count = common_length({name: part.length for (name, _), part in zip(columns, parts, strict=True)})
    np = needed_numpy("a map with keys of several columns")
    ends, texts = copy_of(np.zeros(count + 1, "<i8")), empty_buffer(0)

    def allocate(size: int) -> int:
        nonlocal texts
        texts = empty_buffer(size)
        return texts.address

    _native.pack_rows([part.described for part in parts], count, ends.address, allocate, context.thread_count)
    return Column(DataType("large_string"), count, 0, texts, offsets=ends)


def unpacked_rows(packed: Column, columns: KeyColumns, threads: int) -> dict[str, Any]:
    """Return the columns of rows that `packed_rows` has packed: arrays of numbers, and columns of texts."""
    np = needed_numpy("a map with keys of several columns")
    assert packed.offsets is not None
    texts = np.frombuffer(packed.values, "u1")
    places = np.frombuffer(packed.offsets, "<i8")[: len(packed)].copy()
    ends: Any = np.flatnonzero((texts[:-1] == 0) & (texts[1:] == 0))
    result: dict[str, Any] = {}
    for name, typestr in columns:
        if typestr != TEXT:
            width = width_of(typestr)
            codes = texts[places[:, None] + np.arange(width)].view(f">u{width}").reshape(-1).astype(f"<u{width}")
            result[name] = _numbers_of(codes, typestr)
            places += width
        else:
            past = ends[np.searchsorted(ends, places)] if len(places) else places  # no other 0 0 begins in a text
            result[name] = _texts_between(packed, np.stack((places, past), 1).reshape(-1), threads)
            places = past + 2
    return result


def common_length(lengths: Mapping[str, int]) -> int:
    """Return the number of items of all columns of keys. Raise OptionError if one has another number."""
    (first, count), *others = lengths.items()
    for name, length in others:
        if length != count:
            raise OptionError(f"keys[{name!r}] has {length} items, and keys[{first!r}] has {count}")
    return count


def text_column(texts: Any, name: str, device: Device = _CPU) -> Column:
    """Return the texts of a caller as a column in host memory, or on the map's device.

    Raise OptionError if they are no texts, some are null, or they are on another device.
    """
    column = _column(texts, name)
    if column.dictionary is None and not column.type.is_string:
        raise OptionError(f"{name} are of type {column.type}, and the map has texts")
    if column.device.kind != "cpu" and column.device != device:
        where = "the CPU" if device.kind == "cpu" else str(device)
        raise OptionError(f"{name} are on {column.device}, and the map is on {where}; copy them with .to('cpu')")
    if column.null_count:
        raise OptionError(f"{name} has nulls; fill them or drop them first")
    if len(column) > MAX_BATCH:
        raise OptionError(f"{name} has {len(column)} items, at most {MAX_BATCH} go into one call; pass them in parts")
    return column


def pieces_of(column: Column) -> list[bytes]:
    """Return the texts of a column that `take_rows` or `column_of` has returned."""
    assert column.offsets is not None
    ends = memoryview(column.offsets).cast("B").cast("q")
    texts = bytes(memoryview(column.values).cast("B"))
    return [texts[ends[i] : ends[i + 1]] for i in range(len(column))]


def column_of(texts: Sequence[bytes]) -> Column:
    """Return a column of texts."""
    np = needed_numpy("a map of texts")
    offsets: Any = np.zeros(len(texts) + 1, "<i8")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Column(DataType("large_string"), len(texts), 0, copy_of(b"".join(texts)), offsets=copy_of(offsets))


def columns_by_name(keys: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns of a caller's rows by name."""
    rows = [keys] if isinstance(keys, tuple) else keys
    if isinstance(rows, list):
        if not all(isinstance(row, tuple) and len(row) == len(names) for row in rows):
            raise OptionError.wrong("keys", f"{_ROWS} with {len(names)} items each ({', '.join(names)})", keys)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return {name: list(column) for name, column in zip(names, columns, strict=True)}
    if isinstance(keys, (str, bytes, int, float, Column)) or not hasattr(keys, "__getitem__"):
        raise OptionError.wrong("keys", f"{_ROWS}: {', '.join(names)}", keys)
    try:
        return {name: keys[name] for name in names}
    except (LookupError, TypeError, ValueError) as error:
        raise OptionError(f"keys must have the columns {', '.join(names)}: {shown(str(error))}") from None


def _part(given: Any, name: str, typestr: str, context: Context) -> _Part:
    if typestr == TEXT:
        column = text_column(given, name)
        (described,), held = compared_columns([column], context)
        return _Part(len(column), (described, 0, 0), (column, held))
    array = array_of(given, name, typestr, context, context.new_budget())
    fold, toggle, *_ = KeyOrder.of(typestr, total_order=True).words
    described = (array.address, 0, 0, 0, 0, 0, width_of(typestr), False), None
    return _Part(array.length, (described, fold, toggle), array)


def _numbers_of(codes: Any, typestr: str) -> Any:
    """Return the keys of codes in IEEE's totalOrder (``KeyRule::key``)."""
    fold, toggle, *_ = KeyOrder.of(typestr, total_order=True).words
    bits = codes ^ codes.dtype.type(toggle)
    is_folded = (bits >> codes.dtype.type(8 * codes.itemsize - 1)).astype(bool)
    return (bits ^ (is_folded * codes.dtype.type(fold))).astype(codes.dtype).view(typestr)


def _texts_between(packed: Column, bounds: Any, threads: int) -> Column:
    """Return the texts between pairs of places, as they were before they were packed."""
    np = needed_numpy("a map with keys of several columns")
    between = max(len(bounds) - 1, 0)
    offsets = copy_of(bounds if len(bounds) else np.zeros(1, "<i8"))
    column = Column(DataType("large_string"), between, 0, packed.values, offsets=offsets)
    found = take_rows(column, np.arange(0, between, 2), threads)
    if b"\0" not in bytes(memoryview(found.values).cast("B")):
        return found
    return column_of([text.replace(b"\0\xff", b"\0") for text in pieces_of(found)])


def _column(keys: Any, name: str) -> Column:
    if isinstance(keys, Column):
        return keys
    if isinstance(keys, str):
        keys = [keys]
    kind = getattr(getattr(keys, "dtype", None), "kind", None)
    if kind in ("U", "O", "T") and type(keys).__module__ == "numpy":
        keys = keys.tolist()
    if not isinstance(keys, list | tuple):
        return column_from_arrow(keys, name, _TEXTS)
    if not all(isinstance(key, str) for key in keys):
        raise OptionError.wrong(name, _TEXTS, keys)
    try:
        return column_of([key.encode() for key in keys])
    except UnicodeEncodeError:
        raise OptionError(f"{name} has a text that is not valid Unicode") from None
