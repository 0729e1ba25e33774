"""Defines a deterministic finite automaton over bytes, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.core.errors import OptionError
from headrace.core.options import index_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.automaton.required_part import RequiredPart

MAX_STATES = 256  # maximum number of states, so that a state is one byte
LINE_FEED = 10


@dataclass(frozen=True, slots=True)
class Dfa:
    """A deterministic finite automaton over bytes. `match` searches texts for the byte strings that it accepts.

    Parameters
    ----------
    class_of
        256 bytes: the class of each byte value, from 0 on. Bytes of a class have the same transitions.
    transitions
        One row of bytes for each class, with the next state for each state. There are 1 to 256 states. A state that no match
        leads through goes to itself.
    accepting
        Numbers of the states in which a match may end.
    start
        State before the first byte of a match.
    line_start
        The same for a match that begins at the start of a line: at the start of the text, or after a line feed. None for `start`.
    accepting_at_line_end
        Further states in which a match may end, if a line feed or the end of the text follows.

    Raises
    ------
    OptionError
        A table has another size, a state or a class does not exist, or lines are used and the line feed shares its class.

    Examples
    --------
    The automaton of ``ab*``, in which state 2 accepts nothing, and class 2 has all other bytes:

    >>> class_of = bytes(0 if byte == ord("a") else 1 if byte == ord("b") else 2 for byte in range(256))
    >>> dfa = Dfa(class_of, (b"\\1\\2\\2", b"\\2\\1\\2", b"\\2\\2\\2"), {1})
    >>> dfa.accepts(b"abb"), dfa.accepts(b"ba")
    (True, False)
    """

    class_of: bytes
    transitions: tuple[bytes, ...]
    accepting: frozenset[int]
    start: int = 0
    line_start: int | None = None
    accepting_at_line_end: frozenset[int] = frozenset()
    required_part: RequiredPart | None = field(default=None, init=False, repr=False, compare=False)

    def __init__(
        self,
        class_of: Any,
        transitions: Any,
        accepting: Iterable[int],
        *,
        start: int = 0,
        line_start: int | None = None,
        accepting_at_line_end: Iterable[int] = (),
    ) -> None:
        classes, rows = (
            _table("class_of", class_of),
            tuple(_table("transitions", row) for row in _items("transitions", transitions)),
        )
        if len(classes) != 256:
            raise OptionError(f"class_of has {len(classes)} bytes; pass the class of each of the 256 byte values")
        if not rows or max(classes) >= len(rows):
            raise OptionError(
                f"transitions has {len(rows)} rows, and class_of has class {max(classes)}; pass a row for each class"
            )
        states = len(rows[0])
        if not 1 <= states <= MAX_STATES or {len(row) for row in rows} != {states}:
            raise OptionError(f"the rows of transitions must have the same length, of 1 to {MAX_STATES} states")
        if max(map(max, rows)) >= states:
            raise OptionError(f"transitions has state {max(map(max, rows))}, and there are {states} states, from 0 on")
        begin = _state("start", start, states)
        line_begin = begin if line_start is None else _state("line_start", line_start, states)
        ends = _states("accepting", accepting, states)
        line_ends = _states("accepting_at_line_end", accepting_at_line_end, states) - ends
        if (line_begin != begin or line_ends) and classes.count(classes[LINE_FEED]) > 1:
            raise OptionError("the line feed needs a class of its own, since matches depend on lines")
        for name, value in (
            ("class_of", classes),
            ("transitions", rows),
            ("accepting", ends),
            ("start", begin),
            ("line_start", None if line_begin == begin else line_begin),
            ("accepting_at_line_end", line_ends),
            ("required_part", None),
        ):
            object.__setattr__(self, name, value)

    @property
    def state_count(self) -> int:
        """Number of states."""
        return len(self.transitions[0])

    def accepts(self, data: bytes) -> bool:
        """Return whether all of `data` is one match, if it is a whole text."""
        state = self.start if self.line_start is None else self.line_start
        for byte in data:
            state = self.transitions[self.class_of[byte]][state]
        return state in self.accepting or state in self.accepting_at_line_end

    def __repr__(self) -> str:
        return f"<Dfa of {self.state_count} states and {len(self.transitions)} classes of bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and its arguments that make the automaton."""
        lines = {"line_start": self.line_start, "accepting_at_line_end": self.accepting_at_line_end}
        return _restored, (self.class_of, self.transitions, self.accepting, {"start": self.start, **lines}, self.required_part)


def _restored(
    class_of: bytes, transitions: tuple[bytes, ...], accepting: frozenset[int], states: dict[str, Any], part: RequiredPart | None
) -> Dfa:
    return with_part(Dfa(class_of, transitions, accepting, **states), part)


def with_part(dfa: Dfa, part: RequiredPart | None) -> Dfa:
    """Add a part that each match has to an automaton that has none yet, and return it. It changes the time of a search alone."""
    object.__setattr__(dfa, "required_part", part)
    return dfa


def _items(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)):
        raise OptionError.wrong(name, "a sequence", value)
    try:
        return tuple(value)
    except (TypeError, ValueError):  # ValueError: a file that is closed
        raise OptionError.wrong(name, "a sequence", value) from None


def _table(name: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    items = _items(name, value)
    try:
        return bytes(items)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must have whole numbers from 0 to 255") from None


def _state(name: str, value: Any, states: int) -> int:
    state = index_of(value)
    if state is None or not 0 <= state < states:
        raise OptionError.wrong(name, f"a state from 0 to {states - 1}", value)
    return state


def _states(name: str, value: Any, states: int) -> frozenset[int]:
    return frozenset(_state(name, state, states) for state in _items(name, value))
