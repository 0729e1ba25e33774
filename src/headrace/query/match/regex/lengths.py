"""Bounds the number of bytes that a part of a regular expression matches."""

from __future__ import annotations

from headrace.query.match.regex.syntax import Alternatives, Characters, Repeat, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from headrace.query.match.regex.syntax import Node

_LENGTH_BEGINS = (0x80, 0x800, 0x10000)  # characters from which on UTF-8 takes 2, 3 and 4 bytes


def max_bytes(node: Node, *, is_text: bool) -> int | None:
    """Return the maximum number of bytes of a match of the part, None if there is no maximum.

    `is_text`: whether characters are those of Unicode, in UTF-8, not bytes.

    >>> from headrace.query.match.regex.parse import parse
    >>> max_bytes(parse("(ab|é){3}x?", is_text=True, ignore_case=False), is_text=True)
    7
    """
    match node:
        case Characters(ranges):
            if not ranges or not is_text:
                return len(ranges[:1])
            return 1 + sum(ranges[-1][1] >= first for first in _LENGTH_BEGINS)
        case Sequence(parts):
            return sum_of(max_bytes(part, is_text=is_text) for part in parts)
        case Alternatives(parts):
            all_most = [max_bytes(part, is_text=is_text) for part in parts]
            return None if None in all_most else max((most for most in all_most if most is not None), default=0)
        case Repeat(part, _, most):
            once = max_bytes(part, is_text=is_text)
            return 0 if once == 0 or most == 0 else None if once is None or most is None else once * most
    return 0


def sum_of(numbers: Iterable[int | None]) -> int | None:
    """Return the sum, None if a number is None."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total
