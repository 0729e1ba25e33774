"""Finds all or the first of a pattern's positions in a text of bytes, or counts them.

The result is that of a loop over ``bytes.find``, for any number of threads and on any device. A search reads each byte of
the text a fixed number of times, so that repetitive texts and patterns do not take quadratic time.
"""

from __future__ import annotations

from typing import Any

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import choice, flag
from headrace.query.find.paper.find_by_method import MethodSearch
from headrace.query.find.paper.methods import NAMES
from headrace.query.find.pattern.pattern import prepared
from headrace.query.find.text import text_of


def find(
    text: Any,
    pattern: Any,
    *,
    overlapping: bool = True,
    ignore_case: bool = False,
    method: str | None = None,
    context: Context | None = None,
) -> Any:
    """Return all positions of a pattern in a text of bytes.

    Parameters
    ----------
    text
        Contiguous bytes: bytes, bytearray, memoryview, mmap, or an array of uint8 of one dimension, in host memory or on a GPU.
        The search runs where the text is.
    pattern
        Bytes-like object of 1 to 2**31 bytes, or a `Pattern`.
    overlapping
        Whether hits may overlap. If not, the first hit counts, and then each first one that begins at the end of the one before,
        or after it.
    ignore_case
        Whether ASCII letters match in either case.
    method
        A published method for comparisons (Ashkiani 2017, chapter 2), None for the fastest search. ``"rabin-karp"`` chooses
        ``"drk-wom-32"``, ``"drk-wom-64"`` or ``"drk-2s"`` by the length of the pattern and the alphabet. Others are ``"drk"``,
        ``"crk"``, ``"hrk"`` (patterns of up to 1,024 bytes), and the serial ``"srk"`` (on the CPU only). Hits may overlap, and
        case counts. ``"crk"`` needs 16 bytes of GPU memory for each byte of the text.
    context
        Threads, instruction set and memory that may be used, and the GPU to which a text in host memory is copied.

    Returns
    -------
    array
        Positions from 0 on, ascending, uint64, in an array of the library of `text`; of NumPy if that is no array. On a GPU the
        host waits once, for the number of hits.

    Raises
    ------
    OptionError
        The pattern is empty, or an argument has another type or gaps between its bytes. There is no such method, or it does not
        take this pattern or `overlapping` and `ignore_case`.
    MemoryLimitError
        The positions exceed the context's limit. On a GPU an eighth of the text is needed in addition. So are 28 bytes for each
        hit, if hits may not overlap and the pattern can overlap itself.

    Examples
    --------
    >>> find(b"abracadabra", b"abra")
    array([0, 7], dtype=uint64)
    >>> find(b"Nana", b"ana", ignore_case=True), find(b"aaaa", b"aa", overlapping=False)
    (array([1], dtype=uint64), array([0, 2], dtype=uint64))
    >>> find(b"abracadabra", b"abra", method="drk-2s")
    array([0, 7], dtype=uint64)
    """
    wanted, overlapping = prepared(pattern, ignore_case), flag("overlapping", overlapping)
    context = context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if method is not None:
        _check_method(method, overlapping)
        return MethodSearch(method, source, wanted, context, budget).positions()
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.find_gpu import positions_on_gpu  # needs cuda-core

        return positions_on_gpu(source, wanted, overlapping, context, budget)
    result: list[Array] = []

    def buffer(count: int) -> int:
        result.append(empty_like(source, count, "<u8", budget))
        return result[0].address

    given = (source.address, source.length)
    _native.pattern_positions(wanted.native, given, overlapping, buffer, (context.isa, context.thread_count))
    return result[0].owner


def count(
    text: Any,
    pattern: Any,
    *,
    overlapping: bool = True,
    ignore_case: bool = False,
    method: str | None = None,
    context: Context | None = None,
) -> int:
    """Return the number of positions that `find` returns, without storing them.

    Parameters
    ----------
    text, pattern, overlapping, ignore_case, method, context
        As in `find`. Note that ``bytes.count`` counts hits that do not overlap.

    Raises
    ------
    OptionError, MemoryLimitError
        As in `find`.

    Examples
    --------
    >>> count(b"aaaa", b"aa"), count(b"aaaa", b"aa", overlapping=False)
    (3, 2)
    """
    wanted, overlapping = prepared(pattern, ignore_case), flag("overlapping", overlapping)
    context = context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if method is not None:
        _check_method(method, overlapping)
        return MethodSearch(method, source, wanted, context, budget).count()
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.find_gpu import count_on_gpu

        return count_on_gpu(source, wanted, overlapping, context, budget)
    given = (source.address, source.length)
    return _native.pattern_count(wanted.native, given, overlapping, (context.isa, context.thread_count))


def find_first(text: Any, pattern: Any, *, ignore_case: bool = False, context: Context | None = None) -> int | None:
    """Return the first position of a pattern in a text of bytes, None if there is none.

    Parameters
    ----------
    text, pattern, ignore_case, context
        As in `find`.

    Raises
    ------
    OptionError, MemoryLimitError
        As in `find`.

    Examples
    --------
    >>> find_first(b"abracadabra", b"cad"), find_first(b"abracadabra", b"x")
    (4, None)
    """
    wanted, context = prepared(pattern, ignore_case), context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.find.gpu.find_gpu import first_on_gpu

        return first_on_gpu(source, wanted, context, budget)
    return _native.first_pattern(wanted.native, (source.address, source.length), (context.isa, context.thread_count))


def contains(text: Any, pattern: Any, *, ignore_case: bool = False, context: Context | None = None) -> bool:
    """Return whether a pattern occurs in a text of bytes.

    Parameters
    ----------
    text, pattern, ignore_case, context
        As in `find`.

    Raises
    ------
    OptionError, MemoryLimitError
        As in `find`.

    Examples
    --------
    >>> contains(b"abracadabra", b"cad"), contains(b"abracadabra", b"CAD", ignore_case=True)
    (True, True)
    """
    return find_first(text, pattern, ignore_case=ignore_case, context=context) is not None


def _check_method(method: str, overlapping: bool) -> None:
    choice("method", method, NAMES)
    if not overlapping:
        raise OptionError(f"method {method!r} finds hits that overlap; leave out overlapping=False or method")
