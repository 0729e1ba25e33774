"""Prepares a pattern that is searched for in several texts."""

from __future__ import annotations

from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.options import flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_LENGTH = 1 << 31  # maximum number of bytes of a pattern


class Pattern:
    """A pattern of bytes, prepared for searches in any number of texts. Threads may share it.

    Parameters
    ----------
    pattern
        Bytes-like object of 1 to 2**31 bytes. It is copied.
    ignore_case
        Whether ASCII letters match in either case. Other bytes match themselves only.

    Raises
    ------
    OptionError
        The pattern is empty, too long, or no contiguous bytes-like object.

    Examples
    --------
    >>> import headrace
    >>> error = headrace.Pattern(b"error", ignore_case=True)
    >>> [headrace.count(line, error) for line in (b"Error: an ERROR", b"fine")]
    [2, 0]
    """

    __slots__ = ("_ignore_case", "_native", "_pattern")

    def __init__(self, pattern: Any, *, ignore_case: bool = False) -> None:
        self._pattern = pattern_bytes(pattern)
        self._ignore_case = flag("ignore_case", ignore_case)
        self._native = _native.FindPattern(self._pattern, self._ignore_case)

    @property
    def pattern(self) -> bytes:
        """The pattern as it was given."""
        return self._pattern

    @property
    def ignore_case(self) -> bool:
        """True if ASCII letters match in either case."""
        return self._ignore_case

    @property
    def native(self) -> _native.FindPattern:
        """The prepared tables."""
        return self._native

    @property
    def folded(self) -> bytes:
        """The pattern, with lower-case letters if case is ignored."""
        return self._pattern.lower() if self._ignore_case else self._pattern

    @property
    def is_bordered(self) -> bool:
        """True if two hits can overlap: a proper prefix of the pattern is also its suffix."""
        return self._native.period < len(self._pattern)

    def __len__(self) -> int:
        return len(self._pattern)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same bytes and the same rule for case."""
        if not isinstance(other, Pattern):
            return NotImplemented
        return (self._pattern, self._ignore_case) == (other._pattern, other._ignore_case)

    def __hash__(self) -> int:
        return hash((self._pattern, self._ignore_case))

    def __repr__(self) -> str:
        ignore_case = ", ignore_case=True" if self._ignore_case else ""
        return f"Pattern({self._pattern!r}{ignore_case})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the bytes and the rule for case; the tables are made again."""
        return _restored, (self._pattern, self._ignore_case)


def _restored(pattern: bytes, ignore_case: bool) -> Pattern:
    return Pattern(pattern, ignore_case=ignore_case)


def prepared(pattern: Any, ignore_case: bool) -> Pattern:
    """Return the pattern of a call, which may be prepared already."""
    if not isinstance(pattern, Pattern):
        return Pattern(pattern, ignore_case=ignore_case)
    if flag("ignore_case", ignore_case) and not pattern.ignore_case:
        raise OptionError("this Pattern respects case; pass ignore_case=True to Pattern(), not to the search")
    return pattern


def pattern_bytes(pattern: Any, name: str = "pattern") -> bytes:
    """Return the bytes of a pattern. Raise OptionError if the pattern is empty, too long, or no contiguous bytes-like object."""
    found = contiguous_bytes(pattern, name, "a bytes-like object or a Pattern" if name == "pattern" else "a bytes-like object")
    if not 1 <= len(found) <= MAX_LENGTH:
        raise OptionError(f"{name} has {len(found)} bytes; it must have 1 to 2**31")
    return found


def contiguous_bytes(value: Any, name: str, expected: str = "a bytes-like object") -> bytes:
    """Return bytes as they are, and a copy of another bytes-like object.

    Raise OptionError if the value is a str or another object, or has gaps between its bytes.
    """
    if type(value) is bytes:
        return value
    if isinstance(value, str):
        raise OptionError(f"{name} must be bytes, not a text; pass {name}.encode()")
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):  # NumPy has no buffer of dates, and raises ValueError
        raise OptionError.wrong(name, expected, value) from None
    if not view.contiguous or view.format != "B" or view.ndim != 1:
        raise OptionError(f"{name} must be contiguous bytes of one dimension; pass bytes({name})")
    return bytes(view)
