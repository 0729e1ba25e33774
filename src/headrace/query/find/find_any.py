"""Finds many patterns at once in a text of bytes, or counts the hits of each."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.context import Context, context_of
from headrace.query.find.pattern.pattern_set import prepared_set
from headrace.query.find.text import text_of


class PatternHits(NamedTuple):
    """Hits of many patterns: two arrays of the same length, ordered by position and then by pattern."""

    positions: Any
    """Positions from 0 on, uint64."""
    patterns: Any
    """Indices of the patterns, uint32."""


def find_any(text: Any, patterns: Any, *, ignore_case: bool = False, context: Context | None = None) -> PatternHits:
    """Return all positions of many patterns in a text of bytes, in one search.

    Windows of the text are looked up by their fingerprint in a table of the patterns' windows, and each hit is verified (Karp and
    Rabin 1987). The time depends on the number of patterns only by the size of the table, and by the hits.

    Parameters
    ----------
    text
        As in `find`.
    patterns
        List of bytes-like objects, or a `PatternSet`. Equal patterns have the same hits. The shortest pattern decides the speed:
        it limits the windows. From 5 bytes on each second position is looked up, from 7 bytes on each fourth.
    ignore_case
        Whether ASCII letters match in either case.
    context
        As in `find`.

    Returns
    -------
    PatternHits
        Positions and indices of patterns, in arrays of the library of `text`; of NumPy if that is no array. Hits may overlap. The
        result has the same bits on any device.

    Raises
    ------
    OptionError
        There is no pattern, a pattern is empty, or an argument has another type or gaps between its bytes.
    MemoryLimitError
        The hits exceed the context's limit.

    Examples
    --------
    >>> hits = find_any(b"the others", [b"he", b"the", b"hers"])
    >>> hits.positions.tolist(), hits.patterns.tolist()
    ([0, 1, 5, 6, 6], [1, 0, 1, 0, 2])
    """
    wanted, context = prepared_set(patterns, ignore_case), context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.pattern_set.find_any_gpu import hits_on_gpu  # needs cuda-core

        return PatternHits(*hits_on_gpu(source, wanted, context, budget))
    found: list[Array] = []

    def buffers(count: int) -> tuple[int, int]:
        found.extend([empty_like(source, count, "<u8", budget), empty_like(source, count, "<u4", budget)])
        return found[0].address, found[1].address

    _native.patterns_positions(wanted.native, (source.address, source.length), buffers, context.thread_count)
    return PatternHits(found[0].owner, found[1].owner)


def count_any(text: Any, patterns: Any, *, ignore_case: bool = False, context: Context | None = None) -> Any:
    """Return the number of hits of each pattern in a text of bytes, in one search.

    Parameters
    ----------
    text, patterns, ignore_case, context
        As in `find_any`.

    Returns
    -------
    array
        Number of hits of each pattern, uint64, in an array of the library of `text`; of NumPy if that is no array.

    Raises
    ------
    OptionError, MemoryLimitError
        As in `find_any`.

    Examples
    --------
    >>> count_any(b"the others", [b"he", b"the", b"she"])
    array([2, 2, 0], dtype=uint64)
    """
    wanted, context = prepared_set(patterns, ignore_case), context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.pattern_set.find_any_gpu import counts_on_gpu

        return counts_on_gpu(source, wanted, context, budget)
    result = empty_like(source, len(wanted), "<u8", budget)
    _native.patterns_counts(wanted.native, (source.address, source.length), result.address, context.thread_count)
    return result.owner
