"""Replaces a pattern in a text of bytes."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.context import Context, context_of
from headrace.query.find.pattern.pattern import contiguous_bytes, prepared
from headrace.query.find.text import text_of


def replace(text: Any, pattern: Any, replacement: Any, *, ignore_case: bool = False, context: Context | None = None) -> Any:
    """Return a text of bytes with each hit of a pattern replaced.

    Parameters
    ----------
    text
        As in `find`. It is replaced on its device.
    pattern
        Bytes-like object of 1 to 2**31 bytes, or a `Pattern`. Hits are those of `find` that do not overlap.
    replacement
        Bytes-like object, which may be empty.
    ignore_case
        Whether ASCII letters of the pattern match in either case.
    context
        As in `find`.

    Returns
    -------
    array
        The new text, uint8, in an array of the library of `text`; of NumPy if that is no array.

    Raises
    ------
    OptionError
        The pattern is empty, or an argument has another type or gaps between its bytes.
    MemoryLimitError
        The result exceeds the context's limit. On a GPU an eighth of the text and 8 bytes for each hit are needed in addition.
        Hits of a pattern that can overlap itself take 28 bytes more.

    Examples
    --------
    >>> replace(b"one two one", b"one", b"1").tobytes()
    b'1 two 1'
    """
    wanted, context = prepared(pattern, ignore_case), context_of(context)
    given, budget = contiguous_bytes(replacement, "replacement"), context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.find_gpu import replaced_on_gpu  # needs cuda-core

        return replaced_on_gpu(source, wanted, given, context, budget)
    result: list[Array] = []

    def buffer(size: int) -> int:
        result.append(empty_like(source, size, "|u1", budget))
        return result[0].address

    at = (source.address, source.length)
    _native.pattern_replace(wanted.native, at, given, buffer, (context.isa, context.thread_count))
    return result[0].owner
