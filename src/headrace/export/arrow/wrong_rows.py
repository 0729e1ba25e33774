"""Checks imported arrays: each row refers to bytes or values that are there. Code of this package relies on that.

Another library may hand over anything. PyArrow's own `validate` looks at the ends of buffers only; its full form takes twice as
long as the import.
"""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.core.buffer import Buffer
from headrace.core.errors import OptionError, shown

_TEXTS = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}  # bytes of an offset
_VIEWS = frozenset({"string_view", "binary_view"})
_VIEW_BYTES = 16


def check_rows(name: str, chunks: Any) -> None:
    """Raise OptionError if a row of a chunked array of PyArrow refers to bytes or values that are not there.

    `name`: the column's, for the message.
    """
    begin = 0
    for chunk in chunks.chunks:
        try:
            chunk.validate()
        except ValueError as error:
            raise OptionError(f"column {shown(name)} is no Arrow array: {error}") from error
        if hasattr(chunk, "dictionary"):
            _raise_if(_wrong_text(chunk.dictionary), 0, f"of the dictionary of column {shown(name)}", _OUTSIDE)
            _raise_if(_wrong_code(chunk), begin, f"of column {shown(name)}", "has a code without a value in its dictionary")
        else:
            _raise_if(_wrong_text(chunk), begin, f"of column {shown(name)}", _OUTSIDE)
        begin += len(chunk)


_OUTSIDE = "has a text that ends before it begins, or is not within the column's bytes"


def _raise_if(row: int, begin: int, of: str, fault: str) -> None:
    if row >= 0:
        raise OptionError(f"row {begin + row} {of} {fault}")


def _wrong_text(array: Any) -> int:
    """Return the first row whose text is not within the array's bytes, or -1."""
    kind = str(array.type)
    if len(array) == 0 or (kind not in _TEXTS and kind not in _VIEWS):
        return -1
    _, places, *parts = array.buffers()
    sizes = [0 if part is None else part.size for part in parts]
    width = _TEXTS.get(kind, _VIEW_BYTES)
    first = places.address + array.offset * width
    if kind in _TEXTS:
        return _native.wrong_offset(first, width, len(array), sizes[0])
    return _native.wrong_view(first, len(array), sizes, _validity(array))


def _wrong_code(array: Any) -> int:
    """Return the first row of a dictionary array whose code has no value, or -1."""
    codes = array.indices
    if len(codes) == 0:
        return -1
    width = codes.type.bit_width // 8
    is_signed = str(codes.type).startswith("int")
    count = min(len(array.dictionary), 1 << (8 * width - is_signed))
    first = codes.buffers()[1].address + codes.offset * width
    return _native.wrong_code(first, width, len(codes), count, _validity(codes))


def clear_nulls(array: Any, items: Buffer) -> None:
    """Set the items of an array's null rows to zeros, in a copy of its buffer: codes and views of null rows may be anything."""
    width = array.type.bit_width // 8 if str(array.type) not in _VIEWS else _VIEW_BYTES
    _native.clear_nulls(items.address + array.offset * width, width, len(array), _validity(array))


def _validity(array: Any) -> tuple[int, int]:
    bits = array.buffers()[0]
    return (0, 0) if bits is None or array.null_count == 0 else (bits.address, array.offset)
