"""Finds the matches of an automaton in a text of bytes, or counts them.

Matches are leftmost-longest and do not overlap. Time is proportional to the text, for any automaton and any text. The text is
read once backward and once forward, in chunks on all threads (`headrace.query.match.automaton.tables`). On a CPU only regions
near a part that each match has are read, if the expression has such a part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace import _native
from headrace.arrays.arrays import Array
from headrace.arrays.placement import empty_like
from headrace.core.context import Context, context_of
from headrace.core.options import instance
from headrace.query.find.text import text_of
from headrace.query.match.automaton.dfa import Dfa
from headrace.query.match.automaton.native import native_automaton
from headrace.query.match.automaton.tables import tables_of

CHUNK_BYTES = 64 << 10  # bytes of text that a thread takes at a time
_EXPECTED = "a Dfa; compile_regex() makes one of a regular expression"


class Matches(NamedTuple):
    """Matches of an automaton: two arrays of the same length, ascending. Match i is ``text[begins[i]:ends[i]]``."""

    begins: Any
    """Position of the first byte of each match, uint64."""
    ends: Any
    """Position after the last byte of each match, uint64."""


def match(text: Any, dfa: Dfa, *, context: Context | None = None) -> Matches:
    r"""Return the matches of an automaton in a text of bytes.

    The first match is the longest one that begins at the first position where any begins. The next one is found in the rest of
    the text, and so on. So matches do not overlap. Matches of no bytes are not reported.

    Parameters
    ----------
    text
        As in `find`.
    dfa
        The automaton, as from `compile_regex`.
    context
        As in `find`.

    Returns
    -------
    Matches
        Begins and ends, in arrays of the library of `text`; of NumPy if that is no array. The result has the same bits on any
        device and for any number of threads.

    Raises
    ------
    OptionError
        An argument has another type, gaps between its bytes, or the automaton needs more than 256 states in one direction.
    MemoryLimitError
        The matches exceed the context's limit. On a GPU 1.25 times the text, and some maps of states, are needed in addition.

    Examples
    --------
    >>> from headrace import compile_regex
    >>> found = match(b"tel 555-0199, fax 555-0123", compile_regex(r"\d{3}-\d{4}"))
    >>> found.begins.tolist(), found.ends.tolist()
    ([4, 18], [12, 26])

    Among alternatives the longest one counts. In Python's `re` the first one does:

    >>> match(b"foobar", compile_regex("foo|foobar")).ends.tolist()
    [6]
    """
    tables, context = tables_of(instance("dfa", dfa, Dfa, _EXPECTED)), context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.match.gpu.match_gpu import matches_on_gpu  # needs cuda-core

        return Matches(*matches_on_gpu(source, tables, context, budget))
    found: list[Array] = []

    def buffers(count: int) -> tuple[int, int]:
        found.extend(empty_like(source, count, "<u8", budget) for _ in range(2))
        return found[0].address, found[1].address

    given = (source.address, source.length)
    resources = (context.isa, context.thread_count, CHUNK_BYTES)
    _native.find_matches(native_automaton(dfa), given, buffers, resources)
    return Matches(found[0].owner, found[1].owner)


def count_matches(text: Any, dfa: Dfa, *, context: Context | None = None) -> int:
    r"""Return the number of matches that `match` returns, without storing them.

    Parameters
    ----------
    text, dfa, context
        As in `match`.

    Raises
    ------
    OptionError, MemoryLimitError
        As in `match`.

    Examples
    --------
    >>> from headrace import compile_regex
    >>> count_matches(b"tel 555-0199, fax 555-0123", compile_regex(r"\d+"))
    4
    """
    tables, context = tables_of(instance("dfa", dfa, Dfa, _EXPECTED)), context_of(context)
    budget = context.new_budget()
    source = text_of(text, context, budget)
    if source.device.kind != "cpu":
        from headrace.query.match.gpu.match_gpu import count_on_gpu

        return count_on_gpu(source, tables, context, budget)
    resources = (context.isa, context.thread_count, CHUNK_BYTES)
    return _native.count_matches(native_automaton(dfa), (source.address, source.length), resources)
