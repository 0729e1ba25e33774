"""Replaces a pattern in a text of bytes."""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.context import Context, context_of
from headrace.core.errors import UnsupportedDeviceError
from headrace.query.find.pattern.pattern import contiguous_bytes, prepared
from headrace.query.find.text import text_of


def replace(text: Any, pattern: Any, replacement: Any, *, ignore_case: bool = False, context: Context | None = None) -> Any:
    """Return a text of bytes with each hit of a pattern replaced.

    Parameters
    ----------
    text
        Contiguous bytes in host memory, as in `find`.
    pattern
        Bytes-like object of 1 to 2**31 bytes, or a `Pattern`. Hits are those of `find` that do not overlap.
    replacement
        Bytes-like object, which may be empty.
    ignore_case
        Whether ASCII letters of the pattern match in either case.
    context
        Threads, instruction set and memory that may be used.

    Returns
    -------
    array
        The new text, uint8, in an array of the library of `text`; of NumPy if that is no array.

    Raises
    ------
    OptionError
        The pattern is empty, or an argument has another type or gaps between its bytes.
    UnsupportedDeviceError
        The text is on a GPU, or the context names one.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> replace(b"one two one", b"one", b"1").tobytes()
    b'1 two 1'
    """
    wanted, context = prepared(pattern, ignore_case), context_of(context)
    given, budget = contiguous_bytes(replacement, "replacement"), context.new_budget()
    if context.device.kind != "cpu":
        raise UnsupportedDeviceError(f"texts are replaced on the CPU, not on {context.device}")
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        raise UnsupportedDeviceError(f"texts are replaced on the CPU, not on {source.device}; copy the text to the host")
    result: list[Array] = []

    def buffer(size: int) -> int:
        result.append(empty_like(source, size, "|u1", budget))
        return result[0].address

    at = (source.address, source.length)
    _native.pattern_replace(wanted.native, at, given, buffer, context.thread_count, context.isa)
    return result[0].owner
