"""Finds many patterns at once in the rows of a column of strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from headrace.arrays.arrays import needed_numpy
from headrace.columns.column import Column
from headrace.core.context import Context, context_of
from headrace.encode.texts import as_plain
from headrace.query.find.find_any import find_any
from headrace.query.find.find_in_column import JoinedTexts, column_of, hits_of_codes, texts_of
from headrace.query.find.pattern.pattern_set import PatternSet, prepared_set


class PatternRowHits(NamedTuple):
    """Hits of many patterns in the rows of a column: three arrays of the same length, ordered by row, offset and pattern."""

    rows: Any
    """Indices of the rows, uint64."""
    offsets: Any
    """Position of each hit in the bytes of its row, uint64."""
    patterns: Any
    """Indices of the patterns, uint32."""


def find_any_in_column(
    column: Column | Any, patterns: Any, *, ignore_case: bool = False, context: Context | None = None
) -> PatternRowHits:
    """Return all positions of many patterns in the rows of a column of strings, in one search.

    Parameters
    ----------
    column, context
        As in `find_in_column`.
    patterns, ignore_case
        As in `find_any`; patterns may be texts, too. Positions are in bytes of UTF-8.

    Returns
    -------
    PatternRowHits
        Rows, offsets and patterns of the hits, in arrays of NumPy, or in `DeviceArray` on the GPU of the column. No hit lies in
        two rows, and null rows have none. Hits may overlap.

    Raises
    ------
    OptionError
        `column` is no column of strings or bytes, there is no pattern, or a pattern is empty or no bytes-like object.
    UnsupportedDeviceError
        The column is on a GPU, and its strings are views, or it has a dictionary there.
    MemoryLimitError
        The hits exceed the context's limit.

    Examples
    --------
    >>> import headrace
    >>> names = headrace.read_csv(b"name\\nbanana\\nfig\\nana\\n")["name"]
    >>> found = headrace.find_any_in_column(names, ["an", "fi"])
    >>> found.rows.tolist(), found.offsets.tolist(), found.patterns.tolist()
    ([0, 0, 1, 2], [1, 3, 0, 0], [0, 0, 1, 0])
    """
    wanted, context = _prepared(patterns, ignore_case), context_of(context)
    texts = texts_of(column_of(column))
    if texts.device.kind != "cpu":
        from headrace.query.find.column.device_set_rows import set_hits_on_gpu  # needs cuda-core

        return PatternRowHits(*set_hits_on_gpu(texts, wanted, context))
    texts = as_plain(texts)
    if texts.dictionary is None:
        return _hits(texts, wanted, context)
    of_texts = _hits(as_plain(texts.dictionary), wanted, context)
    rows, hits = hits_of_codes(texts, of_texts.rows)
    return PatternRowHits(rows, of_texts.offsets[hits], of_texts.patterns[hits])


def _prepared(patterns: Any, ignore_case: bool) -> PatternSet:
    """Return prepared patterns; a text is that of its bytes in UTF-8."""
    if isinstance(patterns, Sequence) and not isinstance(patterns, str | bytes | bytearray | memoryview):
        patterns = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in patterns]
    return prepared_set(patterns, ignore_case)


def _hits(column: Column, patterns: PatternSet, context: Context) -> PatternRowHits:
    """Return the hits in a column with offsets."""
    np = needed_numpy("find_any_in_column()")
    joined = JoinedTexts(column)
    positions, found = find_any(joined.text, patterns, context=context)
    lengths = np.array([len(pattern) for pattern in patterns.patterns], np.uint64)
    is_whole = joined.are_whole(positions, lengths[found])
    return PatternRowHits(*joined.located(positions[is_whole]), found[is_whole])
