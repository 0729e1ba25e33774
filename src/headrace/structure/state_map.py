"""Summarizes byte ranges of a text, so that machines can read the ranges at the same time and without each other's bytes.

A range may begin anywhere, for example inside a quoted field, so the automaton's state before it is unknown. `summarize` reads
the range from *every* state and returns a `StateMap`. For each state before the range, it has the state after the range and the
number of records that end in it. Maps of adjacent ranges compose. The operation is associative but not commutative. So a prefix
scan over the maps gives every range its start state and the number of the first record in it (`range_starts`).

Example: `Dialect` reads ``1,"a`` + newline + ``b"`` + newline + ``2`` as two records. Cut after the first newline:

=================  ==========================  ==========================
state before       bytes 0 to 5: ``1,"a⏎``     bytes 5 to 9: ``b"⏎2``
=================  ==========================  ==========================
outside quotes     inside quotes, 0 records    outside quotes, 1 record
inside quotes      outside quotes, 1 record    outside quotes, 1 record
=================  ==========================  ==========================

The first range begins outside quotes, so the second begins inside, and its first line end ends record 1.

A map has one byte and one count per state (9 bytes each; most dialects have 6 to 16 states), whatever the range's size. The
range is read once. Source: Stehle and Jacobsen, "ParPaRaw" (PVLDB 13(5), 2020), section 3.1 (state-transition vectors and
their composition); the counts of records and lines are additions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headrace import _native
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError
from headrace.core.options import instance, positive
from headrace.sources.open import OpenSource, SourceLike, SourceOptions, open_source
from headrace.structure.automaton import compose
from headrace.structure.dialect import Dialect
from headrace.structure.find import DEFAULT_TILE_BYTES
from headrace.structure.survey import TO_THE_END, ByteSpan, plan_of


@dataclass(frozen=True, slots=True)
class StateMap:
    """Summary of a byte range for every state before it; immutable, hashable, and small enough to send to other machines.

    Parameters
    ----------
    dialect
        The dialect that the range was read with. `Dialect.automaton` names its states.
    states
        The state after the range, by the state before it.
    records
        Data records that end in the range, by the state before it. Comment lines and blank lines that the dialect skips are
        not counted.
    lines
        Line ends in the range: LF, CR LF or CR, in quotes or not. They do not depend on the state. A CR LF counts in the range
        that holds its LF.

    Examples
    --------
    >>> from headrace.structure import summarize
    >>> left, right = (summarize(b'1,"a\\nb"\\n2', Dialect(), part) for part in (range(5), range(5, 9)))
    >>> left.then(right) == summarize(b'1,"a\\nb"\\n2', Dialect())
    True
    """

    dialect: Dialect
    states: bytes
    records: tuple[int, ...]
    lines: int

    @classmethod
    def identity(cls, dialect: Dialect) -> StateMap:
        """Return the map of an empty range."""
        states = dialect.automaton.identity
        return cls(dialect, states, (0,) * len(states), 0)

    def then(self, following: StateMap) -> StateMap:
        """Return the map of this range together with the one that follows it; also written ``self @ following``.

        Raises
        ------
        OptionError
            `following` is no StateMap, or one of another dialect.
        """
        if instance("following", following, StateMap).dialect != self.dialect:
            raise OptionError("following is a state map of another dialect; summarize all ranges with the same dialect")
        records = tuple([here + following.records[state] for here, state in zip(self.records, self.states, strict=True)])
        return StateMap(self.dialect, compose(self.states, following.states), records, self.lines + following.lines)

    __matmul__ = then

    def count_records(self) -> int:
        """Return the number of data records if the range is the whole text; a last record needs no line end."""
        automaton, state = self.dialect.automaton, self.states[0]
        return self.records[0] + (state not in automaton.idle | automaton.comment)


@dataclass(frozen=True, slots=True)
class RangeStart:
    """State and counts at the first byte of a range.

    Parameters
    ----------
    state
        The automaton's state before the range.
    records
        Data records that end before the range.
    lines
        Line ends before the range.
    """

    state: int = 0
    records: int = 0
    lines: int = 0


def summarize(
    source: OpenSource | SourceLike,
    dialect: Dialect,
    byte_range: range | None = None,
    *,
    context: Context | None = None,
    tile_bytes: int = DEFAULT_TILE_BYTES,
) -> StateMap:
    """Summarize a byte range of a text for every automaton state before it.

    Parameters
    ----------
    source
        The whole text: a path, bytes, a file object or an open source. Only the range is read, and a few KB after it. With
        lenient quotes the search for a closing quote may read on.
    dialect
        How the text is written.
    byte_range
        Positions in the source; None for all of it. Bytes before the text (a byte-order mark) and after its end are left out,
        so ``range(0, 1 << 62)`` is the whole text, too.
    context
        Threads and instruction set.
    tile_bytes
        Bytes that one thread takes at a time.

    Returns
    -------
    StateMap
        The same for any `tile_bytes`, number of threads and instruction set.

    Raises
    ------
    OptionError
        An argument has the wrong type, or `byte_range` has a step other than 1 or begins before byte 0.
    SourceError
        The source cannot be read.
    """
    instance("dialect", dialect, Dialect)
    context = context_of(context)
    positive("tile_bytes", tile_bytes)
    span = _span_of(byte_range)
    if isinstance(source, OpenSource):
        return _summarize(source, dialect, span, context, tile_bytes)
    options = SourceOptions(memory_limit=context.memory_limit, isa=context.isa, crossings=context.crossings)
    with open_source(source, options) as opened:
        return _summarize(opened, dialect, span, context, tile_bytes)


def _summarize(source: OpenSource, dialect: Dialect, span: ByteSpan, context: Context, tile_bytes: int) -> StateMap:
    plan = plan_of(ByteSpan(begin=max(span.begin, source.begin), end=span.end), context, tile_bytes)
    return StateMap(dialect, *_native.summarize(source.native, _native.Dialect.make(dialect), plan))


def _span_of(byte_range: range | None) -> ByteSpan:
    if byte_range is None:
        return ByteSpan()
    if not isinstance(byte_range, range) or byte_range.step != 1 or byte_range.start < 0:
        raise OptionError.wrong("byte_range", "a range of step 1 that starts at 0 or later", byte_range)
    return ByteSpan(begin=min(byte_range.start, TO_THE_END), end=min(max(byte_range.start, byte_range.stop), TO_THE_END))


def range_starts(maps: Iterable[StateMap]) -> list[RangeStart]:
    """Scan the maps of adjacent ranges, the first of which begins the text; return the start of each and the end of the text.

    Examples
    --------
    >>> text = b'1,"a\\nb"\\n2'
    >>> starts = range_starts(summarize(text, Dialect(), range(at, at + 3)) for at in range(0, 9, 3))
    >>> [(Dialect().automaton.states[start.state], start.records, start.lines) for start in starts]
    [('START', 0, 0), ('QUOTED', 0, 0), ('QUOTED', 0, 1), ('UNQUOTED', 1, 2)]
    """
    start = RangeStart()
    starts = [start]
    before: StateMap | None = None
    for found in maps:
        before = found if before is None else before.then(found)
        starts.append(RangeStart(before.states[0], before.records[0], before.lines))
    return starts
