"""Finds a pattern in the rows of a column of strings, or counts it in each row.

The bytes of all rows are one text, which is searched at once. Hits that lie in two rows, or in a null row, are left out. Columns
in GPU memory are searched there (column/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headrace import _native
from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import copy_of
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.encode.texts import as_plain
from headrace.export.arrow.from_arrow import column_from_arrow
from headrace.query.find.find import find
from headrace.query.find.pattern.pattern import Pattern, prepared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RowHits(NamedTuple):
    """Hits in the rows of a column: two arrays of the same length, ordered by row and then by offset."""

    rows: Any
    """Indices of the rows, uint64."""
    offsets: Any
    """Position of each hit in the bytes of its row, uint64."""


def find_in_column(
    column: Column | Any, pattern: Any, *, overlapping: bool = True, ignore_case: bool = False, context: Context | None = None
) -> RowHits:
    """Return all positions of a pattern in the rows of a column of strings.

    Parameters
    ----------
    column
        Column of strings or bytes: with offsets of 32 or 64 bits, as views, or with a dictionary. The search runs where the
        column is. PyArrow copies a Series of pandas or Polars, or an array of its own, to one in host memory.
    pattern, overlapping, ignore_case
        As in `find`; the pattern may be a text, too. Positions are in bytes of UTF-8.
    context
        Threads, instruction set and memory that may be used.

    Returns
    -------
    RowHits
        Rows and offsets of the hits, in arrays of NumPy, or in `DeviceArray` on the GPU of the column. No hit lies in two rows,
        and null rows have none.

    Raises
    ------
    OptionError
        `column` is no column of strings or bytes, or the pattern is empty or no bytes-like object.
    UnsupportedDeviceError
        The column is on a GPU, and its strings are views. Or it has a dictionary there, and all positions are wanted.
    MemoryLimitError
        The hits exceed the context's limit. On a GPU an eighth of the texts and 40 bytes for each hit in their joined bytes are
        needed in addition.

    Examples
    --------
    >>> import headrace
    >>> names = headrace.read_csv(b"name\\nbanana\\nfig\\nana\\n")["name"]
    >>> found = headrace.find_in_column(names, b"ana")
    >>> found.rows.tolist(), found.offsets.tolist()
    ([0, 0, 2], [1, 3, 0])
    """
    wanted, overlapping = _prepared(pattern, ignore_case), flag("overlapping", overlapping)
    context = context_of(context)
    texts = texts_of(column_of(column))
    if texts.device.kind != "cpu":
        from headrace.query.find.column.device_rows import hits_on_gpu  # needs cuda-core

        return RowHits(*hits_on_gpu(texts, wanted, overlapping, context))
    texts = as_plain(texts)
    if texts.dictionary is None:
        return _hits(texts, wanted, overlapping, context)
    of_texts = _hits(as_plain(texts.dictionary), wanted, overlapping, context)
    rows, hits = hits_of_codes(texts, of_texts.rows)
    return RowHits(rows, of_texts.offsets[hits])


def count_in_column(
    column: Column | Any, pattern: Any, *, overlapping: bool = True, ignore_case: bool = False, context: Context | None = None
) -> Column:
    """Return the number of a pattern's positions in each row of a column of strings.

    Parameters
    ----------
    column, pattern, overlapping, ignore_case, context
        As in `find_in_column`.

    Returns
    -------
    Column
        Numbers of type int64, null in null rows, on the device of `column`.

    Raises
    ------
    OptionError, UnsupportedDeviceError, MemoryLimitError
        As in `find_in_column`.

    Examples
    --------
    >>> import headrace
    >>> names = headrace.read_csv(b"name\\nbanana\\nfig\\nana\\n")["name"]
    >>> headrace.count_in_column(names, b"an").to_pylist()
    [2, 0, 1]
    """
    column = column_of(column)
    if column.device.kind != "cpu":
        return _on_gpu("COUNT", column, _prepared(pattern, ignore_case), flag("overlapping", overlapping), context)
    found = find_in_column(column, pattern, overlapping=overlapping, ignore_case=ignore_case, context=context)
    np = needed_numpy("count_in_column()")
    counts = np.bincount(found.rows.astype(np.int64), minlength=column.length).astype(np.int64)
    return _column("int64", counts, _is_valid(column))


def find_first_in_column(
    column: Column | Any, pattern: Any, *, ignore_case: bool = False, context: Context | None = None
) -> Column:
    """Return the first position of a pattern in each row of a column of strings.

    Parameters
    ----------
    column, pattern, ignore_case, context
        As in `find_in_column`.

    Returns
    -------
    Column
        Positions in the bytes of each row, of type int64. They are null in rows without a hit and in null rows. The
        device is that of `column`.

    Raises
    ------
    OptionError, UnsupportedDeviceError, MemoryLimitError
        As in `find_in_column`.

    Examples
    --------
    >>> import headrace
    >>> names = headrace.read_csv(b"name\\nbanana\\nfig\\nana\\n")["name"]
    >>> headrace.find_first_in_column(names, b"an").to_pylist()
    [1, None, 0]
    """
    column = column_of(column)
    if column.device.kind != "cpu":
        return _on_gpu("FIRST", column, _prepared(pattern, ignore_case), True, context)
    found = find_in_column(column, pattern, ignore_case=ignore_case, context=context)
    np = needed_numpy("find_first_in_column()")
    rows, first = np.unique(found.rows.astype(np.int64), return_index=True)
    offsets, has_hit = np.zeros(column.length, np.int64), np.zeros(column.length, np.bool_)
    offsets[rows], has_hit[rows] = found.offsets[first], True
    return _column("int64", offsets, has_hit)


def contains_in_column(
    column: Column | Any, pattern: Any, *, ignore_case: bool = False, context: Context | None = None
) -> Column:
    """Return for each row of a column of strings whether a pattern occurs in it.

    Parameters
    ----------
    column, pattern, ignore_case, context
        As in `find_in_column`.

    Returns
    -------
    Column
        Values of type bool, null in null rows, on the device of `column`.

    Raises
    ------
    OptionError, UnsupportedDeviceError, MemoryLimitError
        As in `find_in_column`.

    Examples
    --------
    >>> import headrace
    >>> names = headrace.read_csv(b"name\\nbanana\\nfig\\nana\\n")["name"]
    >>> headrace.contains_in_column(names, b"an").to_pylist()
    [True, False, True]
    """
    column = column_of(column)
    if column.device.kind != "cpu":
        return _on_gpu("CONTAINS", column, _prepared(pattern, ignore_case), True, context)
    found = find_in_column(column, pattern, ignore_case=ignore_case, context=context)
    np = needed_numpy("contains_in_column()")
    has_hit = np.zeros(column.length, np.bool_)
    has_hit[found.rows.astype(np.int64)] = True
    return _column("bool", np.packbits(has_hit, bitorder="little"), _is_valid(column))


def _prepared(pattern: Any, ignore_case: bool) -> Pattern:
    """Return a prepared pattern; a text is that of its bytes in UTF-8."""
    return prepared(pattern.encode("utf-8", "surrogatepass") if isinstance(pattern, str) else pattern, ignore_case)


def _on_gpu(
    answer: Literal["COUNT", "FIRST", "CONTAINS"], column: Column, pattern: Pattern, overlapping: bool, context: Context | None
) -> Column:
    from headrace.query.find.column.device_rows import RowAnswer, answer_on_gpu  # needs cuda-core

    return answer_on_gpu(RowAnswer[answer], texts_of(column), pattern, overlapping, context_of(context))


def _column(type_name: str, values: Any, is_valid: Any) -> Column:
    """Return a column of values, which are null where `is_valid` is false."""
    np = needed_numpy("count_in_column()")
    nulls = len(is_valid) - int(np.count_nonzero(is_valid))
    validity = copy_of(np.packbits(is_valid, bitorder="little").tobytes()) if nulls else None
    return Column(DataType(type_name), len(is_valid), nulls, copy_of(values.tobytes()), validity)


def column_of(given: Any) -> Column:
    """Return a column as it is, and a Series or an array of PyArrow as one."""
    return (
        given
        if isinstance(given, Column)
        else column_from_arrow(given, "column", "a column of strings, such as table['name'], a Series or an array of PyArrow")
    )


def texts_of(column: Column) -> Column:
    """Return a column of strings or bytes as it is. Raise OptionError if the column has another type."""
    if not (column.type.is_string or column.type.is_binary or column.dictionary is not None):
        raise OptionError(f"column has type {column.type}; a pattern is found in strings and bytes")
    return column


class JoinedTexts:
    """The bytes of all rows of a column with offsets, as one text."""

    def __init__(self, column: Column) -> None:
        np = needed_numpy("find_in_column()")
        assert column.offsets is not None
        ends: NDArray[np.uint64] = np.frombuffer(memoryview(column.offsets), f"<u{column.type.bits // 8}")
        ends = ends[column.offset : column.offset + column.length + 1].astype(np.uint64)
        self._ends = ends - ends[:1]
        self._is_valid = _is_valid(column)
        begin, end = (int(ends[0]), int(ends[-1])) if column.length else (0, 0)
        self.text = np.frombuffer(memoryview(column.values), np.uint8)[begin:end]

    def are_whole(self, positions: Any, lengths: Any) -> Any:
        """Return a flag for each hit: whether it lies in one row, which is not null."""
        rows = self._rows(positions)
        return (positions + lengths <= self._ends[rows + 1]) & self._is_valid[rows]

    def located(self, positions: Any) -> RowHits:
        """Return the row of each position and its offset in the row."""
        np = needed_numpy("find_in_column()")
        rows = self._rows(positions)
        return RowHits(rows.astype(np.uint64), positions - self._ends[rows])

    def _rows(self, positions: Any) -> Any:
        np = needed_numpy("find_in_column()")
        return np.searchsorted(self._ends, positions, "right") - 1


def _hits(column: Column, pattern: Pattern, overlapping: bool, context: Context) -> RowHits:
    """Return the hits in a column with offsets."""
    np = needed_numpy("find_in_column()")
    joined = JoinedTexts(column)
    positions: NDArray[np.uint64] = find(joined.text, pattern, context=context)
    positions = positions[joined.are_whole(positions, np.uint64(len(pattern)))]
    if not overlapping and pattern.is_bordered:
        positions = positions[: _native.select_apart(positions.ctypes.data, positions.size, len(pattern))]
    return joined.located(positions)


def hits_of_codes(column: Column, text_rows: Any) -> tuple[Any, Any]:
    """Return the row of each hit in a column with a dictionary, and the index of the same hit in the dictionary.

    `text_rows`: the row of each hit in the dictionary, ascending.
    """
    np = needed_numpy("find_in_column()")
    assert column.dictionary is not None
    codes, is_valid = _codes(column), _is_valid(column)
    counts = np.bincount(text_rows.astype(np.int64), minlength=column.dictionary.length)
    begins = np.cumsum(counts) - counts
    own = np.where(is_valid, counts[np.where(is_valid, codes, 0)] if counts.size else 0, 0)
    rows = np.repeat(np.arange(column.length), own)
    number = np.arange(rows.size) - np.repeat(np.cumsum(own) - own, own)
    hits = begins[codes[rows]] + number if rows.size else number
    return rows.astype(np.uint64), hits


def _is_valid(column: Column) -> Any:
    """Return a flag for each row: whether it is not null, and its text in the dictionary is not null either."""
    np = needed_numpy("find_in_column()")
    if column.validity is None:
        flags = np.ones(column.length, np.bool_)
    else:
        packed = np.frombuffer(memoryview(column.validity), np.uint8)
        flags = np.unpackbits(packed, bitorder="little", count=column.offset + column.length)[column.offset :].view(np.bool_)
    if column.dictionary is not None and column.dictionary.null_count:
        flags = flags & _is_valid(column.dictionary)[np.where(flags, _codes(column), 0)]
    return flags


def _codes(column: Column) -> Any:
    """Return the codes of a dictionary column as signed integers."""
    np = needed_numpy("find_in_column()")
    codes = np.frombuffer(memoryview(column.values), column.type.struct_format, column.offset + column.length)
    return codes[column.offset :].astype(np.int64)
