"""Copies tables of other libraries to columns, through PyArrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from headrace.columns.column import Column
from headrace.columns.types import DataType, has_offsets, parse_type
from headrace.core.buffer import Buffer, copy_of, part_of
from headrace.core.errors import HeadraceError, MissingDependencyError, OptionError, shown
from headrace.export.arrow.wrong_rows import check_rows, clear_nulls

_NO_BYTES = b""
_ALIGNED_BITS = 64  # bits of the largest items that a stream of Arrow aligns
_NESTED = list, tuple, dict, set


def columns_from_arrow(data: object, memory: Buffer | None = None) -> dict[str, Column]:
    """Return the columns of anything that exports an Arrow stream, or of a PyArrow table or record batch.

    Arrays are copied, except those that are in the given memory: their buffers are parts of it, which keep all of it.

    Raise OptionError if `data` exports no stream, a name occurs twice, or a column has a type that this package does not
    have. Raise MissingDependencyError if PyArrow is not installed.
    """
    arrow = _pyarrow("from_arrow()")
    if isinstance(data, type) or not hasattr(data, "__arrow_c_stream__"):
        raise OptionError.wrong("data", "a table with __arrow_c_stream__, such as one of PyArrow, Polars or pandas", data)
    # PyArrow imports pandas, if it is installed, to look at its own table.
    try:
        table = data if isinstance(data, arrow.Table) else arrow.table(data)
    except HeadraceError:
        raise
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise OptionError(f"data is no Arrow table: {_text(error)}") from error
    if len(set(table.column_names)) < table.num_columns:
        raise OptionError(f"data has two columns of the same name: {shown(table.column_names)}")
    return {name: _column(arrow, name, column, memory) for name, column in zip(table.column_names, table.columns, strict=True)}


def column_from_arrow(data: object, name: str, expected: str) -> Column:
    """Return a copy of a Series of pandas or Polars, or of an array of PyArrow. `expected`: the valid values, for messages.

    Raise OptionError if it is none of these, or has a type that this package does not have. Raise MissingDependencyError if
    PyArrow is not installed.
    """
    root = type(data).__module__.partition(".")[0]
    is_array = hasattr(data, "to_list") or hasattr(data, "to_pylist")
    if root not in {"pandas", "polars", "pyarrow"} or not is_array or isinstance(data, type) or hasattr(data, "columns"):
        raise OptionError.wrong(name, expected, data)
    arrow = _pyarrow(f"{name}, a value of {root},")
    try:
        # `array` takes a Series of Polars for a sequence of Python values.
        chunks = arrow.chunked_array(data if hasattr(data, "__arrow_c_stream__") else [arrow.array(data)])
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise OptionError(f"{name} is no Arrow array: {_text(error)}") from error
    return _column(arrow, name, chunks)


def column_from_values(values: Any, name: str, expected: str) -> Column:
    """Return a list of Python values as a column; None is null. `expected`: the valid values, for messages.

    Raise OptionError if the values have several types, or one that this package does not have. Raise MissingDependencyError
    if PyArrow is not installed.
    """
    if any(isinstance(value, _NESTED) for value in values):
        raise OptionError.wrong(name, expected, values)
    arrow = _pyarrow(f"{name}, a list,")
    try:
        array = arrow.array(values)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{name} has values that are not of one type: {_text(error)}") from error
    return _column(arrow, name, array if isinstance(array, arrow.ChunkedArray) else arrow.chunked_array([array]))


def exported_stream(table: Any) -> object:
    """Return the Arrow stream that a table exports.

    Raise OptionError if the table has columns that are no Arrow arrays, such as columns of pandas with objects of several
    types.
    """
    try:
        return table.__arrow_c_stream__()
    except HeadraceError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:  # PyArrow's errors are among these
        raise OptionError(f"table is no Arrow table: {_text(error)}") from error


def _text(error: Exception) -> str:
    return "; ".join(map(str, error.args))


def _pyarrow(purpose: str) -> Any:
    try:
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise  # the package is installed, but a dependency of it is missing
        raise MissingDependencyError.of("pyarrow", "arrow", purpose) from None


def _column(arrow: Any, name: str, chunks: Any, memory: Buffer | None = None) -> Column:
    """Return a chunked array as a column: a copy, or parts of the memory that the array is in."""
    check_rows(name, chunks)
    if arrow.types.is_dictionary(chunks.type):
        return _dictionary(arrow, name, chunks)
    if str(chunks.type) == "binary_view":  # columns of bytes have offsets
        chunks = chunks.cast(arrow.large_binary())
    array = chunks.combine_chunks() if chunks.num_chunks != 1 else chunks.chunk(0)
    array = arrow.concat_arrays(array.chunks) if isinstance(array, arrow.ChunkedArray) else array
    type_ = _type(name, array.type)
    memory = memory if type_.bits <= _ALIGNED_BITS else None
    validity, *buffers = (None if part is None else _buffer(part, memory) for part in array.buffers())
    offsets: Buffer | None = None
    if type_.name == "null":
        buffers = []
    elif has_offsets(type_):
        offsets, *buffers = buffers
    values, *data = buffers or [copy_of(_NO_BYTES)]
    if values is not None and array.null_count and type_.name == "string_view":
        clear_nulls(array, values)
    if has_offsets(type_) and offsets is None:  # Arrow allows an empty column to have no offsets
        offsets = copy_of(bytes(type_.bits // 8))
    return Column(
        type=type_,
        length=len(array),
        null_count=array.null_count,
        values=copy_of(_NO_BYTES) if values is None else values,
        validity=validity if array.null_count and type_.name != "null" else None,
        offsets=offsets,
        offset=array.offset,
        data=tuple(part for part in data if part is not None),
    )


def _buffer(part: Any, memory: Buffer | None) -> Buffer:
    if memory is not None:
        begin = part.address - memory.address
        if 0 <= begin <= memory.nbytes - part.size:
            return part_of(memoryview(memory)[begin : begin + part.size])
    return copy_of(memoryview(part))


def _dictionary(arrow: Any, name: str, chunks: Any) -> Column:
    if not any(kind(chunks.type.value_type) for kind in (arrow.types.is_string, arrow.types.is_large_string, _is_view)):
        raise OptionError(f"column {shown(name)} is a dictionary of {chunks.type.value_type}, and only strings can be in one")
    chunks = chunks.cast(arrow.dictionary(arrow.int32(), arrow.string()))
    if any(chunk.dictionary.null_count for chunk in chunks.chunks):  # a null is one of a code, not of a text
        chunks = arrow.chunked_array([chunk.dictionary_decode() for chunk in chunks.chunks]).dictionary_encode()
    array = chunks.unify_dictionaries().combine_chunks()
    array = arrow.concat_arrays(array.chunks) if isinstance(array, arrow.ChunkedArray) else array
    codes = _column(arrow, name, arrow.chunked_array([array.indices]))
    if codes.null_count:
        clear_nulls(array.indices, codes.values)
    return Column(
        type=DataType("dictionary"),
        length=codes.length,
        null_count=codes.null_count,
        values=codes.values,
        validity=codes.validity,
        offset=codes.offset,
        dictionary=_column(arrow, name, arrow.chunked_array([array.dictionary])),
    )


def _is_view(arrow_type: object) -> bool:
    return str(arrow_type) == "string_view"


def _type(name: str, arrow_type: object) -> DataType:
    try:
        return parse_type(arrow_type)
    except OptionError:
        raise OptionError(
            f"column {shown(name)} has the Arrow type {arrow_type}, which is not supported; cast it first"
        ) from None
