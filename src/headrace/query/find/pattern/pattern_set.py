"""Prepares many patterns that are searched for at once in several texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.query.find.pattern.pattern import Pattern, pattern_bytes

MAX_PATTERNS = 1 << 24  # maximum number of patterns


class PatternSet:
    """Patterns of bytes, prepared for searches in any number of texts. Threads may share them.

    Parameters
    ----------
    patterns
        List or tuple of 1 to 2**24 bytes-like objects of 1 to 2**31 bytes. They are copied.
    ignore_case
        Whether ASCII letters match in either case. Other bytes match themselves only.

    Raises
    ------
    OptionError
        There is no pattern or there are too many. A pattern is empty, too long, or no contiguous bytes-like object.

    Examples
    --------
    >>> import headrace
    >>> words = headrace.PatternSet([b"disk", b"net"])
    >>> [headrace.count_any(line, words).tolist() for line in (b"disk, disk", b"net")]
    [[2, 0], [0, 1]]
    """

    __slots__ = ("_ignore_case", "_native", "_patterns")

    def __init__(self, patterns: Sequence[Any], *, ignore_case: bool = False) -> None:
        self._patterns = _all_bytes(patterns)
        self._ignore_case = flag("ignore_case", ignore_case)
        self._native = _native.FindPatterns(list(self._patterns), self._ignore_case)

    @property
    def patterns(self) -> tuple[bytes, ...]:
        """The patterns as they were given."""
        return self._patterns

    @property
    def ignore_case(self) -> bool:
        """True if ASCII letters match in either case."""
        return self._ignore_case

    @property
    def native(self) -> _native.FindPatterns:
        """The prepared tables."""
        return self._native

    def __len__(self) -> int:
        return len(self._patterns)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same patterns in the same order, and the same rule for case."""
        if not isinstance(other, PatternSet):
            return NotImplemented
        return (self._patterns, self._ignore_case) == (other._patterns, other._ignore_case)

    def __hash__(self) -> int:
        return hash((self._patterns, self._ignore_case))

    def __repr__(self) -> str:
        ignore_case = ", ignore_case=True" if self._ignore_case else ""
        return f"<PatternSet of {len(self)}{ignore_case}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the patterns and the rule for case; the tables are made again."""
        return _restored, (self._patterns, self._ignore_case)


def _restored(patterns: tuple[bytes, ...], ignore_case: bool) -> PatternSet:
    return PatternSet(patterns, ignore_case=ignore_case)


def prepared_set(patterns: Any, ignore_case: bool) -> PatternSet:
    """Return the patterns of a call, which may be prepared already."""
    if not isinstance(patterns, PatternSet):
        return PatternSet(patterns, ignore_case=ignore_case)
    if flag("ignore_case", ignore_case) and not patterns.ignore_case:
        raise OptionError("this PatternSet respects case; pass ignore_case=True to PatternSet(), not to the search")
    return patterns


def _all_bytes(patterns: Any) -> tuple[bytes, ...]:
    is_one = isinstance(patterns, str | bytes | bytearray | memoryview | Pattern)
    if is_one or not isinstance(patterns, Sequence):
        raise OptionError.wrong("patterns", "a list of bytes-like objects", patterns)
    if not 1 <= len(patterns) <= MAX_PATTERNS:
        raise OptionError(f"patterns has {len(patterns)} items; it must have 1 to 2**24")
    return tuple(pattern_bytes(pattern, f"patterns[{i}]") for i, pattern in enumerate(patterns))
